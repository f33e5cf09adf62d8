"""A lock in an object store, which its holder renews and others may take over when it no longer does.

A lock on disk goes with its process; one in a store would stay for ever. So it is a lease: an object that says who
holds it, written again every quarter of its time. Each write names the tag of the last one, so that of two runs that
want the same lease the server lets one have it.

Whether a lease is overdue is judged by the server's clock alone, as those of two machines may differ by more than the
lease's time: whoever waits writes a probe beside the lock, and compares the times at which the server says that the two
were written. Times on the holder's own machine are only ever measured, between two of its own moments.

A lease guards work from being done twice. That only one run is published is not its task: the commit is conditional
itself, because a process that was halted may wake up after its lease went to another one.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from chunkledger.errors import Conflict, LeaseHeld
from chunkledger.remote.listing import ObjectInfo
from chunkledger.remote.objects import ObjectStore

_MOST = 10_000
"""Bytes of a lock that are read; ours have some 200."""
_LONGEST = 86_400.0
_LONGEST_TEXT = 100
_RENEWALS = 4
"""Renewals in a lease's time: three may fail before it is lost."""
_POLL_SECONDS = 5.0
_TRIES = 10
_CLOCK_STEP = 1.0
"""Seconds that two times of the server's may seem further apart than they are, as it cuts off fractions."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease, as its object says: `renewed` is by the holder's own clock, and there to be read only."""

    pid: int
    host: str
    started: str
    run: str
    renewed: str
    seconds: float

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.started}, renewed {self.renewed}"


@dataclass(frozen=True, slots=True)
class _Lock:
    """The object: its tag, the server's time of its last write, who wrote it, and its holder unless it is free."""

    etag: str
    modified_ns: int
    content: bytes
    run: str
    holder: Holder | None


def server_time_ns(store: ObjectStore, name: str) -> int:
    """What the server's clock says, from the time of a probe that is written beside this object and removed again."""
    probe = f"{name}.{secrets.token_hex(8)}.probe"
    store.write(probe, b"")
    try:
        found = store.info(probe)
    finally:
        store.remove([probe])
    if found is None:
        raise OSError(errno.EIO, "the probe of the server's clock is gone", store.where(probe))
    return found.modified_ns


