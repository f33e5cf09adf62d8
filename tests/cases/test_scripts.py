"""Faults that users of other ingesters reported, about whole runs: `scripts.jsonl` holds the cases."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import open_ledger
from ledgers import Outcome, cli, command, rows_of, write

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in map(json.loads, Path(__file__).with_name("scripts.jsonl").read_text("utf-8").splitlines())
}


def _step(folder: Path, case: dict[str, Any], number: int) -> Outcome:
    """Run one step of a script: write its files, ingest them."""
    write(folder / "docs", json.loads(case["input"])[number]["files"])
    arguments = ["ingest", folder / "docs", "--out", folder / "ledger"]
    return cli(*arguments, "--max-tokens", str(case["params"]["max_tokens"]))


def test_one_bad_file(tmp_path: Path) -> None:
    """The good files are in, the bad one is told with its reason, and the next run tries it again."""
    case = CASES["inc-10-one-bad-file"]
    for _ in range(2):
        done = _step(tmp_path, case, 0)
        assert (done.code, [row["doc_id"] for row in rows_of(tmp_path / "ledger")]) == (3, ["a.txt", "c.txt"])
        assert done.err.startswith("failed: b.docx: .docx must be converted")
        states = {row["doc_id"]: row["status"] for row in open_ledger(tmp_path / "ledger").documents().to_pylist()}
        assert states == {"a.txt": "ok", "b.docx": "failed", "c.txt": "ok"}
    write(tmp_path / "docs", {"b.md": "now it is text"})
    (tmp_path / "docs" / "b.docx").unlink()
    assert _step(tmp_path, {**case, "input": '[{"files": {}}]'}, 0).code == 0


def test_failed_write_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full publishes nothing, and the run after it writes everything."""
    case = CASES["inc-12-failed-not-done"]

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "part")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        done = _step(tmp_path, case, 0)
    assert (done.code, "No space left on device" in done.err) == (4, True)
    assert cli("export", tmp_path / "ledger").code == 2
    assert _step(tmp_path, case, 1).code == 0
    assert [row["text"] for row in rows_of(tmp_path / "ledger")] == ["x"]


def test_counting_opens_no_connection(tmp_path: Path) -> None:
    """Without a network, a cache, or any setting of tiktoken's, counting works and does not try to connect."""
    case = CASES["off-line-01"]
    script = f"""
import socket
def refuse(*args, **kwargs):
    raise SystemExit("a connection was attempted")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from chunkledger import Settings, chunk_text
for encoding in ("cl100k_base", "o200k_base", "o200k_harmony"):
    [chunk] = chunk_text({case["input"]!r}, Settings(encoding=encoding, max_tokens={case["params"]["max_tokens"]}))
    assert chunk.token_count == 1
"""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def _replaced(folder: Path, case: dict[str, Any], number: int, ledger: str = "ledger") -> Outcome:
    """Let the files of one step of a script take the place of those before, and ingest them in a process of its own."""
    shutil.rmtree(folder / "docs", ignore_errors=True)
    step = json.loads(case["input"])[number]
    write(folder / "docs", step["files"])
    arguments = ["ingest", folder / "docs", "--out", folder / ledger, "--jobs", "0"]
    limit = str(case["params"]["max_tokens"])
    return command(*arguments, "--max-tokens", limit, env=os.environ | step.get("env", {}))


def _figures(done: Outcome) -> dict[str, int]:
    line = done.err.splitlines()[-1]
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)(?: |$)", line)}


def _changed(done: Outcome) -> list[int]:
    found = _figures(done)
    return [found[name] for name in ("add", "move", "update", "delete")]


def test_same_twice(tmp_path: Path) -> None:
    """Nothing is added, changed or deleted, and the rows and ids are the same."""
    case = CASES["inc-01-same-twice"]
    _replaced(tmp_path, case, 0)
    before = rows_of(tmp_path / "ledger")
    assert _changed(_replaced(tmp_path, case, 1)) == [0, 0, 0, 0]
    assert rows_of(tmp_path / "ledger") == before


