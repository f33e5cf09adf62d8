"""Whether a ledger is whole and can be written: what somebody asks before the night, or after it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from chunkledger.errors import ChunkledgerError, LedgerError
from chunkledger.remote.opened import absolute
from chunkledger.remote.urls import is_url
from chunkledger.store.cursors import cursors, lost_cursors
from chunkledger.store.feed import ANEW
from chunkledger.store.files import is_there, place_of, remove_files, size_of, write_file
from chunkledger.store.layout import CHANGES, DOCUMENTS, RUNS
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.lock import LockedError, leftovers, locked
from chunkledger.store.log import added_parts, opened, published

Verdict = Literal["ok", "look", "bad"]
"""`look`: it works, and somebody should know. `bad`: the next run would fail, or what is there can't be read."""
_PROBE = ".probe"
FOLDERS = (DOCUMENTS, CHANGES, RUNS)
"""What a run writes into, beside the root and the log."""
_ROOM = 2
"""A run that splits everything anew writes all of the records a second time before it drops the first."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and the reason or the figures."""

    name: str
    verdict: Verdict
    detail: str


def health(root: str) -> Iterator[Check]:
    """Look at a ledger, or at the folder that is to become one.

    The lock is tried, and let go of at once; a probe is written and removed.

    Args:
        root: of the ledger.
    """
    try:
        table = opened(root)
        ledger = open_ledger(root) if table else None
    except LedgerError as error:
        yield Check("table", "bad", str(error))
        return
    if ledger is None:
        yield Check("table", "ok", f"no ledger in {root} yet; the first run makes it")
    else:
        try:
            yield from _table(ledger)
        except LedgerError as error:
            yield Check("table", "bad", str(error))
            return
    yield from _lock(root, ledger)
    yield from _disk(root, ledger)


def _table(ledger: Ledger) -> Iterator[Check]:
    ledger.parts()
    actions = added_parts(ledger.table)
    names, sizes = (actions.column(name).to_pylist() for name in ("path", "size_bytes"))
    wrong = [
        f"{name} {why}" for name, size in zip(names, sizes, strict=True) if (why := _wrong(ledger.root, name, size))
    ]
    missing = [name for name in (ledger.files.documents, ledger.files.report) if not is_there(ledger.root, name)]
    for name, read in (("report", ledger.report), ("documents", ledger.documents)):
        try:
            read()
        except LedgerError as error:
            yield Check(name, "bad", str(error))
    if wrong or missing:
        said = [*wrong, *(f"{name} is gone" for name in missing)]
        more = f", and {len(said) - 3} more" if len(said) > 3 else ""
        yield Check("table", "bad", f"run {ledger.run}: {', '.join(said[:3])}{more}; restore it, or ingest anew")
    else:
        parts = f"{len(names):,} {'part' if len(names) == 1 else 'parts'}"
        yield Check("table", "ok", f"run {ledger.run}: {parts}, {sum(sizes) / 1e6:,.1f} MB")
    yield from _feed(ledger)


def _wrong(root: str, name: str, size: int) -> str:
    now = size_of(root, name)
    if now is None:
        return "is gone"
    if not is_url(root) and not os.access(os.path.join(root, name), os.R_OK):
        return "can't be read: permission denied"
    return f"has {now:,} bytes, and had {size:,}" if now != size else ""


def _feed(ledger: Ledger) -> Iterator[Check]:
    """Readers of the feed, and what they have to read."""
    try:
        every, lost = cursors(ledger.root), lost_cursors(ledger)
    except LedgerError as error:
        yield Check("cursors", "bad", str(error))
        return
    runs = list(published(ledger.table))
    gone = [run.files.run for run in runs if not all(is_there(ledger.root, name) for name in run.files.changes)]
    oldest = max(gone, default=0)
    late = {name: run for name, run in every.items() if 0 < run < oldest and name not in lost}
    if lost:
        said = ", ".join(f"{name} at run {every[name]}, {why}" for name, why in lost.items())
        yield Check("cursors", "bad", f"{said}; {ANEW}")
    elif late:
        said = ", ".join(f"{name} (run {run})" for name, run in late.items())
        yield Check("cursors", "look", f"the changes that these would read are gone: {said}; begin them anew")
    elif every:
        said = ", ".join(f"{name} at run {run}" for name, run in every.items())
        yield Check("cursors", "ok", said)
    damaged = [why for run in runs if run.files.run > oldest for why in _damage(ledger.root, run.files.changes)]
    if damaged:
        yield Check("feed", "bad", f"{damaged[0]}; {ANEW}" + (f" ({len(damaged):,} files)" if damaged[1:] else ""))


def _damage(root: str, names: Sequence[str]) -> Iterator[str]:
    """What is wrong with files of changes, on a disk; a store would be asked for each, and loses nothing."""
    for name in () if is_url(root) else names:
        place = place_of(root, name)
        try:
            pq.ParquetFile(place).close()
        except (OSError, pa.ArrowException) as error:
            yield f"{place} can't be read: {error}"


def _lock(root: str, ledger: Ledger | None) -> Iterator[Check]:
    if ledger is None:
        return  # a lock that is tried would be all that is left there, perhaps among documents
    try:
        with locked(root) as held:
            left = leftovers(root, ledger.run)
    except LockedError as error:
        yield Check("lock", "look", str(error).partition("; --wait")[0])
        return
    except OSError as error:
        yield Check("lock", "bad", f"can't be made: {error.strerror or error}")
        return
    if held.before or left:
        who = f"the last run ({held.before})" if held.before else "a run"
        ended = f"{who} did not come to its end"
        yield Check("lock", "look", f"free; {ended}; the next one removes {len(left):,} files that it left")
    else:
        yield Check("lock", "ok", "free")


def _disk(root: str, ledger: Ledger | None) -> Iterator[Check]:
    folder = absolute(root)
    while not is_url(root) and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        # In the folder itself and not below it, so that nothing is made that was not there.
        write_file(folder, _PROBE, b"chunkledger")
        remove_files(folder, [_PROBE])
    except OSError as error:
        yield Check("disk", "bad", f"{folder} can't be written: {error.strerror or error}")
        return
    if is_url(root):
        yield Check("disk", "ok", f"{folder} can be written")
        return
    locked_out = [name for name in (*FOLDERS, "_delta_log") if not _is_writable(os.path.join(root, name))]
    if locked_out:
        yield Check("disk", "bad", f"{', '.join(locked_out)} in {folder} can't be written")
        return
    free = shutil.disk_usage(folder).free
    sizes = added_parts(ledger.table).column("size_bytes").to_pylist() if ledger else []
    needed = _ROOM * sum(sizes)
    said = f"{free / 1e9:,.1f} GB free in {folder}"
    if free < needed:
        yield Check("disk", "look", f"{said}; a run that splits everything anew may write {needed / 1e9:,.1f} GB")
    else:
        yield Check("disk", "ok", said)


def _is_writable(folder: str) -> bool:
    return not os.path.isdir(folder) or os.access(folder, os.W_OK | os.X_OK)


def failure(name: str, error: ChunkledgerError) -> Check:
    """A check that could not be made."""
    return Check(name, "bad", str(error))
