"""One run at a time: the lock of a ledger, and what a run that did not end left behind."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from filelock import FileLock, Timeout

from chunkledger.errors import LedgerError
from chunkledger.store.files import names_in, read_file, remove_files, write_file
from chunkledger.store.layout import CHANGES, DOCUMENTS, LOCK, RUNNING, RUNS, run_of

_LOG_WAITING = re.compile(r"\d{20}\.json#\d+")
"""Names that Delta Lake gives an entry of its log before it puts it in its place; it never removes them later."""


class LockedError(LedgerError):
    """Another run works on the ledger."""


@dataclass(frozen=True, slots=True)
class Running:
    """What a run says of itself while it works.

    Attributes:
        pid: its process.
        host: where that is.
        started: UTC time, ISO 8601.
    """

    pid: int
    host: str
    started: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.started}"


def running(root: str) -> Running | None:
    """What the run said that holds the lock, or that held it and did not end; None where there is none."""
    try:
        found = json.loads(read_file(root, RUNNING))
        return Running(int(found["pid"]), str(found["host"]), str(found["started"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextlib.contextmanager
def locked(root: str, wait: float = 0.0) -> Iterator[Running | None]:
    """Hold the lock of a ledger, so that no other run works on it.

    The system lets go of it when the process ends, however it ends.

    Args:
        root: of the ledger; made where there is none.
        wait: seconds to wait for another run to end.

    Yields:
        What the last run said of itself, where it did not come to its end.

    Raises:
        LockedError: another run holds it, and did so for all of the wait.
        OSError: the lock can't be made.
    """
    is_new = not os.path.isdir(root)
    os.makedirs(root, exist_ok=True)
    lock = FileLock(os.path.join(root, LOCK), timeout=max(0.0, wait), thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        who = running(root)
        waited = f" after {wait:,.0f} s" if wait > 0 else "; --wait SECONDS waits for it"
        raise LockedError(f"{root}: another run is at work ({who or 'it does not say which'}){waited}") from None
    try:
        before = running(root)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        content = json.dumps(asdict(Running(os.getpid(), socket.gethostname(), now)))
        write_file(root, RUNNING, content.encode())
        yield before
    finally:
        with contextlib.suppress(OSError):
            remove_files(root, [RUNNING])
        if is_new and os.listdir(root) == [LOCK]:
            # Nothing has come of it, as where two documents have the same id. The lock is still held: once it is free
            # the file may be that of the next run, and whoever comes after it would make another one.
            with contextlib.suppress(OSError):
                remove_files(root, [LOCK])
                os.rmdir(root)
        lock.release()


def leftovers(root: str, last_run: int) -> list[str]:
    """Files of runs that were never published: names below the root.

    Reports that tell why a run was not published are none of them. One that tells of no error was written just before
    the commit that did not come, and would pass for that of a run that was.

    Args:
        root: of the ledger.
        last_run: number of the last run that was published.
    """
    named = [name for folder in ("", DOCUMENTS, CHANGES) for name in names_in(root, folder)]
    named += [
        name for name in names_in(root, RUNS) if (run_of(name) or 0) > last_run and not _is_of_failure(root, name)
    ]
    return [name for name in named if (run_of(name) or 0) > last_run] + list(unfinished(root))


def _is_of_failure(root: str, report: str) -> bool:
    """Whether it says why a run was not published, or can't be read."""
    try:
        return json.loads(read_file(root, report))["error"] is not None
    except (OSError, ValueError, KeyError, TypeError):
        return True


def unfinished(root: str) -> Iterator[str]:
    """Files that were being written when their process ended."""
    return (
        name
        for folder in ("", DOCUMENTS, CHANGES, "_runs", "_cursors", "_delta_log")
        for name in names_in(root, folder)
        if is_waiting(name)
    )


def is_waiting(name: str) -> bool:
    """Whether the name is that of a file that is being written."""
    own = name.rpartition("/")[2]
    return (own.startswith(".") and own.endswith(".tmp")) or bool(_LOG_WAITING.fullmatch(own))
