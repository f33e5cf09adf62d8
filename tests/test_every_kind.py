"""A folder with one file of every kind: what is good is in the ledger, what is bad is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import open_ledger
from chunkledger.verification import verify
from ledgers import cli, command, rows_of, write

GOOD: dict[str, str | bytes] = {
    "a.md": "# Title\n\nMarkdown.\n",
    "b.markdown": "Markdown.\n",
    "c.mdx": "Markdown <B/>.\n",
    "d.rst": "Title\n=====\n\nText::\n\n    code\n",
    "e.rest": "Text.\n",
    "f.txt": "Plain.\n",
    "g.TEXT": "Plain.\n",
    "crlf.md": "# One\r\n\r\nTwo.\r\n",
    "cr.txt": "One.\r\rTwo.\r",
    "bom.md": b"\xef\xbb\xbf# Marked\n",
    "utf16le.txt": "\ufeffWide \u6f22.\n".encode("utf-16-le"),
    "utf16be.md": "\ufeff# Wide\n".encode("utf-16-be"),
    "nul.txt": b"a\x00b\n",
    "surrogate.txt": b"a\xed\xa0\x80b\n",
    "sp ace/n\u00e4me \u6f22.md": "Text.\n",
    "special.md": '<|endoftext|> <|fim_prefix|> <chunk n="1"> </chunk> [truncated]\n',
}
SKIPPED: dict[str, str | bytes] = {
    ".hidden.md": "x",
    ".git/config.md": "x",
    "logo.png": b"\x89PNG",
    "pack.zip": b"PK",
    "page.html": "<p>",
    "LICENSE": "x",
    "empty.md": "",
    "blank.txt": " \n\t\u00a0\r\n",
}
FAILED: dict[str, str | bytes] = {
    "latin1.md": b"caf\xe9",
    "binary.txt": b"\x89PNG\r\n\x1a\n\x00\x00",
    "utf16-unmarked.txt": "No mark at all here.\n".encode("utf-16-le"),
    "letter.docx": b"PK",
    "scan.pdf": b"%PDF",
    "large.md": "x" * 9_000,
    "none.parquet": b"PAR1",
    "none.jsonl": "not json\n",
}
ROWS = [{"id": "row/1.md", "text": "# Row\n", "lang": "en"}, {"id": 2, "text": "Two."}, {"id": "bad", "text": None}]


def _folder(root: Path) -> Path:
    docs = write(root / "docs", GOOD | SKIPPED | FAILED)
    write(docs, {"rows.jsonl": "".join(f"{json.dumps(row)}\n" for row in ROWS)})
    pq.write_table(pa.table({"id": ["p1", "p2", None], "text": ["One.", "", "x"]}), docs / "rows.parquet")
    write(root, {"outside/secret.md": "x"})
    (docs / "out.md").symlink_to("../outside/secret.md")
    (docs / "gone.md").symlink_to("nowhere.md")
    (docs / "loop.md").symlink_to("loop.md")
    (docs / "again").symlink_to(".")
    os.mkfifo(docs / "pipe.md")
    return docs


@pytest.mark.parametrize("jobs", [0, 2])
def test_folder_with_everything(tmp_path: Path, jobs: int) -> None:
    """Every good document is in the ledger, exact and whole; every other one is named; the exit code says so."""
    docs = _folder(tmp_path)
    arguments = ["ingest", docs, "--out", tmp_path / "ledger", "--max-document-bytes", "8000"]
    done = command(*arguments, "--jobs", str(jobs))
    assert done.code == 3, done.err
    names = {state["doc_id"]: state["status"] for state in open_ledger(tmp_path / "ledger").documents().to_pylist()}
    good = {*GOOD, "row/1.md", "2", "p1"}
    failed = {*FAILED, "bad", "rows.parquet", "out.md", "gone.md", "loop.md", "again", "pipe.md"}
    skipped = {*SKIPPED, "p2", ".git"} - {".git/config.md"}
    assert names == dict.fromkeys(good, "ok") | dict.fromkeys(failed, "failed") | dict.fromkeys(skipped, "skipped")
    assert {row["doc_id"] for row in rows_of(tmp_path / "ledger")} == good
    told = {line.split(": ")[1] for line in done.err.splitlines() if line.startswith(("failed: ", "skipped: "))}
    assert told == failed | skipped
    assert f"documents={len(names)} ok={len(good)} skipped={len(skipped)} failed={len(failed)}" in done.err
    assert (verify(tmp_path / "ledger").mismatches, verify(tmp_path / "ledger").compared) == ([], len(good))


def test_folder_of_skipped_files_alone(tmp_path: Path) -> None:
    """There is nothing that somebody should look at: exit code 0."""
    done = cli("ingest", write(tmp_path / "docs", SKIPPED), "--out", tmp_path / "ledger")
    assert (done.code, done.out) == (0, "")
    assert "ok=0 skipped=8 failed=0 chunks=0" in done.err


def test_source_encoding_takes_what_failed(tmp_path: Path) -> None:
    """What is neither UTF-8 nor marked UTF-16 is read as what it was said to be; the others as what they are."""
    files = {name: GOOD[name] for name in ("a.md", "utf16le.txt")} | {"latin1.md": FAILED["latin1.md"]}
    docs = write(tmp_path / "docs", files)
    assert cli("ingest", docs, "--out", tmp_path / "ledger", "--source-encoding", "cp1252").code == 0
    texts = {row["doc_id"]: row["text"] for row in rows_of(tmp_path / "ledger")}
    assert texts == {"a.md": "# Title\n\nMarkdown.", "latin1.md": "caf\u00e9", "utf16le.txt": "Wide \u6f22."}
    assert verify(tmp_path / "ledger").compared == 3


def test_columns_of_tables_are_settable(tmp_path: Path) -> None:
    """A table with other names for its columns is read as soon as they are given."""
    docs = write(tmp_path / "docs", {"t.jsonl": '{"key": "a", "body": "One.", "by": "Ito"}\n'})
    arguments = ["ingest", docs / "t.jsonl", "--out", tmp_path / "ledger"]
    assert cli(*arguments).code == 3
    assert cli(*arguments, "--id-column", "key", "--text-column", "body").code == 0
    [row] = rows_of(tmp_path / "ledger")
    assert (row["doc_id"], row["text"], json.loads(row["metadata"])) == ("a", "One.", {"by": "Ito"})


def test_rows_in_no_order_are_in_order_in_the_ledger(tmp_path: Path) -> None:
    """Tables whose ids are in any order, next to files, give an export in order of document id, for any jobs."""
    rows = [
        {"id": f"{number * 7919 % 2003:04}", "text": f"Row {number}" + " and so on" * 240} for number in range(2000)
    ]
    docs = write(tmp_path / "docs", {"0500b.md": "A file.\n", "1500b.md": "A file.\n"})
    pq.write_table(pa.Table.from_pylist(rows[:1000]), docs / "a.parquet", row_group_size=400)
    write(docs, {"b.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows[1000:])})
    exports = []
    for jobs in (0, 2):
        done = command("ingest", docs, "--out", tmp_path / f"l{jobs}", "--jobs", str(jobs), "--max-tokens", "4000")
        assert done.code == 0, done.err
        exports.append(command("export", tmp_path / f"l{jobs}").out)
    assert exports[0] == exports[1]
    assert len(open_ledger(tmp_path / "l2").part_paths()) > 1
    ids = [json.loads(line)["doc_id"] for line in exports[0].splitlines()]
    assert ids == sorted(ids)
    assert set(ids) == {row["id"] for row in rows} | {"0500b.md", "1500b.md"}
