"""One run: sources -> records -> one commit."""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from chunkledger import __version__
from chunkledger.counting.counter import Engine
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Listing, Selection, Source, source_of
from chunkledger.documents.tables import with_rows
from chunkledger.engines.kept import Kept, kept_documents, kept_entries
from chunkledger.engines.local import read_tables, run_units
from chunkledger.engines.trusted import Trusted
from chunkledger.engines.units import PartInfo, Unit, planned_units
from chunkledger.engines.workers import WorkerError
from chunkledger.errors import LedgerError, SourceError
from chunkledger.model import Finding
from chunkledger.records.schema import schema_of
from chunkledger.settings import Settings
from chunkledger.store.changes import ChangeCounts, change_counts
from chunkledger.store.commit import NewPart, RunFiles, commit, last_run, opened
from chunkledger.store.documents_table import DocumentState, documents_content
from chunkledger.store.layout import documents_name, run_name, write_file
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import records_in
from chunkledger.store.run_report import Run, run_report

_VERSIONED = ("tiktoken", "toktok-rs", "pyromark", "sentencex", "regex", "pyyaml", "deltalake", "pyarrow")

Progress = Callable[[int, int], None]
"""Called with documents done and documents in all."""


def ingest(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    selection: Selection | None = None,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Run:
    """Split every document of the sources and publish their records as the ledger's new content, in one commit.

    Args:
        sources: folders, files, globs, or `NAME=` before one of them to prefix document ids with a name; one of
            them, or several.
        out: folder of the ledger; made where there is none.
        settings: what to make; the defaults where None.
        selection: which files are wanted; all where None. Its format is that of the settings.
        jobs: most processes at once; they are isolated, so that no document can end the run. 0 works in this
            process, and is for scripts that have no `if __name__ == "__main__":`.
        progress: told how far the run is.

    Raises:
        SourceError: a source does not exist, or two documents have the same id.
        LedgerError: the ledger can't be written, or another run was published meanwhile. Nothing is published.
    """
    made = _with_further_encodings_of(os.fspath(out), settings or Settings())
    wanted = replace(selection or Selection(), format=made.format)
    root = os.fspath(out)
    work = _Run(root, made, wanted, Trusted(root, made.encodings), jobs, progress or _no_progress)
    # A string is a sequence of strings too, and would be read letter by letter.
    several = [sources] if isinstance(sources, str | os.PathLike) else sources
    chosen = [source_of(os.fspath(source)) for source in several]
    if not chosen:
        raise SourceError("no source given")
    for source in chosen:
        if os.path.realpath(source.path) == os.path.realpath(work.root):
            raise SourceError(f"the ledger can't be the source itself ({source.path}); give another folder to write to")
    return work.done(chosen, listed(chosen, wanted, work.root))


def _with_further_encodings_of(root: str, settings: Settings) -> Settings:
    """The settings, and the further encodings that the ledger is counted in: once asked for, they stay.

    That of the limits does not: whoever names another one wants the ledger that a fresh run makes.
    """
    if opened(root) is None:
        return settings
    before = open_ledger(root).settings().further_encodings
    more = tuple(name for name in before if name not in settings.encodings)
    return replace(settings, further_encodings=(*settings.further_encodings, *more)) if more else settings


def _no_progress(done: int, total: int) -> None:
    """Nobody is told."""


@dataclass(slots=True)
class _Run:
    """The steps of one run, and what they need to tell each other."""

    root: str
    settings: Settings
    selection: Selection
    trusted: Trusted
    jobs: int
    progress: Progress
    notices: list[str] = field(default_factory=list)

    def done(self, sources: Sequence[Source], listing: Listing) -> Run:
        """Do all of it."""
        started, clock = datetime.datetime.now(datetime.UTC), time.monotonic()
        table = opened(self.root)
        before = open_ledger(self.root) if table else None
        number = last_run(table) + 1
        longest = self.selection.max_document_bytes
        try:
            os.makedirs(self.root, exist_ok=True)
            with_rows(listing, read_tables(listing.tables, self.settings, self.selection, self.jobs))
            if self.selection.include and not (listing.entries or listing.tables or listing.findings):
                self.notices.append(f"no file is included by {', '.join(self.selection.include)}")
            units = planned_units(listing.entries, number, longest)
            parts = self.trusted.parts(partial(self._worked, units))
            kept = Kept(frozenset(), ())
            if before:
                kept, more = self._kept(before, listing, parts, number, len(units))
                parts += more
            changes = self._changes(before, parts)
            if changes.delete and not any(part.rows for part in parts):
                self.notices.append(
                    f"the sources hold no document now, so all {changes.delete:,} chunks are gone from the ledger; "
                    "is a folder not mounted?"
                )
            run = self._summary(number, listing, parts, kept, changes, time.monotonic() - clock)
            files = self._files(run, sources, listing, parts, kept, started)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise LedgerError(f"{self.root} can't be written: {error.strerror or error}{where}") from error
        except WorkerError as error:
            raise LedgerError(str(error)) from error
        commit(
            self.root,
            table,
            [NewPart(part.name, part.size, part.rows, part.doc_ids) for part in parts if part.rows],
            files,
            schema_of(self.settings.further_encodings),
        )
        return run

    def _worked(self, units: Sequence[Unit], engine: Engine) -> list[PartInfo]:
        total, done = sum(len(unit.entries) for unit in units), 0
        found: list[tuple[int, str, PartInfo]] = []
        for unit, part in run_units(units, self.settings, self.root, engine, self.jobs):
            found.append((unit.number, unit.entries[0].doc_id, part))
            done += len(unit.entries)
            self.progress(done, total)
        return [part for _, _, part in sorted(found, key=lambda made: made[:2])]

    def _kept(
        self, before: Ledger, listing: Listing, parts: Sequence[PartInfo], run: int, first: int
    ) -> tuple[Kept, list[PartInfo]]:
        """Which documents of the last run stay though they could not be read now, and their parts.

        Args:
            before: as the last run left it.
            listing: what is in the sources.
            parts: what was made of it.
            run: its number.
            first: number of the next unit.
        """
        seen = {finding.doc_id: str(finding.status) for finding in listing.findings}
        seen |= {state.doc_id: state.status for part in parts for state in part.documents}
        kept = kept_documents(before, seen, listing.unseen, self.selection)
        entries = kept_entries(before, kept, self.settings) if kept.doc_ids else []
        same = before.report()["settings"] == self.settings.as_dict()
        units = planned_units(entries, run, first=first, work="copied" if same else "remade")
        found = self.trusted.parts(partial(self._worked, units))
        lost = {
            finding.doc_id: f"its chunks of the last run could not be made again, and are gone: {finding.reason}"
            for part in found
            for finding in part.findings
            if finding.status == "failed"
        }
        # What is known of these documents is what this run found, and not that their old text can be split.
        told = [replace(part, documents=(), findings=()) for part in found]
        if lost:
            findings = tuple(Finding(doc_id, "failed", reason) for doc_id, reason in lost.items())
            told[0] = replace(told[0], findings=findings)
        return kept.without(lost), told

    def _changes(self, before: Ledger | None, parts: Sequence[PartInfo]) -> ChangeCounts:
        if before is None:
            return ChangeCounts(add=sum(part.chunks for part in parts), keep=0, move=0, update=0, delete=0)
        ranges = [PartRange(Path(self.root, part.name), *part.doc_ids) for part in parts if part.rows]
        return change_counts(before.iter_tables(), in_document_order(ranges, records_in))

    def _summary(
        self,
        number: int,
        listing: Listing,
        parts: Sequence[PartInfo],
        kept: Kept,
        changes: ChangeCounts,
        seconds: float,
    ) -> Run:
        findings = [*listing.findings, *(finding for part in parts for finding in part.findings)]
        findings.sort(key=lambda finding: (finding.doc_id, finding.row, finding.reason))
        states = Counter(state.status for part in parts for state in part.documents)
        states.update(finding.status for finding in listing.findings)
        return Run(
            number=number,
            documents=states.total(),
            ok=states["ok"],
            skipped=states["skipped"],
            failed=states["failed"],
            kept=len(kept.doc_ids),
            chunks=sum(part.chunks for part in parts),
            changes=changes,
            flagged=sum(part.flagged for part in parts),
            tokens=sum(part.tokens for part in parts),
            seconds=seconds,
            findings=tuple(findings),
            notices=(*self.trusted.notices, *self.notices),
            engine=self.trusted.engine,
        )

    def _files(
        self,
        run: Run,
        sources: Sequence[Source],
        listing: Listing,
        parts: Sequence[PartInfo],
        kept: Kept,
        started: datetime.datetime,
    ) -> RunFiles:
        """Write the table of documents and the run's report."""
        states = [state for part in parts for state in part.documents]
        states += [
            DocumentState(found.doc_id, found.table or found.doc_id, found.row, 0, 0, "", found.status, found.reason)
            for found in listing.findings
        ]
        states += kept.states
        documents = documents_content(states)
        report = run_report(
            run=run.number,
            sources=[
                {"name": source.name, "path": os.fspath(source.path), "pattern": source.pattern} for source in sources
            ],
            selection=asdict(self.selection),
            settings=self.settings.as_dict(),
            versions={"chunkledger": __version__, **{name: version(name) for name in _VERSIONED}},
            counts=run.counts(),
            findings=run.findings,
            engine=run.engine,
            notices=run.notices,
            started=started.isoformat(timespec="seconds"),
            seconds=_seconds(run, parts),
        )
        names = RunFiles(run.number, documents_name(run.number, documents), run_name(run.number, report))
        write_file(self.root, names.documents, documents)
        write_file(self.root, names.report, report)
        return names


def _seconds(run: Run, parts: Sequence[PartInfo]) -> Mapping[str, float]:
    stations: Counter[str] = Counter()
    for part in parts:
        stations.update(part.seconds)
    return {"wall": run.seconds, **{f"cpu_{name}": value for name, value in stations.items()}}
