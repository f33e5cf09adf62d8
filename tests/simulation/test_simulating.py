"""Simulations of real ledgers: the packer's own records, all that can be asked for, and what can't."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkledger import Settings, ingest, open_ledger, recount
from chunkledger.errors import LedgerError, SettingsError
from chunkledger.packer import pack
from chunkledger.simulation import requests as requests_module
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Logged, Seeded
from chunkledger.simulation.simulating import simulate
from ledgers import SAMPLE_CORPUS, prose, sections, write
from simulation.stated import figures

SLOTS = (700, 2500, 6000)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus with overlap, parents and two encodings."""
    made = tmp_path_factory.mktemp("simulating") / "ledger"
    ingest(
        [SAMPLE_CORPUS], made, Settings(overlap_tokens=40, parent_tokens=1500, max_tokens=300, encoding="cl100k_base")
    )
    recount(made, "o200k_base")
    return made


def _rows(ledger: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = open_ledger(ledger).chunks().to_pylist()
    return rows


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("parents", [False, True])
@pytest.mark.parametrize("truncate", ["floor", "any"])
def test_records_are_those_of_whole_rows(ledger: Path, encoding: str, parents: bool, truncate: str) -> None:
    """What is left out of a record changes nothing: the packer says the same of it as of the whole one."""
    rows = _rows(ledger)
    of_id = {row["chunk_id"]: row for row in open_ledger(ledger).chunks(role="all").to_pylist()}
    rankings = Seeded(requests=40, seed=3)
    found = simulate(
        ledger,
        [Packing(slot_tokens=slot, k=25, truncate=truncate) for slot in SLOTS],
        rankings,
        encoding=encoding,
        parents=parents,
    )
    for one in found.simulations:
        records = []
        for places in rankings.lists(len(rows), 25):
            hits = [rows[place] for place in places]
            if parents:
                hits = list({row["parent_id"]: of_id[row["parent_id"] or row["chunk_id"]] for row in hits}.values())
            log = pack(hits, one.packing.slot_tokens, encoding=encoding, truncate=truncate, emit=False).log
            records.append(log.as_dict())
        expected = figures(records)
        assert {name: (count.total, count.requests) for name, count in one.counts.items()} == expected["counts"]
        assert {each.reason: (each.requests, each.tokens) for each in one.space_left} == expected["space_left"]
        assert one.used.mean == pytest.approx(expected["used"][0])


def test_same_seed_same_figures(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation can be repeated; how many records are held at once changes nothing; another seed does."""
    first, again = (simulate(ledger, rankings=Seeded(30, 5)).as_dict() for _ in range(2))
    assert first == again
    monkeypatch.setattr(requests_module, "MOST_CHUNKS", 10)
    assert simulate(ledger, rankings=Seeded(30, 5)).as_dict() == first
    assert simulate(ledger, rankings=Seeded(30, 6)).as_dict() != first


def test_defaults_are_the_ledgers_slot_and_forty_hits(ledger: Path) -> None:
    """Nothing needs to be said to try what the ledger is made for."""
    found = simulate(ledger, rankings=Seeded(3))
    [one] = found.simulations
    assert (one.packing, found.encoding, found.rankings) == (
        Packing(slot_tokens=6000, k=40),
        "cl100k_base",
        {"from": "seed", "seed": 0, "requests": 3},
    )


def test_log_offers_all_hits_where_no_k_is_given(ledger: Path) -> None:
    """A logged list is as long as it is; K takes its beginning. Ids of parents are found too."""
    ids = [row["chunk_id"] for row in _rows(ledger)]
    parent = open_ledger(ledger).chunks(["chunk_id"], role="parent")["chunk_id"][0].as_py()
    log = [json.dumps([*ids[:60], parent])]
    found = simulate(ledger, [Packing(slot_tokens=900), Packing(slot_tokens=900, k=7)], Logged(log))
    assert [one.counts["offered"].total for one in found.simulations] == [61, 7]


def test_unknown_ids_are_left_out_and_counted(ledger: Path) -> None:
    """K counts the hits of the list, known or not; a list of unknown ones is no request."""
    ids = [row["chunk_id"] for row in _rows(ledger)][:3]
    log = [json.dumps(["x", ids[0], "x", ids[1]]), json.dumps(["x", "y"]), "[]", "nothing"]
    for packings in ([Packing(slot_tokens=900, k=2)], [Packing(slot_tokens=900, k=2), Packing(slot_tokens=900)]):
        found = simulate(ledger, packings, Logged(log))
        assert found.simulations[0].counts["offered"].total == 1
        assert found.simulations[0].requests == 2
    assert found.rankings == {
        "from": "log",
        "requests": 3,
        "left_out": 1,
        "first_left_out": "line 4: it holds neither a list nor an object of JSON",
        "unknown_ids": 2,
        "unknown_hits": 4,
        "unknown_requests": 1,
    }


def test_what_cannot_be_simulated(ledger: Path, tmp_path: Path) -> None:
    """Each says what is wrong and what would work."""
    with pytest.raises(LedgerError, match="has none of the 2 chunks that the log names; is it the ledger"):
        simulate(ledger, rankings=Logged(['["x", "y"]']))
    with pytest.raises(SettingsError, match=r"is counted in cl100k_base, o200k_base; `chunkledger recount` adds"):
        simulate(ledger, encoding="o200k_harmony")
    ingest([write(tmp_path / "docs", {"a.md": ""})], tmp_path / "empty")
    with pytest.raises(LedgerError, match="holds no chunk, so there is nothing to pack"):
        simulate(tmp_path / "empty")
    with pytest.raises(SettingsError, match="has no parents; ingest with --parent-tokens makes them"):
        simulate(tmp_path / "empty", parents=True)


@pytest.mark.parametrize(
    "options", [{"slot_tokens": 0}, {"k": 0}, {"max_chunks": True}, {"on_miss": "wait"}, {"truncate": "all"}]
)
def test_packings_that_cannot_be(options: dict[str, Any]) -> None:
    """They are refused by name."""
    [name] = options
    with pytest.raises(SettingsError, match=f"^{name} "):
        Packing(**{"slot_tokens": 100, **options})


def _verdict(folder: Path, docs: dict[str, str], settings: Settings, **packing: Any) -> tuple[str, list[str]]:  # noqa: ANN401
    write(folder / "docs", docs)
    ingest([folder / "docs"], folder / "ledger", settings)
    [one] = simulate(folder / "ledger", [Packing(**packing)], Seeded(100)).simulations
    return one.verdict.at_fault, [fault.what for fault in one.verdict.faults]


def test_verdict_tells_a_splitter_from_a_budget_and_a_k(tmp_path: Path) -> None:
    """Outliers are the splitter's, ordinary chunks that do not fit the budget's, a slot that stays empty is K's."""
    small = {f"{number}.md": f"# N {number}\n\n{prose(4, f'w{number}')}\n" for number in range(40)}
    table = "| a | b |\n|---|---|\n" + "".join(f"| {number} | {number * 7} |\n" for number in range(150))
    settings = Settings(max_tokens=2000)
    assert _verdict(tmp_path / "1", small, settings, slot_tokens=1500) == ("nothing", [])
    tables = {f"t{number}.md": f"# T\n\n{table}\n" for number in range(20)}
    assert _verdict(tmp_path / "2", small | tables, settings, slot_tokens=900)[0] == "splitter"
    assert _verdict(tmp_path / "3", small, settings, slot_tokens=70) == ("budget", ["budget"])
    assert _verdict(tmp_path / "4", small, settings, slot_tokens=6000, k=5) == ("k", ["k"])
    assert _verdict(tmp_path / "5", {"a.md": sections(40)}, settings, slot_tokens=6000, max_chunks=2)[0] == "k"
