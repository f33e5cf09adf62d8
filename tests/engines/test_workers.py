"""Workers tell what became of each task, and whether it is the tasks that are at fault."""

from __future__ import annotations

import errno
import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunkledger.engines.workers import Died, WorkerError, Workers
from deadly import Deadly, die_at_once, raise_of, raise_untellable, untellable


def test_every_task_has_an_outcome() -> None:
    """Results come with their keys, also of tasks that were added while the others were done."""
    with Workers[int](2) as workers:
        for number in range(5):
            workers.submit(number, operator.mul, number, number, seconds=60)
        found = {}
        for number, outcome in workers.outcomes():
            found[number] = outcome
            if number == 4:
                workers.submit(10, operator.neg, 10, seconds=60)
    assert found == {0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 10: -10}


def test_process_that_dies_is_told_and_replaced() -> None:
    """The tasks that follow are done by another one."""
    with Workers[str](1) as workers:
        workers.submit("bad", len, Deadly("x"), seconds=60)
        workers.submit("good", len, "x", seconds=60)
        assert list(workers.outcomes()) == [("bad", Died("its process was killed, as by lack of memory")), ("good", 1)]


def test_error_of_the_system_is_raised() -> None:
    """A disk that is full is no fault of a task."""
    with Workers[int](1) as workers:
        workers.submit(1, os.listdir, "/nowhere/at/all", seconds=60)
        with pytest.raises(FileNotFoundError):
            list(workers.outcomes())


def test_memory_that_arrow_lacks_is_the_tasks(tmp_path: Path) -> None:
    """Regression: pyarrow says that it got no memory by an OSError without a number, and that ended the run."""
    with Workers[int](1) as workers:
        workers.submit(1, raise_of, OSError("ZSTD compression failed: Allocation error"), seconds=60)
        workers.submit(2, raise_of, OSError(errno.ENOMEM, "Cannot allocate memory"), seconds=60)
        workers.submit(3, operator.neg, 1, seconds=60)
        found = dict(workers.outcomes())
    too_little = "its process got too little from the system, as of memory ({})"
    assert found == {
        1: Died(too_little.format("ZSTD compression failed: Allocation error")),
        2: Died(too_little.format(f"[Errno {errno.ENOMEM}] Cannot allocate memory")),
        3: -1,
    }


def test_processes_that_end_before_they_begin_after_others_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes were seen to work, it is not the script that is at fault."""
    with Workers[int](1) as workers:
        workers.submit(1, operator.neg, 1, seconds=60)
        outcomes = workers.outcomes()
        assert next(outcomes) == (1, -1)
        workers.submit(2, os._exit, 1, seconds=60)
        assert next(outcomes) == (2, Died("its process was killed, as by lack of memory"))
        monkeypatch.setattr("chunkledger.engines.workers._serve", die_at_once)
        workers.submit(3, operator.neg, 1, seconds=60)
        with pytest.raises(WorkerError, match="after others had worked; is there too little memory"):
            next(outcomes)


def test_unforeseen_error_is_told() -> None:
    """What nobody thought of is the task's, and the next one is done by a new process."""
    with Workers[int](1) as workers:
        workers.submit(1, operator.truediv, 1, 0, seconds=60)
        workers.submit(2, bytearray, 2**60, seconds=60)
        workers.submit(3, operator.neg, 1, seconds=60)
        found = dict(workers.outcomes())
    assert found[1] == Died(
        "its process met ZeroDivisionError: division by zero; this is a fault of chunkledger, please report it"
    )
    assert (found[2], found[3]) == (Died("its process ran out of memory"), -1)


def test_interrupt_while_a_process_is_started_is_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a process that an interrupt left to nobody ended with tracebacks of its own after the last line."""
    monkeypatch.setattr("chunkledger.engines.workers.ensure_running", lambda: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Workers[int](1) as workers:
            workers.submit(1, time.sleep, 60, seconds=60)
            with pytest.raises(KeyboardInterrupt):
                list(workers.outcomes())
            [left] = multiprocessing.active_children()
        assert not left.is_alive()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_process_ignores_what_the_one_that_started_it_ignores() -> None:
    """Regression: what a shell runs in the background ignores Ctrl-C, and its workers died of each."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Workers[int](1) as workers:
            workers.submit(1, signal.raise_signal, signal.SIGINT, seconds=60)
            assert list(workers.outcomes()) == [(1, None)]
    finally:
        signal.signal(signal.SIGINT, before)


def test_call_whose_error_cannot_be_told_is_the_tasks() -> None:
    """What it raised can be pickled by nobody; what it was is told all the same."""
    with Workers[int](1) as workers:
        workers.submit(1, raise_untellable, seconds=60)
        workers.submit(2, untellable, seconds=60)
        found = dict(workers.outcomes())
    assert "RuntimeError: Untellable: no" in found[1].why
    assert "cannot pickle" in found[2].why


def test_process_that_dies_while_it_has_nothing_to_do() -> None:
    """The next task is told as one that died, and can be given again."""
    with Workers[int](1) as workers:
        workers.submit(1, os.getpid, seconds=60)
        [(_, worker)] = workers.outcomes()
        [process] = multiprocessing.active_children()
        assert process.pid == worker
        process.kill()
        process.join()
        workers.submit(2, operator.neg, 1, seconds=60)
        assert list(workers.outcomes()) == [(2, Died("its process was killed, as by lack of memory"))]
        workers.submit(2, operator.neg, 1, seconds=60)
        assert list(workers.outcomes()) == [(2, -1)]


def test_task_that_takes_too_long_is_ended() -> None:
    """The wall time that it may take is its own."""
    with Workers[int](2) as workers:
        workers.submit(1, time.sleep, 60, seconds=0.2)
        workers.submit(2, operator.neg, 1, seconds=60)
        assert dict(workers.outcomes()) == {1: Died("it took more than 0 s"), 2: -1}


def test_long_tasks_and_long_results_pass() -> None:
    """More than any pipe holds at once, both ways and with several processes."""
    long = "x" * 3_000_000
    with Workers[int](2) as workers:
        for number in range(4):
            workers.submit(number, str.upper, long, seconds=60)
        assert dict(workers.outcomes()) == dict.fromkeys(range(4), long.upper())


def test_script_without_a_main_guard_is_told(tmp_path: Path) -> None:
    """Each worker would run the script again; the message says what to do, and no document is blamed."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import chunkledger\nchunkledger.ingest([{str(tmp_path / 'docs')!r}], {str(tmp_path / 'ledger')!r}, jobs=1)\n",
        "utf-8",
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("One.\n", "utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("chunkledger.errors.LedgerError: worker processes can't be started")
    assert "jobs at 0" in done.stderr.splitlines()[-1]
