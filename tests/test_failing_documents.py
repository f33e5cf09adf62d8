"""What can't be read tonight keeps the chunks of the last run, is named, and is tried again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.counting.counter import Engine
from chunkledger.documents import tables
from chunkledger.documents.sources import Selection
from chunkledger.engines import units
from chunkledger.model import Document
from chunkledger.records.chunk_batch import Records
from chunkledger.store.run_report import Run
from chunkledger.verification import verify
from ledgers import Row, prose, rows_of, sections, write

SMALL = Settings(max_tokens=200, split_headings=6)
FILES = {
    "a.md": sections(3),
    "b.md": f"\r\n \n---\n\n{sections(4)}",
    "sub/c.md": sections(2),
    "sub/deep/d.txt": prose(40),
    "t.jsonl": "".join(json.dumps({"id": f"r{n}", "text": prose(30, f"r{n}"), "n": n}) + "\n" for n in range(4)),
}
IDS = {"a.md", "b.md", "sub/c.md", "sub/deep/d.txt", "r0", "r1", "r2", "r3"}


def _ingest(folder: Path, settings: Settings = SMALL, **options: object) -> Run:
    return ingest([folder / "docs"], folder / "ledger", settings, **options)  # type: ignore[arg-type]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with `docs`, and a ledger of them."""
    write(tmp_path / "docs", FILES)
    _ingest(tmp_path)
    return tmp_path


def _by_document(ledger: Path) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows_of(ledger):
        found.setdefault(row["doc_id"], []).append(row)
    return found


def _states(ledger: Path) -> dict[str, tuple[str, str]]:
    return {row["doc_id"]: (row["status"], row["reason"]) for row in open_ledger(ledger).documents().to_pylist()}


def _break(docs: Path, how: str) -> None:
    """Make something of the corpus unreadable."""
    if how == "undecodable":
        write(docs, {"b.md": b"\xe5"})
    elif how == "too large":
        write(docs, {"b.md": "x" * 100_000})
    elif how == "link":
        (docs / "b.md").unlink()
        (docs / "b.md").symlink_to("nowhere.md")
    elif how == "pipe":
        (docs / "b.md").unlink()
        os.mkfifo(docs / "b.md")


@pytest.mark.parametrize("how", ["undecodable", "too large", "link", "pipe"])
def test_document_that_fails_keeps_its_chunks(corpus: Path, how: str) -> None:
    """It is in the ledger as it was, in its place among the others, and counts as failed."""
    before = _by_document(corpus / "ledger")
    _break(corpus / "docs", how)
    write(corpus / "docs", {"a.md": sections(2)})
    run = _ingest(corpus, selection=Selection(max_document_bytes=50_000))
    after = _by_document(corpus / "ledger")
    assert (run.failed, run.kept, run.ok, run.exit_code) == (1, 1, 7, 3)
    assert list(after) == list(before)
    assert after["b.md"] == before["b.md"]
    assert len(after["a.md"]) < len(before["a.md"])
    assert _states(corpus / "ledger")["b.md"][0] == "failed"
    assert verify(corpus / "ledger").mismatches == []


def test_document_that_fails_for_long_is_kept_for_long(corpus: Path) -> None:
    """Every run tries it again; when it can be read, it is as if it had never failed."""
    before = rows_of(corpus / "ledger")
    good = (corpus / "docs" / "b.md").read_bytes()
    _break(corpus / "docs", "undecodable")
    for _ in range(3):
        run = _ingest(corpus)
        assert (run.kept, rows_of(corpus / "ledger")) == (1, before)
    assert (run.changes.keep, run.changes.add, run.changes.delete) == (len(before), 0, 0)
    (corpus / "docs" / "b.md").write_bytes(good)
    assert (_ingest(corpus).kept, rows_of(corpus / "ledger")) == (0, before)


def test_document_that_is_gone_is_not_kept(corpus: Path) -> None:
    """What its folder does not hold any more, and what is empty now, has no chunks."""
    (corpus / "docs" / "a.md").unlink()
    write(corpus / "docs", {"sub/c.md": " \n"})
    run = _ingest(corpus)
    assert (run.kept, set(_by_document(corpus / "ledger"))) == (0, IDS - {"a.md", "sub/c.md"})


