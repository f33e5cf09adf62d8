"""Counts by id from an exported index are those of the ledger."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.packer import pack, render
from chunkledger.packer.counts import COLUMNS, CountIndex, open_counts
from ledgers import SAMPLE_CORPUS, Row, cli, rows_of, write
from recounting import tokens


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, and a document whose payload is at its end."""
    folder = tmp_path_factory.mktemp("counts")
    text = "".join(f"Line {number} of the log.\n\n" for number in range(40))
    write(folder / "docs", {"log.md": f"---\npayload: end\n---\n\n{text}"})
    ingest([SAMPLE_CORPUS, folder / "docs"], folder / "ledger", Settings(max_tokens=200, overlap_tokens=20))
    return folder / "ledger"


@pytest.fixture(scope="module")
def rows(ledger: Path) -> list[Row]:
    """Its records, in no order."""
    found = rows_of(ledger)
    random.Random(3).shuffle(found)  # noqa: S311 (test data)
    return found


@pytest.fixture(scope="module")
def index(ledger: Path) -> Path:
    """Its count index, in a folder whose name is hard on URIs."""
    folder = ledger.parent / "a b#c?d%41 é"
    folder.mkdir()
    done = cli("export", ledger, "--format", "counts", "--to", folder / "counts.sqlite")
    assert (done.code, done.out) == (0, "")
    return folder / "counts.sqlite"


@pytest.mark.parametrize("slot", [300, 2_000, 100_000])
@pytest.mark.parametrize("truncate", ["floor", "any"])
def test_packing_by_ids_is_packing_the_rows(index: Path, rows: list[Row], slot: int, truncate: str) -> None:
    """With ids and texts alone the pack, its cost and its prompt are those of the whole rows."""
    hits = [SimpleNamespace(id=row["chunk_id"], page_content=row["text"], metadata={}) for row in rows]
    with open_counts(index) as counts:
        by_id = pack(counts.rows(hits), slot, encoding=counts.encoding, truncate=truncate)
        ids_alone = pack(counts.rows(row["chunk_id"] for row in rows), slot, encoding="o200k_base", truncate=truncate)
    whole = pack(rows, slot, encoding="o200k_base", truncate=truncate)
    assert (by_id.log, render(by_id)) == (whole.log, render(whole))
    assert by_id.citations() == whole.citations()
    assert ids_alone.log == pack(rows, slot, encoding="o200k_base", truncate=truncate, duplicates="chunk").log


def test_rows_are_those_of_the_ledger(index: Path, rows: list[Row]) -> None:
    """Every column of the index is that of the ledger."""
    with open_counts(index) as counts:
        found = counts.rows(row["chunk_id"] for row in rows)
        assert (len(counts), counts.encoding, counts.template, counts.run) == (len(rows), "o200k_base", "xml/1", 1)
    for one, row in zip(found, rows, strict=True):
        assert {name: one[name] for name in COLUMNS if name != "payload"} == {
            name: row[name] for name in COLUMNS if name != "payload"
        }
        assert (one["encoding"], one["template"]) == (row["encoding"], row["template"])
        assert one["payload"] == ("end" if row["doc_id"] == "log.md" else None)


def test_hit_is_kept_beside_its_counts(index: Path, rows: list[Row]) -> None:
    """The hit is at hand where a block is read."""
    hit = {"id": rows[0]["chunk_id"], "score": 0.7}
    with open_counts(index) as counts:
        packed = pack(counts.rows([hit]), 10_000, encoding="o200k_base")
    row: Any = packed.blocks[0].chunks[0].row
    assert (row["hit"], "text" in row) == (hit, False)


def test_order_and_repeats_are_those_of_the_ranking(index: Path, rows: list[Row]) -> None:
    """An id that ranks twice gives two rows, however many ids there are."""
    ids = [row["chunk_id"] for row in rows] * 12
    with open_counts(index) as counts:
        assert [row["chunk_id"] for row in counts.rows(ids)] == ids


def test_unknown_id_is_named(index: Path, rows: list[Row]) -> None:
    """A store that was loaded from another run is told apart, with rank, id and what to do."""
    with open_counts(index) as counts, pytest.raises(ValueError, match="hit at rank 2") as raised:
        counts.rows([rows[0]["chunk_id"], "c-1", "c-2"])
    assert str(raised.value) == (
        f"hit at rank 2 (chunk_id 'c-1') is not in {index}, which is of run 1 (2 of 3 hits are not): export the ledger "
        "again, or load the store again"
    )


def test_unknown_ids_can_be_left_out(index: Path, rows: list[Row], caplog: pytest.LogCaptureFixture) -> None:
    """A service that must answer goes on without them, and its log says so."""
    ids = ["c-1", rows[0]["chunk_id"]]
    with open_counts(index) as counts:
        assert [row["chunk_id"] for row in counts.rows(ids, missing="skip")] == ids[1:]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "(chunk_id 'c-1') is not in" in caplog.text


