"""Which cuts to take: the cheapest way through each document, by dynamic programming over its cut points.

The best way to an end is the cheapest of the best ways to each start within the limit, plus the chunk between. The
costs of all such pairs are made at once. Then the ends of very many documents are worked on in step, the first ends of
all of them, the second ends, and so on (16 times as fast as a loop over pairs on a corpus of long documents); where a
step would have few pairs, as in one long document, a loop over its ends is the faster way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import BoolArray, IntArray
from chunkledger.splitting.prices import Aim, chunk_costs, loose_slack

WIDE = 30
"""Pairs for each step, on average, from which steps are faster than a loop (measured)."""
_BLOCK_PAIRS = 100_000
"""Pairs whose costs are held at once: as many as a processor's cache takes."""


class Candidates(NamedTuple):
    """The cuts that may be taken, ascending: parallel arrays, with one value for each cut.

    Attributes:
        tokens: before the cut.
        end_tokens: before the end of the piece that starts there: before the next cut, or the end of the document.
        start_tokens: before the place where the text of a chunk cut there starts (earlier than `tokens` by its
            overlap).
        prefix: tokens of the embed prefix of a chunk cut there.
        price: of cutting there.
        loose: whether the cut lies within a line, so that differences of tokens are not exact.
    """

    tokens: IntArray
    end_tokens: IntArray
    start_tokens: IntArray
    prefix: IntArray
    price: NDArray[np.float64]
    loose: BoolArray


def taken_cuts(candidates: Candidates, first: IntArray, last: IntArray, aim: Aim) -> IntArray:
    """Indices of the cuts to take, ascending: of segments that fit whole their first one, of the others the best.

    Args:
        candidates: the cuts that may be taken.
        first: where each segment starts among them, ascending; every segment is cut on its own.
        last: where each ends.
        aim: the sizes to keep.
    """
    sizes = candidates.end_tokens[last - 1] - candidates.start_tokens[first] + candidates.prefix[first]
    open_segments = (last - first > 1) & (sizes > aim.limit)
    inner = best_cuts(candidates, first[open_segments], last[open_segments], aim)
    return np.sort(np.concatenate([first[~open_segments], inner]))


