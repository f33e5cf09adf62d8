"""How far each reader of the feed has come: a file a reader, which moves only when the reader says so."""

from __future__ import annotations

import datetime
import json
import re

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.store.files import names_in, place_of, read_file, write_file
from chunkledger.store.layout import CURSORS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def cursor(root: str, name: str) -> int:
    """The run up to which this reader has acknowledged the feed; 0 where it has acknowledged nothing.

    Raises:
        SettingsError: no reader can be called that.
        LedgerError: the cursor is there and can't be read.
    """
    path = _path(name)
    try:
        found = json.loads(read_file(root, path))
        return int(found["run"])
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"the cursor {place_of(root, path)} can't be read ({error}); remove it, and begin anew"
        ) from error


def acknowledge(root: str, name: str, run: int) -> None:
    """Move the cursor of a reader: it has everything up to this run.

    Args:
        root: of the ledger.
        name: of the reader.
        run: number of a run that is published.

    Raises:
        SettingsError: no reader can be called that.
        LedgerError: the cursor can't be written.
    """
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        write_file(root, _path(name), json.dumps({"run": run, "acknowledged": now}).encode())
    except OSError as error:
        raise LedgerError(f"{place_of(root, _path(name))} can't be written: {error.strerror or error}") from error


def cursors(root: str) -> dict[str, int]:
    """Every reader's name, and how far it has come.

    Raises:
        LedgerError: a cursor can't be read.
    """
    names = [name.rpartition("/")[2].removesuffix(".json") for name in names_in(root, CURSORS)]
    return {name: cursor(root, name) for name in names if _NAME.fullmatch(name)}


def _path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} can't be the name of a cursor; take letters, digits, '.', '-' and '_', at most 100 of them"
        )
    return f"{CURSORS}/{name}.json"