def test_shrunk(tmp_path: Path) -> None:
    """No chunk of the removed text is left, and the rows cover the new text."""
    case = CASES["inc-02-shrunk"]
    _replaced(tmp_path, case, 0)
    _replaced(tmp_path, case, 1)
    [text] = json.loads(case["input"])[1]["files"].values()
    rows = rows_of(tmp_path / "ledger")
    assert "".join(row["text"] + row["gap_after"] for row in rows) == text


def test_twins(tmp_path: Path) -> None:
    """Equal files have other ids; what deletes one of them leaves the other."""
    case = CASES["inc-04-twins"]
    _replaced(tmp_path, case, 0)
    ids = {row["doc_id"]: row["chunk_id"] for row in rows_of(tmp_path / "ledger")}
    assert len(set(ids.values())) == 2
    assert _changed(_replaced(tmp_path, case, 1)) == [0, 0, 0, 1]
    assert [row["chunk_id"] for row in rows_of(tmp_path / "ledger")] == [ids["b.txt"]]


def test_ids_do_not_depend_on_the_process(tmp_path: Path) -> None:
    """Another seed of Python's hashes, another folder and a fresh ledger give the same ids."""
    case = CASES["inc-06-process-stable"]
    (tmp_path / "elsewhere").mkdir()
    _replaced(tmp_path, case, 0)
    _replaced(tmp_path / "elsewhere", case, 1, "other")
    ids = [
        [row["chunk_id"] for row in rows_of(ledger)] for ledger in (tmp_path / "ledger", tmp_path / "elsewhere/other")
    ]
    assert ids[0] == ids[1]


def test_batch_edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of fewer rows than a file has chunks add and delete nothing, be it known unchanged or compared."""
    case = CASES["inc-08-batch-edges"]
    first, second = json.loads(case["input"])
    monkeypatch.setattr("chunkledger.store.parts._BATCH_ROWS", second["batch_size"])
    assert first["files"] == second["files"]
    assert [_step(tmp_path, case, number).code for number in (0, 1)] == [0, 0]
    arguments = [
        "ingest",
        tmp_path / "docs",
        "--out",
        tmp_path / "ledger",
        "--max-tokens",
        "60",
        "--slot-tokens",
        "6001",
    ]
    compared = cli(*arguments)
    found = _figures(compared)
    assert (_changed(compared), found["keep"] > second["batch_size"]) == ([0, 0, 0, 0], True)


def test_rename(tmp_path: Path) -> None:
    """No row has the old name."""
    case = CASES["inc-09-rename"]
    for number in (0, 1):
        _replaced(tmp_path, case, number)
    assert {row["doc_id"] for row in rows_of(tmp_path / "ledger")} == set(json.loads(case["input"])[1]["files"])


def test_null_column(tmp_path: Path) -> None:
    """A first run in which every heading path is empty has the schema of a later one, and both read as one dataset."""
    case = CASES["tab-01-null-column"]
    schemas = []
    for number in (0, 1):
        _replaced(tmp_path, case, number)
        schemas.append(open_ledger(tmp_path / "ledger").chunks().schema)
    assert schemas[0] == schemas[1]
    assert pa.types.is_list(schemas[0].field("heading_path").type)
    parts = sorted(str(path) for path in (tmp_path / "ledger").glob("part-*.parquet"))
    assert len(parts) > 1
    assert pl.scan_parquet(parts).select("heading_path").collect().dtypes == [pl.List(pl.String)]


def test_first_rows_none(tmp_path: Path) -> None:
    """A metadata value that is null in the first rows and set later is there, from both kinds of tables."""
    [step] = json.loads(CASES["tab-02-first-rows-none"]["input"])
    rows = [{"id": f"r{number}", "text": "One.", **record} for number, record in enumerate(step["records"])]
    write(tmp_path / "jsonl", {"t.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows)})
    (tmp_path / "parquet").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "parquet" / "t.parquet", row_group_size=2)
    for kind in ("jsonl", "parquet"):
        assert cli("ingest", tmp_path / kind, "--out", tmp_path / f"{kind}-ledger").code == 0
        found = [json.loads(row["metadata"]) for row in rows_of(tmp_path / f"{kind}-ledger")]
        assert found == step["records"]


def test_every_script_is_run() -> None:
    """No case of the file is left out, and each is named in a test."""
    source = Path(__file__).read_text("utf-8")
    assert [name for name in CASES if f'CASES["{name}"]' not in source] == []
