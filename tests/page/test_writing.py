"""The page is written whole or not at all, beside what the report prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.page import writing
from chunkledger.outliers.page.writing import page_of
from chunkledger.outliers.summary import summary
from ledgers import cli, names_below, sections, write


def test_the_report_is_printed_all_the_same(ledger: Path, tmp_path: Path) -> None:
    """Standard output is what it is without a page, in every format."""
    for form in ("table", "json"):
        done = cli("report", ledger, "--format", form, "--html", tmp_path / "page.html")
        assert done.out == cli("report", ledger, "--format", form).out
        assert done.err.startswith(f"page of run 1 in {tmp_path / 'page.html'}, ")
    assert names_below(tmp_path) == {"page.html"}


def test_the_page_is_the_same_each_time(ledger: Path) -> None:
    """No clock and no chance is in it."""
    opened = open_ledger(ledger)
    assert page_of(opened, summary(opened)) == page_of(opened, summary(opened))


def test_a_page_that_fails_leaves_the_one_before(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half is ever there."""
    file = write(tmp_path, {"page.html": "before"}) / "page.html"
    monkeypatch.setattr(writing, "_FOLDER", tmp_path)
    done = cli("report", ledger, "--html", file)
    assert (done.code, done.out, file.read_text()) == (2, "", "before")
    assert names_below(tmp_path) == {"page.html"}


def test_another_run(tmp_path: Path) -> None:
    """--run holds for the page, too."""
    docs = write(tmp_path / "docs", {"a.md": "One.\n"})
    ingest([docs], tmp_path / "ledger")
    ingest([write(docs, {"b.md": "Two.\n"})], tmp_path / "ledger")
    cli("report", tmp_path / "ledger", "--run", "1", "--html", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "run 1, counted in o200k_base" in text
    assert "b.md" not in text


def test_a_page_is_bounded(tmp_path: Path) -> None:
    """Names of a thousand letters, markup that takes six bytes a letter, more documents than a page can hold."""
    rows = [
        {"id": f"{number}{'<' * 900}.md", "text": "<&>\u202e" * 600 + sections(2)} for number in range(1500)
    ]  # fmt: skip
    lines = "\n".join(json.dumps(row) for row in rows)
    settings = Settings(max_tokens=2000, slot_tokens=2000)
    ingest([write(tmp_path / "docs", {"rows.jsonl": lines})], tmp_path / "ledger", settings)
    opened = open_ledger(tmp_path / "ledger")
    assert 1_000_000 < len(page_of(opened, summary(opened)).encode()) < 8_000_000
