"""How far each reader of the feed has come: a file a reader, which moves only when the reader says so."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection, Mapping

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.store.feed import ANEW
from chunkledger.store.files import names_in, place_of, read_file, unwritable, write_file
from chunkledger.store.layout import CURSORS
from chunkledger.store.ledger import Ledger
from chunkledger.store.log import published

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def cursor(ledger: Ledger, name: str) -> int:
    """The run up to which this reader has acknowledged the feed; 0 where it has acknowledged nothing.

    Raises:
        SettingsError: no reader can be called that.
        LedgerError: the cursor is there and can't be read, or the run that was acknowledged is not in the ledger now,
            as where a copy of an earlier night was put back: another run has its number, or will have it.
    """
    run, report = _read(ledger.root, name)
    if why := _why_lost(run, report, _reports(ledger, [run])):
        raise LedgerError(f"the cursor {name} is at run {run}, {why}; {ANEW}, and then acknowledge it")
    return run


def acknowledge(ledger: Ledger, name: str, run: int) -> None:
    """Move the cursor of a reader: it has everything up to this run.

    Args:
        ledger: whose feed it reads.
        name: of the reader.
        run: number of a run that is published; 0 to begin anew.

    Raises:
        SettingsError: no reader can be called that, or there is no such run.
        LedgerError: the cursor can't be written.
    """
    path = _path(name)
    report = _reports(ledger, [run]).get(run, "")
    if run and not report:
        raise SettingsError(f"the ledger has no run {run}; its last one is run {ledger.run}")
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    try:
        write_file(ledger.root, path, json.dumps({"run": run, "report": report, "acknowledged": now}).encode("ascii"))
    except OSError as error:
        raise unwritable(place_of(ledger.root, path), error) from error


def cursors(root: str) -> dict[str, int]:
    """Every reader's name, and the run that it has come to.

    Raises:
        LedgerError: a cursor can't be read.
    """
    return {name: _read(root, name)[0] for name in _names(root)}


def lost_cursors(ledger: Ledger) -> dict[str, str]:
    """The names of readers whose run is not in the ledger, and what became of it.

    Raises:
        LedgerError: a cursor can't be read.
    """
    every = {name: _read(ledger.root, name) for name in _names(ledger.root)}
    reports = _reports(ledger, [run for run, _ in every.values()])
    found = {name: _why_lost(run, report, reports) for name, (run, report) in every.items()}
    return {name: why for name, why in found.items() if why}


def _names(root: str) -> list[str]:
    names = [name.rpartition("/")[2].removesuffix(".json") for name in names_in(root, CURSORS)]
    return [name for name in names if _NAME.fullmatch(name)]


def _read(root: str, name: str) -> tuple[int, str]:
    """The run of a cursor, and its report, whose name no other run has."""
    path = _path(name)
    try:
        found = json.loads(read_file(root, path))
        return int(found["run"]), str(found["report"])
    except FileNotFoundError:
        return 0, ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"the cursor {place_of(root, path)} can't be read ({error}); remove it, and begin anew"
        ) from error


def _reports(ledger: Ledger, runs: Collection[int]) -> dict[int, str]:
    """The reports of those of these runs that the log has."""
    wanted = {run for run in runs if 0 < run <= ledger.run}
    found: dict[int, str] = {}
    if ledger.run in wanted:
        found[ledger.run] = ledger.files.report
    if wanted - found.keys():
        found |= {each.files.run: each.files.report for each in published(ledger.table) if each.files.run in wanted}
    return found


def _why_lost(run: int, report: str, reports: Mapping[int, str]) -> str:
    if not run or reports.get(run) == report:
        return ""
    return "which is another one now" if run in reports else "which the ledger does not have"


def _path(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"{name!r} can't be the name of a cursor; take letters, digits, '.', '-' and '_', at most 100 of them"
        )
    return f"{CURSORS}/{name}.json"
