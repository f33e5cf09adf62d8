"""Some counts of every run are recounted while it is made, in time that does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from chunkledger import Settings
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, source_of
from chunkledger.engines.cross_check import CROSS_CHECK_BOUNDARIES, CROSS_CHECK_ROWS, CrossCheck
from chunkledger.engines.units import planned_units, run_unit
from chunkledger.records import recount
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.schema import SCHEMA
from ledgers import prose, write
from markdown_texts import document


@pytest.fixture(scope="module")
def batch() -> pa.RecordBatch:
    """Some hundred records, each with a boundary for every other token."""
    return chunk_batch([document("- a\n" * 40_000)], Settings())


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many strings were counted of each record."""
    found: list[int] = []
    right = recount.reference_counts

    def counting(texts: Sequence[str], encoding: str) -> Any:  # noqa: ANN401 (an array)
        found.append(len(texts))
        return right(texts, encoding)

    monkeypatch.setattr(recount, "reference_counts", counting)
    return found


def test_work_is_bounded(batch: pa.RecordBatch, counted: list[int]) -> None:
    """Strings are counted of so many records and so many boundaries of each, whatever there are."""
    check = CrossCheck()
    assert len(batch) > CROSS_CHECK_ROWS
    check.look(batch, 1.0)
    assert check.mismatch is None
    assert check.seconds > 0
    assert len(counted) == CROSS_CHECK_ROWS
    assert 2 * CROSS_CHECK_BOUNDARIES < max(counted) <= 2 * CROSS_CHECK_BOUNDARIES + 5


@pytest.mark.parametrize(("share", "expected"), [(0.5, CROSS_CHECK_ROWS // 2), (1e-9, 1)])
def test_batch_is_looked_at_by_its_share(
    batch: pa.RecordBatch, counted: list[int], share: float, expected: int
) -> None:
    """A batch that is half of a run has half of the recounted records; none has less than one."""
    CrossCheck().look(batch, share)
    assert len(counted) == expected


def test_units_of_a_run_share_the_work(tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """However a run is divided, no more is recounted than the records of a run and one for each batch."""
    source = write(tmp_path / "docs", {f"{name}.md": prose(2_000, name) for name in "abcd"})
    entries = listed([source_of(str(source))], Selection()).entries
    monkeypatch.setattr("chunkledger.planning.placement.LEAST_PART_BYTES", 1)
    units = planned_units(entries, 1)
    assert len(units) == 4
    for unit in units:
        counted.clear()
        run_unit(unit, Settings(), str(tmp_path))
        assert len(counted) == CROSS_CHECK_ROWS // 4


@pytest.mark.parametrize("row", [0, -1])
@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("column", ["boundary_tokens", "boundary_rendered_tokens", "token_count"])
def test_first_and_last_are_looked_at(batch: pa.RecordBatch, column: str, place: int, row: int) -> None:
    """A wrong count of the first or last boundary of the first or last record is found, and stays the one told."""
    rows = batch.to_pylist()
    if column == "token_count":
        rows[row][column] += 1
    else:
        rows[row][column][place] += 1
    check = CrossCheck()
    check.look(pa.RecordBatch.from_pylist(rows, SCHEMA), 1.0)
    check.look(batch, 1.0)
    found = check.mismatch
    assert found is not None
    assert (found.chunk_index, found.column.partition("[")[0]) == (rows[row]["chunk_index"], column)