def test_folder_that_can_not_be_seen_keeps_everything_below(corpus: Path) -> None:
    """A folder that became a broken link, as when a share is not mounted: nothing below it is known to be gone."""
    before = rows_of(corpus / "ledger")
    shutil.move(corpus / "docs" / "sub", corpus / "elsewhere")
    (corpus / "docs" / "sub").symlink_to("nowhere")
    run = _ingest(corpus)
    assert (run.failed, run.kept, rows_of(corpus / "ledger")) == (1, 2, before)
    states = _states(corpus / "ledger")
    reason = "sub failed, so this document was not seen; it keeps its chunks"
    assert states["sub"] == ("failed", "broken link")
    assert (states["sub/c.md"], states["sub/deep/d.txt"]) == (("kept", reason), ("kept", reason))
    assert verify(corpus / "ledger").mismatches == []
    assert (_ingest(corpus).kept, rows_of(corpus / "ledger")) == (2, before)
    (corpus / "docs" / "sub").unlink()
    assert set(_by_document(corpus / "ledger")) == IDS
    assert (_ingest(corpus).kept, set(_by_document(corpus / "ledger"))) == (0, IDS - {"sub/c.md", "sub/deep/d.txt"})


def test_table_that_fails_keeps_its_rows(corpus: Path) -> None:
    """A table that is none tonight, or has a line that is no row: what is missing may be in what was not read."""
    before = _by_document(corpus / "ledger")
    lines = (corpus / "docs" / "t.jsonl").read_text().splitlines()
    for content, kept in (
        ("\ufeffx".encode("utf-16-le"), {"r0", "r1", "r2", "r3"}),
        ("\n".join([lines[0], '{"id": "r1", "te', lines[3]]).encode(), {"r1", "r2"}),
        ("\n".join([lines[0], lines[1], lines[2], '{"id": "r3", "text": 1}']).encode(), {"r3"}),
    ):
        write(corpus / "docs", {"t.jsonl": content})
        run = _ingest(corpus)
        assert (run.failed, run.kept, _by_document(corpus / "ledger")) == (1, len(kept), before)
        assert verify(corpus / "ledger").mismatches == []
    write(corpus / "docs", {"t.jsonl": "\n".join([lines[0], lines[3]])})
    assert (_ingest(corpus).kept, set(_by_document(corpus / "ledger"))) == (0, IDS - {"r1", "r2"})


@pytest.mark.parametrize("settings", [Settings(max_tokens=90), Settings(max_tokens=200, encoding="cl100k_base")])
def test_kept_document_goes_with_the_settings(corpus: Path, settings: Settings) -> None:
    """Chunks of other limits, or counts of another encoding, would not go with the rest: they are made again."""
    write(corpus / "docs", {"e.md": f"---\ntitle: E\n---\n\n{sections(3)}"})
    _ingest(corpus)
    ingest([corpus / "docs"], corpus / "fresh", settings)
    fresh = rows_of(corpus / "fresh")
    for name in ("a.md", "b.md", "e.md", "t.jsonl", "sub/deep/d.txt"):
        write(corpus / "docs", {name: b"\xff\xfe\x00"})
    run = _ingest(corpus, settings)
    assert (run.failed, run.kept) == (5, 8)
    assert rows_of(corpus / "ledger") == fresh
    assert verify(corpus / "ledger").mismatches == []


def test_kept_document_with_overlap_is_made_again(tmp_path: Path) -> None:
    """What a chunk repeats is not repeated in the text that is cut anew."""
    write(tmp_path / "docs", {"a.md": sections(4), "b.md": "One.\n"})
    _ingest(tmp_path, Settings(max_tokens=100, overlap_tokens=40))
    ingest([tmp_path / "docs"], tmp_path / "fresh", SMALL)
    fresh = rows_of(tmp_path / "fresh")
    write(tmp_path / "docs", {"a.md": b"\xe5"})
    _ingest(tmp_path)
    assert rows_of(tmp_path / "ledger") == fresh


def test_everything_fails(corpus: Path) -> None:
    """A corpus of which nothing can be read changes nothing in the ledger."""
    before = rows_of(corpus / "ledger")
    for path in list((corpus / "docs").rglob("*")):
        if path.is_file():
            path.write_bytes(b"\xff")
    run = _ingest(corpus)
    assert (run.ok, run.kept, rows_of(corpus / "ledger")) == (0, 8, before)


def test_table_that_became_a_pipe_keeps_its_rows(corpus: Path) -> None:
    """Regression: a table that was no regular file any more failed, and its rows passed for deleted."""
    before = rows_of(corpus / "ledger")
    (corpus / "docs" / "t.jsonl").unlink()
    os.mkfifo(corpus / "docs" / "t.jsonl")
    run = _ingest(corpus)
    assert (run.failed, run.kept, rows_of(corpus / "ledger")) == (1, 4, before)


