"""Units over the cores of one machine. No document can end a run: what kills a worker is found by halving."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence

import pyarrow as pa

from chunkledger.counting.counter import Engine
from chunkledger.documents.hashes import hashes
from chunkledger.documents.sources import Entry, Selection, TableFile
from chunkledger.documents.tables import TableRows, rows_in
from chunkledger.engines.merges import Merged, merged_part
from chunkledger.engines.units import PartInfo, Unit, lost_document, run_unit
from chunkledger.engines.workers import Died, WorkerError, Workers
from chunkledger.model import Finding
from chunkledger.planning.placement import Merge
from chunkledger.settings import Settings

TRIES = 2
"""How often a document may see its process die before it is the one to blame: the first time it may be bystander."""
_SECONDS = 600.0
_SECONDS_PER_MEGABYTE = 120.0
"""A unit is given up after so much wall time: hundreds of times of what the slowest text was seen to take."""


def run_units(
    units: Sequence[Unit], settings: Settings, out: str, engine: Engine, jobs: int
) -> Generator[tuple[Unit, PartInfo], None, None]:
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


def run_merges(merges: Sequence[Merge], run: int, out: str, schema: pa.Schema, jobs: int) -> list[Merged]:
    """Write each part that is made of others, in their order.

    Args:
        merges: what each is made of.
        run: number of the run.
        out: root of the ledger.
        schema: of all parts.
        jobs: most processes at once; 0 works in this process.

    Raises:
        WorkerError: one could not be written in a process of its own, twice.
    """
    if jobs <= 0:
        return [merged_part(merge, run, out, schema) for merge in merges]
    found: dict[int, Merged] = {}
    tries: Counter[int] = Counter()
    of = {merge.number: merge for merge in merges}
    with Workers[int](min(jobs, len(merges))) as workers:
        for merge in merges:
            workers.submit(merge.number, merged_part, merge, run, out, schema, seconds=_seconds(merge.size))
        for number, outcome in workers.outcomes():
            tries[number] += 1
            if isinstance(outcome, Died) and tries[number] >= TRIES:
                raise WorkerError(f"a part could not be written again: {outcome.why}")
            if isinstance(outcome, Died):
                seconds = _seconds(of[number].size)
                workers.submit(number, merged_part, of[number], run, out, schema, seconds=seconds)
            else:
                found[number] = outcome
    return [found[merge.number] for merge in merges]


def hashes_of(entries: Sequence[Entry], settings: Settings, longest: int, jobs: int) -> list[str]:
    """The hash of each entry, as `hashes` gives it; "" for one whose hashing kills the process.

    Args:
        entries: files and rows.
        settings: columns and encoding.
        longest: most bytes of a document.
        jobs: most processes at once; 0 works in this process. Files alone are hashed here too, as it takes less than
            to start a process.
    """
    if jobs <= 0 or not any(entry.table and not entry.sha256 for entry in entries):
        return hashes(entries, settings, longest)
    by_table: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        by_table.setdefault(entry.table, []).append(place)
    found = [""] * len(entries)
    with Workers[str](min(jobs, len(by_table))) as workers:
        for table, places in by_table.items():
            own = [entries[place] for place in places]
            size = sum(entry.size for entry in own)
            workers.submit(table, hashes, own, settings, longest, seconds=_seconds(size))
        for table, outcome in workers.outcomes():
            if not isinstance(outcome, Died):
                for place, sha256 in zip(by_table[table], outcome, strict=True):
                    found[place] = sha256
    return found


def _unreadable(table: TableFile, died: Died) -> TableRows:
    return TableRows([], [Finding(table.doc_id, "failed", f"can't be read: {died.why}")], unseen=True)


def _seconds(size: int) -> float:
    return _SECONDS + _SECONDS_PER_MEGABYTE * size / 1_000_000
