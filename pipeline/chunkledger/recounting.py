"""One more encoding for a ledger: its columns are added, nothing is cut anew, no id changes."""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.counting.counter import Engine
from chunkledger.engines.cross_check import CrossCheck
from chunkledger.engines.trusted import Trusted
from chunkledger.engines.units import PartInfo
from chunkledger.errors import LedgerError, SettingsError
from chunkledger.records.again import with_encoding
from chunkledger.records.schema import schema_of
from chunkledger.settings import ENCODINGS, Settings
from chunkledger.store.changes import ChangeCounts
from chunkledger.store.commit import NewPart, RunFiles, commit
from chunkledger.store.documents_table import DocumentState, documents_content
from chunkledger.store.layout import documents_name, part_name, run_name, write_file
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.parts import part_content, records_in
from chunkledger.store.run_report import Run, run_report

_BATCH_CHARACTERS = 8_000_000
"""Text of the documents that are counted at once."""


def recount(ledger: str | os.PathLike[str], encoding: str) -> Run:
    """Add the counts of another encoding to every record of a ledger, in a run of its own.

    Args:
        ledger: its folder.
        encoding: one of `ENCODINGS`; limits and flags stay in that of the ledger.

    Raises:
        SettingsError: no such encoding, or the ledger is counted in it already.
        LedgerError: there is no ledger, it can't be read or written, or another run was published meanwhile.
    """
    clock = time.monotonic()
    opened = open_ledger(ledger)
    before = opened.settings()
    if encoding not in ENCODINGS:
        raise SettingsError(f"encoding {encoding!r} is not known; valid are: {', '.join(ENCODINGS)}")
    if encoding in before.encodings:
        raise SettingsError(f"{opened.root} is counted in {encoding} already")
    try:
        trusted = Trusted(opened.root, [encoding])
        parts = trusted.parts(lambda engine: _parts(opened, encoding, before, engine))
        return _published(opened, encoding, parts, trusted, clock)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise LedgerError(f"{opened.root} can't be written: {error.strerror or error}{where}") from error


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

    def part(self, number: int, path: Path) -> PartInfo:
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
            documents=(),
            findings=(),
            flagged=seen["flagged"],
            tokens=seen["tokens"],
            mismatch=check.mismatch,
            seconds={"count": time.process_time() - started},
        )

    def _batches(
        self, path: Path, schema: pa.Schema, seen: Counter[str], ids: list[str], check: CrossCheck
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


def _published(ledger: Ledger, encoding: str, parts: list[PartInfo], trusted: Trusted, clock: float) -> Run:
    report = ledger.report()
    before = ledger.settings()
    settings = replace(before, further_encodings=(*before.further_encodings, encoding))
    counts = report["counts"]
    chunks = sum(part.chunks for part in parts)
    run = Run(
        number=ledger.run + 1,
        documents=counts["documents"],
        ok=counts["ok"],
        skipped=counts["skipped"],
        failed=counts["failed"],
        kept=counts["kept"],
        chunks=chunks,
        changes=ChangeCounts(add=0, keep=chunks, move=0, update=0, delete=0),
        flagged=sum(part.flagged for part in parts),
        tokens=sum(part.tokens for part in parts),
        seconds=time.monotonic() - clock,
        findings=(),
        notices=tuple(trusted.notices),
        engine=trusted.engine,
    )
    states = [DocumentState(**row) for row in ledger.documents().to_pylist()]
    documents = documents_content(states)
    text = run_report(
        run=run.number,
        sources=report["sources"],
        selection=report["selection"],
        settings=settings.as_dict(),
        versions=report["versions"] | {name: version(name) for name in ("tiktoken", "toktok-rs")},
        counts=run.counts(),
        findings=(),
        engine=run.engine,
        notices=run.notices,
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds={"wall": run.seconds, "cpu_count": sum(part.seconds["count"] for part in parts)},
    )
    files = RunFiles(run.number, documents_name(run.number, documents), run_name(run.number, text))
    write_file(ledger.root, files.documents, documents)
    write_file(ledger.root, files.report, text)
    added = [NewPart(part.name, part.size, part.rows, part.doc_ids) for part in parts]
    commit(ledger.root, ledger.table, added, files, schema_of(settings.further_encodings))
    return run
