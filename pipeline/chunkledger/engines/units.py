"""A unit of work: some documents -> one Parquet part. What every engine, local or distributed, calls unchanged."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from chunkledger.counting.counter import Engine
from chunkledger.documents.reading import Read, read
from chunkledger.documents.sources import Entry
from chunkledger.model import Document, Finding
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings
from chunkledger.store.documents_table import DocumentState
from chunkledger.store.layout import part_name, write_file
from chunkledger.store.parts import part_content

BATCH_BYTES = 8 * 1024 * 1024
"""Documents that are worked on at once; between 1 and 8 MB it made no difference to speed."""
_LEAST_UNIT_BYTES = 4 * 1024 * 1024
_MOST_UNIT_BYTES = 64 * 1024 * 1024
_UNITS = 8


@dataclass(frozen=True, slots=True)
class Unit:
    """Documents that become one part.

    Attributes:
        run: number of the run.
        number: of the unit in the run.
        entries: the files, by document id.
    """

    run: int
    number: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class PartInfo:
    """What a unit gave; small, so that it travels between processes while the records stay in the part.

    Attributes:
        name: of the part below the ledger's root; "" where the unit has no records.
        size: of the part in bytes.
        rows: records in it.
        doc_ids: first and last document id in it.
        documents: what was seen of each document.
        findings: what was passed over or repaired.
        flagged: records with at least one flag.
        tokens: sum of token counts.
        seconds: CPU time of reading, of splitting and counting, and of writing.
    """

    name: str
    size: int
    rows: int
    doc_ids: tuple[str, str]
    documents: tuple[DocumentState, ...]
    findings: tuple[Finding, ...]
    flagged: int
    tokens: int
    seconds: dict[str, float]


def planned_units(entries: Sequence[Entry], run: int) -> list[Unit]:
    """The units of a run. Their borders depend on the corpus alone, so that any number of workers gives equal parts."""
    total = sum(entry.size for entry in entries)
    most = min(_MOST_UNIT_BYTES, max(_LEAST_UNIT_BYTES, total // _UNITS))
    units: list[Unit] = []
    waiting: list[Entry] = []
    size = 0
    for entry in entries:
        if waiting and size + entry.size > most:
            units.append(Unit(run, len(units), tuple(waiting)))
            waiting, size = [], 0
        waiting.append(entry)
        size += entry.size
    if waiting:
        units.append(Unit(run, len(units), tuple(waiting)))
    return units


def run_unit(unit: Unit, settings: Settings, out: str, engine: Engine = "toktok") -> PartInfo:
    """Read the unit's documents, make their records, write one part below `out`.

    Args:
        unit: the documents.
        settings: what to make.
        out: root of the ledger.
        engine: whose tokenizer counts.
    """
    work = _Work(settings, engine)
    content, rows = part_content(work.record_batches(unit.entries))
    started = time.process_time()
    name = part_name(unit.run, unit.number, content) if rows else ""
    if rows:
        write_file(out, name, content)
    work.seconds["write"] += time.process_time() - started
    return PartInfo(
        name=name,
        size=len(content) if rows else 0,
        rows=rows,
        doc_ids=work.doc_ids,
        documents=tuple(work.documents),
        findings=tuple(work.findings),
        flagged=work.flagged,
        tokens=work.tokens,
        seconds=dict(work.seconds),
    )


class _Work:
    """What is gathered while a unit's documents pass."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self.settings = settings
        self.engine = engine
        self.documents: list[DocumentState] = []
        self.findings: list[Finding] = []
        self.doc_ids = ("", "")
        self.flagged = 0
        self.tokens = 0
        self.seconds = {"read": 0.0, "split": 0.0, "write": 0.0}

    def record_batches(self, entries: Iterable[Entry]) -> Iterator[pa.RecordBatch]:
        """The records of the entries, a batch of documents at a time."""
        for documents in self._batches(entries):
            started = time.process_time()
            batch = chunk_batch(documents, self.settings, engine=self.engine)
            self.seconds["split"] += time.process_time() - started
            if len(batch):
                self._note(batch)
                yield batch

    def _batches(self, entries: Iterable[Entry]) -> Iterator[list[Document]]:
        waiting: list[Document] = []
        size = 0
        for entry in entries:
            started = time.process_time()
            found = read(entry)
            self.seconds["read"] += time.process_time() - started
            self._see(entry, found)
            if found.document is None:
                continue
            if waiting and size + entry.size > BATCH_BYTES:
                yield waiting
                waiting, size = [], 0
            waiting.append(found.document)
            size += entry.size
        if waiting:
            yield waiting

    def _see(self, entry: Entry, found: Read) -> None:
        finding = found.finding
        status, reason = (finding.status, finding.reason) if finding else ("ok", "")
        self.documents.append(DocumentState(entry.doc_id, entry.size, entry.mtime_ns, found.sha256, status, reason))
        if finding:
            self.findings.append(finding)

    def _note(self, batch: pa.RecordBatch) -> None:
        ids = batch.column("doc_id")
        self.doc_ids = (self.doc_ids[0] or ids[0].as_py(), ids[-1].as_py())
        self.flagged += sum(batch.column("flag_cause").is_valid().to_pylist())
        self.tokens += sum(batch.column("token_count").to_pylist())
