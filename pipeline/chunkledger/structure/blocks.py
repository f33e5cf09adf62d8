"""Batch -> blocks: every document through the parser of its format, into one set of flat arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from chunkledger.model import Batch, Blocks, CodeArray, IntArray
from chunkledger.structure import kinds
from chunkledger.structure.markdown import heading_title, markdown_blocks
from chunkledger.structure.plain import plain_blocks
from chunkledger.structure.ranges import Ranges
from chunkledger.structure.rst import rst_blocks
from chunkledger.structure.rst_inline import rst_title

PARSERS: dict[str, Callable[[str, bytes], Ranges]] = {
    "markdown": markdown_blocks,
    "plain": plain_blocks,
    "rst": rst_blocks,
}
"""Format -> a function from text and its UTF-8 bytes to block ranges that cover all that is not blank."""

TITLES: dict[str, Callable[[str], str]] = {"markdown": heading_title, "rst": rst_title}
"""Format -> a function from the source of a heading to its plain text."""

_NESTING = kinds.table_of(*kinds.NESTING)
_TEXT = re.compile(rb"[^ \t\r\n]")


def blocks_of(batch: Batch) -> Blocks:
    """The blocks of every document of the batch, by document and start, outer ones first."""
    all_found = Ranges([], [], [], [])
    counts: list[int] = []
    data = batch.data
    bounds = batch.starts.tolist()
    for number, document in enumerate(batch.documents):
        found = PARSERS[document.format](document.text, data[bounds[number] : bounds[number + 1]])
        counts.append(len(found.start))
        for column, values in zip(all_found, found, strict=True):
            column.extend(values)
    document_of = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    base = batch.starts[document_of]
    complete = _with_item_text(
        batch,
        _Columns(
            _at_text(data, np.array(all_found.start, np.int64) + base),
            np.array(all_found.end, np.int64) + base,
            np.array(all_found.kind, np.uint8),
            np.array(all_found.level, np.uint8),
            document_of,
        ),
    )
    return Blocks(
        start=complete.start,
        end=complete.end,
        line_start=batch.line_starts[np.searchsorted(batch.line_starts, complete.start, side="right") - 1],
        kind=complete.kind,
        level=complete.level,
        depth=_depths(complete.start, complete.end, complete.kind),
        document=complete.document,
        titles=_titles(batch, complete),
    )


def _at_text(data: bytes, start: IntArray) -> IntArray:
    """Starts moved on to the first character that is no blank.

    The parser now and then starts a nested block at the blank line before it (where tabs indent it).
    """
    if not len(start):
        return start
    first = np.frombuffer(data, np.uint8)[start]
    moved = start.copy()
    for index in np.flatnonzero(np.isin(first, (9, 10, 13, 32))).tolist():
        found = _TEXT.search(data, int(start[index]))
        moved[index] = found.start() if found else start[index]
    return moved


class _Columns(NamedTuple):
    """The blocks of a batch while they are put together."""

    start: IntArray
    end: IntArray
    kind: CodeArray
    level: CodeArray
    document: IntArray


def _with_item_text(batch: Batch, found: _Columns) -> _Columns:
    """The same blocks, and a paragraph for the text of each item of a tight list.

    The parser gives no paragraph there (HTML has none). An item has text of its own unless its first block starts
    on the item's own line, behind the mark.
    """
    items = np.flatnonzero(found.kind == kinds.ITEM)
    following = np.append(found.start[1:], len(batch.data))[items]
    text_end = np.minimum(following, found.end[items])
    line = np.searchsorted(batch.line_starts, found.start[items], side="right")
    line_end = np.append(batch.line_starts, len(batch.data))[line]
    own = (text_end >= line_end) | (text_end == found.end[items])
    chosen = items[own]
    places = chosen + 1
    return _Columns(
        start=np.insert(found.start, places, found.start[chosen]),
        end=np.insert(found.end, places, text_end[own]),
        kind=np.insert(found.kind, places, kinds.PARAGRAPH),
        level=np.insert(found.level, places, 0),
        document=np.insert(found.document, places, found.document[chosen]),
    )


def _depths(start: IntArray, end: IntArray, kind: CodeArray) -> IntArray:
    """How many nesting blocks hold each block: those that started before it, less those that ended by then."""
    nesting = _NESTING[kind]
    opened: IntArray = np.cumsum(nesting) - nesting
    closed = np.searchsorted(np.sort(end[nesting]), start, side="right")
    return (opened - closed).astype(np.int64)


def _titles(batch: Batch, found: _Columns) -> tuple[str, ...]:
    headings = np.flatnonzero(found.kind == kinds.HEADING)
    places = (column[headings].tolist() for column in (found.start, found.end, found.document))
    formats = [document.format for document in batch.documents]
    sources = [(formats[of], batch.data[start:end]) for start, end, of in zip(*places, strict=True)]
    # Documents of one corpus share many titles: each is made once.
    title = {(name, source): TITLES[name](source.decode()) for name, source in set(sources)}
    return tuple(map(title.__getitem__, sources))
