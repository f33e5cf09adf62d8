"""`chunkledger export` and `chunkledger schema`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TextIO

import typer

from chunkledger.cli.destination import To, destination, text_to, write_parquet
from chunkledger.cli.output import cell, console, counted, json_line, note, result, table
from chunkledger.errors import SettingsError
from chunkledger.records.schema import SCHEMA
from chunkledger.store.count_index import write_count_index
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.parts import Role


def export_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    format: Annotated[Literal["jsonl", "parquet", "csv", "counts"], typer.Option(help="What to write.")] = "jsonl",
    role: Annotated[
        Literal["chunk", "parent", "all"], typer.Option(help="Which records; a count index has them all.")
    ] = "chunk",
    encoding: Annotated[str | None, typer.Option(help="Of the counts in a count index. [that of the limits]")] = None,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
    to: To = None,
) -> None:
    """Write the records of LEDGER in document order.

    Lists are JSON in CSV cells. `counts` is a SQLite file of all that packing needs, by chunk id, for
    chunkledger.packer.counts. Parquet and counts need --to.
    """
    if format == "counts" and role != "chunk":
        raise SettingsError("--role is for the other formats; a count index holds every record")
    opened = open_ledger(ledger, run)
    file = destination(to, opened.root)
    if format in ("parquet", "counts"):
        if file is None:
            raise SettingsError(f"--format {format} needs --to FILE")
        if format == "parquet":
            write_parquet(opened.iter_tables(role=role), opened.schema, file)
        else:
            note(f"{counted(write_count_index(opened, file, encoding), 'record')} of run {opened.run} in {to}")
        return
    if encoding is not None:
        raise SettingsError("--encoding is for --format counts; other formats have the counts of every encoding")
    with text_to(file) as stream:
        (_write_jsonl if format == "jsonl" else _write_csv)(opened, role, stream)


def schema_command() -> None:
    """List the columns of a record: name, type, meaning."""
    rows = table("column", "type", "meaning")
    for field in SCHEMA:
        kind = f"{field.type}".replace("element: ", "")
        meaning = (field.metadata or {}).get(b"description", b"").decode()
        rows.add_row(cell(field.name), cell(f"{kind}, null" if field.nullable else kind), cell(meaning))
    console().print(rows)


def _rows(ledger: Ledger, role: Role) -> Iterator[dict[str, Any]]:
    for records in ledger.iter_tables(role=role):
        yield from records.to_pylist()


def _write_jsonl(ledger: Ledger, role: Role, stream: TextIO) -> None:
    for row in _rows(ledger, role):
        stream.write(f"{json_line(row)}\n")


def _write_csv(ledger: Ledger, role: Role, stream: TextIO) -> None:
    text = result if stream is sys.stdout else str
    writer = csv.writer(stream)
    columns = ledger.schema.names
    writer.writerow(columns)
    for row in _rows(ledger, role):
        writer.writerow([_cell(row[name], text) for name in columns])


def _cell(value: object, text: Callable[[str], str]) -> object:
    if isinstance(value, list):
        return json_line(value)
    return text(value) if isinstance(value, str) else value
