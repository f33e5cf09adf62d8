"""Sizes -> bars of a histogram that a long tail does not squash, with what is to be marked among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chunkledger.model import IntArray
from chunkledger.settings import Settings

_LEAST_WIDTH = 10
"""Tokens of a bar; nobody tells chunks by fewer."""
MOST_BARS = 20
"""Of equal width; those behind double, one after the other."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Chunks of about one size.

    Attributes:
        start, end: in tokens; the end is not in it.
        chunks: size column -> how many are in it.
    """

    start: int
    end: int
    chunks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Line:
    """A size that settings name.

    Attributes:
        name: `target`, `limit`, `share` or `slot`.
        tokens: its size.
        size: the column that it is held against.
    """

    name: str
    tokens: int
    size: str


def lines_of(settings: Settings) -> tuple[Line, ...]:
    """The sizes that chunks are held against, ascending."""
    found = (
        Line("target", settings.target, "embed_tokens"),
        Line("limit", settings.max_tokens, "embed_tokens"),
        Line("share", settings.share_tokens, "rendered_tokens"),
        Line("slot", settings.slot_tokens, "rendered_tokens"),
    )
    return tuple(sorted(found, key=lambda line: line.tokens))


def histogram(sizes: Mapping[str, IntArray], settings: Settings) -> tuple[Bar, ...]:
    """Bars of equal width up to where nearly all sizes are and the limit is, then bars that double; () of no chunk.

    Args:
        sizes: by column, of the same chunks.
        settings: whose limit and share decide the scale.
    """
    every = np.concatenate(list(sizes.values())) if sizes else np.zeros(0, np.int64)
    if not len(every):
        return ()
    edges = _edges(every, settings)
    counts = {name: np.histogram(values, edges)[0] for name, values in sizes.items()}
    return tuple(
        Bar(start, end, {name: int(count[place]) for name, count in counts.items()})
        for place, (start, end) in enumerate(pairwise(edges))
    )


def _edges(sizes: IntArray, settings: Settings) -> list[int]:
    usual = int(np.percentile(sizes, 99)) + 1
    # A limit far beyond all sizes would leave a bar or two for them.
    near = [mark for mark in (settings.max_tokens, settings.share_tokens) if mark < 2 * usual]
    width = _nice(max(_LEAST_WIDTH, max([usual, *near]) / MOST_BARS))
    last = -(-max([usual, *(mark + 1 for mark in near)]) // width) * width
    edges = list(range(0, last + 1, width))
    while edges[-1] <= int(sizes.max()):
        edges.append(2 * edges[-1])
    return edges


def _nice(least: float) -> int:
    """The smallest width of 1, 2 or 5 times a power of ten that is not below."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power >= least:
                return step * power
        power *= 10
