"""The garbage collector is paused while documents are worked on, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, source_of
from chunkledger.engines import units
from chunkledger.engines.collector import paused_collector
from chunkledger.engines.units import planned_units, run_unit
from chunkledger.settings import Settings
from ledgers import SAMPLE_CORPUS


@pytest.fixture(autouse=True)
def _collected_afterwards() -> Iterator[None]:
    yield
    gc.enable()


def test_collector_is_on_again_afterwards() -> None:
    """Also where the block raises; and where it was off before, it stays off."""
    with paused_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), paused_collector():
        _ = 1 // 0
    assert gc.isenabled()
    gc.disable()
    with paused_collector():
        pass
    assert not gc.isenabled()


def test_a_unit_leaves_nothing_to_collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it makes goes by itself, so that memory does not grow while nothing is collected."""
    seen: list[bool] = []
    content = units.part_content

    def watched(*given: object) -> object:
        seen.append(gc.isenabled())
        return content(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(units, "part_content", watched)
    entries = listed([source_of(str(SAMPLE_CORPUS))], Selection()).entries
    (unit,) = planned_units(entries, 1)
    run_unit(unit, Settings(), str(tmp_path))
    assert (seen, gc.isenabled()) == ([False], True)
    gc.collect()
    gc.disable()
    part = run_unit(unit, Settings(), str(tmp_path))
    assert part.chunks > 50
    left = gc.collect()
    assert left < part.chunks, f"{left} objects were left"
