"""Pieces: chunks before their blanks are trimmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from chunkledger.model import Batch, BoolArray, IntArray

_ASCII_BLANK = np.isin(np.arange(256), list(b" \t\n\r"))
_LAST_BLANKS = 4
"""Blanks at an end that are looked back over for all pieces at once; the few with more go one by one."""


class Piece(NamedTuple):
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
        return self._replace(start=self.own_start, loose=is_loose(batch, self.own_start))


@dataclass(frozen=True, slots=True)
class Pieces:
    """Many of them: parallel arrays named as in `Piece`."""

    own_start: IntArray
    own_end: IntArray
    start: IntArray
    loose: BoolArray
    document: IntArray

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Pieces:
        """These pieces as columns."""
        columns = zip(*pieces, strict=True) if pieces else [()] * len(fields(cls))
        own_start, own_end, start, loose, document = columns
        return cls(
            np.array(own_start, np.int64),
            np.array(own_end, np.int64),
            np.array(start, np.int64),
            np.array(loose, np.bool_),
            np.array(document, np.int64),
        )

    def __len__(self) -> int:
        """How many there are."""
        return len(self.start)

    def rows(self, chosen: BoolArray | IntArray) -> Pieces:
        """Some of the pieces, or all in another order."""
        return Pieces(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def together(cls, parts: Sequence[Pieces]) -> Pieces:
        """The pieces of all parts, in order."""
        columns = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls))
        every = cls(*columns)
        return every.rows(np.argsort(every.own_start, kind="stable"))

    def piece(self, index: int) -> Piece:
        """One of them."""
        columns = (self.own_start, self.own_end, self.start, self.loose, self.document)
        return Piece(*(column[index].item() for column in columns))


def is_loose(batch: Batch, position: int) -> bool:
    """Whether the position lies within a line."""
    index = int(np.searchsorted(batch.line_starts, position, side="right")) - 1
    return int(batch.line_starts[index]) != position


def trimmed_ends(batch: Batch, start: IntArray, end: IntArray) -> IntArray:
    """Where the text of each `data[start:end]` ends when the blanks behind it are left out."""
    if not len(end):
        return end
    values = np.frombuffer(batch.data, np.uint8)
    last = end - 1
    for _ in range(_LAST_BLANKS):
        last = np.where(_ASCII_BLANK[values[last]] & (last > start), last - 1, last)
    result: IntArray = last + 1
    unsure = _ASCII_BLANK[values[last]] | (values[last] < ord(" "))
    if len(batch.exotic_blanks):
        unsure |= values[last] >= 0x80
    for index in np.flatnonzero(unsure).tolist():
        result[index] = trimmed_end(batch.data, int(start[index]), int(end[index]))
    return result


def trimmed_end(data: bytes, start: int, end: int) -> int:
    """Where the text of `data[start:end]` ends when the blanks behind it are left out."""
    kept = data[start:end].rstrip()
    if kept and (kept[-1] >= 0x80 or kept[-1] < 0x20):
        kept = kept.decode().rstrip().encode()
    return start + len(kept)
