"""A unit of work: some documents -> one Parquet part. What every engine, local or distributed, calls unchanged."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pyarrow as pa

from chunkledger.counting.counter import Engine
from chunkledger.documents.entries import Entries
from chunkledger.documents.reading import Read, documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Entry
from chunkledger.engines.collector import paused_collector
from chunkledger.engines.cross_check import CrossCheck
from chunkledger.engines.kept import kept_texts
from chunkledger.engines.memory import peak_bytes
from chunkledger.engines.placed import Placed
from chunkledger.errors import ChunkledgerError
from chunkledger.model import Finding, Status
from chunkledger.planning.placement import part_bytes
from chunkledger.records.chunk_batch import records_of
from chunkledger.records.recount import Mismatch
from chunkledger.records.schema import schema_of
from chunkledger.settings import Settings
from chunkledger.store.documents_table import DocumentState, documents_table
from chunkledger.store.files import write_file
from chunkledger.store.layout import part_name
from chunkledger.store.parts import part_content

BATCH_BYTES = 2 * 1024 * 1024
"""Documents that are worked on at once; between 1 and 8 MB it made no difference to speed."""
_LONGEST_REASON = 200

Work = Literal["read", "remade"]
"""What is done with documents: they are read from their sources; or they can't be, and their records are made again
from the texts of those of the last run."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Documents that become one part; a unit is equal to itself alone.

    Attributes:
        run: number of the run.
        number: of the unit in the run.
        entries: files by document id, rows in the order of their tables.
        longest: most bytes of a document.
        work: what is done with them.
        run_size: what all documents of the run weigh together; 0 for a run of this unit alone.
    """

    run: int
    number: int
    entries: Entries
    longest: int = MAX_DOCUMENT_BYTES
    work: Work = "read"
    run_size: int = 0

    @property
    def size(self) -> int:
        """What its documents weigh together, as `Entry.weight`."""
        return int(self.entries.weights.sum())

    def halves(self) -> tuple[Unit, Unit]:
        """The same work in two, for a unit of at least two documents."""
        middle = len(self.entries) // 2
        return replace(self, entries=self.entries[:middle]), replace(self, entries=self.entries[middle:])


@dataclass(frozen=True, slots=True)
class PartInfo:
    """What a unit gave; small, so that it travels between processes while the records stay in the part.

    Attributes:
        name: of the part below the ledger's root; "" where the unit has no records.
        size: of the part in bytes.
        rows: records in it.
        chunks: how many of them are chunks, and no parents.
        doc_ids: first and last document id in it.
        documents: what was seen of each document, a row each, as `DOCUMENTS_SCHEMA`.
        findings: what was passed over or repaired.
        flagged: chunks with at least one flag.
        tokens: sum of the chunks' token counts.
        mismatch: the first wrong count that the cross-check of some records found.
        seconds: CPU time of reading, of splitting and counting, of the cross-check, and of writing.
        peak_bytes: most memory that the process has had until then.
    """

    name: str
    size: int
    rows: int
    chunks: int
    doc_ids: tuple[str, str]
    documents: pa.Table
    findings: tuple[Finding, ...]
    flagged: int
    tokens: int
    mismatch: Mismatch | None
    seconds: dict[str, float]
    peak_bytes: int = 0


def first_mismatch(parts: Iterable[PartInfo]) -> Mismatch | None:
    """The first wrong count that was found while the parts were made; None where all were right."""
    return next((part.mismatch for part in parts if part.mismatch), None)


def planned_units(
    entries: Entries, run: int, longest: int = MAX_DOCUMENT_BYTES, *, first: int = 0, work: Work = "read"
) -> list[Unit]:
    """The units of a run. Their borders depend on the corpus alone, so that any number of workers gives equal parts.

    Args:
        entries: files by document id, rows in the order of their tables.
        run: its number.
        longest: most bytes of a document.
        first: number of the first unit.
        work: what is done with the documents.
    """
    weights = entries.weights.tolist()
    total = sum(weights)
    most = part_bytes(total)
    starts: list[int] = []
    size = 0
    for place, weight in enumerate(weights):
        if not starts or size + weight > most:
            starts.append(place)
            size = 0
        size += weight
    groups = [entries[start:end] for start, end in pairwise([*starts, len(entries)])]
    return [Unit(run, number, group, longest, work, total) for number, group in enumerate(groups, first)]


def run_unit(unit: Unit, settings: Settings, out: str, engine: Engine = "toktok") -> PartInfo:
    """Make the records of the unit's documents, write them as one part below `out`.

    Args:
        unit: the documents.
        settings: what to make.
        out: root of the ledger.
        engine: whose tokenizer counts.
    """
    with paused_collector():
        return _run_unit(unit, settings, out, engine)


def _run_unit(unit: Unit, settings: Settings, out: str, engine: Engine) -> PartInfo:
    started = time.process_time()
    gathered = _Gathered(settings, engine)
    if unit.work == "remade":
        texts = kept_texts(unit.entries, is_given=settings.chunks)
    else:
        texts = documents_of(unit.entries, settings, unit.longest)
    batches = gathered.record_batches(unit, texts)
    content, rows = part_content(batches, schema_of(settings.further_encodings))
    name = part_name(unit.run, unit.number, content) if rows else ""
    if rows:
        write_file(out, name, content)
    # Batches are made while they are written, so what writing took is what is left.
    seconds = gathered.seconds | {"check": gathered.check.seconds}
    seconds["write"] = time.process_time() - started - sum(seconds.values())
    return PartInfo(
        name=name,
        size=len(content) if rows else 0,
        rows=rows,
        chunks=gathered.chunks,
        doc_ids=gathered.doc_ids,
        documents=gathered.states(name),
        findings=tuple(sorted(gathered.findings, key=lambda finding: finding.doc_id)),
        flagged=gathered.flagged,
        tokens=gathered.tokens,
        mismatch=gathered.check.mismatch,
        seconds=seconds,
        peak_bytes=peak_bytes(),
    )


def lost_document(entry: Entry, reason: str) -> PartInfo:
    """What a unit gives whose only document can't be worked on."""
    return PartInfo(
        name="",
        size=0,
        rows=0,
        chunks=0,
        doc_ids=("", ""),
        documents=documents_table([state_of(entry, "", "failed", reason)]),
        findings=(Finding(entry.doc_id, "failed", reason, entry.row, entry.table),),
        flagged=0,
        tokens=0,
        mismatch=None,
        seconds={},
    )


