"""A lock in a store has one holder at a time, and goes on to another when its holder is gone."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable

import pytest

from buckets import Bucket
from chunkledger.errors import Conflict, LeaseHeld
from chunkledger.remote.lease import Lease, server_time_ns
from chunkledger.remote.listing import ObjectInfo
from chunkledger.remote.objects import ObjectStore

NAME = "_lock.json"


def _clock_ahead(seconds: float) -> Callable[[ObjectStore, str], int]:
    return lambda store, name: server_time_ns(store, name) + int(seconds * 1e9)


def _names(store: ObjectStore) -> list[str]:
    return [info.name for info in store.infos() if isinstance(info, ObjectInfo)]


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def _written(store: ObjectStore) -> str:
    found = store.info(NAME)
    assert found is not None
    return found.etag


def test_holder_is_named(bucket: Bucket) -> None:
    """The object says which process holds it, on which machine, since when."""
    store = bucket.store("ledger")
    with Lease(store) as lease:
        holder = lease.held_by()
        assert holder is not None
        assert (holder.pid, holder.host, holder.seconds) == (os.getpid(), socket.gethostname(), 120.0)
        found = json.loads(store.read(NAME))
        assert sorted(found) == ["host", "pid", "renewed", "run", "seconds", "started"]
        assert not lease.lost


def test_store_says_whose_it_is(bucket: Bucket) -> None:
    """Also to a holder that has not noticed yet, as after its machine slept."""
    store = bucket.store("ledger")
    lease = Lease(store)
    assert not lease.is_held()
    with lease:
        assert lease.is_held()
        other = Lease(store, clock=_clock_ahead(1000))
        other.acquire()
        assert (lease.lost, lease.is_held(), other.is_held()) == (False, False, True)
        other.release()
        assert not other.is_held()


def test_second_is_told_who_holds_it(bucket: Bucket) -> None:
    """At once, or after the wait that it asked for; no probe is left behind."""
    store = bucket.store("ledger")
    with Lease(store) as first:
        held = first.held_by()
        other = Lease(store)
        for wait in (0.0, 0.2):
            start = time.monotonic()
            with pytest.raises(LeaseHeld) as raised:
                other.acquire(wait)
            assert wait <= time.monotonic() - start < wait + 10
        said = str(raised.value)
        assert said.startswith(f"s3://{bucket.name}/ledger/_lock.json is held by process {os.getpid()} on ")
        assert held is not None
        assert f"since {held.started}" in said
        assert _names(store) == [NAME]
        assert (first.lost, other.lost) == (False, False)


def test_released_is_free_for_the_next(bucket: Bucket) -> None:
    """Nobody holds it then, and the next need not wait."""
    store = bucket.store()
    leases = [Lease(store) for _ in range(3)]
    for lease in leases:
        with lease:
            pass
        assert lease.held_by() is None
        assert not lease.lost
    with leases[0]:
        assert leases[1].held_by() == leases[0].held_by() is not None


def test_waiting_ends_with_the_holder(bucket: Bucket) -> None:
    """Whoever waits gets the lease when it is released."""
    store = bucket.store()
    first, second = Lease(store), Lease(store, seconds=1)
    first.acquire()
    waiting = threading.Thread(target=second.acquire, args=(30,))
    waiting.start()
    first.release()
    waiting.join(30)
    held = second.held_by()
    assert held is not None
    assert held.seconds == 1.0
    second.release()


def test_overdue_lease_is_taken_over_and_its_holder_notices(bucket: Bucket) -> None:
    """Its holder finds another's lock at the next renewal, and neither writes over it nor gives it back."""
    store = bucket.store()
    first = Lease(store, seconds=2)
    first.acquire()
    with Lease(store, seconds=120, clock=_clock_ahead(10)) as second:
        _until(lambda: first.lost)
        first.release()
        held = second.held_by()
        assert held is not None
        assert held.seconds == 120.0
        assert (first.lost, second.lost) == (True, False)


def test_only_the_servers_clock_counts(bucket: Bucket) -> None:
    """A lock is as old as the probe that is written beside it, whatever the clocks of its holder say."""
    store = bucket.store()
    content = {"pid": 1, "host": "h", "run": "r", "started": "1999", "renewed": "1999", "seconds": 60.0}
    store.write(NAME, json.dumps(content).encode())
    with pytest.raises(LeaseHeld, match="process 1 on h, since 1999, renewed 1999"):
        Lease(store).acquire()
    with pytest.raises(LeaseHeld):
        Lease(store, seconds=1, clock=_clock_ahead(30)).acquire()
    with Lease(store, clock=_clock_ahead(62)) as lease:
        assert not lease.lost


