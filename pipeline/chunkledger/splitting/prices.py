"""What a chunk costs and what a cut costs: the rule that the cheapest way through a document is found by.

A chunk costs a flat price, plus the square of how far its size is from the target (as a share of it), plus a fine
where it is tiny; a cut costs its price. All prices are in units of one chunk that misses its target by all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import IntArray

CHUNK_PRICE = 2.5
"""Price of having one chunk more; it keeps chunks full where cuts are cheap."""
OVER_TARGET = 0.1
"""How much it costs to reach the limit instead of the target."""
TINY_PRICE = 2.0
"""Fine for a chunk below the minimum size."""
LOOSE_SLACK = 4
"""Tokens by which an estimate may be wrong where an end lies within a line; the exact count is checked afterwards."""
OVERSIZE_PRICE = 1e6
"""Price of a chunk over the limit, to which its size is added: only where there is no other way."""


def loose_slack(limit: int) -> int:
    """The slack at that limit: less where it would be a large part of it.

    >>> loose_slack(512), loose_slack(16), loose_slack(5)
    (4, 2, 0)
    """
    return min(LOOSE_SLACK, limit // 8)


@dataclass(frozen=True, slots=True)
class Aim:
    """Sizes in tokens: the limit, the target, and the least that is not tiny."""

    limit: int
    target: int
    least: int


def chunk_costs(size: IntArray, own: IntArray, aim: Aim) -> NDArray[np.float64]:
    """The cost of each chunk of `size` tokens (prefix included), of which `own` are its text.

    >>> chunk_costs(np.array([95, 50, 100, 101]), np.array([95, 10, 100, 101]), Aim(100, 95, 20)).round(2).tolist()
    [2.5, 4.72, 2.6, 1000101.0]
    """
    sizes = np.arange(min(aim.limit, int(size.max(initial=0))) + 1)
    miss = (aim.target - sizes) / aim.target
    over = (sizes - aim.target) / max(1, aim.limit - aim.target)
    by_size = CHUNK_PRICE + np.where(sizes <= aim.target, miss * miss, OVER_TARGET * over * over)
    # A chunk with overlap may be smaller than what is added for its slack, never negative.
    costs: NDArray[np.float64] = by_size[np.minimum(size, len(sizes) - 1)]
    costs[own < aim.least] += TINY_PRICE
    too_big = np.flatnonzero(size > aim.limit)
    costs[too_big] = OVERSIZE_PRICE + size[too_big]
    return costs
