"""`chunkledger show`."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Literal

import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.text import Text

from chunkledger.cli.output import console, counted, shown
from chunkledger.errors import SettingsError
from chunkledger.outliers.views import ChunkView, Cut, DocumentView, document_views
from chunkledger.store.documents_table import in_ledger
from chunkledger.store.ledger import Ledger, open_ledger

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARGIN = 6
_TAB = 4
_MOST_COMPARED = 20_000
"""Ids that a mistyped one is compared with: some ten seconds for a million would help nobody."""
_MOST_HINTS = 3
_Styled = tuple[str, str]
"""A piece of a line, and its style on a terminal."""


@dataclass(frozen=True, slots=True)
class _Signs:
    """What stands between margin and text."""

    border: str
    held: str
    repeated: str
    cut: str


_SIGNS = _Signs("┌─", "│", "░", "├┄")
_ASCII_SIGNS = _Signs("+-", "|", ":", "+.")


def show_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    document: Annotated[str, typer.Argument(metavar="DOC", help="Id of a document, as the report names it.")],
    chunk: Annotated[int | None, typer.Option(min=0, metavar="N", help="Only this chunk; the first is 0.")] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="For people, or for programs.")] = "text",
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
) -> None:
    """Show the text of DOC with the borders of its chunks, what they cost, and where they may be cut.

    In the margin are the document's line numbers, where it is known what the document was.
    """
    opened = open_ledger(ledger, run)
    count = _chunk_count(opened, document)
    if chunk is not None and chunk >= count:
        there = "it is chunk 0 alone" if count == 1 else f"its chunks are 0 to {count - 1:,}"
        raise SettingsError(f"{document} has no chunk {chunk:,}; {there}")
    for view in document_views(opened, {document: None if chunk is None else {chunk}}):
        if format == "json":
            print(json.dumps({"run": opened.run} | view.as_dict(), indent=1))
        else:
            _print(view, count)


def _chunk_count(ledger: Ledger, document: str) -> int:
    """How many chunks the document has.

    Raises:
        SettingsError: it is not in the ledger; the message says why, or which ids are near.
    """
    seen = ledger.documents()
    rows = seen.filter(pc.equal(seen.column("doc_id"), document))
    if len(held := in_ledger(rows)):
        return int(held.column("chunks")[0].as_py())
    if len(rows):
        status, reason = (rows.column(name)[0].as_py() for name in ("status", "reason"))
        raise SettingsError(f"{document} has no chunks: {status}, {reason}")
    hint = _near(document, in_ledger(seen).column("doc_id"))
    raise SettingsError(f"no document {document} in {ledger.root}{'; near it: ' + ', '.join(hint) if hint else ''}")


def _near(document: str, ids: pa.ChunkedArray) -> list[str]:
    """Ids that may have been meant: those with it in them, or that are written much like it."""
    name = PurePosixPath(document).name or document
    within = ids.filter(pc.match_substring(ids, name, ignore_case=True)).slice(0, _MOST_HINTS).to_pylist()
    return within or difflib.get_close_matches(document, ids.slice(0, _MOST_COMPARED).to_pylist(), _MOST_HINTS)


def _print(view: DocumentView, count: int) -> None:
    out = console()
    signs = _signs()
    flagged = sum(bool(chunk.flags) for chunk in view.chunks)
    part = f"chunk {view.chunks[0].chunk_index:,} of {count:,}" if len(view.chunks) < count else counted(count, "chunk")
    out.print(Text(shown(view.doc_id), "bold"), Text(f": {part}, {flagged:,} flagged"), sep="", soft_wrap=True)
    for chunk in view.chunks:
        lines = [*_heading(chunk, signs), *_body(chunk, signs)]
        out.print(Text("\n").join(Text.assemble(*line) for line in [[], *lines]), soft_wrap=True)


def _signs() -> _Signs:
    """Signs that standard output can print."""
    try:
        "".join((_SIGNS.border, _SIGNS.held, _SIGNS.repeated, _SIGNS.cut)).encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return _ASCII_SIGNS
    return _SIGNS


def _heading(chunk: ChunkView, signs: _Signs) -> Iterator[list[_Styled]]:
    """What is to be known of a chunk before its text."""
    if chunk.unheld_before:
        held = counted(chunk.unheld_before, "character")
        yield [(f"{'':{_MARGIN}} ({held} of the document before this in no chunk)", "dim")]
    border = "bold red" if chunk.flags else "bold cyan"
    sizes = (
        f"{counted(chunk.token_count, 'token')}, {chunk.embed_tokens:,} embedded, {chunk.rendered_tokens:,} rendered"
    )
    yield [
        (f"{'':{_MARGIN}} {signs.border} ", border),
        (f"chunk {chunk.chunk_index:,}", "bold"),
        (f"  {_lines(chunk)}{chunk.kind}  {sizes}", ""),
    ]
    if chunk.flags:
        yield [*_margin("", signs.held), (_shown(f"{', '.join(chunk.flags)}: {_cause(chunk)}"), "bold red")]
    if chunk.heading_path:
        yield [*_margin("", signs.held), (_shown(" > ".join(chunk.heading_path)), "italic")]
    for line in chunk.context.splitlines():
        yield [*_margin("", signs.held), (f"repeated: {_shown(line)}", "dim")]


def _lines(chunk: ChunkView) -> str:
    if chunk.line_start is None:
        return ""
    if chunk.line_start == chunk.line_end:
        return f"line {chunk.line_start}  "
    return f"lines {chunk.line_start}-{chunk.line_end}  "


def _cause(chunk: ChunkView) -> str:
    return ", ".join(part for part in (chunk.flag_cause, chunk.flag_detail) if part)


def _body(chunk: ChunkView, signs: _Signs) -> Iterator[list[_Styled]]:
    """The text line by line, and the cut points where they are."""
    number = chunk.line_start
    starts_line = True
    for piece in chunk.pieces():
        if isinstance(piece, Cut):
            cost = f"{piece.token_count:,} tokens, {piece.rendered_tokens:,} rendered up to here"
            yield [*_margin("", signs.cut), (f"{piece.kind}: {cost}", "green")]
            continue
        for line in _LINE.findall(piece.text):
            text = _shown(line.rstrip("\r\n"))
            margin = f"{number}" if starts_line and number is not None else ""
            sign = signs.repeated if piece.repeats else signs.held
            if text or starts_line:  # not where only a line's end is left
                yield [*_margin(margin, sign), (text, "yellow" if piece.repeats else "")]
            starts_line = line.endswith(("\r", "\n"))
            if number is not None:
                number += starts_line


def _margin(number: str, sign: str) -> list[_Styled]:
    return [(f"{number:>{_MARGIN}} ", "dim"), (f"{sign} ", "cyan")]


def _shown(text: str) -> str:
    return shown(text.expandtabs(_TAB))
