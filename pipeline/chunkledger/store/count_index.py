"""Ledger -> count index: what packing needs of each chunk, by its id, in one SQLite file."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from chunkledger.errors import LedgerError, SettingsError, UnwritableError
from chunkledger.packer.counts import APPLICATION_ID, COLUMNS, LISTS, SCHEMA, VERSION, CountIndex
from chunkledger.records.schema import COUNT_COLUMNS
from chunkledger.store.ledger import Ledger

_LEDGER_COLUMNS = [*(name for name in COLUMNS if name != "payload"), "metadata"]
_EMPTY = ("context", "gap_after")
_INSERT = f"INSERT INTO chunks VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 (a constant)


def write_count_index(ledger: Ledger, path: Path, encoding: str | None = None) -> int:
    """Write the index of all records of the ledger, parents too; one that is there is replaced by the whole new one.

    Args:
        ledger: what is exported.
        path: where to; the temporary file lies beside it. Where it is a link, what it leads to is replaced.
        encoding: of the counts; None is that of the limits.

    Returns:
        How many records are in it.

    Raises:
        SettingsError: there is something at `path` that is no count index, or the ledger is not counted in `encoding`.
        LedgerError: the index can't be written there.
    """
    counted = ledger.settings().encodings
    if encoding not in (None, *counted):
        raise SettingsError(
            f"the ledger is not counted in {encoding!r}, but in {', '.join(counted)}; `chunkledger recount` adds one"
        )
    target = path.resolve()
    _check_replaceable(target, path)
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        written = _write(ledger, name, encoding or counted[0])
        with open(name, "rb") as made:
            os.fsync(made.fileno())
        os.chmod(name, 0o666 & ~_umask())  # a temporary file is its maker's alone, the index is for a service
        os.replace(name, target)
    except BaseException as failure:
        if name:
            os.unlink(name)
        if isinstance(failure, (OSError, sqlite3.Error)):
            why = getattr(failure, "strerror", None) or failure
            # A folder that is not there is the caller's mistake.
            kind = LedgerError if isinstance(failure, FileNotFoundError | NotADirectoryError) else UnwritableError
            raise kind(f"the count index can't be written to {path}: {why}") from failure
        raise
    return written


def _check_replaceable(target: Path, path: Path) -> None:
    if not target.exists():
        return
    try:
        if target.is_file() and target.stat().st_size:
            CountIndex(target).close()
        elif not target.is_file():
            raise ValueError("it is no file")
    except ValueError as error:
        raise SettingsError(
            f"{path} is there and is no count index of this release; give another name, or remove it first ({error})"
        ) from error


def _write(ledger: Ledger, name: str, encoding: str) -> int:
    with closing(sqlite3.connect(name, isolation_level=None)) as index:
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *SCHEMA, "BEGIN"):
            index.execute(statement)
        index.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        index.execute(f"PRAGMA user_version = {VERSION}")
        settings = ledger.settings()
        suffix = "" if encoding == settings.encoding else f"_{encoding}"
        written = index.executemany(_INSERT, _records(ledger, suffix)).rowcount
        about = {"encoding": encoding, "template": settings.template, "run": ledger.run}
        index.executemany("INSERT INTO about VALUES (?, ?)", [(key, str(value)) for key, value in about.items()])
        index.execute("COMMIT")
    return max(written, 0)


def _records(ledger: Ledger, suffix: str) -> Iterator[tuple[Any, ...]]:
    names = [f"{name}{suffix}" if name in COUNT_COLUMNS else name for name in _LEDGER_COLUMNS]
    for records in ledger.iter_tables(names, role="all"):
        for row in records.rename_columns(_LEDGER_COLUMNS).to_pylist():
            for column in LISTS:
                row[column] = (
                    json.dumps(row[column], ensure_ascii=False, separators=(",", ":")) if row[column] else None
                )
            for column in _EMPTY:
                row[column] = row[column] or None
            row["payload"] = _payload(row["metadata"])
            yield tuple(row[column] for column in COLUMNS)


def _payload(metadata: str) -> str | None:
    """What the document's metadata say of its payload; asked of every chunk, so most are answered without parsing."""
    said = json.loads(metadata).get("payload") if '"payload"' in metadata else None
    return said if isinstance(said, str) else None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
