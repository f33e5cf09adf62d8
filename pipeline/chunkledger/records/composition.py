"""What a chunk is made of: the tokens of each kind of block in it, and how many units of the kind that prevails."""

from __future__ import annotations

import numpy as np

from chunkledger.model import Batch, Blocks, IntArray, Spans, TokenEnds
from chunkledger.records.schema import KINDS
from chunkledger.structure import kinds

_PROSE, _LIST, _TABLE, _CODE, _HTML, _FRONT_MATTER = range(len(KINDS))
_KIND_OF_LEAF = {
    kinds.HEADING: _PROSE,
    kinds.PARAGRAPH: _PROSE,
    kinds.RULE: _PROSE,
    kinds.DEFINITION: _PROSE,
    kinds.MATH: _PROSE,
    kinds.QUOTE: _PROSE,
    kinds.FOOTNOTE: _PROSE,
    kinds.TABLE: _TABLE,
    kinds.CODE: _CODE,
    kinds.HTML: _HTML,
    kinds.FRONT_MATTER: _FRONT_MATTER,
}
_IS_LEAF = kinds.table_of(*_KIND_OF_LEAF)
_LEAF_KINDS = np.array([_KIND_OF_LEAF.get(value, _PROSE) for value in range(len(_IS_LEAF))], np.int64)
_UNIT_NAMES = ("characters", "items", "rows", "lines", "lines", "lines")
_UNIT_BLOCKS = {_LIST: kinds.ITEM, _TABLE: kinds.TABLE_ROW}


def chunk_kinds(batch: Batch, blocks: Blocks, ends: TokenEnds, spans: Spans) -> IntArray:
    """For each chunk the index into `KINDS` of the kind that holds most of its tokens; of equals the first."""
    leaf = _IS_LEAF[blocks.kind]
    start = blocks.line_start[leaf]
    kind = _LEAF_KINDS[blocks.kind[leaf]]
    kind[(kind == _PROSE) & (_item_depth(blocks)[leaf] > 0)] = _LIST
    # What no block is behind yet is prose, and not what the document before ends with.
    start, kind = np.append(batch.starts[:-1], start), np.append(np.full(len(batch.documents), _PROSE), kind)
    order = np.argsort(start, kind="stable")
    start, kind = start[order], kind[order]
    # Where one kind follows the other; most leaves are of the kind of the one before.
    changes = np.flatnonzero(np.diff(kind, prepend=-1))
    start, kind = start[changes], kind[changes]
    if not len(start):
        return np.zeros(len(spans.start), np.int64)
    first = np.maximum(np.searchsorted(start, spans.start, side="right") - 1, 0)
    last = np.maximum(np.searchsorted(start, spans.end, side="left") - 1, 0)
    tokens = ends.before(start)
    widths = np.diff(np.append(tokens, len(ends.end)))
    at_start, at_end = ends.before(spans.start) - tokens[first], ends.before(spans.end) - tokens[last]
    held = np.zeros((len(KINDS), len(spans.start)), np.int64)
    for value in range(len(KINDS)):
        before = np.concatenate([[0], np.cumsum(np.where(kind == value, widths, 0))])
        held[value] = before[last] - before[first]
        held[value] += np.where(kind[last] == value, at_end, 0) - np.where(kind[first] == value, at_start, 0)
    result: IntArray = held.argmax(axis=0)
    return result


def unit_detail(batch: Batch, blocks: Blocks, kind: int, start: int, end: int) -> str:
    """How much of its kind a chunk holds, for people: "310 rows", "900 lines".

    Args:
        batch: the documents.
        blocks: their structure.
        kind: index into `KINDS`.
        start: byte where the chunk's text starts.
        end: byte where it ends.
    """
    name = _UNIT_NAMES[kind]
    if kind in _UNIT_BLOCKS:
        units = blocks.start[blocks.kind == _UNIT_BLOCKS[kind]]
        number = int(np.searchsorted(units, end, side="left") - np.searchsorted(units, start, side="left"))
    elif name == "lines":
        lines = batch.line_starts
        number = int(np.searchsorted(lines, end, side="left") - np.searchsorted(lines, start, side="right")) + 1
    else:
        number = len(batch.data[start:end].decode())
    return counted_units(number, name)


def counted_units(number: int, name: str) -> str:
    """A number with its noun, which is given in the plural.

    >>> counted_units(1, "rows"), counted_units(1200, "rows")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {name if number != 1 else name[:-1]}"


def _item_depth(blocks: Blocks) -> IntArray:
    item = blocks.kind == kinds.ITEM
    opened = np.cumsum(item) - item
    closed = np.searchsorted(np.sort(blocks.end[item]), blocks.start, side="right")
    result: IntArray = opened - closed
    return result
