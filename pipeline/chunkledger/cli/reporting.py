"""`chunkledger report`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chunkledger.cli.exits import GATE_FAILED
from chunkledger.cli.output import cell, console, result, shown, table, told
from chunkledger.cli.paging import page_file, write_page
from chunkledger.errors import SettingsError
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.runs import runs

if TYPE_CHECKING:
    from chunkledger.cli.sections import Section
    from chunkledger.outliers.gates import Gate
    from chunkledger.outliers.summary import Summary

_PREVIOUS = "previous"
_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|!&"})


def report_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    format: Annotated[
        Literal["table", "json", "csv", "md"],
        typer.Option(help="For people; for programs; one line for each flagged chunk, or group; for a ticket."),
    ] = "table",
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="Only chunks of which this holds, as in \"kind = 'table' AND doc_id LIKE 'api/%'\"."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many documents, and groups, to name.")] = 10,
    group_by: Annotated[
        str | None, typer.Option(metavar="BY", help="Figures by folder, kind, cause or metadata.KEY, too.")
    ] = None,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
    against: Annotated[
        str | None, typer.Option(metavar="RUN", help="Name what got worse since this run; previous is the one before.")
    ] = None,
    fail_over: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=SHARE,...",
            help="Exit with 1 where a larger share of chunks has a flag (or any: flagged), or of documents got worse, "
            "as in over_share=0,under_min=2%.",
        ),
    ] = None,
    window: Annotated[int, typer.Option(min=1, help="Context window to compare the corpus with.")] = 128_000,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page with charts and texts, too.")] = None,
) -> None:
    """Tell which chunks of LEDGER do not suit the slot, what is to blame, where, and what to change."""
    # Not at the top: ingest would carry polars along, 25 MB.
    from chunkledger.outliers.gates import gates, limits
    from chunkledger.outliers.summary import summary

    most = limits(fail_over) if fail_over is not None else {}
    opened = open_ledger(ledger, run)
    page = page_file(html, opened) if html is not None else None
    before = None if against is None else _earlier(opened, ledger, against)
    found = summary(opened, top=top, where=where, group_by=group_by, against=before, name=ledger)
    checked = gates(most, found.counts())
    if checked and where is not None and not found.chunks:
        raise SettingsError(f"--fail-over says nothing of no chunk, and none meets --where {where!r}")
    if page is not None:
        write_page(opened, found, page)
    if format == "json":
        _print_json(found, checked, window)
    elif format == "csv":
        _print_csv(opened, found)
    else:
        _print_sections(found, window, format)
    _tell_gates(checked)


def _earlier(opened: Ledger, name: str, against: str) -> Ledger:
    """The run to compare with."""
    if against == _PREVIOUS:
        earlier = [each.run for each in runs(opened.root) if each.outcome == "published" and each.run < opened.run]
        if not earlier:
            raise SettingsError(f"there is no run before run {opened.run} to compare with")
        return open_ledger(name, max(earlier))
    if not against.isdecimal():
        raise SettingsError(f"--against must be the number of a run, or {_PREVIOUS}, not {against!r}")
    if int(against) == opened.run:
        raise SettingsError(f"--against {against} is the run that is reported on; give an earlier one, or {_PREVIOUS}")
    return open_ledger(name, int(against))


def _print_json(found: Summary, checked: Sequence[Gate], window: int) -> None:
    from chunkledger.cli.sections import as_json

    more = {"window": window, "fits_whole": found.fits_whole(window), "gates": as_json(checked)}
    print(json.dumps(found.as_dict() | more, indent=1))


def _print_csv(ledger: Ledger, found: Summary) -> None:
    """The groups, or every flagged chunk."""
    from chunkledger.outliers.groups import Group, column_of, grouped
    from chunkledger.outliers.selected import COLUMNS, selected

    if found.group_by is not None:
        groups = grouped(selected(ledger, found.where, [column_of(found.group_by)]), found.group_by)
        columns = [field.name for field in fields(Group)]
        _write_csv(columns, (list(asdict(group).values()) for group in groups))
        return
    chunks = selected(ledger, found.where)
    rows = (row for row in chunks.iter_rows(named=True) if row["flags"])
    _write_csv(COLUMNS, ([" ".join(row[name]) if name == "flags" else row[name] for name in COLUMNS] for row in rows))


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    print(result(written.getvalue()), end="")


def _print_sections(found: Summary, window: int, format: str) -> None:
    from chunkledger.cli.sections import sections

    if format == "md":
        print("\n".join(line for section in sections(found, window) for line in _markdown(section)))
        return
    out = console()
    for section in sections(found, window):
        if section.title:
            out.print(f"\n{section.title}", style="bold")
        for line in section.lines:
            out.print(shown(line), soft_wrap=True)
        if section.columns:
            rows = table(*section.columns, right=tuple(section.right))
            for row in section.rows:
                rows.add_row(*(cell(value) for value in row))
            out.print(rows)


def _markdown(section: Section) -> Iterable[str]:
    """A section as Markdown in which nothing from a corpus is markup."""
    if section.title:
        yield from (f"### {section.title}", "")
    for line in section.lines:
        yield f"- {_escaped(line.strip())}" if section.title else f"{_escaped(line)}  "
    if section.lines:
        yield ""
    if section.columns:
        yield f"| {' | '.join(_escaped(name.strip()) for name in section.columns)} |"
        yield f"|{'|'.join('--:' if name in section.right else '---' for name in section.columns)}|"
        for row in section.rows:
            yield f"| {' | '.join(_escaped(str(cell(value))) for value in row)} |"
        yield ""


def _escaped(text: str) -> str:
    return shown(text).translate(_MARKDOWN)


def _tell_gates(checked: Sequence[Gate]) -> None:
    if not checked:
        return
    from chunkledger.cli.sections import gate_lines

    for line, gate in gate_lines(checked):
        told("gate", line, level="info" if gate.holds else "error")
    if not all(gate.holds for gate in checked):
        raise typer.Exit(GATE_FAILED)