def best_cuts(candidates: Candidates, first: IntArray, last: IntArray, aim: Aim) -> IntArray:
    """Indices of the cuts to take, ascending; the first of every segment is always among them.

    A piece between two neighbouring cuts that is over the limit becomes a chunk of its own. Of ways that cost the same
    the one with the shortest last chunk is taken.

    Args:
        candidates: the cuts that may be taken.
        first: where each segment starts among them, ascending; every segment is cut on its own.
        last: where each ends.
        aim: the sizes to keep.
    """
    if not len(first):
        return first
    ends = _ends_of(candidates, first, last, aim)
    pairs = int((ends.piece - ends.low + 1).sum())
    if pairs >= WIDE * int((last - first).max()):
        return _in_step(ends)
    return _one_by_one(ends)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ends that chunks may have, segment by segment: parallel arrays.

    Attributes:
        candidates, aim: as given.
        piece: index of the candidate whose piece ends there.
        low: the first candidate at which a chunk may start that ends there.
        first: the first candidate of the segment.
        price: of the cut that lies there; 0 at the end of a segment.
        loose: whether that cut lies within a line.
    """

    candidates: Candidates
    aim: Aim
    piece: IntArray
    low: IntArray
    first: IntArray
    price: NDArray[np.float64]
    loose: BoolArray

    def pairs(self, rows: IntArray) -> _Pairs:
        """Every chunk that may end at each of these ends (as indices)."""
        low, end = self.low[rows], self.piece[rows]
        counts = end - low + 1
        offset = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(counts, out=offset[1:])
        start = np.arange(offset[-1], dtype=np.int64) + np.repeat(low - offset[:-1], counts)
        tokens, end_tokens, start_tokens, prefix, _, loose = self.candidates
        end_at = end_tokens[end]
        slack = loose_slack(self.aim.limit)
        added = prefix - start_tokens + slack * loose
        size = added[start] + np.repeat(end_at, counts)
        loose_ends = self.loose[rows]
        if slack and loose_ends.any():
            size[np.repeat(loose_ends, counts) & ~loose[start]] += slack
        own = np.repeat(end_at, counts) - tokens[start]
        return _Pairs(start, offset, chunk_costs(size, own, self.aim))

    def blocks(self, order: IntArray) -> Iterator[IntArray]:
        """These ends in parts with not too many pairs each."""
        before = np.cumsum(self.piece[order] - self.low[order] + 1)
        at = 0
        while at < len(order):
            done = before[at - 1] if at else 0
            until = max(at + 1, int(np.searchsorted(before, done + _BLOCK_PAIRS, side="right")))
            yield order[at:until]
            at = until


class _Pairs(NamedTuple):
    """Chunks that may be made, end by end and in each by start.

    Attributes:
        start: candidate at which it starts.
        offset: where each end's chunks begin; ends + 1 values.
        cost: of the chunk.
    """

    start: IntArray
    offset: IntArray
    cost: NDArray[np.float64]


def _ends_of(candidates: Candidates, first: IntArray, last: IntArray, aim: Aim) -> _Ends:
    counts = last - first
    begun = np.cumsum(counts) - counts
    piece = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(first - begun, counts)
    segment_first = np.repeat(first, counts)
    fitting = np.searchsorted(candidates.tokens, candidates.end_tokens[piece] - aim.limit, side="left")
    low = np.minimum(np.maximum(fitting, segment_first), piece)
    price, loose = np.append(candidates.price, 0.0)[piece + 1], np.append(candidates.loose, False)[piece + 1]
    done = begun + counts - 1
    price[done], loose[done] = 0.0, False
    return _Ends(candidates, aim, piece, low, segment_first, price, loose)


def _in_step(ends: _Ends) -> IntArray:
    """All segments at once: their first ends, then their second ends, and so on."""
    place = ends.piece - ends.first
    order = np.argsort(place, kind="stable")
    slot = np.empty(len(order), np.int64)
    slot[order] = np.arange(1, len(order) + 1)
    steps = np.flatnonzero(np.diff(place[order], prepend=-1))
    price = ends.price[order]
    best = np.zeros(len(order) + 1, np.float64)
    least = np.empty(len(order), np.float64)
    came_from = np.empty(len(order), np.int64)
    at = 0
    for rows in ends.blocks(order):
        done = at + len(rows)
        start, offset, cost = ends.pairs(rows)
        way = _way_to_start(ends, slot, rows, start, offset)
        inner = steps[np.searchsorted(steps, at, side="right") : np.searchsorted(steps, done)].tolist()
        edges = offset.tolist()
        for begun, until in pairwise([at, *inner, done]):
            first, last = edges[begun - at], edges[until - at]
            costs = best[way[first:last]]
            costs += cost[first:last]
            here = np.minimum.reduceat(costs, offset[begun - at : until - at] - first, out=least[begun:until])
            np.add(here, price[begun:until], out=best[begun + 1 : until + 1])
        cheapest = best[way] + cost == np.repeat(least[at:done], np.diff(offset))
        came_from[at:done] = np.maximum.reduceat(np.where(cheapest, start, -1), offset[:-1])
        at = done
    return _walked_back(ends, came_from[slot - 1].tolist())


def _way_to_start(ends: _Ends, slot: IntArray, rows: IntArray, start: IntArray, offset: IntArray) -> IntArray:
    """Slot of the best way to the start of each chunk: that of the end before it, or 0, which is no way at all."""
    counts = np.diff(offset)
    way: IntArray = slot[np.repeat(rows - ends.piece[rows] - 1, counts) + start]
    way[start == np.repeat(ends.first[rows], counts)] = 0
    return way


def _one_by_one(ends: _Ends) -> IntArray:
    """End by end, segment by segment."""
    best: list[float] = []
    came_from: list[int] = []
    base = 0
    for rows in ends.blocks(np.arange(len(ends.piece), dtype=np.int64)):
        pairs = ends.pairs(rows)
        offset, costs = pairs.offset.tolist(), pairs.cost.tolist()
        columns = (ends.piece[rows], ends.low[rows], ends.first[rows], ends.price[rows])
        for row, (piece, low, first, price) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            if piece == first:
                base = len(best)
                best.append(0.0)
            ways = list(map(add, best[base + low - first :], costs[offset[row] : offset[row + 1]]))
            least = min(ways)
            came_from.append(piece - ways[::-1].index(least))
            best.append(least + price)
    return _walked_back(ends, came_from)


def _walked_back(ends: _Ends, came_from: list[int]) -> IntArray:
    """The cuts on the best ways to the ends of all segments.

    Args:
        ends: of all pieces.
        came_from: for each of them the start of the last chunk on the best way there.
    """
    pieces = ends.piece.tolist()
    taken: list[int] = []
    at = len(came_from) - 1
    while at >= 0:
        start = came_from[at]
        taken.append(start)
        at -= pieces[at] - start + 1
    return np.array(taken[::-1], np.int64)
