"""Faults that users of other ingesters reported, about whole runs: `scripts.jsonl` holds the cases."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chunkledger import Settings, open_ledger
from ledgers import Outcome, cli, rows_of, write

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


def test_every_script_is_run() -> None:
    """No case of the file is left out."""
    assert set(CASES) == {"inc-10-one-bad-file", "inc-12-failed-not-done", "off-line-01"}
    assert all(Settings(max_tokens=case["params"]["max_tokens"]) for case in CASES.values())
