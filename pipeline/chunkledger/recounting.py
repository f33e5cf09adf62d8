"""One more encoding for a ledger: its columns are added, nothing is cut anew, no id changes."""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.counting.counter import Engine
from chunkledger.engines.cross_check import CrossCheck
from chunkledger.engines.memory import peak_bytes
from chunkledger.engines.trusted import Trusted
from chunkledger.engines.units import PartInfo
from chunkledger.errors import SettingsError
from chunkledger.records.again import with_encoding
from chunkledger.records.schema import schema_of
from chunkledger.remote.failures import scrubbed
from chunkledger.settings import ENCODINGS, Settings
from chunkledger.store.changes_files import written_changes
from chunkledger.store.commit import NewPart, commit
from chunkledger.store.documents_table import DOCUMENTS_SCHEMA, documents_content, with_columns
from chunkledger.store.files import place_of, settle, unwritable, write_file
from chunkledger.store.layout import CHANGES, DOCUMENTS, RUNS, documents_name, part_name, run_name
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.lock import Held, leftovers, locked
from chunkledger.store.log import RunFiles, next_entry
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import part_content, records_in
from chunkledger.store.run_report import Run, run_report

_BATCH_CHARACTERS = 8_000_000
"""Text of the documents that are counted at once."""


def recount(ledger: str | os.PathLike[str], encoding: str, *, wait: float = 0.0) -> Run:
    """Add the counts of another encoding to every record of a ledger, in a run of its own.

    Args:
        ledger: its folder or URL.
        encoding: one of `ENCODINGS`; limits and flags stay in that of the ledger.
        wait: seconds to wait for another run that is at work on the ledger.

    Raises:
        SettingsError: no such encoding, or the ledger is counted in it already.
        LedgerError: there is no ledger, it can't be read or written, another run is at work or was published meanwhile.
    """
    root = open_ledger(ledger).root
    if encoding not in ENCODINGS:
        raise SettingsError(f"encoding {encoding!r} is not known; valid are: {', '.join(ENCODINGS)}")
    try:
        with locked(root, wait) as held:
            opened = open_ledger(root)
            before = opened.settings()
            if encoding in before.encodings:
                raise SettingsError(f"{root} is counted in {encoding} already")
            held.remove(leftovers(root, opened.run))
            told = _Told(opened, replace(before, further_encodings=(*before.further_encodings, encoding)))
            try:
                trusted = Trusted(held, [encoding])
                parts = trusted.parts(lambda engine: _parts(opened, encoding, before, engine))
                return _published(held, opened, told, parts, trusted)
            except BaseException as error:
                _give_up(held, told, error)
                raise
    except OSError as error:
        raise unwritable(root, error) from error


@dataclass(frozen=True, slots=True)
class _Told:
    """What the report of the run says, whatever becomes of it.

    Attributes:
        before: the ledger as the last run left it.
        settings: those of the ledger with the new encoding.
        started: when, in UTC.
        clock: when, in seconds of the monotonic clock.
    """

    before: Ledger
    settings: Settings
    started: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))
    clock: float = field(default_factory=time.monotonic)

    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self.clock

    def report(self, run: Run | None, seconds: Mapping[str, float], error: str | None = None) -> bytes:
        """The report as JSON.

        Args:
            run: what it did; None where it is given up.
            seconds: by station.
            error: why it is given up.
        """
        last = self.before.report()
        return run_report(
            run=self.before.run + 1,
            sources=last["sources"],
            selection=last["selection"],
            settings=self.settings.as_dict(),
            versions=last["versions"] | {name: version(name) for name in ("tiktoken", "toktok-rs")},
            counts=run.counts() if run else {},
            findings=(),
            engine=run.engine if run else "toktok",
            notices=run.notices if run else (),
            started=self.started.isoformat(timespec="seconds"),
            seconds=seconds,
            peak_bytes={"driver": peak_bytes(), "worker": 0},
            error=error,
        )


def _give_up(held: Held, told: _Told, error: BaseException) -> None:
    """Leave the ledger as it was, and a report that says why, unless the run had been published.

    Who has lost the lock removes nothing, as another run may be at work by now.
    """
    with suppress(Exception):
        if open_ledger(held.root).run > told.before.run:
            return
        if not held.is_lost():
            held.remove(leftovers(held.root, told.before.run))
        said = scrubbed(str(error)) or type(error).__name__
        report = told.report(None, {"wall": told.seconds()}, said)
        write_file(held.root, run_name(told.before.run + 1, report), report)


