"""What packed chunks show of each document, as spans of code points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort


class Shown:
    """The spans of one document that packed chunks show.

    Attributes:
        starts: of the spans, which are disjoint, ascending.
        ends: of the spans, in the same order.
        chunks: (start, end, place) of every whole chunk, ascending.
    """

    __slots__ = ("chunks", "ends", "starts")

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.chunks: list[tuple[int, int, int]] = []

    def holds(self, start: int, end: int) -> bool:
        """Whether every code point of the span is shown.

        >>> shown = Shown()
        >>> shown.add(10, 20), shown.add(20, 30)
        (None, None)
        >>> shown.holds(15, 25), shown.holds(5, 15)
        (True, False)
        """
        at = bisect_right(self.starts, start) - 1
        return at >= 0 and self.ends[at] >= end

    def add(self, start: int, end: int) -> None:
        """Show one more span; spans that touch become one."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        self.starts[first:last] = [start]
        self.ends[first:last] = [end]

    def within(self, start: int, end: int) -> list[int]:
        """The places of the whole chunks that lie within the span."""
        chunks = self.chunks
        first = bisect_left(chunks, (start, 0, 0))
        if first == len(chunks) or chunks[first][0] >= end:
            return []
        last = bisect_left(chunks, (end, 0, 0))
        return [place for _, chunk_end, place in chunks[first:last] if chunk_end <= end]

    def put(self, start: int, end: int, place: int) -> None:
        """Remember a whole chunk."""
        insort(self.chunks, (start, end, place))

    def take(self, start: int, end: int, place: int) -> None:
        """Forget a whole chunk, because a larger one takes its place."""
        del self.chunks[bisect_left(self.chunks, (start, end, place))]
