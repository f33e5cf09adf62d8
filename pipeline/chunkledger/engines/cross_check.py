"""Parts that were written -> the first wrong count among some of their records, recounted with tiktoken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chunkledger.engines.units import PartInfo
from chunkledger.records.recount import Mismatch, Row, count_mismatches
from chunkledger.store.parts import records_in

CROSS_CHECK_ROWS = 64
"""Records of a run that are recounted before it is published, spread evenly over its parts."""
CROSS_CHECK_BOUNDARIES = 16
"""Boundaries of each that are recounted, spread evenly: a record may have one for each of its tokens."""


def first_mismatch(root: str, parts: Sequence[PartInfo]) -> Mismatch | None:
    """The first wrong count among some records of each part; None where all are right.

    Args:
        root: of the ledger.
        parts: of a run, as they lie there.
    """
    written = [part for part in parts if part.rows]
    for part in written:
        share = max(1, CROSS_CHECK_ROWS // len(written))
        step = max(1, part.rows // share)
        chosen = range(0, part.rows, step)[:share]
        place = 0
        for table in records_in(Path(root, part.name), role="all"):
            here = [row - place for row in chosen if place <= row < place + len(table)]
            rows = table.take(here).to_pylist() if here else []
            for mismatch in count_mismatches(map(_thinned, rows), {}):
                return mismatch
            place += len(table)
    return None


def _thinned(row: Row) -> Row:
    """The record with only some of its boundaries."""
    count = len(row["boundary_chars"])
    if count <= CROSS_CHECK_BOUNDARIES:
        return row
    chosen = sorted({place * (count - 1) // (CROSS_CHECK_BOUNDARIES - 1) for place in range(CROSS_CHECK_BOUNDARIES)})
    return {
        name: [value[place] for place in chosen] if name.startswith("boundary_") else value
        for name, value in row.items()
    }
