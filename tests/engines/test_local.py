"""Units are done by any number of processes alike, and what kills a process costs its own document at most."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from chunkledger import Settings
from chunkledger.documents.entries import Entries
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Entry, Selection, source_of
from chunkledger.engines import local
from chunkledger.engines.local import pool, read_tables, run_units
from chunkledger.engines.units import PartInfo, Unit
from deadly import Deadly, DeadlyOnce, Endless
from ledgers import names_below, sections, write

NAMES = [f"d{number:02}.md" for number in range(20)]


def _entries(folder: Path, names: list[str]) -> list[Entry]:
    source = write(folder / "docs", {name: sections(2) for name in names})
    return list(listed([source_of(str(source))], Selection()).entries)


def _units(folder: Path) -> list[Unit]:
    return [
        Unit(1, number, Entries([entry])) for number, entry in enumerate(_entries(folder, ["a.md", "b.md", "c.md"]))
    ]


def _run(units: list[Unit], out: Path, jobs: int) -> list[PartInfo]:
    with pool(jobs) as workers:
        return [part for _, part in run_units(units, Settings(), str(out), "toktok", workers)]


def _documents(out: Path, parts: list[PartInfo]) -> list[str]:
    tables = [pq.ParquetFile(out / part.name).read(["doc_id"]) for part in parts if part.rows]
    return sorted({doc_id for table in tables for doc_id in table.column("doc_id").to_pylist()})


def test_no_job_works_in_this_process(tmp_path: Path) -> None:
    """Units come back with their parts, in order."""
    done = list(run_units(_units(tmp_path), Settings(), str(tmp_path / "out"), "toktok", None))
    assert [(unit.number, part.doc_ids) for unit, part in done] == [
        (0, ("a.md", "a.md")),
        (1, ("b.md", "b.md")),
        (2, ("c.md", "c.md")),
    ]


def test_processes_give_the_same_parts(tmp_path: Path) -> None:
    """Any number of processes writes the very files that this one does."""
    units = _units(tmp_path)
    names = [sorted(part.name for part in _run(units, tmp_path / str(jobs), jobs)) for jobs in (0, 1, 2)]
    assert names[0] == names[1] == names[2]
    assert names_below(tmp_path / "0") == names_below(tmp_path / "1") == names_below(tmp_path / "2") == set(names[0])


@pytest.mark.parametrize("jobs", [0, 2])
def test_unit_that_can_not_be_written_ends_the_others(tmp_path: Path, jobs: int) -> None:
    """That is no fault of a document: the error reaches the driver."""
    write(tmp_path, {"out": "a file"})
    with pytest.raises(FileExistsError):
        _run(_units(tmp_path), tmp_path / "out", jobs)


@pytest.mark.parametrize("place", [0, 7, 19])
def test_document_that_kills_its_process_is_found(tmp_path: Path, place: int) -> None:
    """Its unit is divided until it stands alone; it becomes a finding and everything else is done."""
    entries = _entries(tmp_path, NAMES)
    entries[place] = entries[place]._replace(doc_id=Deadly(entries[place].doc_id))
    parts = _run([Unit(1, 0, Entries(entries))], tmp_path / "out", 2)
    findings = [finding for part in parts for finding in part.findings]
    reason = "could not be split: its process was killed, as by lack of memory"
    assert [(finding.doc_id, finding.status, finding.reason) for finding in findings] == [
        (NAMES[place], "failed", reason)
    ]
    assert _documents(tmp_path / "out", parts) == sorted(set(NAMES) - {NAMES[place]})
    seen = [state for part in parts for state in part.documents.to_pylist()]
    states = sorted((state["doc_id"], state["status"]) for state in seen)
    assert states == [(name, "failed" if name == NAMES[place] else "ok") for name in NAMES]


def test_process_that_dies_once_costs_nothing(tmp_path: Path) -> None:
    """A process may die of something else, as when memory runs out; its document is tried again."""
    entry = _entries(tmp_path, ["a.md"])[0]._replace(doc_id=DeadlyOnce(tmp_path / "died"))
    [part] = _run([Unit(1, 0, Entries([entry]))], tmp_path / "out", 1)
    assert (part.findings, part.rows > 0) == ((), True)
    assert (tmp_path / "died").exists()


def test_document_that_takes_for_ever_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that does not come back is ended, and its document treated like one that kills."""
    monkeypatch.setattr(local, "_SECONDS", 5.0)
    entries = _entries(tmp_path, ["a.md", "b.md"])
    entries[0] = entries[0]._replace(doc_id=Endless("a.md"))
    parts = _run([Unit(1, number, Entries([entry])) for number, entry in enumerate(entries)], tmp_path / "out", 2)
    [finding] = [finding for part in parts for finding in part.findings]
    assert (finding.doc_id, finding.reason) == ("a.md", "could not be split: it took more than 5 s")
    assert _documents(tmp_path / "out", parts) == ["b.md"]


def test_table_that_kills_its_process_is_a_finding(tmp_path: Path) -> None:
    """What a table holds is read in a worker too: a library may crash on a damaged file."""
    write(tmp_path, {"a.jsonl": '{"id": "a", "text": "x"}\n', "b.jsonl": '{"id": "b", "text": "x"}\n'})
    first, second = listed([source_of(str(tmp_path))], Selection()).tables
    deadly = replace(first, path=Deadly(first.path))
    with pool(2) as workers:
        found = read_tables([deadly, second], Settings(), Selection(), workers)
    assert [table.doc_id for table, _ in found] == ["a.jsonl", "b.jsonl"]
    assert [[finding.reason for finding in rows.findings] for _, rows in found] == [
        ["can't be read: its process was killed, as by lack of memory"],
        [],
    ]
    assert [[entry.doc_id for entry in rows.entries] for _, rows in found] == [[], ["b"]]
    assert found[0][1].unseen


def test_no_process_is_left(tmp_path: Path) -> None:
    """At the end of the work, however it ended, this process has no child."""
    _run(_units(tmp_path), tmp_path / "out", 2)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("each", "most"), [(1, 2), (10**9, 1)])
def test_worker_is_started_only_for_work_that_is_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each: int, most: int
) -> None:
    """To start one takes the CPU of some megabytes."""
    monkeypatch.setattr(local, "BYTES_FOR_A_WORKER", each)
    seen: set[int] = set()
    with pool(2) as workers:
        for _ in run_units(_units(tmp_path), Settings(), str(tmp_path / "out"), "toktok", workers):
            seen.add(len(multiprocessing.active_children()))
    assert max(seen) == most
