"""Files of a ledger are named after their content and are there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from chunkledger.model import Finding
from chunkledger.store.documents_table import DOCUMENTS_SCHEMA, DocumentState, documents_content, documents_table
from chunkledger.store.files import write_file
from chunkledger.store.layout import changes_name, content_hash, documents_name, part_name, run_name, run_of
from chunkledger.store.run_report import MOST_FINDINGS, REPORT_VERSION, run_report


def _report(**changed: object) -> dict[str, object]:
    values: dict[str, object] = {
        "run": 1,
        "sources": [],
        "selection": {},
        "settings": {},
        "versions": {},
        "counts": {},
        "findings": [],
        "engine": "toktok",
        "notices": [],
        "started": "",
        "seconds": {},
        "peak_bytes": {},
        "error": None,
    }
    found: dict[str, object] = json.loads(run_report(**(values | changed)).decode("utf-8"))  # type: ignore[arg-type]
    return found


def test_names_end_in_the_hash_of_the_content() -> None:
    """Two writers with different content never write the same file."""
    start = hashlib.sha256(b"abc").hexdigest()[:16]
    assert content_hash(b"abc") == start
    assert part_name(3, 12, b"abc") == f"part-00003-00012-{start}.parquet"
    assert documents_name(3, b"abc") == f"_documents/00003-{start}.parquet"
    assert changes_name(3, b"abc") == f"_changes/00003-{start}.parquet"
    assert run_name(123456, b"abc") == f"_runs/123456-{start}.json"


def test_name_tells_its_run() -> None:
    """What a run wrote is known by its name, and nothing else is."""
    names = [part_name(3, 12, b""), documents_name(4, b""), changes_name(5, b""), run_name(123456, b"")]
    assert [run_of(name) for name in names] == [3, 4, 5, 123456]
    others = ["_lock", "mine.parquet", "part-x.parquet", "_delta_log/00000000000000000003.json", "_cursors/a.json"]
    assert [run_of(name) for name in others] == [None] * len(others)


def test_file_is_written_with_its_folders(tmp_path: Path) -> None:
    """Folders are made, nothing else is left, and writing the same file again is no error."""
    for _ in range(2):
        write_file(str(tmp_path), "_runs/a.json", b"abc")
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["_runs", "_runs/a.json"]
    assert (tmp_path / "_runs" / "a.json").read_bytes() == b"abc"


def test_write_that_is_interrupted_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the waiting file of an interrupted write stayed behind."""

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(str(tmp_path), "a.json", b"abc")
    assert list(tmp_path.iterdir()) == []


def test_table_of_documents_is_in_order(tmp_path: Path) -> None:
    """One row a document, by id, with exactly the columns of its schema."""
    states = [
        DocumentState("b.md", "b.md", 0, 2, 20, "20-1", "ff", "ok", "", 2, "p.parquet", 3, 1, 40),
        DocumentState("a", "t.jsonl", 7, 0, 0, "", "", "failed", "empty"),
    ]
    (tmp_path / "d.parquet").write_bytes(documents_content(documents_table(states)))
    found = pq.ParquetFile(tmp_path / "d.parquet").read()
    assert found.schema == DOCUMENTS_SCHEMA
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("a", "t.jsonl", 7, 0, 0, "", "", "failed", "empty", 0, "", 0, 0, 0),
        ("b.md", "b.md", 0, 2, 20, "20-1", "ff", "ok", "", 2, "p.parquet", 3, 1, 40),
    ]


def test_report_lists_findings_up_to_a_limit() -> None:
    """A corpus of broken files does not make a report that nobody can open."""
    found = _report(findings=[Finding(f"{number}.md", "failed", "x") for number in range(MOST_FINDINGS + 5)])
    assert (len(found["findings"]), found["findings_in_all"]) == (MOST_FINDINGS, MOST_FINDINGS + 5)  # type: ignore[arg-type]
    assert found["report_version"] == REPORT_VERSION


def test_failed_ones_are_the_last_to_be_left_out() -> None:
    """What somebody has to look at is not hidden behind pictures."""
    skipped = [Finding(f"a{number}.png", "skipped", "x") for number in range(MOST_FINDINGS)]
    findings: Any = _report(findings=[*skipped, Finding("z.md", "failed", "x")])["findings"]
    assert (findings[0]["doc_id"], findings[1]["doc_id"], len(findings)) == ("z.md", "a0.png", MOST_FINDINGS)


def test_report_holds_paths_that_are_not_utf8() -> None:
    """Regression: a source below a folder whose name is not UTF-8 could not be ingested."""
    assert _report(sources=[{"name": "", "path": "/caf\udce9/é"}])["sources"] == [{"name": "", "path": "/caf\udce9/é"}]
