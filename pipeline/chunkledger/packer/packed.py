"""What packing gives: the blocks that go into the prompt, in order, and what they cost."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable

from .frozen import Frozen
from .hits import Column, column_of, fault
from .log import PackLog
from .values import counted, titles

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from typing import TypeVar

    Value = TypeVar("Value")


class PackedChunk(namedtuple("PackedChunk", ("rank", "row", "chunk_id", "doc_id", "shown_chars"))):
    """One chunk that is shown. A named tuple, because a dataclass takes ten times as long to import and to make.

    Attributes:
        rank: 1-based place of the hit in the ranking.
        row: the hit, untouched.
        chunk_id: its chunk id.
        doc_id: its document id.
        shown_chars: None where the whole text is shown; otherwise the offset into the text where it is cut.
    """

    __slots__ = ()

    rank: int
    row: object
    chunk_id: str
    doc_id: str
    shown_chars: int | None

    def read(self, read: Callable[[Column], Value]) -> Value:
        """What `read` makes of the columns of the hit.

        Raises:
            ValueError: as `read` does, with the hit named.
        """
        column = column_of(self.row)
        try:
            return read(column)
        except ValueError as error:
            raise fault(self.rank, column, error) from None

    def offset(self, name: str) -> int | None:
        """A whole number of the hit that may be missing.

        Raises:
            ValueError: it is there, but not a whole number of at least 0.
        """
        return self.read(lambda column: counted(column, name, 0))

    def span(self) -> Citation:
        """What is shown of the document."""
        start, end = self.offset("char_start"), self.offset("char_end")
        if self.shown_chars is not None:
            end = None if start is None else start + self.shown_chars
        return self.chunk_id, self.doc_id, start, end


class Block(namedtuple("Block", ("rank", "chunks", "tokens"))):
    """One block of the prompt: a chunk, or chunks of one document that follow each other.

    Attributes:
        rank: the best 1-based rank of the hits whose text it shows.
        chunks: in reading order; only a single one can be cut.
        tokens: what the block costs where it stands, its number included.
    """

    __slots__ = ()

    rank: int
    chunks: tuple[PackedChunk, ...]
    tokens: int

    @property
    def doc_id(self) -> str:
        """The document's id."""
        return self.chunks[0].doc_id

    @property
    def heading_path(self) -> list[str]:
        """Titles from the document's root to the section of the first chunk; one string where they come joined.

        Raises:
            ValueError: it is something else.
        """
        return self.chunks[0].read(titles)

    @property
    def truncated(self) -> bool:
        """Whether it is cut, so that the truncation marker follows its text."""
        return self.chunks[0].shown_chars is not None


Citation = tuple[str, str, int | None, int | None]
"""(chunk_id, doc_id, char_start, char_end): a half-open span of the document, in code points; None where unknown."""


class Packed(Frozen):
    """The blocks that go into the prompt. The block at index i is rendered with the number i + 1.

    Attributes:
        blocks: in the order in which they are rendered.
        used_tokens: the sum of their tokens, which is the count of the rendered prompt; with `overhead_tokens` an
            estimate of it (`log.used_is_estimate`).
        slot_tokens: the slot that was filled. `used_tokens` is above it only where the chunk at rank 1 is over the
            slot by itself and could not be cut.
        encoding: the encoding of all counts.
        template: how the blocks are rendered; "" where there was no hit and none was asked for, or where the template
            is the caller's own.
        log: what happened.
    """

    blocks: tuple[Block, ...]
    used_tokens: int
    slot_tokens: int
    encoding: str
    template: str
    log: PackLog
    __slots__ = tuple(__annotations__)

    def __init__(
        self,
        blocks: tuple[Block, ...],
        used_tokens: int,
        slot_tokens: int,
        encoding: str,
        template: str,
        log: PackLog,
    ) -> None:
        self._set(
            {
                "blocks": blocks,
                "used_tokens": used_tokens,
                "slot_tokens": slot_tokens,
                "encoding": encoding,
                "template": template,
                "log": log,
            }
        )

    @property
    def chunk_ids(self) -> list[str]:
        """The ids of all chunks that are shown, in the order of the prompt."""
        return [chunk.chunk_id for block in self.blocks for chunk in block.chunks]

    def citations(self) -> dict[int, list[Citation]]:
        """For each number in the prompt, the spans that are really shown under it, one for each chunk of its block.

        Raises:
            ValueError: an offset that is there, but not a whole number.

        >>> from chunkledger.packer import pack
        >>> row = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 20}
        >>> hits = [row | {"chunk_id": "c-1", "char_start": 100, "char_end": 180}]
        >>> pack(hits, 50, encoding="o200k_base").citations()
        {1: [('c-1', 'a.md', 100, 180)]}
        """
        return {number: [chunk.span() for chunk in block.chunks] for number, block in enumerate(self.blocks, 1)}
