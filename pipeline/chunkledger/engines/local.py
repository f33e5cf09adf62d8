"""Units over the cores of one machine. No document can end a run: what kills a worker is found by halving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from chunkledger.counting.counter import Engine
from chunkledger.documents.sources import Selection, TableFile
from chunkledger.documents.tables import TableRows, rows_in
from chunkledger.engines.units import PartInfo, Unit, lost_document, run_unit
from chunkledger.engines.workers import Died, Workers
from chunkledger.model import Finding
from chunkledger.settings import Settings

TRIES = 2
"""How often a document may see its process die before it is the one to blame: the first time it may be bystander."""
_SECONDS = 600.0
_SECONDS_PER_MEGABYTE = 120.0
"""A unit is given up after so much wall time: hundreds of times of what the slowest text was seen to take."""


def run_units(
    units: Sequence[Unit], settings: Settings, out: str, engine: Engine, jobs: int
) -> Iterator[tuple[Unit, PartInfo]]:
    """Run every unit; results come as they are done, for a unit that had to be divided in pieces.

    A worker that dies is replaced and its unit divided in two, again and again, until everything that can be worked
    on is done and the documents that kill their process stand alone; each of them becomes a Finding.

    Args:
        units: what to do.
        settings: what to make.
        out: root of the ledger.
        engine: whose tokenizer counts.
        jobs: most processes at once; 0 works in this process, where nothing is isolated.
    """
    if jobs <= 0:
        for unit in units:
            yield unit, run_unit(unit, settings, out, engine)
        return
    tries: Counter[Unit] = Counter()
    with Workers[Unit](min(jobs, len(units))) as workers:
        for unit in units:
            workers.submit(unit, run_unit, unit, settings, out, engine, seconds=_seconds(unit.size))
        for unit, outcome in workers.outcomes():
            if not isinstance(outcome, Died):
                yield unit, outcome
                continue
            again = unit.halves() if len(unit.entries) > 1 else (unit,)
            tries[unit] += 1
            if len(again) == 1 and tries[unit] >= TRIES:
                [entry] = unit.entries
                yield unit, lost_document(entry, f"could not be split: {outcome.why}")
                continue
            for part in again:
                workers.submit(part, run_unit, part, settings, out, engine, seconds=_seconds(part.size))


def read_tables(
    tables: Sequence[TableFile], settings: Settings, selection: Selection, jobs: int
) -> list[tuple[TableFile, TableRows]]:
    """Which documents each table holds; one whose reading kills the process is a Finding.

    Args:
        tables: the files.
        settings: columns and encoding.
        selection: which rows are wanted.
        jobs: most processes at once; 0 works in this process.
    """
    if jobs <= 0:
        return [(table, rows_in(table, settings, selection)) for table in tables]
    found: dict[TableFile, TableRows] = {}
    tries: Counter[TableFile] = Counter()
    with Workers[TableFile](min(jobs, len(tables))) as workers:
        for table in tables:
            workers.submit(table, rows_in, table, settings, selection, seconds=_seconds(table.size))
        for table, outcome in workers.outcomes():
            tries[table] += 1
            if isinstance(outcome, Died) and tries[table] < TRIES:
                workers.submit(table, rows_in, table, settings, selection, seconds=_seconds(table.size))
                continue
            found[table] = _unreadable(table, outcome) if isinstance(outcome, Died) else outcome
    return [(table, found[table]) for table in tables]


def _unreadable(table: TableFile, died: Died) -> TableRows:
    return TableRows([], [Finding(table.doc_id, "failed", f"can't be read: {died.why}")], unseen=True)


def _seconds(size: int) -> float:
    return _SECONDS + _SECONDS_PER_MEGABYTE * size / 1_000_000
