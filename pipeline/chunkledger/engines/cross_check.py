"""Records that are on their way into a part -> the first wrong count among some of them, recounted with tiktoken."""

from __future__ import annotations

import time
from itertools import chain

import pyarrow as pa

from chunkledger.records.recount import Mismatch, Row, count_mismatches

CROSS_CHECK_ROWS = 64
"""Records of a run that are recounted before it is published, spread evenly over it, and at least one a batch."""
CROSS_CHECK_BOUNDARIES = 4
"""Boundaries of each that are recounted, spread evenly: a record may have one for each of its tokens."""


class CrossCheck:
    """Recounts as the batches of a part pass, because reading the part back would cost more than the counting.

    Attributes:
        mismatch: the first wrong count; None while all were right.
        seconds: CPU time that it took.
    """

    def __init__(self) -> None:
        self.mismatch: Mismatch | None = None
        self.seconds = 0.0

    def look(self, batch: pa.RecordBatch, share: float) -> None:
        """Recount some records of a batch, if nothing wrong was found before.

        Args:
            batch: at least one record, with all columns.
            share: how much of the run it is, of 1.
        """
        if self.mismatch:
            return
        started = time.process_time()
        chosen = _spread(len(batch), max(1, round(CROSS_CHECK_ROWS * min(1.0, share))))
        rows = map(_thinned, batch.take(pa.array(chosen, pa.int64())).to_pylist())
        self.mismatch = next(chain(count_mismatches(rows, {}), [None]))
        self.seconds += time.process_time() - started


def _thinned(row: Row) -> Row:
    """The record with only some of its boundaries."""
    chosen = _spread(len(row["boundary_chars"]), CROSS_CHECK_BOUNDARIES)
    return {
        name: [value[place] for place in chosen] if name.startswith("boundary_") else value
        for name, value in row.items()
    }


def _spread(count: int, most: int) -> list[int]:
    """At most so many of the places 0 to `count`, evenly, with the first and, where more than one, the last."""
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // max(1, most - 1) for place in range(most)]
