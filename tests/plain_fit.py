"""The rule of `total_fit` as a plain loop over numbers, slow and obvious: what the arrays are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from chunkledger.splitting import prices
from chunkledger.splitting.prices import Aim, loose_slack


def chunk_cost(size: int, own: int, aim: Aim) -> float:
    """The cost of one chunk of `size` tokens (prefix included), of which `own` are its text."""
    if size > aim.limit:
        return prices.OVERSIZE_PRICE + size
    if size <= aim.target:
        miss = (aim.target - size) / aim.target
        cost = prices.CHUNK_PRICE + miss * miss
    else:
        over = (size - aim.target) / max(1, aim.limit - aim.target)
        cost = prices.CHUNK_PRICE + prices.OVER_TARGET * over * over
    return cost + prices.TINY_PRICE if own < aim.least else cost


def plain_cuts(
    tokens: Sequence[int],
    start_tokens: Sequence[int],
    prefix: Sequence[int],
    price: Sequence[float],
    loose: Sequence[bool],
    aim: Aim,
) -> list[int]:
    """Indices of the cuts to take in one segment, ascending; the first is always 0.

    Args:
        tokens: before each cut, and before the end: one value more than there are cuts.
        start_tokens: before the place where the text of a chunk cut there starts.
        prefix: tokens of the embed prefix of a chunk cut there.
        price: of cutting there.
        loose: whether the cut lies within a line.
        aim: the sizes to keep.
    """
    count = len(start_tokens)
    best = [0.0] * (count + 1)
    came_from = [0] * (count + 1)
    slack = loose_slack(aim.limit)
    for end in range(1, count + 1):
        least, chosen = float("inf"), end - 1
        for start in range(end - 1, -1, -1):
            own = tokens[end] - tokens[start]
            if own > aim.limit and start < end - 1:
                break
            size = tokens[end] - start_tokens[start] + prefix[start]
            if loose[start] or (end < count and loose[end]):
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
