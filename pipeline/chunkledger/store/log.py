"""Reading a ledger's log: which runs there were, what each of them names, and the table as one of them left it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from chunkledger.errors import LedgerError
from chunkledger.remote.failures import reason
from chunkledger.remote.urls import is_url, storage_options
from chunkledger.store.files import names_in

TRANSACTION = "ingest"
"""Name of the application transaction whose version is the run's number."""
METADATA_KEY = "chunkledger"
"""Key of the commit's metadata; its value is a JSON object that names the run's files."""
_RECENT = 20
"""Commits that are looked through before all of the log is read, which takes the longer the more nights it has."""
_UNUSABLE = re.compile(r"[#?\x00-\x1f\x7f\ud800-\udfff]|%[0-9A-Fa-f]{2}" + (r"|\\" if os.sep == "/" else ""))
"""What a ledger's path can't hold: deltalake takes it for a URI, and writes or reads in another place."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What a commit names besides its parts, below the root.

    Attributes:
        run: its number.
        documents: the table of documents.
        report: what the run wrote down about itself.
        changes: what it changed, in one file or several; none where there was nothing before, or nothing changed.
    """

    run: int
    documents: str
    report: str
    changes: tuple[str, ...] = ()

    def as_json(self) -> str:
        """For the commit's metadata."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, written: str) -> RunFiles | None:
        """What `as_json` wrote; None for a commit that is of no run."""
        found = json.loads(written or "{}")
        if "run" not in found:
            return None
        return cls(found["run"], str(found["documents"]), str(found["report"]), tuple(found.get("changes", ())))


def opened(root: str, version: int | None = None) -> DeltaTable | None:
    """The table at this root; None where there is none yet.

    Args:
        root: of the ledger; its folder, or its URL.
        version: of the table; None is the last one.

    Raises:
        LedgerError: there is something else, or it can't be read.
    """
    if is_url(root):
        return _opened_at_url(root, version)
    if found := _UNUSABLE.search(os.path.abspath(root)):
        raise LedgerError(
            f"{root!r}: a ledger's path can't hold {found[0]!r} (Delta Lake can't); choose another folder"
        )
    path = Path(root)
    if path.exists() and not path.is_dir():
        raise LedgerError(f"{root} is a file; a ledger is a folder")
    if not (path / "_delta_log").is_dir():
        return None
    try:
        return DeltaTable(root, version)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as error:
        # What follows the first line is a trace of the library's own frames.
        said = str(error).partition("\n")[0]
        raise LedgerError(f"{root} can't be read as a ledger: {said}; is its _delta_log damaged?") from error


def _opened_at_url(root: str, version: int | None) -> DeltaTable | None:
    try:
        # The store says by itself that it can't be reached, or that there is no such bucket.
        if next(names_in(root, "_delta_log"), None) is None:
            return None
        return DeltaTable(root, version, storage_options=storage_options(root))
    except TableNotFoundError:
        return None
    except DeltaError as error:
        said = f"{reason(error)}; is its _delta_log damaged?"
    except OSError as error:
        said = error.strerror or reason(error)
    # Not from the error, which may hold the request that was signed.
    raise LedgerError(f"{root} can't be read as a ledger: {said}")


@contextmanager
def _read(table: DeltaTable) -> Iterator[None]:
    """What deltalake raises when it reads on in a log, as one line without credentials."""
    try:
        yield
    except (DeltaError, OSError) as error:
        said = reason(error)
    else:
        return
    raise LedgerError(f"{table.table_uri}: the log can't be read: {said}")


def next_entry(table: DeltaTable | None) -> str:
    """Name, below the root, of the entry of the log that a commit on this table makes."""
    return f"_delta_log/{0 if table is None else table.version() + 1:020}.json"


def last_run(table: DeltaTable | None) -> int:
    """Number of the last published run; 0 where there is none.

    Raises:
        LedgerError: the table was not written by this package.
    """
    if table is None:
        return 0
    with _read(table):
        run = table.transaction_version(TRANSACTION)
    if run is None:
        raise LedgerError(f"{table.table_uri} is a Delta table, but no ledger; give another folder")
    return int(run)


@dataclass(frozen=True, slots=True)
class Published:
    """A run that is in the log.

    Attributes:
        files: what its commit names.
        version: of the table, which may also count commits that are of no run, as those of a vacuum.
        timestamp: of the commit, in milliseconds since 1970.
    """

    files: RunFiles
    version: int
    timestamp: int


def published(table: DeltaTable) -> Iterator[Published]:
    """The runs that the log names, the last one first.

    Raises:
        LedgerError: the table was not written by this package.
    """
    seen: set[int] = set()
    for limit in (_RECENT, None):
        with _read(table):
            entries = table.history(limit)
        for entry in entries:
            files = RunFiles.from_json(entry.get(METADATA_KEY, ""))
            if files and files.run not in seen:
                seen.add(files.run)
                yield Published(files, int(entry["version"]), int(entry["timestamp"]))
        if not seen:
            last_run(table)
        if limit is None or len(entries) < limit:
            return


def run_files(table: DeltaTable) -> RunFiles:
    """The files of the run that the table's current version is from.

    Raises:
        LedgerError: the table was not written by this package, or its log does not name the run.
    """
    run = last_run(table)
    # By number, because the log may be newer than the table, and deltalake then miscounts the versions in it.
    found = next((each.files for each in published(table) if each.files.run == run), None)
    if found is None:
        raise LedgerError(f"{table.table_uri} has no run {run} in its log")
    return found


def added_parts(table: DeltaTable) -> pa.Table:
    """The parts of the table's version, as deltalake describes them.

    Raises:
        LedgerError: the log can't be read.
    """
    with _read(table):
        return pa.table(table.get_add_actions(flatten=True))
