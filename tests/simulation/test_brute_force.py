"""The figures of a simulation are those of an obvious packer, run on one list after the other."""

from __future__ import annotations

import json
import random
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger import open_ledger
from chunkledger.errors import LedgerError
from chunkledger.request_log.described import described_by
from chunkledger.request_log.diagnosis import diagnosis
from chunkledger.request_log.findings import Thresholds
from chunkledger.request_log.lines import Reading
from chunkledger.simulation.outcome import Simulation
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Logged, Seeded
from chunkledger.simulation.simulating import simulate
from chunkledger.simulation.verdict import OUTLIERS_IN_THE_WAY
from packer.rankings import Row, ranking
from simulation.stated import blank_ledger, figures, ledger_of, outcomes

packings = st.builds(
    Packing,
    slot_tokens=st.integers(1, 200),
    k=st.none() | st.integers(1, 30),
    max_chunks=st.none() | st.integers(1, 10),
    on_miss=st.sampled_from(["skip", "skip", "stop"]),
    truncate=st.sampled_from(["floor", "never", "any"]),
    sentences=st.booleans(),
    merge=st.booleans(),
    duplicates=st.sampled_from(["text", "chunk"]),
)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger to put records into."""
    return blank_ledger(tmp_path_factory.mktemp("blank"))


def _case(seed: int) -> tuple[list[Row], list[list[str]]]:
    """Records, and lists of their ids; some ids that no record has, some lists of nothing else, some of nothing."""
    choose = random.Random(seed)  # noqa: S311 (test data)
    first = ranking(seed)
    rows = {row["chunk_id"]: row for row in first}
    ids = [row["chunk_id"] for row in first]
    lists = [ids, [], ["unknown-1"]]
    for _ in range(choose.randint(1, 6)):
        lists.append(choose.sample(ids, choose.randint(0, len(ids))) + choose.choice([[], ["unknown-2"]]))
        choose.shuffle(lists[-1])
    return list(rows.values()), lists


def _check(found: Simulation, records: list[dict[str, Any]], ledger: Path) -> None:
    expected = figures(records)
    assert found.requests == expected["requests"]
    for name in ("fill", "used", "packed"):
        spread = getattr(found, name)
        assert [spread.mean, spread.p5, spread.p50, spread.p95] == pytest.approx(expected[name], abs=1e-6)
    assert {name: (count.total, count.requests) for name, count in found.counts.items()} == expected["counts"]
    assert {each.reason: (each.requests, each.tokens) for each in found.space_left} == expected["space_left"]
    assert [each.share for each in found.space_left] == pytest.approx(
        [each.requests / found.requests for each in found.space_left], abs=1e-6
    )
    assert {each.chunk_id: each.floor for each in found.worst if each.floor} == expected["floor"]
    assert {each.chunk_id: each.skipped_with_room for each in found.worst if each.skipped_with_room} == expected[
        "with_room"
    ]
    said = diagnosis(
        Reading(map(json.dumps, records)), top=1000, described=described_by(open_ledger(ledger))
    ).as_dict()["findings"]
    for ours, theirs in zip([asdict(each) for each in found.findings], said, strict=False):
        # A log may have lost what its level shut out, which a simulation can't.
        theirs["says"] = theirs["says"].partition("; if other requests were made")[0]
        assert ours == theirs
    limits = Thresholds()
    in_the_way = sum(
        any(tokens >= limits.outlier_size * record["median_tokens"] for tokens in record["skipped_with_room_tokens"])
        for record in records
    )
    is_in_the_way = in_the_way / found.requests > limits.outliers
    named = [name for fault in found.verdict.faults for name in fault.because]
    assert (OUTLIERS_IN_THE_WAY in named) == is_in_the_way
    holds = is_in_the_way or any(each.holds for each in found.findings)
    assert (found.verdict.at_fault == "nothing") == (not holds)


@given(st.integers(0, 2**32), st.lists(packings, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_figures_are_those_of_the_slow_packer(blank: Path, seed: int, ways: list[Packing]) -> None:
    """Of lists from a log, packed in several ways at once: every figure, the findings of diagnose, what was unknown."""
    rows, lists = _case(seed)
    with tempfile.TemporaryDirectory() as made:
        ledger = ledger_of(rows, blank, Path(made) / "ledger")
        log = [json.dumps({"ranked_ids": ids}) for ids in lists]
        if not all(outcomes(rows, lists, way) for way in ways):
            with pytest.raises(LedgerError, match="has none of the"):
                simulate(ledger, ways, Logged(log))
            return
        found = simulate(ledger, ways, Logged(log), top=1000)
        for one in found.simulations:
            _check(one, outcomes(rows, lists, one.packing), ledger)
    known = {row["chunk_id"] for row in rows}
    k = None if None in [way.k for way in ways] else max(way.k or 0 for way in ways)
    offered = [each for ids in lists for each in ids[:k]]
    assert found.rankings["unknown_ids"] == len(set(offered) - known)
    assert found.rankings["unknown_hits"] == sum(each not in known for each in offered)


@given(st.integers(0, 2**32), packings, st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_lists_of_a_seed_are_packed_likewise(blank: Path, number: int, way: Packing, seed: int) -> None:
    """The lists that the seed gives, written down as a log, come to the same."""
    rows, _ = _case(number)
    chunks = [row for row in rows if row["role"] == "chunk"]
    if not chunks:
        return
    with tempfile.TemporaryDirectory() as made:
        ledger = ledger_of(rows, blank, Path(made) / "ledger")
        rankings = Seeded(requests=8, seed=seed)
        found = simulate(ledger, [way], rankings, top=1000)
        order = [row["chunk_id"] for row in sorted(chunks, key=lambda row: (row["doc_id"], row["chunk_index"]))]
        lists = [[order[place] for place in each] for each in rankings.lists(len(order), way.k or 40)]
        [one] = found.simulations
        assert one.requests == len(lists) == 8
        _check(one, outcomes(rows, lists, one.packing), ledger)
