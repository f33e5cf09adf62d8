"""`chunkledger runs` and `chunkledger vacuum`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from chunkledger.cli.exits import UNPUBLISHED
from chunkledger.cli.output import cell, console, counted, error, json_line, note, table
from chunkledger.errors import LedgerError
from chunkledger.remote.opened import normal
from chunkledger.store.ledger import open_ledger
from chunkledger.store.lock import LockedError, locked
from chunkledger.store.runs import RunRecord, runs
from chunkledger.store.vacuum import vacuum

_WIDTH = 160
"""Columns where the list is no terminal's: a row must stay a line, for grep and for mails."""
_COUNTS = ("documents", "ok", "failed", "chunks", "add", "keep", "move", "update", "delete", "flagged")


def runs_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    last: Annotated[int | None, typer.Option(min=1, help="Only so many, the latest ones. [all]")] = None,
    format: Annotated[
        Literal["table", "json"],
        typer.Option(help="For people, or for programs: an object a line, with all that the run wrote down."),
    ] = "table",
) -> None:
    """List the runs of LEDGER: what each did, and why one published nothing.

    published: its commit is in the log. failed: its report says why it is not. ended: its process did, before the
    commit. A run that was not published has the number of the next one.
    """
    found = runs(normal(ledger))
    found = found[-last:] if last else found
    if format == "json":
        for record in found:
            print(json_line(record.as_dict()))
        return
    out = console(_WIDTH)
    right = ("run", *_COUNTS, "seconds")
    rows = table("run", "outcome", "started (UTC)", *_COUNTS, "seconds", right=right)
    for record in found:
        rows.add_row(
            cell(record.run),
            cell(record.outcome),
            cell((record.started or record.committed).removesuffix("+00:00")),
            *(cell(record.counts().get(name, "")) for name in _COUNTS),
            cell(_seconds(record)),
        )
    out.print(rows)
    for record in found:
        if record.error:
            out.print(cell(f"run {record.run}, {record.started}: {record.error}"), soft_wrap=True)


def _seconds(record: RunRecord) -> str:
    wall = record.report.get("seconds", {}).get("wall")
    return f"{wall:,.1f}" if isinstance(wall, int | float) else ""


def vacuum_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    keep_days: Annotated[
        float,
        typer.Option(min=0, max=100_000, metavar="DAYS", help="Runs of the last DAYS stay readable; 0 keeps the last."),
    ] = 30,
    wait: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="Wait for another run on LEDGER to end.")] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be removed, and remove nothing.")] = False,
) -> None:
    """Remove the files of LEDGER that only older runs need. Records of the last run, reports and cursors stay.

    Changes that a cursor has not acknowledged stay too, whatever their age. Whoever reads an older run while its files
    are removed gets an error.
    """
    root = open_ledger(ledger).root
    try:
        with locked(root, wait) as held:
            done = vacuum(open_ledger(root), keep_days, dry_run=dry_run, held=held)
    except LockedError as failure:
        error(f"nothing was removed: {failure}")
        raise typer.Exit(UNPUBLISHED) from failure
    except OSError as failure:
        raise LedgerError(f"{root} can't be vacuumed: {failure.strerror or failure}") from failure
    for name in (*done.parts, *done.others):
        print(name)
    for name, run in done.held_back.items():
        note(f"the cursor {name} has acknowledged run {run} only, so the changes since then stay")
    word = "would be removed" if dry_run else "removed"
    note(
        f"{counted(len(done.parts), 'part')} and {counted(len(done.others), 'other file')} {word}; "
        f"runs from {done.oldest} can be read, the feed tells what changed since run {done.feed_from}"
    )
