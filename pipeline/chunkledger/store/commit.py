"""One run, one commit: the only module that writes the Delta log.

Workers write Parquet parts straight into the table's root, where nothing refers to them. The driver then commits the
whole run at once; before that commit a reader sees the last one, and after it the new one, never half of either.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TypeVar

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from chunkledger.errors import LedgerError
from chunkledger.records.schema import SCHEMA
from chunkledger.remote.failures import reason
from chunkledger.remote.urls import is_url, storage_options
from chunkledger.store.files import names_in

TRANSACTION = "ingest"
"""Name of the application transaction whose version is the run's number."""
METADATA_KEY = "chunkledger"
"""Key of the commit's metadata; its value is a JSON object that names the run's files."""
_RECENT = 20
"""Commits that are looked through before all of the log is read, which takes the longer the more nights it has."""
_OVERTAKEN = "{}: another run was published while this one worked; run it again"
Handler = TypeVar("Handler", bound=Callable[[int, FrameType | None], object])
_ENDING: set[object] = set()
_UNUSABLE = re.compile(r"[#?\x00-\x1f\x7f\ud800-\udfff]|%[0-9A-Fa-f]{2}" + (r"|\\" if os.sep == "/" else ""))
"""What a ledger's path can't hold: deltalake takes it for a URI, and writes or reads in another place."""
_CONFIGURATION: dict[str, str | None] = {
    # Runs are listed from the log, so it is kept; one small file a night.
    "delta.enableExpiredLogCleanup": "false",
    "delta.enableDeletionVectors": "false",
}
_CONFIGURATION_AT_URL: dict[str, str | None] = {
    # Opening a table asks for each commit since the last checkpoint, by default up to 100 of them.
    "delta.checkpointInterval": "10",
}


@dataclass(frozen=True, slots=True)
class NewPart:
    """A part that a commit adds: its name below the root, size in bytes, rows, first and last document id."""

    name: str
    size: int
    rows: int
    doc_ids: tuple[str, str]


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


def commit(
    root: str,
    table: DeltaTable | None,
    added: Sequence[NewPart],
    removed: Collection[str],
    files: RunFiles,
    schema: pa.Schema = SCHEMA,
) -> None:
    """Publish a run: it adds parts, and removes others.

    Args:
        root: of the ledger.
        table: as it was when the run started; None where the commit makes it.
        added: parts that the run wrote.
        removed: names of those that are no longer to be read. Where the schema is another one than before, all.
        files: its other files.
        schema: of the parts.

    Raises:
        LedgerError: another run was published meanwhile, or the log can't be written.
    """
    properties = CommitProperties(
        custom_metadata={METADATA_KEY: files.as_json()},
        app_transactions=[Transaction(TRANSACTION, files.run)],
        max_commit_retries=0,
    )
    try:
        with _interruptible():
            _write(root, table, [_add_action(part) for part in added], removed, properties, Schema.from_arrow(schema))
    except (DeltaError, OSError) as error:
        # Of two first runs the second finds a table where there was none.
        is_overtaken = isinstance(error, CommitFailedError) or (table is None and _has_commits(root))
        said = _OVERTAKEN.format(root) if is_overtaken else f"{root}: the run could not be published: {reason(error)}"
    else:
        return
    # A store's answer may be lost on its way, and what comes behind the commit, a checkpoint, may fail.
    if _is_published(root, files):
        return
    # Not from the error, which may hold the request that was signed.
    raise LedgerError(said)


def _write(
    root: str,
    table: DeltaTable | None,
    added: Sequence[AddAction],
    removed: Collection[str],
    properties: CommitProperties,
    schema: Schema,
) -> None:
    if table is None:
        create_table_with_add_actions(
            root,
            schema,
            [*added],
            mode="error",
            name="chunkledger",
            configuration=_CONFIGURATION | (_CONFIGURATION_AT_URL if is_url(root) else {}),
            storage_options=storage_options(root) if is_url(root) else None,
            commit_properties=properties,
        )
    elif schema.to_json() != table.schema().to_json():
        # Removes what there was, and takes over the schema; an append would do neither.
        table.create_write_transaction([*added], mode="overwrite", schema=schema, commit_properties=properties)
    else:
        actions: list[AddAction | RemoveAction] = [*added, *(_remove_action(name) for name in sorted(removed))]
        table.create_write_transaction(actions, mode="append", schema=schema, commit_properties=properties)


def _is_published(root: str, files: RunFiles) -> bool:
    """Whether the log names these files, whose names hold hashes, so that they are no other run's."""
    try:
        table = opened(root)
        return table is not None and any(each.files == files for each in published(table))
    except LedgerError:
        return False


def _has_commits(root: str) -> bool:
    try:
        return any(name.endswith(".json") for name in names_in(root, "_delta_log"))
    except OSError:  # what it can't be published for is told
        return False


def only_ends_the_process(handler: Handler) -> Handler:
    """Mark a signal handler that does nothing but end the process, so that a commit need not wait for it to run."""
    _ENDING.add(handler)
    return handler


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals end the process at once while the library works, as it was seen to hang where memory was short.

    Python's own handlers run only when it returns. A commit is one file that is put in its place, so that nothing is
    left half done. Handlers of somebody else, who may have more to do, are left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ending = {number: handler for number, handler in handlers.items() if handler in _ENDING}
    try:
        for number in ending:
            signal.signal(number, signal.SIG_DFL)
        yield
    finally:
        for number, handler in ending.items():
            signal.signal(number, handler)


def _remove_action(name: str) -> RemoveAction:
    return RemoveAction(path=name, data_change=True, deletion_timestamp=int(time.time() * 1000), partition_values={})


def _add_action(part: NewPart) -> AddAction:
    # Without statistics a reader that looks for one document would have to open every part.
    first, last = part.doc_ids
    statistics = {
        "numRecords": part.rows,
        "minValues": {"doc_id": first},
        "maxValues": {"doc_id": last},
        "nullCount": {"doc_id": 0},
    }
    return AddAction(part.name, part.size, {}, int(time.time() * 1000), True, json.dumps(statistics))
