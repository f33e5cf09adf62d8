"""The cut points that compete: those of structure that are not banned, and finer ones where a piece is too big."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import Batch, BoolArray, IntArray
from chunkledger.splitting.pieces import Piece
from chunkledger.splitting.strengths import PRICES


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
    """

    position: IntArray
    strength: IntArray
    price: NDArray[np.float64]
    loose: BoolArray
    document: IntArray
    forced: BoolArray

    @classmethod
    def of_piece(cls, piece: Piece) -> Active:
        """The start of one piece as the only cut point."""
        return cls(
            np.array([piece.own_start], np.int64),
            np.zeros(1, np.int64),
            np.zeros(1, np.float64),
            np.array([piece.loose], np.bool_),
            np.array([piece.document], np.int64),
            np.ones(1, np.bool_),
        )

    def piece_ends(self, batch: Batch) -> IntArray:
        """Where the piece ends that starts at each cut: at the next one, or at the end of the document."""
        following = np.append(self.position[1:], len(batch.data))
        result: IntArray = np.minimum(following, batch.starts[self.document + 1])
        return result

    def with_points(self, batch: Batch, points: Sequence[tuple[int, int]], documents: Sequence[int]) -> Active:
        """These cut points and finer ones (byte, strength), each with the document that it is in."""
        if not points:
            return self
        position = np.array([place for place, _ in points], np.int64)
        strength = np.array([value for _, value in points], np.int64)
        line = batch.line_starts[np.searchsorted(batch.line_starts, position, side="right") - 1]
        none = np.zeros(len(points), np.bool_)
        every = [
            np.concatenate(pair)
            for pair in (
                (self.position, position),
                (self.strength, strength),
                (self.price, PRICES[strength]),
                (self.loose, line != position),
                (self.document, np.array(documents, np.int64)),
                (self.forced, none),
            )
        ]
        order = np.lexsort((every[1], every[0]))
        first = order[np.flatnonzero(np.diff(every[0][order], prepend=-1))]
        return Active(*(column[first] for column in every))