def _shapes(chunk_id: str, text: str) -> list[object]:
    """Hits with an id and a text, as stores and frameworks give them where they know no counts."""
    return [
        SimpleNamespace(id=None, page_content=text, metadata={"chunk_id": chunk_id}),
        (SimpleNamespace(id=chunk_id, page_content=text, metadata={}), 0.8),
        SimpleNamespace(id="other", content=text, meta={"chunk_id": chunk_id}),
        SimpleNamespace(id=17, payload={"chunk_id": chunk_id, "text": text}),
        {"_id": "e1", "_source": {"chunk_id": chunk_id, "text": text}},
        {"id": chunk_id, "metadata": {"text": text}},
        {"id": UUID(chunk_id), "text": text},
    ]


def test_ids_and_texts_are_found_where_they_lie(index: Path, rows: list[Row]) -> None:
    """Nested or not, every shape gives the row with its text, so that it can be rendered."""
    shapes = _shapes(rows[0]["chunk_id"], rows[0]["text"])
    expected = render(pack([rows[0]], 10_000, encoding="o200k_base"))
    with open_counts(index) as counts:
        for shape in shapes:
            assert render(pack(counts.rows([shape]), 10_000, encoding="o200k_base")) == expected
        assert counts.rows([UUID(rows[0]["chunk_id"])]) == counts.rows([rows[0]["chunk_id"]])


@pytest.mark.parametrize("hit", [{"text": "Ten."}, 7, None, {"chunk_id": None}])
def test_hit_without_an_id_is_named(index: Path, hit: object) -> None:
    """Counts can't be looked up without an id."""
    with open_counts(index) as counts, pytest.raises(ValueError, match="hit at rank 1 has no chunk_id, but None"):
        counts.rows([hit])


def test_unknown_choice_is_refused(index: Path) -> None:
    """The choices are named."""
    with open_counts(index) as counts, pytest.raises(ValueError, match="missing is 'no'; it must be one of: raise, sk"):
        counts.rows([], missing="no")


def test_no_hits_are_no_rows(index: Path) -> None:
    """An empty ranking is an empty pack."""
    with open_counts(index) as counts:
        assert counts.rows([]) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "can't be read: No such file or directory"),
        (b"", "is no count index"),
        (b"not a database, but long enough for its header to be read" * 20, "is no count index"),
    ],
)
def test_file_that_is_no_index_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    """What is no index says how to make one."""
    path = tmp_path / "x.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        open_counts(path)
    assert str(raised.value).endswith("make one with: chunkledger export LEDGER --format counts --to FILE")


def test_index_of_another_version_is_named(index: Path, tmp_path: Path) -> None:
    """An index of a later release is refused, not misread."""
    path = tmp_path / "later.sqlite"
    path.write_bytes(index.read_bytes())
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(ValueError, match="is a count index of version 9, not 2"):
        open_counts(path)


