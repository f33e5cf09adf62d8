"""Which cuts to take: the cheapest way through a document, by dynamic programming over its cut points.

The cost of a chunk is a flat price, plus the square of how far its size is from the target (as a share of it), plus
a fine where it is tiny; the cost of a cut is its price. This loop is plain on purpose: it states the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHUNK_PRICE = 0.6
"""Price of having one chunk more; it keeps chunks full where cuts are cheap."""
OVER_TARGET = 0.1
"""How much it costs to reach the limit instead of the target."""
TINY_PRICE = 2.0
"""Fine for a chunk below the minimum size."""
LOOSE_SLACK = 4
"""Tokens by which an estimate may be wrong where an end lies within a line; the exact count is checked afterwards."""
_OVERSIZE_PRICE = 1e6


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


def chunk_cost(size: int, own: int, aim: Aim) -> float:
    """The cost of one chunk of `size` tokens (prefix included), of which `own` are its text."""
    if size > aim.limit:
        return _OVERSIZE_PRICE + size
    if size <= aim.target:
        miss = (aim.target - size) / aim.target
        cost = CHUNK_PRICE + miss * miss
    else:
        over = (size - aim.target) / max(1, aim.limit - aim.target)
        cost = CHUNK_PRICE + OVER_TARGET * over * over
    return cost + TINY_PRICE if own < aim.least else cost


def best_cuts(
    tokens: Sequence[int],
    start_tokens: Sequence[int],
    prefix: Sequence[int],
    price: Sequence[float],
    loose: Sequence[bool],
    aim: Aim,
) -> list[int]:
    """Indices of the cuts to take, ascending; the first is always 0.

    Args:
        tokens: before each cut, and before the end: one value more than there are cuts.
        start_tokens: before the place where the text of a chunk cut there starts (earlier than `tokens` by its
            overlap).
        prefix: tokens of the embed prefix of a chunk cut there.
        price: of cutting there.
        loose: whether the cut, or the end, lies within a line: as many values as `tokens`.
        aim: the sizes to keep.

    A piece between two neighbouring cuts that is over the limit becomes a chunk of its own.
    """
    count = len(start_tokens)
    best = [0.0] * (count + 1)
    came_from = [0] * (count + 1)
    slack = loose_slack(aim.limit)
    for end in range(1, count + 1):
        least, chosen = float("inf"), end - 1
        end_tokens, end_loose = tokens[end], loose[end]
        for start in range(end - 1, -1, -1):
            own = end_tokens - tokens[start]
            if own > aim.limit and start < end - 1:
                break
            size = end_tokens - start_tokens[start] + prefix[start]
            if end_loose or loose[start]:
                size += slack
            cost = best[start] + chunk_cost(size, own, aim)
            if cost < least:
                least, chosen = cost, start
        best[end] = least + (price[end] if end < count else 0.0)
        came_from[end] = chosen
    taken: list[int] = []
    at = count
    while at > 0:
        at = came_from[at]
        taken.append(at)
    return taken[::-1]