def test_clock_is_that_of_the_server(bucket: Bucket) -> None:
    """A probe tells the time in which it is written, to the second, and goes again."""
    store = bucket.store()
    before = int(time.time())
    assert before <= server_time_ns(store, NAME) / 1e9 <= time.time() + 1
    assert _names(store) == []


def test_lease_is_renewed(bucket: Bucket) -> None:
    """The object is written again every quarter of the time, so that it outlives the time."""
    store = bucket.store()
    with Lease(store, seconds=0.8) as lease:
        seen = {_written(store)}

        def renewed() -> bool:
            seen.add(_written(store))
            return len(seen) > 6

        _until(renewed)
        assert not lease.lost


def test_of_many_one_gets_it(bucket: Bucket) -> None:
    """Whether there is no lock yet, a free one, or an overdue one that all want at once."""
    store = bucket.store()
    for clock in (server_time_ns, server_time_ns, _clock_ahead(1000)):
        leases = [Lease(store, clock=clock) for _ in range(6)]
        start, got = threading.Barrier(len(leases)), list[Lease]()

        def acquire(lease: Lease, start: threading.Barrier = start, got: list[Lease] = got) -> None:
            start.wait()
            try:
                lease.acquire()
            except LeaseHeld:
                return
            got.append(lease)

        threads = [threading.Thread(target=acquire, args=(lease,)) for lease in leases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # With a clock that is ahead each may take it from the one before, but only the last of them holds it.
        held = leases[0].held_by()
        assert held is not None
        assert len(got) == 1 or clock is not server_time_ns
        for lease in got:
            lease.release()
        assert leases[0].held_by() is None


class _Losing(ObjectStore):
    """A store of which the answers to writes are lost, so that each is sent twice, as object_store does it."""

    def write(self, name: str, content: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str:
        super().write(name, content, if_absent=if_absent, if_etag=if_etag)
        return super().write(name, content, if_absent=if_absent, if_etag=if_etag)


class _Failing(ObjectStore):
    """A store that can be read, and written while it is told to."""

    working = True

    def write(self, name: str, content: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str:
        if not self.working:
            raise OSError(5, "no way through", self.where(name))
        return super().write(name, content, if_absent=if_absent, if_etag=if_etag)


def test_lost_answer_is_not_a_lost_lease(bucket: Bucket) -> None:
    """A conflict with one's own write, which was sent twice, is none."""
    store = _Losing(bucket.store()._place)
    with pytest.raises(Conflict):
        store.write("x", b"", if_absent=True)
    lease = Lease(store, seconds=0.8)
    with lease:
        seen = _written(store)
        _until(lambda: _written(store) != seen)
        assert not lease.lost
    assert lease.held_by() is None
    assert not lease.lost


def test_lease_that_cannot_be_renewed_is_lost_in_time(bucket: Bucket) -> None:
    """A failed renewal is tried again; when none gets through, the holder knows before others may take over."""
    store = _Failing(bucket.store()._place)
    lease = Lease(store, seconds=0.8)
    lease.acquire()
    store.working = False
    assert not lease.lost
    _until(lambda: lease.lost)
    store.working = True
    lease.release()
    assert lease.lost


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"[" * 9000, b"{}", b'{"seconds": 1e99, "run": 7}', b"\xff"]
)
def test_strange_lock_is_held_until_it_is_overdue(bucket: Bucket, content: bytes) -> None:
    """What another program wrote there is neither trusted nor trampled on."""
    store = bucket.store()
    store.write(NAME, content)
    with pytest.raises(LeaseHeld):
        Lease(store, seconds=60).acquire()
    with Lease(store, seconds=60, clock=_clock_ahead(90)) as lease:
        assert not lease.lost


def test_holder_of_a_strange_lock_is_one_short_line(bucket: Bucket) -> None:
    """Its words go into messages, so control characters and length are taken from them."""
    store = bucket.store()
    store.write(NAME, json.dumps({"host": "a\n\x1b[31m" + "b" * 5000, "pid": "x", "started": [1]}).encode())
    with pytest.raises(LeaseHeld) as raised:
        Lease(store).acquire()
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 600
