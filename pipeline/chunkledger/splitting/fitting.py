"""Competing cut points -> pieces: the dynamic programme for each document, with what overlaps and what is forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, BoolArray, IntArray, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting.dense_fit import Candidates, cuts_to_take
from chunkledger.splitting.pieces import Piece
from chunkledger.splitting.prefixes import Prefixes
from chunkledger.splitting.strengths import PRICES
from chunkledger.splitting.total_fit import Aim


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


def fitted_pieces(
    batch: Batch,
    active: Active,
    ends: TokenEnds,
    prefixes: Prefixes,
    settings: Settings,
    *,
    limit: int | None = None,
    end: int | None = None,
) -> list[Piece]:
    """The best pieces, in document order.

    Args:
        batch: the documents.
        active: the cut points that compete; the first of each document is forced.
        ends: where the documents' tokens end.
        prefixes: what stands before each chunk.
        settings: sizes and overlap.
        limit: room for a chunk, where it is not `settings.max_tokens`.
        end: where the last piece ends, where it is not the end of its document.
    """
    if not len(active.position):
        return []
    most = limit if limit is not None else settings.max_tokens
    aim = Aim(most, min(settings.target, most), settings.min_tokens)
    tokens = ends.before(active.position)
    overlap = _overlap_starts(active, tokens, settings)
    start = active.position[overlap]
    piece_end = active.piece_ends(batch) if end is None else np.append(active.position[1:], end)
    columns = _Columns(
        position=active.position,
        piece_end=piece_end,
        tokens=tokens,
        end_tokens=ends.before(piece_end),
        start_tokens=tokens[overlap],
        prefix=prefixes.token_count(start, active.document),
        price=active.price,
        loose=active.loose | active.loose[overlap],
        overlap=overlap,
    )
    first = np.flatnonzero(active.forced)
    last = np.append(first[1:], len(active.position))
    sizes = columns.end_tokens[last - 1] - tokens[first] + columns.prefix[first]
    whole = (last - first == 1) | (sizes <= aim.limit)
    pieces: list[Piece] = []
    for begun, done, fits in zip(first.tolist(), last.tolist(), whole.tolist(), strict=True):
        taken = [begun] if fits else _segment(columns, begun, done, aim)
        pieces += _pieces(batch, active, columns, taken, done, prefixes.counter, settings.overlap_tokens)
    return pieces


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the programme needs to know of the cut points: parallel arrays (a megabyte may have a million)."""

    position: IntArray
    piece_end: IntArray
    tokens: IntArray
    end_tokens: IntArray
    start_tokens: IntArray
    prefix: IntArray
    price: NDArray[np.float64]
    loose: BoolArray
    overlap: IntArray


def _segment(columns: _Columns, first: int, last: int, aim: Aim) -> list[int]:
    """Indices of the cuts to take between two forced ones, where the whole does not fit."""
    here = slice(first, last)
    candidates = Candidates(
        np.append(columns.tokens[here], columns.end_tokens[last - 1]),
        columns.start_tokens[here],
        columns.prefix[here],
        columns.price[here],
        np.append(columns.loose[here], False),
    )
    return [first + index for index in cuts_to_take(candidates, aim)]


def _overlap_starts(active: Active, tokens: IntArray, settings: Settings) -> IntArray:
    """For each cut the index of the cut at which the text of its chunk starts.

    What is repeated are whole units of the level at which the cut fell: back to the first cut, as strong or
    stronger, that is within the overlap. A forced cut repeats nothing.
    """
    count = len(active.position)
    own = np.arange(count, dtype=np.int64)
    if not settings.overlap_tokens:
        return own
    starts = own.tolist()
    strength, cost, forced = active.strength.tolist(), tokens.tolist(), active.forced.tolist()
    for index in range(count):
        at = index
        while not forced[at] and at > 0:
            at -= 1
            if cost[index] - cost[at] > settings.overlap_tokens:
                break
            if strength[at] <= strength[index]:
                starts[index] = at
    return np.array(starts, np.int64)


def _pieces(
    batch: Batch,
    active: Active,
    columns: _Columns,
    taken: list[int],
    last: int,
    counter: Counter,
    overlap_tokens: int,
) -> list[Piece]:
    pieces: list[Piece] = []
    previous_start = -1
    for index, following in zip(taken, [*taken[1:], last], strict=True):
        at = int(columns.overlap[index])
        if previous_start >= 0 and at <= previous_start:
            at = _later_start(active, index, previous_start)
        # Differences of token positions are a few tokens off within a line, so what is repeated is counted.
        while at < index and _trimmed_tokens(batch, active, at, index, counter) > overlap_tokens:
            at = _later_start(active, index, at)
        pieces.append(
            Piece(
                own_start=int(columns.position[index]),
                own_end=int(columns.piece_end[following - 1]),
                start=int(columns.position[at]),
                loose=bool(active.loose[at]),
                document=int(active.document[index]),
            )
        )
        previous_start = at
    return pieces


def _trimmed_tokens(batch: Batch, active: Active, first: int, last: int, counter: Counter) -> int:
    """Exact tokens of the text between two cut points."""
    text = batch.data[int(active.position[first]) : int(active.position[last])].decode()
    return int(counter.count([text.rstrip()])[0])


def _later_start(active: Active, index: int, previous: int) -> int:
    """The first unit behind the start of the previous chunk, so that starts strictly ascend."""
    for at in range(previous + 1, index):
        if active.strength[at] <= active.strength[index]:
            return at
    return index
