"""Rows that are chunks -> a document of chunks that another splitter has cut, its offsets checked."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chunkledger.documents.rows import Row
from chunkledger.model import GivenChunk

_LARGEST = 2**62
"""No offset of a document; a larger one has no place in the column."""
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Given:
    """The chunks of one document.

    Attributes:
        chunks: in the order of their rows.
        notes: what is to be told of them.
    """

    chunks: tuple[GivenChunk, ...]
    notes: tuple[str, ...]


def given(rows: Sequence[tuple[int, Row]], original: str | None) -> Given:
    """The chunks that these rows are, each text as it stands.

    Nothing is searched for: a span that does not hold the text is left out, and told.

    Args:
        rows: number and row of each chunk, in order.
        original: text of the document that they were cut from; None where there is none to check spans against.
    """
    notes: list[str] = []
    kept = [(number, row) for number, row in rows if row.text]
    if empty := len(rows) - len(kept):
        first = next(number for number, row in rows if not row.text)
        notes.append(f"{empty:,} of its chunks have no text (the first is number {first:,}), and are left out")
    chunks: list[GivenChunk] = []
    wrong: list[int] = []
    for number, row in kept:
        chunk = GivenChunk(row.text, metadata=row.metadata)
        if row.span != (None, None):
            placed = _placed(chunk, row, chunks[-1] if chunks else None, original)
            wrong += [number] if placed is None else []
            chunk = placed or chunk
        chunks.append(chunk)
    if wrong:
        notes.append(
            f"the offsets of {len(wrong):,} of its {len(chunks):,} chunks are not where their text is (the first is "
            f"number {wrong[0]:,}), and are left out; they must be code points, from 0, of the decoded document "
            "without byte order mark"
        )
    if original is not None:
        chunks = list(_in_document(chunks, original))
        if lost := _lost(chunks, original):
            notes.append(f"{lost:,} characters of the document are in no chunk whose offsets are known")
    return Given(tuple(chunks), tuple(notes))


def _placed(chunk: GivenChunk, row: Row, before: GivenChunk | None, original: str | None) -> GivenChunk | None:
    """The chunk with the span that its row gives; None where that can't be right."""
    start, end = row.span
    length = len(row.text)
    if start is None:
        start = end - length if end is not None else 0
    if not 0 <= start <= _LARGEST or end not in (None, start + length):
        return None
    if original is not None and original[start : start + length] != row.text:
        return None
    placed = replace(chunk, char_start=start, char_end=start + length)
    if before is None or before.char_start is None or before.char_end is None:
        return placed
    overlap = before.char_end - start
    if start < before.char_start or overlap <= 0 or overlap > length:
        return placed
    if before.text[-overlap:] != row.text[:overlap]:
        return None
    return replace(placed, overlap_chars=overlap)


def _in_document(chunks: Sequence[GivenChunk], text: str) -> Iterator[GivenChunk]:
    """The chunks with their lines, and the blanks behind them where those are all that is there."""
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    for chunk, following in zip(chunks, [*chunks[1:], None], strict=True):
        if chunk.char_start is None or chunk.char_end is None:
            yield chunk
            continue
        until = len(text) if following is None else following.char_start
        gap = text[chunk.char_end : until] if until is not None else ""
        yield replace(
            chunk,
            line_start=bisect_right(line_starts, chunk.char_start),
            line_end=bisect_right(line_starts, max(chunk.char_start, chunk.char_end - 1)),
            gap_after=gap if gap.isspace() else "",
        )


def _lost(chunks: Sequence[GivenChunk], text: str) -> int:
    """How many characters of the document, blanks apart, are in no chunk; 0 where no chunk says where it is."""
    spans = sorted((chunk.char_start, chunk.char_end) for chunk in chunks if chunk.char_start is not None)
    if not spans:
        return 0
    lost = reached = 0
    for start, end in [*spans, (len(text), len(text))]:
        lost += sum(not char.isspace() for char in text[reached:start])
        reached = max(reached, end or 0)
    return lost
