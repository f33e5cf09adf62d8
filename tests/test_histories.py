"""After any history of edits, renames, deletions and settings, a ledger and its feed are those of what is there now."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from chunkledger import Ledger, Run, Settings, ingest, open_ledger
from chunkledger.planning import placement
from chunkledger.store.changes import ChangeCounts
from ledgers import prose, sections

Row = dict[str, Any]
NAMES = ("a.md", "b.md", "c.txt", "d/e.md", "d/f.rst", "z.md")
TEXTS = (
    "One.\n",
    sections(3),
    sections(4),
    sections(3).replace("w3", "w4"),
    prose(9),
    "# Same\n\nTwice.\n\nTwice.\n",
    " \n",
)
BROKEN = b"caf\xe9\n"
SETTINGS = (
    Settings(max_tokens=120, split_headings=6),
    Settings(max_tokens=60),
    Settings(max_tokens=120, split_headings=6, template="markdown/1"),
    Settings(max_tokens=120, split_headings=6, parent_tokens=400),
    Settings(max_tokens=120, split_headings=6, slot_tokens=500),
    Settings(max_tokens=120, split_headings=6, further_encodings=("cl100k_base",)),
)
UNTOLD = ("doc_sha256", "settings_sha256")
"""Columns that are no reason to tell a chunk (CONTRACT: feed rows)."""


@dataclass(frozen=True)
class Write:
    """A file gets this text; where it is `racy`, in the moment of the run, else some time ago."""

    name: str
    text: int
    racy: bool


@dataclass(frozen=True)
class Rename:
    """A file, or a folder, gets another name."""

    name: str
    to: str


@dataclass(frozen=True)
class Delete:
    """A file is gone."""

    name: str


@dataclass(frozen=True)
class Break:
    """A file can't be decoded."""

    name: str


@dataclass(frozen=True)
class Rows:
    """A table holds these rows: id -> text."""

    rows: Mapping[str, int]


@dataclass(frozen=True)
class Set:
    """Other settings."""

    number: int


@dataclass(frozen=True)
class Touch:
    """A file has another time, and the same text."""

    name: str


names = st.sampled_from(NAMES)
edits = st.one_of(
    st.builds(Write, names, st.integers(0, len(TEXTS) - 1), st.booleans()),
    st.builds(Rename, names, names),
    st.builds(Delete, names),
    st.builds(Break, names),
    st.builds(Touch, names),
    st.builds(Set, st.integers(0, len(SETTINGS) - 1)),
    st.builds(Rows, st.dictionaries(st.sampled_from(["r1", "b2.md", "y9", "a.md"]), st.integers(0, len(TEXTS) - 1))),
)
histories = st.lists(st.lists(edits, max_size=4), min_size=1, max_size=5)


@dataclass
class Corpus:
    """A folder that goes through a history."""

    root: Path
    clock: int = 1_000_000_000
    settings: Settings = SETTINGS[0]
    broken: set[str] = field(default_factory=set)

    def do(self, edit: object) -> None:
        """Make one edit."""
        match edit:
            case Write(name, text, racy):
                self._write(name, TEXTS[text].encode(), racy)
                self.broken.discard(name)
            case Break(name):
                self._write(name, BROKEN, False)
                self.broken.add(name)
            case Delete(name):
                self._path(name).unlink(missing_ok=True)
                self.broken.discard(name)
            case Rename(name, to) if self._path(name).exists() and name != to:
                self._path(to).parent.mkdir(parents=True, exist_ok=True)
                self._path(name).replace(self._path(to))
                self.broken.discard(to)
                if name in self.broken:
                    self.broken.remove(name)
                    self.broken.add(to)
            case Touch(name) if self._path(name).exists():
                self._age(self._path(name))
            case Set(number):
                self.settings = SETTINGS[number]
            case Rows(rows):
                lines = [
                    f'{{"id": "{name}", "text": {json.dumps(TEXTS[text])}, "n": {text}}}\n'
                    for name, text in rows.items()
                ]
                self._write("t.jsonl", "".join(lines).encode(), False)

    def _path(self, name: str) -> Path:
        return self.root / "docs" / name

    def _write(self, name: str, content: bytes, racy: bool) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if not racy:
            self._age(path)

    def _age(self, path: Path) -> None:
        self.clock += 1
        os.utime(path, (self.clock, self.clock))


@contextmanager
def _corpus() -> Iterator[Corpus]:
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "docs").mkdir()
        yield Corpus(folder)
    finally:
        shutil.rmtree(folder)


