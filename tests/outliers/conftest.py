"""A ledger with outliers of several kinds, for all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkledger import Settings, ingest
from ledgers import SAMPLE_CORPUS, Row, rows_of

SETTINGS = Settings(max_tokens=300, min_tokens=120, slot_tokens=1600, slot_chunks=8)


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus in sizes that give flags of several kinds."""
    made = tmp_path_factory.mktemp("reported")
    ingest([SAMPLE_CORPUS], made / "ledger", SETTINGS)
    return made / "ledger"


@pytest.fixture(scope="session")
def rows(ledger: Path) -> list[Row]:
    """Its records."""
    return rows_of(ledger)