def test_newer_index_is_followed(ledger: Path, tmp_path: Path) -> None:
    """A service that runs for weeks reads the index of last night."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings())
    path = tmp_path / "counts.sqlite"
    cli("export", tmp_path / "ledger", "--format", "counts", "--to", path)
    with open_counts(path) as counts:
        assert (len(counts), counts.run) == (1, 1)
        write(tmp_path / "docs", {"b.md": "Two.\n"})
        ingest([tmp_path / "docs"], tmp_path / "ledger", Settings())
        cli("export", tmp_path / "ledger", "--format", "counts", "--to", path)
        assert (len(counts), counts.run) == (2, 2)
        path.unlink()
        assert len(counts) == 2
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_what_is_no_index_is_not_followed(index: Path, tmp_path: Path, rows: list[Row]) -> None:
    """A file that is just being written, or is something else, does not take the place of what is open."""
    path = tmp_path / "counts.sqlite"
    path.write_bytes(index.read_bytes())
    with open_counts(path) as counts:
        other = tmp_path / "other"
        other.write_bytes(b"no index")
        other.rename(path)
        assert [row["chunk_id"] for row in counts.rows([rows[0]["chunk_id"]])] == [rows[0]["chunk_id"]]


def test_index_that_is_overwritten_in_place_is_followed(tmp_path: Path) -> None:
    """A copy onto the file keeps its inode; its size and time tell."""
    path = tmp_path / "counts.sqlite"
    for number, text in enumerate(("One.\n", "One.\n\n# Two\n\nThree.\n"), 1):
        write(tmp_path / "docs", {f"{number}.md": text})
        ingest([tmp_path / "docs"], tmp_path / "ledger", Settings())
        cli("export", tmp_path / "ledger", "--format", "counts", "--to", tmp_path / f"{number}.sqlite")
    path.write_bytes((tmp_path / "1.sqlite").read_bytes())
    with open_counts(path) as counts:
        assert (counts.run, len(counts)) == (1, 1)
        path.write_bytes((tmp_path / "2.sqlite").read_bytes())
        os.utime(path, (1, 1))
        assert (len(counts), counts.run) == (2, 2)


def test_rows_are_of_the_encoding_that_they_name(tmp_path: Path) -> None:
    """Rows that were read before the file was replaced keep the encoding that they were counted with."""
    write(tmp_path / "docs", {"a.md": "Один.\n"})
    path = tmp_path / "counts.sqlite"
    rows: list[Row] = []
    for encoding in ("o200k_base", "cl100k_base"):
        ingest([tmp_path / "docs"], tmp_path / encoding, Settings(encoding=encoding))
        cli("export", tmp_path / encoding, "--format", "counts", "--to", path)
        if not rows:
            counts = open_counts(path)
            chunk_id = rows_of(tmp_path / encoding)[0]["chunk_id"]
        rows += counts.rows([chunk_id])
    assert [(row["encoding"], row["token_count"]) for row in rows] == [
        (encoding, tokens("Один.", encoding)) for encoding in ("o200k_base", "cl100k_base")
    ]
    counts.close()


def test_closed_index_says_so(index: Path) -> None:
    """What is closed stays closed."""
    counts = open_counts(index)
    counts.close()
    with pytest.raises(ValueError, match=r"the count index .* is closed"):
        counts.rows(["c-1"])


def test_id_that_is_no_text_is_unknown(index: Path) -> None:
    """Half of a surrogate pair is in no ledger, and is named like any other id that is not there."""
    with (
        open_counts(index) as counts,
        pytest.raises(ValueError, match=r"hit at rank 1 \(chunk_id '\\ud800'\) is not in"),
    ):
        counts.rows(["\ud800"])


@pytest.mark.parametrize("kind", ["folder", "unreadable"])
def test_path_that_cannot_be_opened_is_named(tmp_path: Path, kind: str) -> None:
    """Whatever is in the way, the error is a ValueError that names the path."""
    path = tmp_path / "x"
    path.mkdir() if kind == "folder" else path.symlink_to(path)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        open_counts(path)


def test_link_to_an_index_stays_a_link(ledger: Path, tmp_path: Path) -> None:
    """Where a name leads to the index of the day, the export replaces what it leads to."""
    (tmp_path / "v1").touch()
    (tmp_path / "current").symlink_to(tmp_path / "v1")
    assert cli("export", ledger, "--format", "counts", "--to", tmp_path / "current").code == 0
    assert (tmp_path / "current").is_symlink()
    with open_counts(tmp_path / "v1") as counts:
        assert counts.run == 1


@pytest.mark.parametrize("kind", ["document", "folder"])
def test_what_is_no_index_is_not_overwritten(ledger: Path, tmp_path: Path, kind: str) -> None:
    """A slip of the finger costs nobody a file."""
    path = tmp_path / "keep"
    path.mkdir() if kind == "folder" else path.write_text("keep me")
    done = cli("export", ledger, "--format", "counts", "--to", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {path} is there and is no count index of this release; give another name")
    assert [entry.name for entry in tmp_path.iterdir()] == ["keep"]


def test_folder_that_is_not_there_is_named(ledger: Path, tmp_path: Path) -> None:
    """The error names what was asked for, not a temporary file."""
    path = tmp_path / "nowhere" / "counts.sqlite"
    done = cli("export", ledger, "--format", "counts", "--to", path)
    expected = f"error: the count index can't be written to {path}: No such file or directory\n"
    assert (done.code, done.err) == (2, expected)


def test_index_serves_threads(index: Path, rows: list[Row]) -> None:
    """One open index answers many threads at once."""
    ids = [row["chunk_id"] for row in rows]
    wrong: list[object] = []

    def ask(counts: CountIndex) -> None:
        for _ in range(20):
            found = [row["chunk_id"] for row in counts.rows(ids)]
            if found != ids:
                wrong.append(found)

    with open_counts(index) as counts:
        threads = [threading.Thread(target=ask, args=(counts,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_index_is_readable_by_others(index: Path) -> None:
    """The file has the rights that any new file gets, because a service reads what a job wrote."""
    plain = index.parent / "plain"
    plain.touch()
    assert index.stat().st_mode == plain.stat().st_mode


def test_failed_export_leaves_the_index_as_it_was(ledger: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stands until the new one is whole, and nothing is left beside it."""
    before, names = index.read_bytes(), sorted(os.listdir(index.parent))
    opened = open_ledger(ledger)
    for part in map(Path, opened.part_paths()):
        part.rename(part.with_suffix(".gone"))
    try:
        assert cli("export", ledger, "--format", "counts", "--to", index).code != 0
    finally:
        for part in ledger.glob("*.gone"):
            part.rename(part.with_suffix(".parquet"))
    assert (index.read_bytes(), sorted(os.listdir(index.parent))) == (before, names)


def test_index_needs_a_file(ledger: Path) -> None:
    """A database does not go to standard output."""
    done = cli("export", ledger, "--format", "counts")
    assert (done.code, done.out, done.err) == (2, "", "error: --format counts needs --to FILE\n")


def test_sqlite_is_loaded_only_when_it_is_used() -> None:
    """A service whose counts ride in its store's payload does not pay for it."""
    script = "import sys, chunkledger.packer; print('sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
