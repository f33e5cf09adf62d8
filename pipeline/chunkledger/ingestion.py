"""One run: sources -> records -> one commit."""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from importlib.metadata import version

import pyarrow as pa
import pyarrow.parquet as pq

from chunkledger import __version__
from chunkledger.counting.counter import Engine
from chunkledger.counting.self_test import disagreements
from chunkledger.documents.sources import Listing, Selection, Source, listed, source_of
from chunkledger.engines.local import run_units
from chunkledger.engines.units import PartInfo, Unit, planned_units
from chunkledger.errors import LedgerError, SourceError
from chunkledger.model import Finding
from chunkledger.records.recount import Mismatch, count_mismatches
from chunkledger.settings import Settings
from chunkledger.store.changes import ChangeCounts, change_counts
from chunkledger.store.commit import NewPart, RunFiles, commit, last_run, opened
from chunkledger.store.documents_table import DocumentState, documents_content
from chunkledger.store.layout import documents_name, run_name, write_file
from chunkledger.store.ledger import open_ledger
from chunkledger.store.run_report import run_report

CROSS_CHECK_ROWS = 64
"""Records of a run that are recounted with tiktoken before it is published, spread evenly over its parts."""
_VERSIONED = ("tiktoken", "toktok-rs", "pyromark", "sentencex", "regex", "pyyaml", "deltalake", "pyarrow")

Progress = Callable[[int, int], None]
"""Called with documents done and documents in all."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    Attributes:
        number: of the run in its ledger, from 1.
        documents: files met, ok + skipped + failed.
        ok: documents that are in the ledger now.
        skipped: files that are no documents.
        failed: documents that could not be taken.
        chunks: records in the ledger now.
        changes: what became of chunks since the last run.
        flagged: chunks with at least one flag.
        tokens: sum of their token counts.
        seconds: wall time.
        findings: what was passed over or repaired, and why.
        notices: what the operator should know about the run itself.
        engine: whose tokenizer counted.
    """

    number: int
    documents: int
    ok: int
    skipped: int
    failed: int
    chunks: int
    changes: ChangeCounts
    flagged: int
    tokens: int
    seconds: float
    findings: tuple[Finding, ...]
    notices: tuple[str, ...] = ()
    engine: Engine = "toktok"

    @property
    def exit_code(self) -> int:
        """3 where a document failed, else 0."""
        return 3 if self.failed else 0

    def done_line(self) -> str:
        """The one line that every run ends with."""
        change = self.changes
        return (
            f"DONE run={self.number} documents={self.documents} ok={self.ok} skipped={self.skipped} "
            f"failed={self.failed} chunks={self.chunks} add={change.add} keep={change.keep} move={change.move} "
            f"update={change.update} delete={change.delete} flagged={self.flagged} seconds={self.seconds:.1f}"
        )


