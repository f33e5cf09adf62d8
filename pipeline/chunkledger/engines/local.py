"""Units over the cores of one machine. No document can end a run: what kills a worker is found by halving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa

from chunkledger.counting.counter import Engine
from chunkledger.counting.self_test import disagreements
from chunkledger.documents.entries import Entries
from chunkledger.documents.hashes import hashes
from chunkledger.documents.sources import Entry, Selection, TableFile
from chunkledger.documents.tables import TableRows, rows_in
from chunkledger.engines.merges import Merged, merged_part
from chunkledger.engines.units import PartInfo, Unit, lost_document, run_unit
from chunkledger.engines.workers import Died, WorkerError, Workers
from chunkledger.model import Finding
from chunkledger.planning.placement import Merge
from chunkledger.settings import Settings

BYTES_FOR_A_WORKER = 32_000_000
"""Of documents, for which one more process is worth to be started: that takes the CPU of about four megabytes."""
TRIES = 2
"""How often a document may see its process die before it is the one to blame: the first time it may be bystander."""
Pool = Workers[Any] | None
"""Processes that tasks are given to; None is this process."""
_SECONDS = 600.0
_SECONDS_PER_MEGABYTE = 120.0
"""A unit is given up after so much wall time: hundreds of times of what the slowest text was seen to take."""


@contextmanager
def pool(jobs: int) -> Iterator[Pool]:
    """Processes for all that a run has to do, which stay warm from one thing to the next; at the end they are gone.

    Args:
        jobs: most processes at once; 0 works in this process, where nothing is isolated.
    """
    if jobs <= 0:
        yield None
    else:
        with Workers[Any](jobs) as workers:
            yield workers


def run_units(
    units: Sequence[Unit], settings: Settings, out: str, engine: Engine, workers: Pool
) -> Generator[tuple[Unit, PartInfo], None, None]:
    """Run every unit; results come as they are done, for a unit that had to be divided in pieces.

    A worker that dies is replaced and its unit divided in two, again and again, until everything that can be worked
    on is done and the documents that kill their process stand alone; each of them becomes a Finding.

    Args:
        units: what to do.
        settings: what to make.
        out: root of the ledger.
        engine: whose tokenizer counts.
        workers: who does it.
    """
    if workers is None:
        for unit in units:
            yield unit, run_unit(unit, settings, out, engine)
        return
    tries: Counter[Unit] = Counter()
    workers.limit(1 + sum(unit.size for unit in units) // BYTES_FOR_A_WORKER)
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
    tables: Sequence[TableFile], settings: Settings, selection: Selection, workers: Pool
) -> list[tuple[TableFile, TableRows]]:
    """Which documents each table holds; one whose reading kills the process is a Finding.

    Args:
        tables: the files.
        settings: columns and encoding.
        selection: which rows are wanted.
        workers: who does it.
    """
    calls = [_Call(rows_in, (table, settings, selection), table.size) for table in tables]
    found = zip(tables, _outcomes(calls, workers), strict=True)
    return [(table, _unreadable(table, rows) if isinstance(rows, Died) else rows) for table, rows in found]


def run_merges(merges: Sequence[Merge], run: int, out: str, schema: pa.Schema, workers: Pool) -> list[Merged]:
    """Write each part that is made of others, in their order.

    Args:
        merges: what each is made of.
        run: number of the run.
        out: root of the ledger.
        schema: of all parts.
        workers: who does it.

    Raises:
        WorkerError: one could not be written in a process of its own, twice.
    """
    done = _outcomes([_Call(merged_part, (merge, run, out, schema), merge.size) for merge in merges], workers)
    for outcome in done:
        if isinstance(outcome, Died):
            raise WorkerError(f"a part could not be written again: {outcome.why}")
    return done


def hashes_of(entries: Sequence[Entry], settings: Settings, longest: int, workers: Pool) -> list[str]:
    """The hash of each entry, as `hashes` gives it; "" for one whose hashing kills the process.

    Args:
        entries: files and rows.
        settings: columns and encoding.
        longest: most bytes of a document.
        workers: who does it. Files are hashed in this process, where nothing can happen to it.
    """
    by_table: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        by_table.setdefault(entry.table if not entry.sha256 else "", []).append(place)
    groups = [[entries[place] for place in places] for places in by_table.values()]
    calls = [_Call(hashes, (group, settings, longest), sum(entry.size for entry in group)) for group in groups]
    here = [call for call, table in zip(calls, by_table, strict=True) if not table]
    there = [call for call, table in zip(calls, by_table, strict=True) if table]
    done = dict(zip(map(id, here), _outcomes(here, None), strict=True))
    done |= dict(zip(map(id, there), _outcomes(there, workers), strict=True))
    found = [""] * len(entries)
    for call, places in zip(calls, by_table.values(), strict=True):
        outcome = done[id(call)]
        if not isinstance(outcome, Died):
            for place, sha256 in zip(places, outcome, strict=True):
                found[place] = sha256
    return found


def self_test(encoding: str, workers: Pool) -> list[str]:
    """What the self-test of an encoding finds wrong, asked where the tables are needed afterwards.

    Raises:
        WorkerError: it could not be asked in a process of its own, twice.
    """
    [found] = _outcomes([_Call(disagreements, (encoding,), 0)], workers)
    if isinstance(found, Died):
        raise WorkerError(f"the self-test of {encoding} could not be made: {found.why}")
    return list(found)


class _Call(NamedTuple):
    """A call that is to be made, and the bytes that it works on."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    size: int


def _outcomes(calls: Sequence[_Call], workers: Pool) -> list[Any]:
    """What each call returned, in their order; `Died` where it killed its process as often as it was tried."""
    if workers is None:
        return [call.function(*call.arguments) for call in calls]
    found: list[Any] = [None] * len(calls)
    tries: Counter[int] = Counter()
    for number, call in enumerate(calls):
        workers.submit(number, call.function, *call.arguments, seconds=_seconds(call.size))
    for number, outcome in workers.outcomes():
        tries[number] += 1
        if isinstance(outcome, Died) and tries[number] < TRIES:
            call = calls[number]
            workers.submit(number, call.function, *call.arguments, seconds=_seconds(call.size))
        else:
            found[number] = outcome
    return found


def _unreadable(table: TableFile, died: Died) -> TableRows:
    return TableRows(Entries(), [Finding(table.doc_id, "failed", f"can't be read: {died.why}")], unseen=True)


def _seconds(size: int) -> float:
    return _SECONDS + _SECONDS_PER_MEGABYTE * size / 1_000_000
