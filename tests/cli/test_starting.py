"""A first settings file is one that the first ingest takes, and nothing is replaced unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkledger.cli.config import resolved
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES
from ledgers import SAMPLE_CORPUS, cli, command, names_below, rows_of, write

FILES = {
    "a.md": "One.\n",
    "t.jsonl": '{"doc_id": "r.md", "body": "Two.", "lang": "en"}\n',
    "web/package.json": "{}",
    "web/node_modules/x/README.md": b"\xff",
    "web/build/y.pdf": "",
    "env/pyvenv.cfg": "",
    "env/lib/broken.jsonl": "{",
}


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def test_first_ingest_with_the_file_takes_everything(tmp_path: Path) -> None:
    """What would have failed without the file is read with it, or shut out."""
    write(tmp_path / "docs", FILES | {"long.txt": "x"})
    os.truncate(tmp_path / "docs/long.txt", MAX_DOCUMENT_BYTES + 4)
    done = cli("init", "docs")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "settings are in chunkledger.toml",
        "next: chunkledger ingest docs --out ledger",
    ]
    settings, options = resolved({}, folder=tmp_path)
    assert (settings.id_column, settings.text_column) == ("doc_id", "body")
    assert options == {
        "max_document_bytes": 2 * MAX_DOCUMENT_BYTES,
        "exclude": ("env/*", "node_modules/*", "*/node_modules/*", "web/build/*"),
    }
    write(tmp_path / "docs", {"long.txt": "x"})  # eight megabytes would take their time
    ingested = cli("ingest", "docs", "--out", "ledger")
    assert ingested.code == 0, ingested.err
    assert [row["doc_id"] for row in rows_of(tmp_path / "ledger")] == ["a.md", "long.txt", "r.md"]


@pytest.mark.parametrize("folder", [".", "sample"])
def test_second_run_gives_the_same_bytes(tmp_path: Path, folder: str) -> None:
    """The file does not see itself, and nothing in it depends on when or how often it is made."""
    (tmp_path / "sample").symlink_to(SAMPLE_CORPUS)
    write(tmp_path, FILES)
    assert cli("init", folder).code == 0
    before = (tmp_path / "chunkledger.toml").read_bytes()
    assert cli("init", folder, "--force").code == 0
    printed = command("init", folder, "--print")
    assert ((tmp_path / "chunkledger.toml").read_bytes(), printed.out.encode()) == (before, before)


def test_file_that_is_there_is_kept(tmp_path: Path) -> None:
    """Settings of somebody are not replaced, unless that is asked for."""
    write(tmp_path, {"docs/a.md": "One.\n", "chunkledger.toml": "max_tokens = 300\n"})
    done = cli("init", "docs")
    expected = "error: chunkledger.toml is there already; --force replaces it, --print writes to standard output\n"
    assert (done.code, done.out, done.err) == (2, "", expected)
    assert (tmp_path / "chunkledger.toml").read_text() == "max_tokens = 300\n"
    assert cli("init", "docs", "--force").code == 0
    assert resolved({}, folder=tmp_path)[0].max_tokens == 512


def test_broken_link_is_not_written_through(tmp_path: Path) -> None:
    """A link that leads to nothing is something that is there."""
    (tmp_path / "chunkledger.toml").symlink_to(tmp_path / "elsewhere")
    assert (cli("init", "--to", "chunkledger.toml").code, names_below(tmp_path)) == (2, set())


def test_print_writes_no_file(tmp_path: Path) -> None:
    """Standard output has the file and nothing else."""
    write(tmp_path, {"docs/a.md": "One.\n", "docs/日本é.txt": b"\xff\xfd!"})
    done = command("init", "docs", "--print")
    assert (done.code, names_below(tmp_path)) == (0, {"docs/a.md", "docs/日本é.txt"})
    assert "日本é.txt" in done.out
    write(tmp_path, {"chunkledger.toml": done.out})
    assert cli("config", "show").code == 0


def test_other_file_is_told_to_be_another(tmp_path: Path) -> None:
    """Whoever writes elsewhere hears where ingest looks."""
    write(tmp_path, {"my docs/a.md": "One.\n"})
    done = cli("init", "my docs", "--to", "other.toml")
    assert (done.code, done.err.splitlines()) == (
        0,
        [
            "settings are in other.toml",
            "ingest reads them from chunkledger.toml in the folder where it is run",
            "next: chunkledger ingest 'my docs' --out ledger",
        ],
    )


def test_corpus_is_left_as_it_is(tmp_path: Path) -> None:
    """The folder is only looked at."""
    write(tmp_path / "docs", FILES)
    before = names_below(tmp_path)
    assert cli("init", "docs").code == 0
    assert names_below(tmp_path) == before | {"chunkledger.toml"}