def test_rows_beyond_the_findings_of_a_table_are_kept(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: bad rows that were only counted lost their chunks."""
    before = rows_of(corpus / "ledger")
    monkeypatch.setattr(tables, "MOST_BAD_ROWS", 2)
    write(corpus / "docs", {"t.jsonl": "".join(f'{{"id": "r{n}", "text": null}}\n' for n in range(4))})
    assert (_ingest(corpus).kept, rows_of(corpus / "ledger")) == (4, before)


@pytest.mark.parametrize("jobs", [0, 2])
def test_kept_documents_are_units_of_their_own(corpus: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    """Regression: all of them were held at once, by the process that drives the others."""
    settings = Settings(max_tokens=90)
    ingest([corpus / "docs"], corpus / "fresh", settings)
    for path in list((corpus / "docs").rglob("*.*")):
        path.write_bytes(b"\xff")
    monkeypatch.setattr("chunkledger.planning.placement.LEAST_PART_BYTES", 1)
    run = _ingest(corpus, settings, jobs=jobs)
    assert (run.kept, rows_of(corpus / "ledger")) == (8, rows_of(corpus / "fresh"))
    assert len(open_ledger(corpus / "ledger").part_paths()) == 8
    assert verify(corpus / "ledger").mismatches == []


def test_kept_document_that_can_not_be_made_again_is_told(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chunks are gone then, and nothing says that they were kept."""
    shutil.rmtree(corpus / "docs" / "sub")
    (corpus / "docs" / "sub").symlink_to("nowhere")
    _break(corpus / "docs", "undecodable")
    right = units.records_of

    def failing(documents: Sequence[Document], settings: Settings, engine: Engine) -> Records:
        if any(document.doc_id in ("b.md", "sub/c.md") for document in documents):
            raise ValueError("no luck")
        return right(documents, settings, engine)

    monkeypatch.setattr(units, "records_of", failing)
    run = _ingest(corpus, Settings(max_tokens=90))
    assert (run.kept, run.exit_code, set(_by_document(corpus / "ledger"))) == (1, 3, IDS - {"b.md", "sub/c.md"})
    told = [finding.reason for finding in run.findings if finding.doc_id in ("b.md", "sub/c.md")]
    gone = "its chunks of the last run could not be made again, and are gone: "
    assert [reason.startswith(gone) for reason in told] == [False, True, True]
    states = _states(corpus / "ledger")
    assert (states["sub/c.md"][0], states["sub/deep/d.txt"][0]) == ("failed", "kept")


@pytest.mark.parametrize("selection", [{"exclude": ("r1", "sub/*")}, {"include": ("a.md", "r0", "r2", "r3", "b.md")}])
def test_what_is_not_wanted_any_more_is_not_kept(corpus: Path, selection: dict[str, tuple[str, ...]]) -> None:
    """Regression: what somebody excluded stayed, as long as something beside it could not be read."""
    with (corpus / "docs" / "t.jsonl").open("a") as file:
        file.write("{bad\n")
    shutil.rmtree(corpus / "docs" / "sub")
    (corpus / "docs" / "sub").symlink_to("nowhere")
    run = _ingest(corpus, selection=Selection(**selection))
    assert (run.kept, set(_by_document(corpus / "ledger"))) == (0, {"a.md", "b.md", "r0", "r2", "r3"})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("---\na: [1\n---\nOne.\n", "its front matter gives no metadata: it is not YAML: "),
        ("---\na: 1\nb: *x\n---\nOne.\0\n", "1 NUL or surrogate characters replaced by U+FFFD; its front matter gives"),
        ("---\na: " + "x" * 20_000 + "\n---\nOne.\n", "its front matter gives no metadata: it has 20,"),
    ],
)
def test_front_matter_that_gives_nothing_is_told(tmp_path: Path, content: str, reason: str) -> None:
    """The document is taken, and what is missing is said, in the run and in the table of documents."""
    write(tmp_path / "docs", {"a.md": content, "b.md": "---\na: 2026-02-30\n---\nTwo.\n"})
    run = _ingest(tmp_path)
    [finding] = run.findings
    assert (run.ok, run.exit_code, finding.doc_id, finding.status) == (2, 0, "a.md", "ok")
    assert finding.reason.startswith(reason)
    assert _states(tmp_path / "ledger")["a.md"] == ("ok", finding.reason)
    assert {row["doc_id"]: row["metadata"] for row in rows_of(tmp_path / "ledger")} == {
        "a.md": "{}",
        "b.md": '{"a": "2026-02-30"}',
    }