def ingest(
    sources: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    selection: Selection | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Split every document of the sources and publish their records as the ledger's new content, in one commit.

    Args:
        sources: folders and files, or `NAME=PATH` to prefix document ids with a name.
        out: folder of the ledger; made where there is none.
        settings: what to make; the defaults where None.
        selection: which files are wanted; all where None. Its format is that of the settings.
        jobs: most processes at once; the number of cores where None.
        progress: told how far the run is.

    Raises:
        SourceError: a source does not exist, or two documents have the same id.
        LedgerError: the ledger can't be written, or another run was published meanwhile. Nothing is published.
    """
    work = _Run(os.fspath(out), settings or Settings(), jobs or os.cpu_count() or 1, progress or _no_progress)
    chosen = [source_of(os.fspath(source)) for source in sources]
    if not chosen:
        raise SourceError("no source given")
    for source in chosen:
        if os.path.realpath(source.path) == os.path.realpath(work.root):
            raise SourceError(f"the ledger can't be the source itself ({source.path}); give another folder to write to")
    return work.done(chosen, listed(chosen, replace(selection or Selection(), format=work.settings.format)))


def _no_progress(done: int, total: int) -> None:
    """Nobody is told."""


@dataclass(slots=True)
class _Run:
    """The steps of one run, and what they need to tell each other."""

    root: str
    settings: Settings
    jobs: int
    progress: Progress
    engine: Engine = "toktok"
    notices: list[str] = field(default_factory=list)

    def done(self, sources: Sequence[Source], listing: Listing) -> Run:
        """Do all of it."""
        started, clock = datetime.datetime.now(datetime.UTC), time.monotonic()
        table = opened(self.root)
        number = last_run(table) + 1
        try:
            os.makedirs(self.root, exist_ok=True)
            parts = self._parts(planned_units(listing.entries, number))
            changes = self._changes(parts, empty=table is None)
            if changes.delete and not any(part.rows for part in parts):
                self.notices.append(
                    f"the sources hold no document now, so all {changes.delete:,} chunks are gone from the ledger; "
                    "is a folder not mounted?"
                )
            run = self._summary(number, listing, parts, changes, time.monotonic() - clock)
            files = self._files(run, sources, listing, parts, started)
        except OSError as error:
            raise LedgerError(f"{self.root} can't be written: {error.strerror} ({error.filename})") from error
        except BrokenProcessPool as error:
            raise LedgerError("a worker process was killed, as by lack of memory; try fewer --jobs") from error
        commit(
            self.root,
            table,
            [NewPart(part.name, part.size, part.rows, part.doc_ids) for part in parts if part.rows],
            files,
        )
        return run

    def _parts(self, units: Sequence[Unit]) -> list[PartInfo]:
        """Every unit's part, counted by a tokenizer that was found to agree with tiktoken."""
        wrong = disagreements(self.settings.encoding)
        if wrong:
            self._fall_back(f"the self-test found {len(wrong)} wrong counts, the first: {wrong[0]}")
        parts = self._worked(units)
        mismatch = self._cross_check(parts)
        if mismatch and self.engine == "toktok":
            self._fall_back(f"the cross-check found {mismatch}")
            self._remove(parts)
            parts = self._worked(units)
            mismatch = self._cross_check(parts)
        if mismatch:
            self._remove(parts)
            raise LedgerError(
                f"a count is wrong though tiktoken counted, so chunkledger itself is at fault: {mismatch}"
            )
        return parts

    def _worked(self, units: Sequence[Unit]) -> list[PartInfo]:
        total, done = sum(len(unit.entries) for unit in units), 0
        found: dict[int, PartInfo] = {}
        for unit, part in run_units(units, self.settings, self.root, self.engine, self.jobs):
            found[unit.number] = part
            done += len(unit.entries)
            self.progress(done, total)
        return [found[unit.number] for unit in units]

    def _fall_back(self, why: str) -> None:
        self.engine = "tiktoken"
        self.notices.append(f"toktok disagrees with tiktoken, so this run counts with tiktoken alone: {why}")

    def _cross_check(self, parts: Sequence[PartInfo]) -> Mismatch | None:
        """The first wrong count among some records of each part, as they were written."""
        written = [part for part in parts if part.rows]
        for part in written:
            table = pq.ParquetFile(os.path.join(self.root, part.name)).read()
            share = max(1, CROSS_CHECK_ROWS // len(written))
            step = max(1, len(table) // share)
            rows = table.take(list(range(0, len(table), step))[:share]).to_pylist()
            for mismatch in count_mismatches(rows, {}):
                return mismatch
        return None

    def _remove(self, parts: Sequence[PartInfo]) -> None:
        for part in parts:
            if part.name:
                os.unlink(os.path.join(self.root, part.name))

    def _changes(self, parts: Sequence[PartInfo], *, empty: bool) -> ChangeCounts:
        rows = sum(part.rows for part in parts)
        if empty:
            return ChangeCounts(add=rows, keep=0, move=0, update=0, delete=0)
        before = open_ledger(self.root).chunks()
        tables = [pq.ParquetFile(os.path.join(self.root, part.name)).read() for part in parts if part.rows]
        after = pa.concat_tables(tables) if tables else before.schema.empty_table()
        return change_counts(before, after)

    def _summary(
        self, number: int, listing: Listing, parts: Sequence[PartInfo], changes: ChangeCounts, seconds: float
    ) -> Run:
        findings = [*listing.findings, *(finding for part in parts for finding in part.findings)]
        findings.sort(key=lambda finding: (finding.doc_id, finding.reason))
        states = Counter(state.status for part in parts for state in part.documents)
        states.update(finding.status for finding in listing.findings)
        return Run(
            number=number,
            documents=states.total(),
            ok=states["ok"],
            skipped=states["skipped"],
            failed=states["failed"],
            chunks=sum(part.rows for part in parts),
            changes=changes,
            flagged=sum(part.flagged for part in parts),
            tokens=sum(part.tokens for part in parts),
            seconds=seconds,
            findings=tuple(findings),
            notices=tuple(self.notices),
            engine=self.engine,
        )

    def _files(
        self,
        run: Run,
        sources: Sequence[Source],
        listing: Listing,
        parts: Sequence[PartInfo],
        started: datetime.datetime,
    ) -> RunFiles:
        """Write the table of documents and the run's report."""
        states = [state for part in parts for state in part.documents]
        states += [DocumentState(found.doc_id, 0, 0, "", found.status, found.reason) for found in listing.findings]
        documents = documents_content(states)
        report = run_report(
            run=run.number,
            sources=[{"name": source.name, "path": os.fspath(source.path)} for source in sources],
            settings=self.settings.as_dict(),
            versions={"chunkledger": __version__, **{name: version(name) for name in _VERSIONED}},
            counts=_counts(run),
            findings=run.findings,
            engine=self.engine,
            notices=self.notices,
            started=started.isoformat(timespec="seconds"),
            seconds=_seconds(run, parts),
        )
        names = RunFiles(run.number, documents_name(run.number, documents), run_name(run.number, report))
        write_file(self.root, names.documents, documents)
        write_file(self.root, names.report, report)
        return names


def _counts(run: Run) -> dict[str, int]:
    change = run.changes
    return {
        "documents": run.documents,
        "ok": run.ok,
        "skipped": run.skipped,
        "failed": run.failed,
        "chunks": run.chunks,
        "add": change.add,
        "keep": change.keep,
        "move": change.move,
        "update": change.update,
        "delete": change.delete,
        "flagged": run.flagged,
        "tokens": run.tokens,
    }


def _seconds(run: Run, parts: Sequence[PartInfo]) -> Mapping[str, float]:
    stations: Counter[str] = Counter()
    for part in parts:
        stations.update(part.seconds)
    return {"wall": run.seconds, **{f"cpu_{name}": value for name, value in stations.items()}}
