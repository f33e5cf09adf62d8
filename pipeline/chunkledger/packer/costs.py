"""Costs by rank: which is the best-ranked that is small enough, without looking at all of them."""

from __future__ import annotations

_NEVER = float("inf")


class Costs:
    """A cost for each place, or none; the first place at or below a limit is found in a step for each doubling.

    >>> costs = Costs(5)
    >>> for place, cost in ((1, 60), (3, 20), (4, 10)):
    ...     costs.put(place, cost)
    >>> costs.first(30), costs.first(5)
    (3, None)
    """

    __slots__ = ("_least", "_size")

    def __init__(self, places: int) -> None:
        self._size = 1 << max(0, places - 1).bit_length()
        self._least = [_NEVER] * (2 * self._size)  # a binary tree: the node n has the least of 2n and 2n + 1

    def put(self, place: int, cost: float) -> None:
        """Set what a place costs."""
        least, node = self._least, place + self._size
        least[node] = cost
        while node > 1:
            node //= 2
            least[node] = min(least[2 * node], least[2 * node + 1])

    def drop(self, place: int) -> None:
        """Let a place have no cost any more."""
        self.put(place, _NEVER)

    def first(self, limit: int) -> int | None:
        """The first place whose cost is at most the limit."""
        least, node = self._least, 1
        if least[1] > limit:
            return None
        while node < self._size:
            node *= 2
            if least[node] > limit:
                node += 1
        return node - self._size
