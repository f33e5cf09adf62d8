"""`chunkledger diagnose` and `chunkledger curve`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from chunkledger.cli.logs import log_lines
from chunkledger.cli.output import bar, cell, console, counted, note, table
from chunkledger.request_log.curve import LEAST_GAIN, Curve, curves
from chunkledger.request_log.described import described_by
from chunkledger.request_log.diagnosis import diagnosis
from chunkledger.request_log.findings import Diagnosis, Finding, Thresholds
from chunkledger.request_log.lines import Reading
from chunkledger.store.ledger import open_ledger

_DEFAULT = Thresholds()
_BAR, _COLUMNS = 40, 68
"""Most characters of a bar, and those that the columns beside it take."""
_MARKS = {True: "FOUND", False: "ok", None: "not judged"}

Logs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG.jsonl...",
        help="Lines of the logger chunkledger.packer, the oldest first; .gz is read as such, - is standard input.",
    ),
]
Format = Annotated[Literal["table", "json"], typer.Option(help="For people, or for programs.")]


def diagnose_command(
    logs: Logs,
    ledger: Annotated[
        str | None, typer.Option(metavar="LEDGER", help="Where the chunks are from, to name causes and places.")
    ] = None,
    format: Format = "table",
    top: Annotated[int, typer.Option(min=1, help="How many chunks to name in a finding.")] = 10,
    empty: Annotated[float, typer.Option(help="A slot used up to this share is mostly empty.")] = _DEFAULT.empty,
    mostly_empty: Annotated[
        float, typer.Option(help="Share of requests with a mostly empty slot for one reason.")
    ] = _DEFAULT.mostly_empty,
    outlier_size: Annotated[
        float, typer.Option(help="An outlier is at least so many times the median of its ranking.")
    ] = _DEFAULT.outlier_size,
    outliers: Annotated[
        float, typer.Option(help="Share of requests that skip an outlier which never fits.")
    ] = _DEFAULT.outliers,
    truncated: Annotated[float, typer.Option(help="Share of requests whose best chunk is cut.")] = _DEFAULT.truncated,
    floor: Annotated[float, typer.Option(help="Share of requests whose best chunk is over the slot.")] = _DEFAULT.floor,
    drift: Annotated[
        float, typer.Option(help="Rise of tokens per answered question, first third to last.")
    ] = _DEFAULT.drift,
    gain: Annotated[float, typer.Option(help="Points of right answers that make up for more tokens.")] = _DEFAULT.gain,
    answered: Annotated[int, typer.Option(help="Least answered questions in each third.")] = _DEFAULT.answered,
) -> None:
    """Tell from the log of packed requests whether slot, K or chunking is wrong, and what to do.

    Every finding prints its figures and its threshold; a finding holds where a figure is over it.
    """
    thresholds = Thresholds(empty, mostly_empty, outlier_size, outliers, truncated, floor, drift, gain, answered)
    opened = open_ledger(ledger) if ledger is not None else None
    reading = Reading(log_lines(logs))
    made = diagnosis(reading, thresholds, top=top, described=described_by(opened) if opened else None)
    _tell_left_out(reading)
    if format == "json":
        print(json.dumps(made.as_dict() | {"left_out": reading.left_out.lines}, indent=1))
    else:
        _show(made, opened.settings().slot_tokens if opened else None)


def curve_command(
    logs: Logs,
    format: Format = "table",
    least_gain: Annotated[
        float, typer.Option(help="Points of right answers that one more chunk must add.")
    ] = LEAST_GAIN,
) -> None:
    """Show what each further chunk adds in right answers, what it costs, and at which K to stop.

    From records with k, answered_correctly and, where they are logged, prompt_tokens and intent: an evaluation that
    asks the same questions with several K.
    """
    reading = Reading(log_lines(logs))
    made = curves(reading, least_gain)
    _tell_left_out(reading)
    if format == "json":
        found = {"least_gain": least_gain, "left_out": reading.left_out.lines}
        print(json.dumps(found | {"curves": [curve.as_dict() for curve in made]}, indent=1))
        return
    out = console()
    for number, curve in enumerate(made):
        out.print(f"{chr(10) if number else ''}{cell(curve.intent)}", style="bold")
        out.print(_steps(curve, max(8, min(_BAR, out.width - _COLUMNS))))
        out.print(_verdict(curve, least_gain), soft_wrap=True)
        for each in curve.notes:
            out.print(f"note: {each}", soft_wrap=True)


def _tell_left_out(reading: Reading) -> None:
    if lines := reading.left_out.lines:
        note(f"{counted(lines, 'line')} left out; {reading.left_out.first}")


def _show(made: Diagnosis, ledger_slot: int | None) -> None:
    out = console()
    out.print(counted(made.requests, "request"))
    for finding in made.findings:
        out.print(f"\n{_MARKS[finding.holds]}: {finding.name}", style="bold")
        out.print(finding.says, soft_wrap=True)
        if finding.advice:
            out.print(f"to do: {finding.advice}", soft_wrap=True)
        if finding.holds and finding.chunks:
            out.print(_chunks(finding, ledger_slot))


def _chunks(finding: Finding, ledger_slot: int | None) -> Table:
    count = "skipped" if "skipped" in finding.chunks[0] else "requests"
    places = ("document", "lines", "cause") if ledger_slot else ()
    rows = table("chunk_id", count, "tokens", *places, right=(count, "tokens"))
    rows.columns[0].no_wrap = True
    for chunk in finding.chunks:
        shown = [cell(chunk["chunk_id"]), cell(chunk[count]), cell(chunk["rendered_tokens"] or "")]
        rows.add_row(*shown, *(cell(text) for text in _place(chunk, ledger_slot or 0)[: len(places)]))
    return rows


def _place(chunk: Mapping[str, Any], ledger_slot: int) -> tuple[str, str, str]:
    if "doc_id" not in chunk:
        return "not in this ledger", "", ""
    lines = "" if chunk["line_start"] is None else f"{chunk['line_start']}-{chunk['line_end']}"
    if not chunk["flags"]:
        return chunk["doc_id"], lines, f"{chunk['kind']}; no flag at its ledger's slot of {ledger_slot:,}"
    return chunk["doc_id"], lines, f"{chunk['flag_cause']}, {chunk['flag_detail']} ({', '.join(chunk['flags'])})"


def _steps(curve: Curve, width: int) -> Table:
    names = ("queries", "right", "gain", "per chunk", "tokens", "per extra right")
    rows = table("k", *names, "", right=("k", *names))
    for column in rows.columns:
        column.no_wrap = True
    for step in curve.steps:
        rows.add_row(
            cell(step.k),
            cell(step.queries),
            cell(f"{step.right:.1%}"),
            cell(_figure(step.gain, "+.1f")),
            cell(_figure(step.gain_per_chunk, "+.2f")),
            cell(_figure(step.tokens_per_query, ",.0f")),
            cell(_figure(step.tokens_per_right, ",.0f")),
            cell(bar(step.right, width)),
        )
    return rows


def _figure(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _verdict(curve: Curve, least_gain: float) -> str:
    if curve.stop_k is None:
        return "stop: no K that was measured is enough, or only one was"
    points = "a point" if least_gain == 1 else f"{least_gain:g} points"
    return f"stop at k = {curve.stop_k}: the next chunk adds less than {points}"
