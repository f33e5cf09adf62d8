"""One run, one commit: the only module that writes to the Delta log.

Workers write Parquet parts straight into the table's root, where nothing refers to them. The driver then commits the
whole run at once; before that commit a reader sees the last one, and after it the new one, never half of either.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from chunkledger.errors import LedgerError
from chunkledger.records.schema import SCHEMA
from chunkledger.remote.failures import reason
from chunkledger.remote.urls import is_url, storage_options
from chunkledger.store.files import names_in
from chunkledger.store.log import METADATA_KEY, TRANSACTION, RunFiles, opened, published

_OVERTAKEN = "{}: another run was published while this one worked; run it again"
Handler = TypeVar("Handler", bound=Callable[[int, FrameType | None], object])
_ENDING: set[object] = set()
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
