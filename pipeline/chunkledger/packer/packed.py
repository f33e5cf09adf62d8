"""What packing gives: the blocks that go into the prompt, in order, and what they cost."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from .log import PackLog
from .rows import column_of


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the prompt.

    Attributes:
        rank: 1-based place of the hit in the ranking.
        row: the hit, untouched.
        chunk_id: its chunk id.
        doc_id: its document id.
        tokens: what the block costs where it stands, its number included.
        shown_chars: None where the whole text is shown; otherwise the offset into the text where it is cut.
    """

    rank: int
    row: object
    chunk_id: str
    doc_id: str
    tokens: int
    shown_chars: int | None


Citation = tuple[str, str, int | None, int | None]
"""(chunk_id, doc_id, char_start, char_end): a half-open span of the document, in code points; None where unknown."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The blocks that go into the prompt. The block at index i is rendered with the number i + 1.

    Attributes:
        blocks: in the order in which they are rendered.
        used_tokens: the sum of their tokens, which is the count of the rendered prompt.
        slot_tokens: the slot that was filled. `used_tokens` is above it only where the chunk at rank 1 is over the
            slot by itself and could not be cut.
        encoding: the encoding of all counts.
        template: how the blocks are rendered; "" where there was no hit and none was asked for.
        log: what happened.
    """

    blocks: tuple[Block, ...]
    used_tokens: int
    slot_tokens: int
    encoding: str
    template: str
    log: PackLog

    def citations(self) -> dict[int, list[Citation]]:
        """For each number in the prompt, the spans that are really shown under it.

        A block shows one span. It is in a list so that a caller need not change when a block can show several.

        Raises:
            ValueError: an offset that is there, but not a whole number.

        >>> row = {"chunk_id": "c-1", "doc_id": "a.md", "char_start": 100, "char_end": 180}
        >>> block = Block(rank=1, row=row, chunk_id="c-1", doc_id="a.md", tokens=20, shown_chars=30)
        >>> _span(block)
        ('c-1', 'a.md', 100, 130)
        """
        return {number: [_span(block)] for number, block in enumerate(self.blocks, 1)}


def offset(block: Block, name: str) -> int | None:
    """A whole number that may be missing, of the block's row.

    Raises:
        ValueError: it is there, but not a whole number.
    """
    value = column_of(block.row)(name)
    try:
        return None if value is None else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(
            f"chunk_id {block.chunk_id!r}: {name} is {value!r}; it must be a whole number or null"
        ) from None


def _span(block: Block) -> Citation:
    start = offset(block, "char_start")
    if block.shown_chars is None:
        return block.chunk_id, block.doc_id, start, offset(block, "char_end")
    return block.chunk_id, block.doc_id, start, None if start is None else start + block.shown_chars
