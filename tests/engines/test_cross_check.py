"""Some counts of every part are recounted before a run is published, in time that does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import Settings
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, source_of
from chunkledger.engines.cross_check import CROSS_CHECK_BOUNDARIES, CROSS_CHECK_ROWS, first_mismatch
from chunkledger.engines.units import PartInfo, Unit, run_unit
from chunkledger.records import recount
from chunkledger.records.schema import SCHEMA
from ledgers import write


@pytest.fixture
def part(tmp_path: Path) -> PartInfo:
    """A part of some hundred records, each with a boundary for every other token."""
    source = write(tmp_path / "docs", {"a.md": "- a\n" * 40_000})
    return run_unit(Unit(1, 0, tuple(listed([source_of(str(source))], Selection()).entries)), Settings(), str(tmp_path))


def test_work_is_bounded(tmp_path: Path, part: PartInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strings are counted of so many records and so many boundaries of each, whatever there are."""
    counted: list[int] = []
    right = recount.reference_counts

    def counting(texts: Sequence[str], encoding: str) -> Any:  # noqa: ANN401 (an array)
        counted.append(len(texts))
        return right(texts, encoding)

    monkeypatch.setattr(recount, "reference_counts", counting)
    assert part.rows > CROSS_CHECK_ROWS
    assert first_mismatch(str(tmp_path), [part]) is None
    assert len(counted) == CROSS_CHECK_ROWS
    assert 2 * CROSS_CHECK_BOUNDARIES < max(counted) <= 2 * CROSS_CHECK_BOUNDARIES + 5


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("column", ["boundary_tokens", "boundary_rendered_tokens", "token_count"])
def test_first_and_last_boundary_are_looked_at(tmp_path: Path, part: PartInfo, column: str, place: int) -> None:
    """A wrong count there is found, in the first record."""
    rows = pq.ParquetFile(tmp_path / part.name).read().to_pylist()
    if column == "token_count":
        rows[0][column] += 1
    else:
        rows[0][column][place] += 1
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / part.name)
    found = first_mismatch(str(tmp_path), [part])
    assert found is not None
    assert (found.doc_id, found.chunk_index, found.column.partition("[")[0]) == ("a.md", 0, column)
