"""The cuts of `total_fit`, where very many compete within one limit: all starts of an end at once.

A megabyte of one-token items has hundreds of starts for every end, and the plain loop looks at each of them (46 CPU
seconds). Rows of numpy make the same sums in the same order, so every cost is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import BoolArray, IntArray
from chunkledger.splitting.total_fit import Aim, best_cuts, chunk_cost, loose_slack

DENSE = 16
"""Starts for an end, on average, from which rows are faster than the plain loop (measured)."""
_BLOCK = 4096
"""Ends whose columns are plain lists at once: faster to read than arrays, and larger."""


class Candidates(NamedTuple):
    """The cuts that may be taken, as `best_cuts` describes its arguments of these names."""

    tokens: IntArray
    start_tokens: IntArray
    prefix: IntArray
    price: NDArray[np.float64]
    loose: BoolArray


def cuts_to_take(candidates: Candidates, aim: Aim) -> list[int]:
    """What `best_cuts` gives for these cuts, made in the way that is faster for them."""
    tokens, start_tokens, prefix, price, loose = candidates
    starts = np.arange(1, len(tokens)) - _first_starts(tokens, aim.limit)
    if int(starts.sum()) > DENSE * len(starts):
        return dense_cuts(candidates, aim)
    return best_cuts(tokens.tolist(), start_tokens.tolist(), prefix.tolist(), price.tolist(), loose.tolist(), aim)


def dense_cuts(candidates: Candidates, aim: Aim) -> list[int]:
    """What `best_cuts` gives for these cuts, made row by row."""
    tokens, start_tokens, prefix, price, loose = candidates
    count = len(start_tokens)
    added = tokens[:-1] - start_tokens + prefix
    slack = loose_slack(aim.limit)
    size_less_end = added - tokens[:-1]
    loose_less_end = size_less_end + slack
    size_less_end[loose[:count]] += slack
    # A single piece may be of any size; a chunk of several goes over the limit by what is added alone.
    sizes = range(aim.limit + int(added.max(initial=0)) + slack + 1)
    costs = np.array([chunk_cost(size, aim.least, aim) for size in sizes])
    costs_if_tiny = np.array([chunk_cost(size, aim.least - 1, aim) for size in sizes])
    best = np.zeros(count + 1, np.float64)
    came_from = np.zeros(count + 1, np.int64)
    for end, (low, first_tiny, end_tokens, end_loose, end_price) in enumerate(_ends(tokens, price, loose, aim), 1):
        less_end = loose_less_end if end_loose else size_less_end
        chosen = end - 1
        if low == chosen:
            least = best[low] + chunk_cost(end_tokens + int(less_end[low]), end_tokens - int(tokens[low]), aim)
        else:
            size = less_end[low:end] + end_tokens
            row = costs[size]
            tiny = max(0, first_tiny - low)
            row[tiny:] = costs_if_tiny[size[tiny:]]
            row += best[low:end]
            row = row[::-1]  # of equals the last start, which the plain loop meets first
            place = int(row.argmin())
            least, chosen = row[place], chosen - place
        best[end] = least + end_price
        came_from[end] = chosen
    taken: list[int] = []
    at = count
    while at > 0:
        at = int(came_from[at])
        taken.append(at)
    return taken[::-1]


def _ends(
    tokens: IntArray, price: NDArray[np.float64], loose: BoolArray, aim: Aim
) -> Iterator[tuple[int, int, int, bool, float]]:
    """Of each end: its first start, its first start of a tiny chunk, tokens before it, whether loose, its price."""
    columns = (
        _first_starts(tokens, aim.limit),
        np.searchsorted(tokens, tokens[1:] - aim.least, side="right"),
        tokens[1:],
        loose[1:],
        np.append(price[1:], 0.0),
    )
    for block in range(0, len(price), _BLOCK):
        yield from zip(*(column[block : block + _BLOCK].tolist() for column in columns), strict=True)


def _first_starts(tokens: IntArray, limit: int) -> IntArray:
    """For each end, from the first on, the first start that is within the limit, or the one right before it."""
    fitting = np.searchsorted(tokens, tokens[1:] - limit, side="left")
    return np.minimum(fitting, np.arange(len(tokens) - 1))
