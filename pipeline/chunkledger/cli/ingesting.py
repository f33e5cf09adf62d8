"""`chunkledger ingest`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from chunkledger.cli.config import cores, resolved
from chunkledger.cli.exits import UNPUBLISHED
from chunkledger.cli.output import error, note
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, MOST_DOCUMENT_BYTES, Selection
from chunkledger.errors import LedgerError
from chunkledger.ingestion import ingest
from chunkledger.runs.making import Progress as Told
from chunkledger.settings import ENCODINGS, FORMATS
from chunkledger.store.run_report import Run

_MOST_SHOWN = 20
"""Findings of one kind that are written to the terminal; the run's report has them all."""


def ingest_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...", help="Folders, files, tables, s3:// URLs, quoted globs; NAME= prefixes its ids."
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--out", metavar="LEDGER", help="Folder of the ledger, made where there is none; or s3:// URL."),
    ],
    encoding: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Tokenizer: {', '.join(ENCODINGS)}. Again for more: limits by the first, counts for all. "
            f"[{ENCODINGS[0]}]"
        ),
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an embed text. [512]")] = None,
    target_tokens: Annotated[int | None, typer.Option(help="Size to aim at. [95 % of --max-tokens]")] = None,
    min_tokens: Annotated[int | None, typer.Option(help="Smaller chunks are flagged under_min. [50]")] = None,
    slot_tokens: Annotated[int | None, typer.Option(help="Slot that chunks are meant for. [6000]")] = None,
    slot_chunks: Annotated[int | None, typer.Option(help="Chunks that the slot should hold. [8]")] = None,
    overlap_tokens: Annotated[int | None, typer.Option(help="Most tokens repeated from the chunk before. [0]")] = None,
    parent_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of a parent, rows made of whole chunks; 0 makes none. [0]")
    ] = None,
    split_headings: Annotated[
        int | None, typer.Option(help="Headings down to this level always start a chunk; 0 is off. [0]")
    ] = None,
    heading_context: Annotated[
        bool | None,
        typer.Option("--heading-context/--no-heading-context", help="Heading path in the embed text. [on]"),
    ] = None,
    template: Annotated[str | None, typer.Option(help="How the packer renders: xml/1, markdown/1. [xml/1]")] = None,
    format: Annotated[
        str | None,
        typer.Option(help=f"Read every document as one of {', '.join(FORMATS[1:])}; auto goes by suffix. [auto]"),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Language whose sentence rules hold: en, de, ja, … [each paragraph's own]"),
    ] = None,
    source_encoding: Annotated[
        str | None, typer.Option(help="Encoding of texts that are neither UTF-8 nor marked UTF-16. [none: they fail]")
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of a table that holds document ids. [id]")] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Column of a table that holds texts; the others become metadata. [text]")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=0, help="Most worker processes; 0 works in this one, not isolated. [cores]")
    ] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only these document ids.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Not these document ids.")] = None,
    max_document_bytes: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_DOCUMENT_BYTES, help=f"Larger documents fail. [{MAX_DOCUMENT_BYTES}]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors and the DONE line only.")] = False,
) -> None:
    """Split the documents of SOURCE and publish their chunks as the content of LEDGER, in one commit.

    Settings come from flags, then CHUNKLEDGER_... variables, then chunkledger.toml, then [tool.chunkledger] in
    pyproject.toml. Exit code 3: some documents failed and are named; 4: nothing was published.
    """
    flags = {
        "encoding": encoding[0] if encoding else None,
        "further_encodings": tuple(encoding[1:]) if encoding else None,
        "max_tokens": max_tokens,
        "target_tokens": target_tokens,
        "min_tokens": min_tokens,
        "slot_tokens": slot_tokens,
        "slot_chunks": slot_chunks,
        "overlap_tokens": overlap_tokens,
        "parent_tokens": parent_tokens,
        "split_headings": split_headings,
        "heading_context": heading_context,
        "template": template,
        "format": format,
        "language": language,
        "source_encoding": source_encoding,
        "id_column": id_column,
        "text_column": text_column,
        "jobs": jobs,
        "include": tuple(include) if include else None,
        "exclude": tuple(exclude) if exclude else None,
        "max_document_bytes": max_document_bytes,
    }
    settings, options = resolved(flags)
    workers = options.pop("jobs", cores())
    selection = Selection(format=settings.format, **options)
    try:
        with _progress(quiet) as told:
            run = ingest(sources, out, settings, selection=selection, jobs=workers, progress=told)
    except LedgerError as failure:
        error(f"nothing was published: {failure}")
        raise typer.Exit(UNPUBLISHED) from failure
    _tell(run, out, quiet)
    print(run.done_line(), file=sys.stderr)
    if run.exit_code:
        raise typer.Exit(run.exit_code)


@contextmanager
def _progress(quiet: bool) -> Iterator[Told | None]:
    """A progress bar on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("ingest"), BarColumn(), MofNCompleteColumn(), TextColumn("documents"), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("ingest", total=None)
        yield lambda step: bar.update(task, completed=step.documents, total=step.all_documents)


def _tell(run: Run, out: str, quiet: bool) -> None:
    """What was passed over, what went wrong, and how to read the result."""
    for notice in run.notices:
        error(notice)
    for status, word in (("failed", "failed"), ("ok", "noted"), ("skipped", "skipped")):
        found = [finding for finding in run.findings if finding.status == status]
        if quiet and status != "failed":
            continue
        for finding in found[:_MOST_SHOWN]:
            note(f"{word}: {finding.doc_id}: {finding.message}")
        if len(found) > _MOST_SHOWN:
            note(f"{word}: {len(found) - _MOST_SHOWN:,} more; all are in the run's table below {out}/_documents")
    if run.kept:
        note(f"kept: {run.kept:,} documents that could not be read have their chunks of the last run")
    if not quiet:
        note(f"read it with: chunkledger report {out}, or polars.scan_delta({out!r})")
