"""Pieces: chunks before their blanks are trimmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chunkledger.model import Batch, Spans


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk before its blanks are trimmed. Positions are bytes of `Batch.data`.

    Attributes:
        own_start, own_end: what is new in it.
        start: where its text starts; before `own_start` by the overlap.
        loose: whether `start` lies within a line.
        document: index into the batch.
    """

    own_start: int
    own_end: int
    start: int
    loose: bool
    document: int

    def without_overlap(self, batch: Batch) -> Piece:
        """The piece with what is new in it alone."""
        return replace(self, start=self.own_start, loose=is_loose(batch, self.own_start))


def is_loose(batch: Batch, position: int) -> bool:
    """Whether the position lies within a line."""
    index = int(np.searchsorted(batch.line_starts, position, side="right")) - 1
    return int(batch.line_starts[index]) != position


def spans_of(batch: Batch, pieces: Sequence[Piece]) -> Spans:
    """The pieces as columns, the blanks at their ends left out."""
    data = batch.data
    start = np.array([piece.start for piece in pieces], np.int64)
    end = np.array([trimmed_end(data, piece.start, piece.own_end) for piece in pieces], np.int64)
    return Spans(
        own_start=np.array([piece.own_start for piece in pieces], np.int64),
        start=start,
        end=end,
        document=np.array([piece.document for piece in pieces], np.int64),
        loose=np.array([piece.loose for piece in pieces], np.bool_),
    )


def trimmed_end(data: bytes, start: int, end: int) -> int:
    """Where the text of `data[start:end]` ends when the blanks behind it are left out."""
    kept = data[start:end].rstrip()
    if kept and (kept[-1] >= 0x80 or kept[-1] < 0x20):
        kept = kept.decode().rstrip().encode()
    return start + len(kept)
