"""`chunkledger doctor`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from chunkledger import __version__
from chunkledger.cli.config import configured
from chunkledger.cli.exits import GATE_FAILED
from chunkledger.cli.output import cell, console, counted, table
from chunkledger.counting.self_test import disagreements
from chunkledger.errors import ChunkledgerError, LedgerError
from chunkledger.ingestion import with_further_encodings_of
from chunkledger.planning.anew import reasons_to_split_anew
from chunkledger.runs.publishing import versions
from chunkledger.settings import Settings
from chunkledger.store.health import Check, failure, health
from chunkledger.store.ledger import open_ledger
from chunkledger.store.log import opened


def doctor_command(
    ledger: Annotated[
        str | None, typer.Argument(metavar="LEDGER", help="A ledger, or the folder that is to become one.")
    ] = None,
    format: Annotated[
        Literal["table", "json"], typer.Option(help="For people, or for programs: a list of name, verdict, detail.")
    ] = "table",
) -> None:
    """Look whether the next run here can do its work: settings, tokenizers, table, feed, lock, disk.

    ok; look: it works, and somebody should know; bad: the next run would fail, or what is there can't be read. Exit
    code 1: something is bad. A probe is written to the disk and removed; nothing else is changed.
    """
    found = list(_checks(ledger))
    if format == "json":
        print(json.dumps([asdict(check) for check in found], indent=1, ensure_ascii=False))
    else:
        rows = table("check", "", "")
        for check in found:
            rows.add_row(cell(check.name), cell(check.verdict), cell(check.detail))
        console().print(rows)
    if any(check.verdict == "bad" for check in found):
        raise typer.Exit(GATE_FAILED)


def _checks(ledger: str | None) -> Iterator[Check]:
    said = ", ".join(f"{name} {number}" for name, number in versions().items())
    yield Check("versions", "ok", f"chunkledger {__version__}; {said.partition(', ')[2]}")
    settings = Settings()
    try:
        found = configured({})
        settings = found.settings
        given = ", ".join(f"{name} ({places[0].origin})" for name, places in found.given.items())
        yield Check("settings", "ok", given or "all are defaults")
    except ChunkledgerError as error:
        yield failure("settings", error)
    for encoding in settings.encodings:
        yield _tokenizer(encoding)
    if ledger is not None:
        found_there = list(health(ledger))
        yield from found_there
        if all(check.verdict != "bad" for check in found_there):
            yield from _anew(ledger, settings)


def _tokenizer(encoding: str) -> Check:
    try:
        wrong = disagreements(encoding)
    except ChunkledgerError as error:
        return failure("tokenizer", error)
    if wrong:
        return Check(
            "tokenizer",
            "look",
            f"{encoding}: toktok disagrees with tiktoken ({counted(len(wrong), 'count')}, the first: {wrong[0]}), so "
            "that runs count with tiktoken alone, which takes longer",
        )
    return Check("tokenizer", "ok", f"{encoding}: its tables are the published ones, toktok counts as tiktoken does")


def _anew(ledger: str, settings: Settings) -> Iterator[Check]:
    """Whether a run with the settings of here would split everything anew."""
    try:
        if opened(ledger) is None:
            return
        before = open_ledger(ledger)
        reasons = reasons_to_split_anew(before.report(), with_further_encodings_of(before, settings))
    except LedgerError:
        return  # told above
    if reasons:
        yield Check("next run", "look", f"without flags it would split everything anew: {reasons}")
    else:
        yield Check("next run", "ok", "without flags it takes over what is unchanged")
