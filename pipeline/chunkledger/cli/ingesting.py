"""`chunkledger ingest`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import typer

from chunkledger.cli.config import cores, resolved
from chunkledger.cli.exits import FAILED, UNPUBLISHED
from chunkledger.cli.output import LogFormat, counted, error, json_line, note, shown, told, use_log_format
from chunkledger.cli.progress import progress
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, MOST_DOCUMENT_BYTES, Selection
from chunkledger.errors import LedgerError
from chunkledger.ingestion import ingest, plan_ingest
from chunkledger.model import Finding
from chunkledger.planning.guard import MAX_DELETE
from chunkledger.runs.plan import Plan
from chunkledger.settings import ENCODINGS, FORMATS, share
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
    chunks: Annotated[
        bool | None,
        typer.Option("--chunks", help="Rows of tables are chunks that another splitter has cut, taken as they are."),
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Documents that the chunks were cut from; checks offsets, and gives lines."),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of a table that holds document ids. [id; with --chunks doc_id]")
    ] = None,
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
    max_delete: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Most documents that may be deleted, else the run stops; 0 is none. [10%, or ten]"
        ),
    ] = None,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read every document to tell whether it changed; trust no time.")
    ] = False,
    wait: Annotated[
        int | None, typer.Option(min=0, metavar="SECONDS", help="Wait for another run on LEDGER to end. [0]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be done, and write nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors and the DONE line only.")] = False,
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="Narration as lines, or as one object of JSON a line.")
    ] = "text",
) -> None:
    """Make LEDGER what SOURCE holds now, in one commit: split what is new or changed, delete what is gone.

    Settings come from flags, then CHUNKLEDGER_... variables, then chunkledger.toml, then [tool.chunkledger] in
    pyproject.toml. Exit code 3: some documents failed and are named; 4: nothing was published.
    """
    use_log_format(log_format)
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
        "chunks": chunks,
        "id_column": id_column,
        "text_column": text_column,
        "jobs": jobs,
        "include": tuple(include) if include else None,
        "exclude": tuple(exclude) if exclude else None,
        "max_document_bytes": max_document_bytes,
        "documents": documents,
        "max_delete": None if max_delete is None else share(max_delete, "--max-delete"),
        "wait": wait,
    }
    settings, options = resolved(flags)
    asked: dict[str, Any] = {
        "jobs": options.pop("jobs", cores()),
        "max_delete": options.pop("max_delete", MAX_DELETE),
        "rehash": rehash,
    }
    waiting = options.pop("wait", 0)
    selection = Selection(format=settings.format, **options)
    try:
        if dry_run:
            _tell_plan(plan_ingest(sources, out, settings, selection=selection, **asked), log_format)
            return
        with progress(quiet, log_format) as steps:
            run = ingest(
                sources,
                out,
                settings,
                selection=selection,
                wait=waiting,
                progress=steps,
                notify=_unnoticed if quiet else _notice,
                **asked,
            )
    except LedgerError as failure:
        error(f"nothing was published: {failure}")
        raise typer.Exit(UNPUBLISHED) from failure
    _tell(run, out, quiet)
    tell_done(run)
    if run.exit_code:
        raise typer.Exit(run.exit_code)


def _notice(message: str) -> None:
    told("notice", message, level="warning")


def _unnoticed(message: str) -> None:
    """The run's report has it."""


def tell_done(run: Run) -> None:
    """The line that every run ends with."""
    line = run.done_line()
    told("done", line, {"run": run.number, **run.counts(), "seconds": round(run.seconds, 1)})


def _tell_plan(plan: Plan, log_format: LogFormat) -> None:
    """What would be done, on standard output."""
    if log_format == "json":
        print(json_line(plan.as_dict()))
    else:
        for line in _plan_lines(plan):
            print(shown(line))
    if plan.refused:
        error(f"the run would stop before it publishes: {plan.refused}")
        raise typer.Exit(UNPUBLISHED)
    if any(finding.status == "failed" for finding in plan.findings):
        raise typer.Exit(FAILED)


def _plan_lines(plan: Plan) -> Iterator[str]:
    if plan.anew:
        yield f"{plan.anew}: all documents would be split anew"
    documents = counted(len(plan.new) + len(plan.again) + len(plan.changed), "document")
    again = f", {len(plan.again):,} that failed" if plan.again else ""
    yield (
        f"run {plan.run} would read {documents}, {plan.to_read / 1_000_000:,.1f} MB: {len(plan.new):,} new, "
        f"{len(plan.changed):,} changed{again}"
    )
    yield f"unchanged: {plan.unchanged:,}; read to tell what is: {counted(plan.hashed, 'document')}"
    groups = (
        ("new", plan.new),
        ("tried again", plan.again),
        ("changed", plan.changed),
        ("would be deleted", plan.gone),
        ("would be kept", plan.kept),
    )
    for word, doc_ids in groups:
        yield from (f"{word}: {doc_id}" for doc_id in list(doc_ids)[:_MOST_SHOWN])
        if len(doc_ids) > _MOST_SHOWN:
            yield f"{word}: {len(doc_ids) - _MOST_SHOWN:,} more"
    for finding in plan.findings[:_MOST_SHOWN]:
        yield f"{finding.status}: {finding.doc_id}: {finding.message}"
    if len(plan.findings) > _MOST_SHOWN:
        yield f"and {len(plan.findings) - _MOST_SHOWN:,} more findings"


def _tell(run: Run, out: str, quiet: bool) -> None:
    """What was passed over, what went wrong, and how to read the result."""
    for notice in run.notices:
        told("notice", notice, level="warning", text=f"warning: {shown(notice)}")
    tell_findings(run.findings, f"are in the run's table below {out}/_documents", quiet=quiet)
    if run.kept:
        note(f"kept: {run.kept:,} documents that could not be read have their chunks of the last run")
    if not quiet:
        note(f"read it with: chunkledger report {out}, or polars.scan_delta({out!r})")


def tell_findings(findings: Sequence[Finding], where: str, *, quiet: bool) -> None:
    """What was passed over and what went wrong, on standard error.

    Args:
        findings: of a run.
        where: all of them are, for the case that they are many.
        quiet: tell only what failed.
    """
    for status, word in (("failed", "failed"), ("ok", "noted"), ("skipped", "skipped")):
        found = [finding for finding in findings if finding.status == status]
        if quiet and status != "failed":
            continue
        for finding in found[:_MOST_SHOWN]:
            told(
                "finding",
                f"{word}: {finding.doc_id}: {finding.message}",
                {
                    "doc_id": finding.doc_id,
                    "status": finding.status,
                    "reason": finding.reason,
                    "row": finding.row,
                },
                level="warning" if status == "failed" else "info",
            )
        if len(found) > _MOST_SHOWN:
            note(f"{word}: {len(found) - _MOST_SHOWN:,} more; all {where}")
