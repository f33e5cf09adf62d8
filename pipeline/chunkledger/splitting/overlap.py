"""Overlap: what a chunk repeats from the end of the one before it. Whole units only, never across a forced cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, IntArray
from chunkledger.splitting.active import Active
from chunkledger.splitting.pieces import trimmed_end


def overlap_starts(active: Active, overlap_tokens: int) -> IntArray:
    """For each cut the index of the cut at which the text of its chunk starts.

    What is repeated are whole units of the level at which the cut fell: back to the first cut, as strong or
    stronger, that is within the overlap. A forced cut repeats nothing.

    Args:
        active: the cuts.
        overlap_tokens: most that is repeated.
    """
    count = len(active.position)
    starts = list(range(count))
    if overlap_tokens:
        strength, cost, forced = active.strength.tolist(), active.tokens.tolist(), active.forced.tolist()
        for index in range(count):
            at = index
            while not forced[at] and at > 0:
                at -= 1
                if cost[index] - cost[at] > overlap_tokens:
                    break
                if strength[at] <= strength[index]:
                    starts[index] = at
    return np.array(starts, np.int64)


def taken_starts(
    batch: Batch, active: Active, taken: Sequence[int], starts: IntArray, counter: Counter, overlap_tokens: int
) -> IntArray:
    """For each cut that is taken the index of the cut at which the text of its chunk starts.

    Args:
        batch: the documents.
        active: the cuts that competed.
        taken: those that were taken, ascending.
        starts: what `overlap_starts` gave.
        counter: for what is repeated: differences of token positions are a few tokens off within a line.
        overlap_tokens: most that is repeated.
    """
    found: list[int] = []
    for index in taken:
        at = int(starts[index])
        if found and at <= found[-1]:
            at = _later_start(active, index, found[-1])
        while at < index and _trimmed_tokens(batch, active, at, index, counter) > overlap_tokens:
            at = _later_start(active, index, at)
        found.append(at)
    return np.array(found, np.int64)


def _trimmed_tokens(batch: Batch, active: Active, first: int, last: int, counter: Counter) -> int:
    """Exact tokens of the text between two cut points."""
    start, end = int(active.position[first]), int(active.position[last])
    return int(counter.count([batch.data[start : trimmed_end(batch.data, start, end)].decode()])[0])


def _later_start(active: Active, index: int, previous: int) -> int:
    """The first unit behind the start of the previous chunk, so that starts strictly ascend."""
    for at in range(previous + 1, index):
        if active.strength[at] <= active.strength[index]:
            return at
    return index
