"""One run at a time: the lock of a ledger, and what a run that did not end left behind.

On disk the system lets go of a lock when its process ends, however it ends. In a store the lock is a lease, which its
holder may lose without noticing at once; before it publishes or removes anything it has to look.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

from filelock import FileLock, Timeout

from chunkledger.errors import LeaseHeld, LedgerError
from chunkledger.remote.lease import Lease
from chunkledger.remote.opened import store_at
from chunkledger.remote.urls import is_url
from chunkledger.store.files import names_in, read_file, remove_files, write_file
from chunkledger.store.layout import CHANGES, CURSORS, DOCUMENTS, LOCK, RUNNING, RUNS, run_of

LEASE_SECONDS = 120.0
"""After which another run may take over the lock of one in a store that no longer says that it is there."""

_LOOKS, _MOMENT = 20, 0.05
"""How often, and after how many seconds each, a lock is looked at whose holder has not said yet who it is."""
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


@dataclass(frozen=True, slots=True)
class Held:
    """A lock that is held.

    Attributes:
        root: of the ledger.
        before: what the last run said of itself, where it did not come to its end.
        is_lost: whether another run may hold the lock by now.
    """

    root: str
    before: Running | None
    is_lost: Callable[[], bool] = lambda: False

    def check(self) -> None:
        """Return if the lock is held still.

        Raises:
            LedgerError: it is not, so that nothing may be published or removed.
            OSError: the store can't be asked.
        """
        if self.is_lost():
            raise LedgerError(
                f"{self.root}: the lock was lost while this run worked, as it could not be renewed in time; "
                "another run may be at work, so this one ends; run it again"
            )

    def remove(self, names: Iterable[str]) -> None:
        """Remove files below the root, which only the holder of the lock may.

        Raises:
            LedgerError: it is lost.
            OSError: one can't be removed.
        """
        self.check()
        remove_files(self.root, names)


@contextlib.contextmanager
def locked(root: str, wait: float = 0.0) -> Iterator[Held]:
    """Hold the lock of a ledger, so that no other run works on it.

    Args:
        root: of the ledger; made where there is none.
        wait: seconds to wait for another run to end.

    Raises:
        LockedError: another run holds it, and did so for all of the wait.
        OSError: the lock can't be made.
    """
    with (_lease if is_url(root) else _file_lock)(root, wait) as is_lost:
        before = running(root)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        content = json.dumps(asdict(Running(os.getpid(), socket.gethostname(), now)))
        write_file(root, RUNNING, content.encode())
        held = Held(root, before, is_lost)
        try:
            yield held
        finally:
            with contextlib.suppress(OSError, LedgerError):
                held.remove([RUNNING])


def _holder(root: str) -> Running | None:
    """The run that holds the lock; one that has just got it is given a moment to say so."""
    for _ in range(_LOOKS):
        if (found := running(root)) is not None:
            return found
        time.sleep(_MOMENT)
    return None


def _said(root: str, who: object, wait: float, more: str = "") -> LockedError:
    waited = f" after {wait:,.0f} s" if wait > 0 else "; --wait SECONDS waits for it"
    return LockedError(f"{root}: another run is at work ({who}){waited}{more}")


@contextlib.contextmanager
def _file_lock(root: str, wait: float) -> Iterator[Callable[[], bool]]:
    is_new = not os.path.isdir(root)
    os.makedirs(root, exist_ok=True)
    lock = FileLock(os.path.join(root, LOCK), timeout=max(0.0, wait), thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise _said(root, _holder(root) or "it does not say which", wait) from None
    try:
        yield lambda: False
    finally:
        if is_new and os.listdir(root) == [LOCK]:
            # Nothing has come of it, as where two documents have the same id. The lock is still held: once it is free
            # the file may be that of the next run, and whoever comes after it would make another one.
            with contextlib.suppress(OSError):
                remove_files(root, [LOCK])
                os.rmdir(root)
        lock.release()


@contextlib.contextmanager
def _lease(root: str, wait: float) -> Iterator[Callable[[], bool]]:
    lease = Lease(store_at(root), seconds=LEASE_SECONDS)
    try:
        lease.acquire(max(0.0, wait))
    except LeaseHeld:
        holder = lease.held_by()
        ends = f"; should it have died, its lock ends {holder.seconds:g} s after it was last renewed" if holder else ""
        raise _said(root, holder or "it has just ended", wait, ends) from None
    try:
        yield lambda: not lease.is_held()
    finally:
        # What was done is done, and a lease that can't be given back runs out by itself.
        with contextlib.suppress(OSError):
            lease.release()


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
    """Files that were being written when their process ended; an object is there whole, or not at all."""
    return (
        name
        for folder in (() if is_url(root) else ("", DOCUMENTS, CHANGES, RUNS, CURSORS, "_delta_log"))
        for name in names_in(root, folder)
        if is_waiting(name)
    )


def is_waiting(name: str) -> bool:
    """Whether the name is that of a file that is being written."""
    own = name.rpartition("/")[2]
    return (own.startswith(".") and own.endswith(".tmp")) or bool(_LOG_WAITING.fullmatch(own))
