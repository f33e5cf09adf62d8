"""A unit of work holds documents that lie together, and becomes one part."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.documents.entries import Entries
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Entry, Selection, source_of
from chunkledger.engines.units import Unit, planned_units, run_unit
from ledgers import SAMPLE_CORPUS, names_below, write

MEGABYTE = 1024 * 1024
sizes = st.lists(st.integers(0, 90 * MEGABYTE), max_size=60)


def _entries(of_sizes: list[int]) -> list[Entry]:
    return [Entry(f"{number:03}.md", "", size, 0, "", "markdown") for number, size in enumerate(of_sizes)]


def _sample() -> list[Entry]:
    return listed([source_of(str(SAMPLE_CORPUS))], Selection()).entries


@given(sizes)
def test_units_hold_every_document_once_and_in_order(of_sizes: list[int]) -> None:
    """Nothing is lost between units, and they are numbered as they come."""
    entries = _entries(of_sizes)
    units = planned_units(Entries(entries), 3)
    assert [entry for unit in units for entry in unit.entries] == entries
    assert [(unit.run, unit.number) for unit in units] == [(3, number) for number in range(len(units))]


@given(sizes)
def test_units_are_neither_tiny_nor_huge(of_sizes: list[int]) -> None:
    """A unit is at most 64 MB, or one document; two neighbours together are more than 4 MB."""
    units = planned_units(Entries(_entries(of_sizes)), 1)
    bytes_of = [sum(entry.size for entry in unit.entries) for unit in units]
    assert [unit for size, unit in zip(bytes_of, units, strict=True) if size > 64 * MEGABYTE and unit.entries[1:]] == []
    assert all(sum(pair) > 4 * MEGABYTE for pair in pairwise(bytes_of))


def test_no_documents_are_no_units() -> None:
    """An empty corpus needs no work."""
    assert planned_units(Entries(), 1) == []


def test_unit_tells_what_its_part_holds(tmp_path: Path) -> None:
    """What travels between processes agrees with the records that were written."""
    info = run_unit(Unit(7, 2, Entries(_sample())), Settings(max_tokens=200, min_tokens=120), str(tmp_path))
    assert names_below(tmp_path) == {info.name}
    rows = pq.ParquetFile(tmp_path / info.name).read().to_pylist()
    assert info.name.startswith("part-00007-00002-")
    assert (info.rows, info.size) == (len(rows), (tmp_path / info.name).stat().st_size)
    assert info.doc_ids == (rows[0]["doc_id"], rows[-1]["doc_id"])
    assert info.flagged == sum(bool(row["flags"]) for row in rows) > 0
    assert info.tokens == sum(row["token_count"] for row in rows)
    assert set(info.seconds) == {"read", "split", "check", "write"}
    assert pickle.loads(pickle.dumps(info)) == info  # noqa: S301 (our own value)


def test_unit_tells_what_it_saw_of_each_document(tmp_path: Path) -> None:
    """Each entry has one state, with the reason where there are no records."""
    entries = _sample()
    info = run_unit(Unit(1, 0, Entries(entries)), Settings(), str(tmp_path))
    assert info.documents.column("doc_id").to_pylist() == [entry.doc_id for entry in entries]
    states = info.documents.to_pylist()
    told = {state["doc_id"]: (state["status"], state["reason"]) for state in states if state["reason"]}
    assert told == {finding.doc_id: (finding.status, finding.reason) for finding in info.findings}
    assert {doc_id: status for doc_id, (status, _) in told.items()} == {
        "inbox/blank.md": "skipped",
        "inbox/empty.md": "skipped",
        "inbox/latin1.txt": "failed",
    }


def test_unit_tells_what_each_document_has(tmp_path: Path) -> None:
    """Chunks, flags and tokens by document are those of its records, whatever batch they came in."""
    info = run_unit(Unit(7, 2, Entries(_sample())), Settings(max_tokens=200, parent_tokens=600), str(tmp_path))
    rows = [row for row in pq.ParquetFile(tmp_path / info.name).read().to_pylist() if row["role"] == "chunk"]
    own: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        chunks, flagged, tokens = own.get(row["doc_id"], (0, 0, 0))
        own[row["doc_id"]] = (chunks + 1, flagged + bool(row["flags"]), tokens + row["token_count"])
    states = [state for state in info.documents.to_pylist() if state["part"]]
    assert {state["doc_id"]: (state["chunks"], state["flagged"], state["tokens"]) for state in states} == own
    assert {state["part"] for state in states} == {info.name}


def test_unit_without_records_writes_no_part(tmp_path: Path) -> None:
    """Nothing to write is no file."""
    source = write(tmp_path / "docs", {"a.md": "\n"})
    entries = listed([source_of(str(source))], Selection()).entries
    info = run_unit(Unit(1, 0, Entries(entries)), Settings(), str(tmp_path / "out"))
    assert (info.name, info.size, info.rows, info.doc_ids, info.tokens) == ("", 0, 0, ("", ""), 0)
    assert names_below(tmp_path / "out") == set()


def test_unit_gives_the_same_part_again(tmp_path: Path) -> None:
    """The same documents and settings give the same bytes, so that a unit may be run twice."""
    unit = Unit(1, 0, Entries(_sample()))
    names = [run_unit(unit, Settings(), str(tmp_path / folder)).name for folder in ("one", "two")]
    assert names[0] == names[1]
    assert (tmp_path / "one" / names[0]).read_bytes() == (tmp_path / "two" / names[0]).read_bytes()


def test_both_tokenizers_give_the_same_part(tmp_path: Path) -> None:
    """The reference tokenizer gives, byte for byte, what the fast one gives."""
    unit = Unit(1, 0, Entries(_sample()))
    made = Settings(max_tokens=200, overlap_tokens=20)
    assert run_unit(unit, made, str(tmp_path), "tiktoken").name == run_unit(unit, made, str(tmp_path), "toktok").name


def test_border_of_a_batch_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many documents are worked on at once changes no byte of the part."""
    unit = Unit(1, 0, Entries(_sample()))
    whole = run_unit(unit, Settings(), str(tmp_path)).name
    monkeypatch.setattr("chunkledger.engines.units.BATCH_BYTES", 5_000)
    assert run_unit(unit, Settings(), str(tmp_path)).name == whole


@pytest.mark.parametrize("made", [Settings(), Settings(max_tokens=200), Settings(max_tokens=200, overlap_tokens=60)])
def test_other_documents_of_a_unit_do_not_show(tmp_path: Path, made: Settings) -> None:
    """A document's records are the same alone and among others: a new document can't change another one's chunks."""
    entries = _sample()
    together = run_unit(Unit(1, 0, Entries(entries)), made, str(tmp_path))
    alone = [run_unit(Unit(1, number, Entries([entry])), made, str(tmp_path)) for number, entry in enumerate(entries)]
    rows = [row for part in alone if part.rows for row in pq.ParquetFile(tmp_path / part.name).read().to_pylist()]
    assert pq.ParquetFile(tmp_path / together.name).read().to_pylist() == rows
