"""`chunkledger report`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from chunkledger.cli.output import cell, console, table
from chunkledger.cli.paging import page_file, write_page
from chunkledger.settings import Settings
from chunkledger.store.ledger import open_ledger

if TYPE_CHECKING:
    from chunkledger.outliers.summary import Place, Summary


def report_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    format: Annotated[Literal["table", "json"], typer.Option(help="For people, or for programs.")] = "table",
    top: Annotated[int, typer.Option(min=1, help="How many documents to name.")] = 10,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
    window: Annotated[int, typer.Option(min=1, help="Context window to compare the corpus with.")] = 128_000,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page with charts and texts, too.")] = None,
) -> None:
    """Tell which chunks of LEDGER do not suit the slot, what is to blame, and where."""
    from chunkledger.outliers.summary import summary  # not at the top: ingest would carry polars along, 25 MB

    opened = open_ledger(ledger, run)
    page = page_file(html, opened) if html is not None else None
    found = summary(opened, top=top)
    if page is not None:
        write_page(opened, found, page)
    if format == "json":
        print(json.dumps(found.as_dict() | {"window": window, "fits_whole": found.fits_whole(window)}, indent=1))
        return
    out = console()
    out.print(_totals(found, window), soft_wrap=True)
    for title, rows in (
        ("Sizes in tokens", _sizes(found)),
        ("Flags by cause", _flags(found)),
        ("Documents with the most flagged chunks", _worst(found)),
    ):
        out.print(f"\n{title}", style="bold")
        out.print(rows)


def _totals(found: Summary, window: int) -> str:
    settings = Settings(**dict(found.settings))  # type: ignore[arg-type]
    share = found.rendered_tokens / window
    if found.fits_whole(window):
        fits = f"{share:.0%} of a window of {window:,}: the whole corpus would fit, retrieval may not be needed"
    else:
        fits = f"{share:.1f} times a window of {window:,}"
    return (
        f"run {found.run}: {found.documents:,} documents, {found.chunks:,} chunks, {found.flagged:,} flagged\n"
        f"{settings.encoding}: limit {settings.max_tokens:,}, target {settings.target:,}, "
        f"least {settings.min_tokens:,}\n"
        f"slot {settings.slot_tokens:,} for {settings.slot_chunks} chunks, {settings.share_tokens:,} each\n"
        f"{found.tokens:,} tokens of text; rendered {found.rendered_tokens:,}, {fits}"
    )


def _sizes(found: Summary) -> Table:
    names = list(next(iter(found.percentiles.values())))
    rows = table("", *names, right=tuple(names))
    for size, values in found.percentiles.items():
        rows.add_row(cell(size), *(cell(value) for value in values.values()))
    return rows


def _flags(found: Summary) -> Table | str:
    if not found.flags:
        return "none"
    rows = table("flag", "cause", "chunks", "of all", "documents", right=("chunks", "of all", "documents"))
    for entry in found.flags:
        share = f"{entry.chunks / found.chunks:.1%}"
        rows.add_row(cell(entry.flag), cell(entry.cause), cell(entry.chunks), cell(share), cell(entry.documents))
    return rows


def _worst(found: Summary) -> Table | str:
    if not found.worst:
        return "none"
    rows = table("document", "flagged", "chunks", "lines", "tokens", "cause", right=("flagged", "chunks", "tokens"))
    for document in found.worst:
        for number, place in enumerate(document.places):
            first = number == 0
            rows.add_row(
                cell(document.doc_id if first else ""),
                cell(document.flagged if first else ""),
                cell(document.chunks if first else ""),
                cell(_lines(place)),
                cell(place.rendered_tokens),
                cell(f"{place.cause}, {place.detail} ({', '.join(place.flags)})"),
            )
    return rows


def _lines(place: Place) -> str:
    if place.line_start is None:
        return f"chunk {place.chunk_index}"
    return f"{place.line_start}" if place.line_start == place.line_end else f"{place.line_start}-{place.line_end}"
