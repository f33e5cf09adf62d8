"""Two runs at once on one ledger: one wins or waits, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import filelock
import pytest

from aftermath import leftovers
from chunkledger import SourceError, ingest, open_ledger
from chunkledger.recounting import recount
from chunkledger.store import lock
from chunkledger.store.layout import LOCK, RUNNING
from chunkledger.store.lock import LockedError, locked
from faults import environment
from ledgers import COMMAND, rows_of, sections, write

ROUNDS = 5
WAITING = "import sys; from chunkledger import ingest; ingest(sys.argv[1], sys.argv[2], wait=60)"


def _both(*commands: list[str]) -> list[subprocess.Popen[str]]:
    """Processes that were started one right after the other."""
    return [
        subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), encoding="utf-8") for command in commands
    ]


def _held_back(processes: list[subprocess.Popen[str]], ledger: Path) -> int:
    """Stop the one that has the lock as soon as it says so; its place, or -1 where the other was too late for it."""
    said = ledger / "_running.json"
    while all(process.poll() is None for process in processes):
        with suppress(FileNotFoundError):
            holder = int(json.loads(said.read_text())["pid"])
            os.kill(holder, signal.SIGSTOP)
            return [process.pid for process in processes].index(holder)
        time.sleep(0.001)
    return -1


def _codes(processes: list[subprocess.Popen[str]], ledger: Path) -> list[int]:
    """How two commands end of which one works while the other asks for the lock."""
    holder = _held_back(processes, ledger)
    try:
        if holder >= 0:
            pid = processes[holder].pid
            other = processes[1 - holder]
            _, err = other.communicate(timeout=60)
            assert err.startswith(f"error: nothing was published: {ledger}: another run is at work (process {pid} on ")
            assert err.endswith("; --wait SECONDS waits for it\n")
            assert other.returncode == 4
            processes[holder].send_signal(signal.SIGCONT)
        for process in processes:
            process.communicate(timeout=60)
    finally:
        for process in processes:
            process.kill()
    return [process.returncode for process in processes]


@pytest.mark.parametrize("is_new", [False, True])
def test_second_run_ends_at_once(tmp_path: Path, is_new: bool) -> None:
    """Of two commands started together one publishes; the other says so and ends with code 4, also where all is new."""
    contested = runs = 0
    for number in range(ROUNDS):
        docs = write(tmp_path / "docs", {f"{number}.md": sections(3)})
        ledger = tmp_path / (f"ledger{number}" if is_new else "ledger")
        runs = 0 if is_new else runs
        command = [*COMMAND, "ingest", str(docs), "--out", str(ledger), "--jobs", "0"]
        codes = _codes(_both(command, command), ledger)
        assert sorted(codes) in ([0, 4], [0, 0])
        contested += 4 in codes
        runs += codes.count(0)
        assert open_ledger(ledger).run == runs
        assert {row["doc_id"] for row in rows_of(ledger)} == {f"{each}.md" for each in range(number + 1)}
        assert leftovers(ledger) == set()
    assert contested > ROUNDS // 2


def test_a_run_that_has_just_begun_is_named(tmp_path: Path) -> None:
    """Who has the lock says so a moment later; the run that came too late waits for that, and not for the lock."""
    said = json.dumps({"pid": 4711, "host": "here", "started": "2026-01-01T00:00:00+00:00"})
    with filelock.FileLock(tmp_path / LOCK):
        saying = threading.Timer(0.1, (tmp_path / RUNNING).write_text, [said])
        saying.start()
        with pytest.raises(LockedError, match=r"another run is at work \(process 4711 on here"), locked(str(tmp_path)):
            pass
        saying.join()


@pytest.mark.parametrize("is_new", [False, True])
def test_run_that_waits_is_not_lost(tmp_path: Path, is_new: bool) -> None:
    """Of two runs that wait for each other both publish, one after the other."""
    docs = write(tmp_path / "docs", {f"{number}.md": sections(3) for number in range(3)})
    if not is_new:
        ingest(docs, tmp_path / "ledger")
    write(docs, {"3.md": sections(2)})
    command = [sys.executable, "-c", WAITING, str(docs), str(tmp_path / "ledger")]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in _both(command, command)]
    assert ended == [("", 0), ("", 0)]
    assert open_ledger(tmp_path / "ledger").run == (2 if is_new else 3)
    assert {row["doc_id"] for row in rows_of(tmp_path / "ledger")} == {"0.md", "1.md", "2.md", "3.md"}
    assert leftovers(tmp_path / "ledger") == set()


def test_encoding_that_came_while_a_run_waited_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a run that waited for a recount took the encoding's counts away again."""
    docs = write(tmp_path / "docs", {"a.md": sections(2)})
    ingest(docs, tmp_path / "ledger")
    is_asked = False

    class Busy(filelock.FileLock):
        """A lock that is free only when another run has ended."""

        def acquire(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (those of the real one)
            nonlocal is_asked
            if not is_asked:
                is_asked = True
                recount(tmp_path / "ledger", "cl100k_base")
            return super().acquire(*args, **kwargs)

    monkeypatch.setattr(lock, "FileLock", Busy)
    ingest(docs, tmp_path / "ledger", wait=60)
    opened = open_ledger(tmp_path / "ledger")
    assert (opened.run, opened.settings().further_encodings) == (3, ("cl100k_base",))
    assert opened.chunks(["token_count_cl100k_base"]).column(0).null_count == 0


def test_lock_of_a_run_that_came_to_nothing_can_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a first run that failed removed the lock file that the next run held already, and a third got in."""
    held: list[filelock.BaseFileLock] = []

    class Awaited(filelock.FileLock):
        """A lock that somebody takes as soon as it is free."""

        def release(self, force: bool = False) -> None:
            super().release(force)
            if not held:
                (tmp_path / "ledger").mkdir(exist_ok=True)
                held.append(filelock.FileLock(tmp_path / "ledger" / "_lock"))
                held[0].acquire(timeout=0)

    with monkeypatch.context() as patch:
        patch.setattr(lock, "FileLock", Awaited)
        with pytest.raises(SourceError):
            ingest([write(tmp_path / name, {"a.md": "One.\n"}) for name in ("b", "c")], tmp_path / "ledger")
    assert held[0].is_locked
    with pytest.raises(LockedError), locked(str(tmp_path / "ledger")):
        pass
    held[0].release()