@contextmanager
def _small_parts() -> Iterator[None]:
    """Parts of a few hundred bytes of documents, so that a few documents lie in several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placement, "LEAST_PART_BYTES", 600)
        yield


def _records(ledger: Ledger) -> dict[str, Row]:
    rows = ledger.chunks(role="all").to_pylist()
    found = {row["chunk_id"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def _told(records: Mapping[str, Row]) -> dict[str, Row]:
    """The records, as far as the feed tells them."""
    return {
        chunk_id: {name: value for name, value in row.items() if name not in UNTOLD}
        for chunk_id, row in records.items()
    }


def _applied(records: Mapping[str, Row], changes: list[Row], columns: list[str]) -> dict[str, Row]:
    """The records after the changes, as a store that knows nothing else would have them."""
    found = dict(records)
    for change in changes:
        record = {name: change[name] for name in columns if name not in UNTOLD}
        is_there = change["chunk_id"] in found
        assert is_there == (change["operation"] != "add")
        if change["operation"] == "delete":
            del found[change["chunk_id"]]
            continue
        old = found.get(change["previous_chunk_id"] or change["chunk_id"], {})
        is_equal = [old.get(name) for name in ("embed_prefix", "text")] == [record["embed_prefix"], record["text"]]
        assert is_equal or change["embed_needed"]
        found[change["chunk_id"]] = record
    return found


def _check_feed(ledger: Ledger, states: list[dict[str, Row]]) -> None:
    """From each run that there was, the feed leads to the records of now, and tells each chunk once."""
    columns = list(ledger.schema.names)
    for since, before in enumerate(states):
        known = before if since else {}
        tables = list(ledger.iter_feed(since, role="all"))
        changes = [row for table in tables for row in table.to_pylist()]
        assert len({change["chunk_id"] for change in changes}) == len(changes)
        # What is gone is looked up by the new name of its document, so deletes come last.
        changes.sort(key=lambda change: change["operation"] == "delete")
        assert _applied(known, changes, columns) == states[-1]


@settings(max_examples=50)
@given(histories)
def test_any_history(history: list[list[object]]) -> None:
    """The export is a fresh ledger's, the feed from any run leads to it, and nothing that is the same is split."""
    with _corpus() as corpus, _small_parts():
        ledger = corpus.root / "ledger"
        states: list[dict[str, Row]] = [{}]
        for number, name in enumerate((*NAMES, *(f"m{number}.md" for number in range(4)))):
            corpus.do(Write(name, number % len(TEXTS), racy=False))
        for number, edits_ in enumerate(history, 1):
            for edit in edits_:
                corpus.do(edit)
            run = ingest([corpus.root / "docs"], ledger, corpus.settings, max_delete=1)
            opened = open_ledger(ledger)
            made = opened.settings()
            records = _records(opened)
            note(f"run {number}: {run.counts()}")
            states.append(_told(records))
            assert (run.number, opened.run) == (2 * number - 1, 2 * number - 1)
            _check_counts(run, opened, states[-2], records)
            shutil.rmtree(corpus.root / "fresh", ignore_errors=True)
            ingest([corpus.root / "docs"], corpus.root / "fresh", made)
            well = {row["doc_id"] for row in records.values()} - corpus.broken
            fresh = open_ledger(corpus.root / "fresh")
            of_now = [row for row in opened.chunks(role="all").to_pylist() if row["doc_id"] in well]
            assert of_now == fresh.chunks(role="all").to_pylist()
            _check_feed(opened, states)
            again = ingest([corpus.root / "docs"], ledger, corpus.settings, max_delete=1, rehash=number % 2 == 0)
            assert again.changes == ChangeCounts(keep=run.chunks)
            assert again.unchanged == sum(bool(row["sha256"]) for row in _read(open_ledger(ledger)))
            states.append(_told(_records(open_ledger(ledger))))
            assert states[-1] == states[-2]


def _read(ledger: Ledger) -> list[Row]:
    """What the run saw of documents that were read to their end."""
    return [row for row in ledger.documents().to_pylist() if row["status"] in ("ok", "skipped")]


def _check_counts(run: Run, ledger: Ledger, before: dict[str, Row], records: dict[str, Row]) -> None:
    """What the run says of itself is what is in the ledger, and its table of documents knows where."""
    chunks = [row for row in records.values() if row["role"] == "chunk"]
    assert run.chunks == len(chunks)
    assert run.tokens == sum(row["token_count"] for row in chunks)
    assert run.flagged == sum(bool(row["flags"]) for row in chunks)
    changes, known = run.changes, {name for name, row in before.items() if row["role"] == "chunk"}
    now = {row["chunk_id"] for row in chunks}
    assert (changes.add, changes.delete) == (len(now - known), len(known - now))
    assert changes.keep + changes.move + changes.update == len(now & known)
    states = [row for row in ledger.documents().to_pylist() if row["part"]]
    assert [row["doc_id"] for row in states] == sorted({row["doc_id"] for row in chunks})
    assert {row["part"] for row in states} == {Path(path).name for path in ledger.part_paths()}
    for row in states:
        own = [chunk for chunk in chunks if chunk["doc_id"] == row["doc_id"]]
        assert (row["chunks"], row["tokens"]) == (len(own), sum(chunk["token_count"] for chunk in own))
