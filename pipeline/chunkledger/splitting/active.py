"""The cut points that compete: those of structure that are not banned, and finer ones where a piece is too big."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import Batch, BoolArray, IntArray, TokenEnds
from chunkledger.splitting.hashing import text_hashes
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.pieces import Piece
from chunkledger.splitting.strengths import ITEM, LOCAL_PRICES, PRICES


@dataclass(frozen=True, slots=True)
class Active:
    """The cut points that compete, ascending by position: parallel arrays.

    Attributes:
        position: byte of `Batch.data`.
        strength: see `strengths`.
        price: of cutting there.
        loose: whether it lies within a line.
        document: index into the batch.
        forced: whether it is always taken.
        tokens: of the batch before it.
        prefix: tokens of the embed prefix of a chunk that starts there.
    """

    position: IntArray
    strength: IntArray
    price: NDArray[np.float64]
    loose: BoolArray
    document: IntArray
    forced: BoolArray
    tokens: IntArray
    prefix: IntArray

    @classmethod
    def of_points(
        cls,
        ladder: Ladder,
        position: IntArray,
        strength: IntArray,
        document: IntArray,
        *,
        price: NDArray[np.float64] | None = None,
        forced: BoolArray | None = None,
    ) -> Active:
        """Cut points at these places, ascending.

        Args:
            ladder: for the documents, their tokens and prefixes.
            position: bytes.
            strength: of each.
            document: that it is in.
            price: where it is not that of the strength.
            forced: which are always taken, where any are.
        """
        lines = ladder.batch.line_starts
        base = PRICES[strength] if price is None else price
        weak = np.flatnonzero(strength >= ITEM)
        if len(weak):
            hashed = text_hashes(ladder.batch, position[weak], document[weak])
            base = base.copy()
            base[weak] += LOCAL_PRICES[strength[weak]] * ((hashed >> np.uint64(44)) / 2**20 - 0.5)
        return cls(
            position=position,
            strength=strength,
            price=base,
            loose=lines[np.searchsorted(lines, position, side="right") - 1] != position,
            document=document,
            forced=np.zeros(len(position), np.bool_) if forced is None else forced,
            tokens=ladder.ends.before(position),
            prefix=ladder.prefixes.token_count(position, document),
        )

    @classmethod
    def of_piece(cls, ladder: Ladder, piece: Piece) -> Active:
        """The start of one piece as the only cut point."""
        place, document = np.array([piece.own_start], np.int64), np.array([piece.document], np.int64)
        return cls.of_points(ladder, place, np.zeros(1, np.int64), document, forced=np.ones(1, np.bool_))

    def piece_ends(self, batch: Batch, borders: IntArray | None = None) -> IntArray:
        """Where the piece ends that starts at each cut: at the next one, or at the end of the document.

        Args:
            batch: the documents.
            borders: places, ascending, that no piece goes over, where some cuts are left out.
        """
        following = np.append(self.position[1:], len(batch.data))
        if borders is not None:
            after = np.searchsorted(borders, self.position, side="right")
            following = np.minimum(following, np.append(borders, len(batch.data))[after])
        result: IntArray = np.minimum(following, batch.starts[self.document + 1])
        return result

    def end_tokens(self, piece_end: IntArray, ends: TokenEnds) -> IntArray:
        """Tokens before the end of each piece, which is nearly always where the next one starts."""
        result = np.append(self.tokens[1:], 0)
        last = np.flatnonzero(piece_end != np.append(self.position[1:], -1))
        result[last] = ends.before(piece_end[last])
        return result

    def rows(self, chosen: BoolArray | IntArray) -> Active:
        """Some of the cut points."""
        return Active(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def with_points(self, ladder: Ladder, position: IntArray, strength: IntArray, document: IntArray) -> Active:
        """These cut points and finer ones; where two are at one place, a forced one, else the stronger of them."""
        if not len(position):
            return self
        finer = Active.of_points(ladder, position, strength, document)
        every = Active(*(np.append(getattr(self, field.name), getattr(finer, field.name)) for field in fields(self)))
        order = np.lexsort((every.strength, ~every.forced, every.position))
        return every.rows(order[np.flatnonzero(np.diff(every.position[order], prepend=-1))])
