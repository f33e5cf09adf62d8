"""`chunkledger whatif`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import typer

from chunkledger.cli.config import configured, cores
from chunkledger.cli.ingesting import tell_findings
from chunkledger.cli.output import note, shown, told
from chunkledger.cli.progress import progress
from chunkledger.cli.ranges import whole_numbers
from chunkledger.cli.whatif_tables import show
from chunkledger.documents.sources import MOST_DOCUMENT_BYTES
from chunkledger.errors import SettingsError
from chunkledger.runs.making import Progress
from chunkledger.settings import ENCODINGS, FORMATS
from chunkledger.simulation.rankings import DEFAULT_K, Seeded
from chunkledger.whatif.asking import SWEPT, what_if


def whatif_command(
    against: Annotated[str, typer.Option("--against", metavar="LEDGER", help="What to compare with; only read.")],
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE...]", help="As for ingest. [the sources of LEDGER, as they are now]"),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=RANGE",
            help="Try several values of a setting of whole numbers, as max_tokens=256..768:64 or slot_chunks=4,8; "
            "again for all combinations.",
        ),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help=f"Tokenizer: {', '.join(ENCODINGS)}.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an embed text.")] = None,
    target_tokens: Annotated[int | None, typer.Option(help="Size to aim at.")] = None,
    min_tokens: Annotated[int | None, typer.Option(help="Smaller chunks are flagged under_min.")] = None,
    slot_tokens: Annotated[
        int | None, typer.Option(help="Slot that chunks are meant for; filled on both sides.")
    ] = None,
    slot_chunks: Annotated[int | None, typer.Option(help="Chunks that the slot should hold.")] = None,
    overlap_tokens: Annotated[int | None, typer.Option(help="Most tokens repeated from the chunk before.")] = None,
    parent_tokens: Annotated[int | None, typer.Option(help="Most tokens of a parent; 0 makes none.")] = None,
    split_headings: Annotated[
        int | None, typer.Option(help="Headings down to this level always start a chunk; 0 is off.")
    ] = None,
    heading_context: Annotated[
        bool | None, typer.Option("--heading-context/--no-heading-context", help="Heading path in the embed text.")
    ] = None,
    template: Annotated[str | None, typer.Option(help="How the packer renders: xml/1, markdown/1.")] = None,
    format: Annotated[
        str | None, typer.Option("--read-as", help=f"Read every document as one of {', '.join(FORMATS[1:])}, or auto.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language whose sentence rules hold: en, de, ja, …")
    ] = None,
    source_encoding: Annotated[
        str | None, typer.Option(help="Encoding of texts that are neither UTF-8 nor marked UTF-16.")
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of a table that holds document ids.")] = None,
    text_column: Annotated[str | None, typer.Option(help="Column of a table that holds texts.")] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only these document ids.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Not these document ids.")] = None,
    max_document_bytes: Annotated[
        int | None, typer.Option(min=1, max=MOST_DOCUMENT_BYTES, help="Larger documents fail.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Hits of a ranked list, where the slot is filled.")] = DEFAULT_K,
    requests: Annotated[int, typer.Option(min=1, help="Ranked lists at random that fill it.")] = Seeded().requests,
    seed: Annotated[int, typer.Option(min=0, help="Which ones; the same on both sides.")] = Seeded().seed,
    jobs: Annotated[
        int | None, typer.Option(min=0, help="Most worker processes; 0 works in this one, not isolated. [cores]")
    ] = None,
    output: Annotated[
        Literal["table", "json", "csv", "md"], typer.Option("--format", help="For people, or for programs.")
    ] = "table",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors and failed documents only.")] = False,
) -> None:
    """Tell what would become of LEDGER with other settings, which are its own where not given; LEDGER is not touched.

    The documents are split as ingest splits them, into a temporary folder ($TMPDIR) that may grow as large as LEDGER
    and is removed at the end. Settings files and variables give nothing but the jobs, as the settings are those of
    LEDGER. Exit code 3: some documents failed and are named; they are compared with nothing.
    """
    overrides = {
        "encoding": encoding,
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
    }
    selection = {
        "include": tuple(include) if include else None,
        "exclude": tuple(exclude) if exclude else None,
        "max_document_bytes": max_document_bytes,
    }
    swept = _swept(sweep or ())

    @contextmanager
    def watch(number: int, count: int, values: Mapping[str, int]) -> Iterator[Progress]:
        if count > 1 and not quiet:
            note(f"splitting {number} of {count}: {', '.join(f'{name} {value:,}' for name, value in values.items())}")
        with progress(quiet, "text") as steps:
            yield steps

    found = what_if(
        against,
        sources or (),
        _given(overrides),
        sweep=swept,
        selection=_given(selection),
        k=k,
        rankings=Seeded(requests, seed),
        jobs=_jobs(jobs),
        watch=watch,
        notify=None if quiet else note,
    )
    for notice in found.notices:
        told("notice", notice, level="warning", text=f"warning: {shown(notice)}")
    tell_findings(found.findings, "are in --format json", quiet=True)
    if output == "json":
        print(json.dumps(found.as_dict(), indent=1))
    else:
        show(found, output)
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _jobs(given: int | None) -> int:
    """How many workers: as many as ingest would have here."""
    return given if given is not None else int(configured({}).options.get("jobs", cores()))


def _swept(given: Sequence[str]) -> dict[str, Sequence[int]]:
    """What is to be swept, by the name of the setting.

    Raises:
        SettingsError: it is no NAME=RANGE, or a name comes twice.
    """
    found: dict[str, Sequence[int]] = {}
    for each in given:
        name, separator, values = each.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or name not in SWEPT:
            raise SettingsError(
                f"--sweep must be NAME=RANGE, as max_tokens=256..768:64, not {each!r}; NAME is one of: "
                f"{', '.join(SWEPT)}"
            )
        if name in found:
            raise SettingsError(f"--sweep {name} is given twice; give its values in one, as {name}=4,8,16")
        found[name] = whole_numbers(values, f"--sweep {name}")
    return found
