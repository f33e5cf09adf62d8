"""Sizes that are unlike the others, by a measure that outliers do not move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.model import IntArray

SCORE = 3.5
"""The modified z-score from which a value is an outlier (Iglewicz and Hoaglin, How to Detect and Handle Outliers,
1993)."""
_OF_MEDIAN, _OF_MEAN = 1.4826, 1.2533
"""What makes the median, and the mean, of absolute deviations an estimate of the standard deviation, for normal
data."""
LEAST = 10
"""Of fewer chunks none is atypical."""


@dataclass(frozen=True, slots=True)
class Typical:
    """The range of sizes that are typical.

    Attributes:
        median: of the sizes.
        least: the smallest that is typical, in tokens.
        most: the largest.
        below: chunks that are smaller.
        above: chunks that are larger.
    """

    median: int
    least: int
    most: int
    below: int
    above: int


def typical(sizes: IntArray) -> Typical | None:
    """The range that holds the sizes whose modified z-score is at most `SCORE`; None for few chunks, or equal ones.

    Below and above the median are measured each by its own deviations, because sizes under a limit lie close below it
    and far above zero. Where more than half of a side is at the median, the mean of its deviations stands in.

    >>> import numpy as np
    >>> typical(np.array([380, 385, 390, 395, 400, 405, 410, 415, 420, 2000]))
    Typical(median=400, least=349, most=464, below=0, above=1)
    """
    if len(sizes) < LEAST:
        return None
    median = int(np.sort(sizes)[(len(sizes) - 1) // 2])
    low, high = (_deviation(np.abs(side - median)) for side in (sizes[sizes <= median], sizes[sizes >= median]))
    least, most = max(0, int(np.ceil(median - SCORE * low))), int(np.floor(median + SCORE * high))
    if least == most:
        return None
    return Typical(median, least, most, int((sizes < least).sum()), int((sizes > most).sum()))


def _deviation(distances: IntArray) -> float:
    middle = float(np.median(distances))
    return middle * _OF_MEDIAN if middle else float(distances.mean()) * _OF_MEAN
