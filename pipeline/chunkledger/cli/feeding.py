"""`chunkledger feed`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import pyarrow as pa
import typer

from chunkledger.cli.destination import To, destination, text_to, write_parquet
from chunkledger.cli.exits import UNPUBLISHED
from chunkledger.cli.output import error, json_line, told
from chunkledger.errors import SettingsError
from chunkledger.store.changes import changes_schema
from chunkledger.store.cursors import acknowledge, cursor, cursors
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.parts import Role


def feed_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    since: Annotated[
        int | None, typer.Option(min=0, metavar="RUN", help="The run whose records are known; 0 where none are.")
    ] = None,
    cursor_name: Annotated[
        str | None, typer.Option("--cursor", metavar="NAME", help="Since the run that NAME has acknowledged.")
    ] = None,
    ack: Annotated[
        bool, typer.Option("--ack", help="Move the cursor once everything is written, and not before.")
    ] = False,
    ack_run: Annotated[
        int | None,
        typer.Option(min=0, metavar="RUN", help="Move the cursor to RUN, and write nothing: what it led to is stored."),
    ] = None,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Up to this run. [the last one]")] = None,
    role: Annotated[Literal["chunk", "parent", "all"], typer.Option(help="Which records.")] = "chunk",
    format: Annotated[Literal["jsonl", "parquet"], typer.Option(help="What to write.")] = "jsonl",
    to: To = None,
) -> None:
    """Write what became of the chunks of LEDGER since a run, each at most once, with its whole record.

    operation is add, delete, move (another place) or update (another column); embed_needed says whether what is
    embedded is another text; previous_chunk_id names the chunk of a renamed document. The last line on standard error
    names the run that is reached: store what is written, then acknowledge it with --cursor NAME --ack-run RUN.
    """
    if (since is None) == (cursor_name is None):
        raise SettingsError("give either --since RUN or --cursor NAME")
    if (ack or ack_run is not None) and cursor_name is None:
        raise SettingsError("--ack and --ack-run move a cursor; give --cursor NAME")
    if ack_run is not None and (ack or to is not None):
        raise SettingsError("--ack-run writes nothing but the cursor; leave --ack and --to out")
    opened = open_ledger(ledger, run)
    if cursor_name is not None and ack_run is not None:
        _move(opened, cursor_name, ack_run)
        return
    start = cursor(opened, cursor_name) if cursor_name is not None else since or 0
    if start > opened.run:
        raise SettingsError(f"run {start} comes after run {opened.run}, up to which the feed would lead")
    counts: Counter[str] = Counter()
    tables = _counted(opened, start, role, counts)
    file = destination(to, opened.root)
    if format == "parquet":
        if file is None:
            raise SettingsError("--format parquet needs --to FILE")
        write_parquet(tables, changes_schema(opened.schema), file)
    else:
        try:
            _write_jsonl(tables, file)
        except BrokenPipeError:
            if not ack:
                raise
            error(f"the reader has gone, so the cursor {cursor_name} stays at run {start}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(UNPUBLISHED) from None
    if ack and cursor_name is not None:
        acknowledge(opened, cursor_name, opened.run)
    _tell(start, opened.run, counts)


def _move(ledger: Ledger, name: str, run: int) -> None:
    if run > ledger.run:
        raise SettingsError(f"--ack-run must be a run from 0 to {ledger.run}, not {run}")
    before = cursors(ledger.root).get(name, 0)
    acknowledge(ledger, name, run)
    told("cursor", f"cursor {name}: run {before} -> {run}", {"name": name, "run": run})


def _counted(ledger: Ledger, since: int, role: Role, counts: Counter[str]) -> Iterator[pa.Table]:
    for table in ledger.iter_feed(since, role=role):
        counts.update(table.column("operation").to_pylist())
        counts["embed"] += sum(table.column("embed_needed").to_pylist())
        yield table


def _tell(since: int, run: int, counts: Counter[str]) -> None:
    names = ("add", "move", "update", "delete", "embed")
    figures = " ".join(f"{name}={counts[name]}" for name in names)
    told(
        "feed", f"FEED since={since} run={run} {figures}", {"since": since, "run": run, **{n: counts[n] for n in names}}
    )


def _write_jsonl(tables: Iterator[pa.Table], to: Path | None) -> None:
    with text_to(to) as stream:
        for table in tables:
            stream.writelines(f"{json_line(row)}\n" for row in table.to_pylist())