def _parts(ledger: Ledger, encoding: str, settings: Settings, engine: Engine) -> list[PartInfo]:
    """The parts of the ledger with one more encoding, written beside the old ones."""
    chunks = int(ledger.report()["counts"]["chunks"])
    work = _Work(ledger.root, ledger.run + 1, encoding, settings, engine, chunks)
    return [work.part(number, path) for number, path in enumerate(ledger.part_paths())]


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done with every part."""

    root: str
    run: int
    encoding: str
    settings: Settings
    engine: Engine
    chunks: int

    def part(self, number: int, path: str) -> PartInfo:
        """The part of this number, made from one that is there."""
        started = time.process_time()
        schema = schema_of((*self.settings.further_encodings, self.encoding))
        seen: Counter[str] = Counter()
        ids: list[str] = []
        check = CrossCheck()
        content, rows = part_content(self._batches(path, schema, seen, ids, check), schema)
        name = part_name(self.run, number, content)
        write_file(self.root, name, content)
        return PartInfo(
            name=name,
            size=len(content),
            rows=rows,
            chunks=seen["chunks"],
            doc_ids=(ids[0], ids[-1]),
            documents=DOCUMENTS_SCHEMA.empty_table(),
            findings=(),
            flagged=seen["flagged"],
            tokens=seen["tokens"],
            mismatch=check.mismatch,
            seconds={"count": time.process_time() - started},
        )

    def _batches(
        self, path: str, schema: pa.Schema, seen: Counter[str], ids: list[str], check: CrossCheck
    ) -> Iterator[pa.RecordBatch]:
        for records in _documents(records_in(path, role="all")):
            again = with_encoding(records, self.encoding, self.settings, self.engine).select(schema.names).cast(schema)
            chunks = again.filter(pc.equal(again.column("role"), "chunk"))
            seen["chunks"] += len(chunks)
            seen["flagged"] += len(chunks) - chunks.column("flag_cause").null_count
            seen["tokens"] += pc.sum(chunks.column("token_count")).as_py() or 0
            names = again.column("doc_id")
            ids += (names[0].as_py(), names[-1].as_py())
            for batch in again.combine_chunks().to_batches():
                check.look(batch, len(batch) / self.chunks)
                yield batch


def _documents(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same records, whole documents at a time, some megabytes of text together."""
    waiting: pa.Table | None = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        if waiting.column("text").nbytes < _BATCH_CHARACTERS:
            continue
        ids = waiting.column("doc_id").to_pylist()
        border = ids.index(ids[-1])  # the last document may go on
        if border:
            yield waiting.slice(0, border)
            waiting = waiting.slice(border)
    if waiting is not None and len(waiting):
        yield waiting


def _published(held: Held, ledger: Ledger, told: _Told, parts: list[PartInfo], trusted: Trusted) -> Run:
    counts = ledger.report()["counts"]
    number = ledger.run + 1
    old = [PartRange(path, *part.doc_ids) for path, part in zip(ledger.part_paths(), parts, strict=True)]
    new = [PartRange(place_of(ledger.root, part.name), *part.doc_ids) for part in parts]
    schema = schema_of(told.settings.further_encodings)
    # Every record has columns that it had not, which a store has to learn: all of them are updated.
    changes, changed_in = written_changes(ledger.root, number, _records(old), _records(new), schema)
    run = Run(
        number=number,
        documents=counts["documents"],
        ok=counts["ok"],
        skipped=counts["skipped"],
        failed=counts["failed"],
        kept=counts["kept"],
        unchanged=counts["ok"],
        renamed=0,
        chunks=sum(part.chunks for part in parts),
        changes=changes,
        flagged=sum(part.flagged for part in parts),
        tokens=sum(part.tokens for part in parts),
        seconds=told.seconds(),
        findings=(),
        notices=tuple(trusted.notices),
        engine=trusted.engine,
    )
    moved = {os.path.basename(each.path): part.name for each, part in zip(old, parts, strict=True)}
    table = ledger.documents()
    places = [moved.get(part, part) for part in table.column("part").to_pylist()]
    documents = documents_content(with_columns(table, {"part": places}))
    text = told.report(run, {"wall": run.seconds, "cpu_count": sum(part.seconds["count"] for part in parts)})
    files = RunFiles(number, documents_name(number, documents), run_name(number, text), changed_in)
    write_file(ledger.root, files.documents, documents)
    write_file(ledger.root, files.report, text)
    settle(ledger.root, ["", DOCUMENTS, CHANGES, RUNS])
    added = [NewPart(part.name, part.size, part.rows, part.doc_ids) for part in parts]
    held.check()
    entry = next_entry(ledger.table)
    commit(ledger.root, ledger.table, added, list(moved), files, schema)
    settle(ledger.root, [entry, "_delta_log", ""])
    return run


def _records(parts: Sequence[PartRange]) -> Iterator[pa.Table]:
    return in_document_order(parts, lambda path: records_in(path, role="all"))