def state_of(entry: Entry, sha256: str, status: Status, reason: str) -> DocumentState:
    """What is written down of a document that was to be read."""
    return DocumentState(
        entry.doc_id, entry.origin, entry.row, entry.size, entry.mtime_ns, entry.stamp, sha256, status, reason,
        entry.weight,
    )  # fmt: skip


class _Gathered:
    """What is gathered while a unit's documents pass."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self.settings = settings
        self.engine = engine
        self.documents: list[DocumentState] = []
        self.findings: list[Finding] = []
        self.placed = Placed()
        self.doc_ids = ("", "")
        self.chunks = 0
        self.flagged = 0
        self.tokens = 0
        self.check = CrossCheck()
        self.seconds = {"read": 0.0, "split": 0.0}

    def record_batches(self, unit: Unit, reads: Iterator[Read]) -> Iterator[pa.RecordBatch]:
        """The records of a unit in order of document id, a batch of documents at a time."""
        found = self._documents(reads)
        if any(entry.table for entry in unit.entries):
            # Rows are read where they lie together, and a part holds its documents in order.
            found = iter(sorted(found, key=lambda read: read.entry.doc_id))
        whole = unit.run_size or unit.size
        for documents in _batches(found):
            started = time.process_time()
            batches = list(self._records(documents))
            self.seconds["split"] += time.process_time() - started
            share = sum(read.entry.weight for read in documents) / max(1, whole)
            for batch in batches:
                if len(batch):
                    self._note(batch)
                    self.check.look(batch, share)
                    yield batch

    def _documents(self, reads: Iterator[Read]) -> Iterator[Read]:
        """What is to be split; what is not is noted."""
        while True:
            started = time.process_time()
            read = next(reads, None)
            self.seconds["read"] += time.process_time() - started
            if read is None:
                return
            if read.document is None:
                self._see(read)
            else:
                yield read

    def _records(self, reads: Sequence[Read]) -> Iterator[pa.RecordBatch]:
        """The records of some documents; one that can't be split is found by halving, and is a Finding."""
        documents = [read.document for read in reads if read.document is not None]
        try:
            made = records_of(documents, self.settings, self.engine)
        except BaseException as error:
            # A panic of a Rust library is no Exception. What ends the process on purpose is neither.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if len(reads) > 1:
                middle = len(reads) // 2
                yield from self._records(reads[:middle])
                yield from self._records(reads[middle:])
                return
            [read] = reads
            told = Finding(read.entry.doc_id, "failed", _reason(error), read.entry.row, read.entry.table)
            self._see(read._replace(finding=told))
        else:
            for read in reads:
                unused = made.unused.get(read.entry.doc_id)
                self._see(read.noting(unused) if unused else read)
            yield made.rows

    def _see(self, read: Read) -> None:
        finding = read.finding
        status, reason = (finding.status, finding.reason) if finding else ("ok", "")
        self.documents.append(state_of(read.entry, read.sha256, status, reason))
        if finding:
            self.findings.append(finding)

    def states(self, part: str) -> pa.Table:
        """What was seen of each document, and what it has in the part of this name."""
        self.documents.sort(key=lambda state: state.doc_id)
        return self.placed.in_part(documents_table(self.documents), part)

    def _note(self, batch: pa.RecordBatch) -> None:
        ids = batch.column("doc_id")
        self.doc_ids = (self.doc_ids[0] or ids[0].as_py(), ids[-1].as_py())
        chunks, flagged, tokens = self.placed.note(batch)
        self.chunks += chunks
        self.flagged += flagged
        self.tokens += tokens


def _batches(reads: Iterable[Read]) -> Iterator[list[Read]]:
    waiting: list[Read] = []
    size = 0
    for read in reads:
        if waiting and size + read.entry.weight > BATCH_BYTES:
            yield waiting
            waiting, size = [], 0
        waiting.append(read)
        size += read.entry.weight
    if waiting:
        yield waiting


def _reason(error: BaseException) -> str:
    """Why a document could not be split, with the place in our code where that is our fault."""
    if isinstance(error, ChunkledgerError):
        return str(error)
    if isinstance(error, MemoryError):
        return "could not be split: it needs more memory than there is"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "chunkledger" in frame.filename]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    said = str(error).partition("\n")[0][:_LONGEST_REASON]
    return (
        f"could not be split, which is a fault of chunkledger ({type(error).__name__}{place}: {said}); please report it"
    )