class Lease:
    """One run's hold on a place of a store: a context manager, or `acquire` and `release`.

    Args:
        store: to put the lock in.
        name: of the lock.
        seconds: after which others may take a lease over that was not renewed; many times what a request takes.
        clock: the server's time in ns.
    """

    def __init__(
        self,
        store: ObjectStore,
        name: str = "_lock.json",
        seconds: float = 120,
        *,
        clock: Callable[[ObjectStore, str], int] = server_time_ns,
    ) -> None:
        self._store = store
        self._name = name
        self._seconds = float(seconds)
        self._clock = clock
        self._run = secrets.token_hex(16)
        self._started = _now()
        self._etag: str | None = None
        self._renewed_at = 0.0
        self._taken = False
        self._ending = threading.Event()
        self._renewing: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What was done under the lease is done, and it runs out by itself.
        with suppress(OSError):
            self.release()

    @property
    def lost(self) -> bool:
        """Whether another may hold the lease by now: it was taken over, or could not be renewed in time."""
        if self._etag is None:
            return self._taken
        return self._taken or time.monotonic() - self._renewed_at >= self._seconds

    def is_held(self) -> bool:
        """Whether the lease is this one's, by the store's own word: a machine that slept does not know how long.

        Raises:
            OSError: the store can't be read.
        """
        lock = None if self.lost else self._lock()
        return lock is not None and lock.holder is not None and lock.run == self._run

    def held_by(self) -> Holder | None:
        """Who holds the lease, this one included; None where nobody does. Whether it is overdue is not looked at.

        Raises:
            OSError: the store can't be read.
        """
        lock = self._lock()
        return lock.holder if lock else None

    def acquire(self, wait_seconds: float = 0) -> None:
        """Take the lease, and renew it until `release`.

        Raises:
            LeaseHeld: another holds it, and still did after the wait.
            OSError: the store can't be read or written.
        """
        end = time.monotonic() + wait_seconds
        while (holder := self._tried()) is not None:
            left = end - time.monotonic()
            if left <= 0:
                raise LeaseHeld(
                    f"{self._store.where(self._name)} is held by {holder}; wait until it ends,"
                    f" or {holder.seconds:g} seconds after it was last renewed if it has died"
                )
            time.sleep(min(left, _POLL_SECONDS, self._seconds / _RENEWALS))
        self._taken = False
        self._ending.clear()
        self._renewing = threading.Thread(target=self._renew, name=f"lease of {self._name}", daemon=True)
        self._renewing.start()

    def release(self) -> None:
        """Give the lease back, as far as it still is this one's; what was `lost` stays so.

        The object stays and says that nobody holds it. Stores remove without a condition, so removing it could remove
        the lock of another run that had just taken it over.

        Raises:
            OSError: the store can't be written; the lease then runs out by itself.
        """
        self._ending.set()
        if self._renewing is not None:
            self._renewing.join()
            self._renewing = None
        self._taken = self.lost
        etag, self._etag = self._etag, None
        # Where it is another's by now there is nothing to give back, which the condition tells.
        if etag is not None and self._put({"released": _now(), "run": self._run}, etag) is None:
            self._taken = True

    def _tried(self) -> Holder | None:
        """Try to take the lease; who holds it, where that failed."""
        for _ in range(_TRIES):
            lock = self._lock()
            holder = lock.holder if lock else None
            if lock and holder and not self._overdue(lock, holder):
                return holder
            # Measured before the request, so that ours ends no later than others think.
            self._renewed_at = time.monotonic()
            self._etag = self._put(asdict(self._holder()), lock.etag if lock else None)
            if self._etag is not None:
                return None
        raise OSError(errno.EIO, "the lock changes faster than it can be taken", self._store.where(self._name))

    def _overdue(self, lock: _Lock, holder: Holder) -> bool:
        return (self._clock(self._store, self._name) - lock.modified_ns) / 1e9 > holder.seconds + _CLOCK_STEP

    def _put(self, fields: dict[str, object], replaced: str | None) -> str | None:
        """Write the lock in place of the one with this tag; its new tag, or None where another's is there."""
        content = json.dumps(fields, sort_keys=True).encode()
        for _ in range(_TRIES):
            try:
                return self._store.write(self._name, content, if_absent=replaced is None, if_etag=replaced)
            except Conflict:
                lock = self._lock()
            # An answer may be lost on its way, so that a write was done that is not known of: this one, or one before.
            if lock is None or lock.run != self._run:
                return None
            if lock.content == content:
                return lock.etag
            replaced = lock.etag
        return None

    def _renew(self) -> None:
        while not self._ending.wait(self._seconds / _RENEWALS) and not self.lost:
            now = time.monotonic()
            try:
                etag = self._put(asdict(self._holder()), self._etag)
            except OSError:
                continue  # the next one may get through; `lost` tells when it is too late
            if etag is None:
                break
            self._etag, self._renewed_at = etag, now
        self._taken = self._taken or not self._ending.is_set()

    def _holder(self) -> Holder:
        return Holder(os.getpid(), socket.gethostname(), self._started, self._run, _now(), self._seconds)

    def _lock(self) -> _Lock | None:
        # The content is read between two looks at the tag, so that both are of one version.
        while (info := self._store.info(self._name)) is not None:
            try:
                content = self._store.read_at_most(self._name, _MOST)
            except FileNotFoundError:
                return None
            again = self._store.info(self._name)
            if again is not None and again.etag == info.etag:
                return _lock_of(content, info, self._seconds)
        return None


def _lock_of(content: bytes, info: ObjectInfo, seconds: float) -> _Lock:
    """What a lock says. Anybody may have written it: one that says nothing is held by somebody for so many seconds."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        found = {}
    promised, pid = found.get("seconds"), found.get("pid")
    holder = Holder(
        pid=pid if isinstance(pid, int) else 0,
        host=_text(found, "host"),
        started=_text(found, "started"),
        run=_text(found, "run"),
        renewed=_text(found, "renewed"),
        seconds=promised if isinstance(promised, float) and 0 < promised <= _LONGEST else seconds,
    )
    return _Lock(info.etag, info.modified_ns, content, holder.run, None if "released" in found else holder)


def _text(found: dict[str, object], key: str) -> str:
    value = str(found.get(key, "?"))[:_LONGEST_TEXT]
    return "".join(char if char.isprintable() else "?" for char in value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
