"""Blocks -> those that hold text themselves."""

from __future__ import annotations

from dataclasses import dataclass

from chunkledger.model import Blocks, CodeArray, IntArray
from chunkledger.structure import kinds

_LINE_KINDS = (kinds.CODE, kinds.HTML, kinds.TABLE, kinds.FRONT_MATTER, kinds.MATH, kinds.DEFINITION)
_HOLD_TEXT = kinds.table_of(kinds.PARAGRAPH, *_LINE_KINDS)


@dataclass(frozen=True, slots=True)
class Leaves:
    """The blocks that hold text themselves; they do not overlap, so both ends ascend."""

    start: IntArray
    end: IntArray
    kind: CodeArray
    depth: IntArray


def leaves_of(blocks: Blocks) -> Leaves:
    """Paragraphs, and the blocks whose lines are units."""
    chosen = _HOLD_TEXT[blocks.kind]
    return Leaves(blocks.start[chosen], blocks.end[chosen], blocks.kind[chosen], blocks.depth[chosen])
