"""What there is to do -> the parts of the run, and what became of every document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.counting.counter import Engine
from chunkledger.documents.entries import Entries
from chunkledger.documents.formats import format_of, given_format_of
from chunkledger.documents.sources import Entry, Selection
from chunkledger.engines.local import Pool, hashes_of, run_merges, run_units
from chunkledger.engines.trusted import Trusted
from chunkledger.engines.units import PartInfo, Unit, planned_units
from chunkledger.model import Finding
from chunkledger.planning import states
from chunkledger.planning.guard import check_deletes
from chunkledger.planning.matching import carried_findings
from chunkledger.planning.placement import merges
from chunkledger.planning.remaining import Remaining, remaining, renamed
from chunkledger.records.schema import schema_of
from chunkledger.runs.looking import Looked
from chunkledger.settings import Settings
from chunkledger.store.commit import NewPart
from chunkledger.store.documents_table import in_ledger
from chunkledger.store.files import place_of


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is.

    Attributes:
        documents: done, of `all_documents` that have to be read.
        all_documents: how many that are.
        size: bytes of those that are done, of `all_bytes`.
        all_bytes: of all.
        chunks: made of them.
    """

    documents: int
    all_documents: int
    size: int
    all_bytes: int
    chunks: int


Progress = Callable[[Step], None]


@dataclass(slots=True)
class Made:
    """What the run has made, and not yet published.

    Attributes:
        documents: the table of documents of the run.
        parts: what was made of documents that were read, or made again; some of these may not stay as files.
        added: parts that the ledger is to have in addition.
        removed: names of parts that it is no longer to have.
        findings: what was passed over, repaired, or lost.
        gone: ids of documents that were in the ledger and are no longer.
        renamed: new document id -> that of one that is gone and held the same.
        stayed: ids of documents whose records were taken over as they were.
        carried: how many chunks those have.
        seconds: CPU time by station.
        peak_bytes: most memory of a worker.
    """

    documents: pa.Table
    parts: list[PartInfo]
    added: list[NewPart]
    removed: list[str]
    findings: list[Finding]
    gone: tuple[str, ...]
    renamed: dict[str, str]
    stayed: pa.Array
    carried: int
    seconds: dict[str, float] = field(default_factory=dict)
    peak_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Maker:
    """What making needs to know.

    Attributes:
        root: of the ledger.
        run: number of the run.
        settings: what to make.
        selection: which documents are wanted.
        workers: who does it.
        trusted: what to count with.
        progress: told how far it is.
        max_delete: share of documents that may be deleted.
    """

    root: str
    run: int
    settings: Settings
    selection: Selection
    workers: Pool
    trusted: Trusted
    progress: Progress
    max_delete: float

    def made(self, looked: Looked) -> Made:
        """Make everything that there is to do.

        Raises:
            LedgerError: more would be deleted than may, or a part can't be read or written.
            OSError: a part can't be written.
            WorkerError: worker processes can't be started.
        """
        in_all = len(looked.ledger)
        hashes = partial(
            hashes_of, settings=self.settings, longest=self.selection.max_document_bytes, workers=self.workers
        )
        check_deletes(looked.lost(self.max_delete, hashes), in_all, self.max_delete, looked.emptied)
        units = planned_units(looked.to_read, self.run, self.selection.max_document_bytes)
        stays = states.carried(looked.listing.entries, looked.matches, looked.known)
        # There are very many of them, and nobody asks for one again.
        looked.listing.entries = Entries()
        parts = self.trusted.parts(lambda engine: self._worked(units, engine)) if units else []
        seen = pa.concat_tables([part.documents for part in parts]) if parts else looked.known.slice(0, 0)
        rest = self._rest(looked, stays, seen) if parts else looked.remaining
        is_new = pc.equal(seen.column("status"), "ok")
        new = seen.filter(is_new)
        new = new.filter(pc.invert(pc.is_in(new.column("doc_id"), looked.ledger.column("doc_id"))))
        gone = looked.ledger.filter(pc.is_in(looked.ledger.column("doc_id"), pa.array(rest.gone, pa.string())))
        renames = renamed(gone, new) if len(gone) and len(new) else {}
        lost = sorted(set(rest.gone) - set(renames.values()))
        check_deletes(lost, in_all, self.max_delete, seen.column("doc_id").to_pylist() if lost else ())
        found = [*looked.listing.findings, *carried_findings(stays)]
        found += [finding for part in parts for finding in part.findings]
        unseen = states.unseen(looked.ledger, rest.unseen)
        if looked.anew:
            unseen = states.without_records(unseen)
        table = pa.concat_tables([stays, seen, states.found(looked.listing.findings), unseen])
        made = Made(table, parts, [], [], found, rest.gone, renames, pa.array([], pa.string()), 0)
        if looked.anew:
            self._make_again(made, looked, rest, len(units))
        else:
            made.documents = states.keeping(table, looked.ledger, rest.failed)
            stayed = _outside(made.documents.select(["doc_id", "part", "chunks"]), {part.name for part in parts})
            made.stayed = stayed.column("doc_id").combine_chunks()
            made.carried = int(pc.sum(stayed.column("chunks")).as_py() or 0)
        for part in parts:
            for name, value in part.seconds.items():
                made.seconds[name] = made.seconds.get(name, 0.0) + value
            made.peak_bytes = max(made.peak_bytes, part.peak_bytes)
        self._place(made, looked, len(units))
        made.findings.sort(key=lambda finding: (finding.doc_id, finding.row, finding.reason))
        return made

    def _worked(self, units: Sequence[Unit], engine: Engine) -> list[PartInfo]:
        documents, size = sum(len(unit.entries) for unit in units), sum(unit.size for unit in units)
        done = Step(0, documents, 0, size, 0)
        self.progress(done)
        found: list[tuple[int, str, PartInfo]] = []
        # Closed at once where the run is interrupted: no worker may write what nobody waits for.
        with closing(run_units(units, self.settings, self.root, engine, self.workers)) as outcomes:
            for unit, part in outcomes:
                found.append((unit.number, unit.entries.doc_ids[0], part))
                done = replace(
                    done,
                    documents=done.documents + len(unit.entries),
                    size=done.size + unit.size,
                    chunks=done.chunks + part.chunks,
                )
                self.progress(done)
        return [part for _, _, part in sorted(found, key=lambda made: made[:2])]

    def _rest(self, looked: Looked, stays: pa.Table, seen: pa.Table) -> Remaining:
        """What becomes of documents that were neither made nor unchanged."""
        is_ok = pc.equal(seen.column("status"), "ok")
        well = pa.concat_arrays(
            [
                stays.filter(pc.not_equal(stays.column("part"), "")).column("doc_id").combine_chunks(),
                seen.filter(is_ok).column("doc_id").combine_chunks(),
            ]
        )
        others = seen.filter(pc.invert(is_ok)).select(["doc_id", "status"])
        statuses = {finding.doc_id: str(finding.status) for finding in looked.listing.findings}
        statuses |= dict(zip(*(others.column(name).to_pylist() for name in ("doc_id", "status")), strict=True))
        return remaining(looked.ledger, well, statuses, looked.listing.unseen, self.selection)

    def _make_again(self, made: Made, looked: Looked, rest: Remaining, first: int) -> None:
        """Make documents again that can't be read now, of the texts that the last run has of them.

        What is known of them is what this run found, and not that their old text can be split.
        """
        kept = [*rest.failed, *rest.unseen]
        rows = looked.ledger.filter(pc.is_in(looked.ledger.column("doc_id"), pa.array(kept, pa.string())))
        rows = rows.take(pc.sort_indices(rows, [("doc_id", "ascending")]))
        how = given_format_of if self.settings.chunks else format_of
        entries = Entries(
            Entry(doc_id, place_of(self.root, part), weight, 0, "", how(doc_id, self.settings.format))
            for doc_id, part, weight in zip(
                *(rows.column(name).to_pylist() for name in ("doc_id", "part", "weight")), strict=True
            )
        )
        units = planned_units(entries, self.run, first=first, work="remade")
        parts = self.trusted.parts(lambda engine: self._worked(units, engine)) if units else []
        lost = {
            finding.doc_id: f"its chunks of the last run could not be made again, and are gone: {finding.reason}"
            for part in parts
            for finding in part.findings
            if finding.status == "failed"
        }
        made.findings += [Finding(doc_id, "failed", reason) for doc_id, reason in lost.items()]
        made.gone = tuple(sorted([*made.gone, *lost]))
        made.parts += parts
        again = pa.concat_tables([part.documents for part in parts]) if parts else looked.known.slice(0, 0)
        again = again.filter(pc.not_equal(again.column("part"), ""))
        made.documents = states.keeping(made.documents, again, set(kept) - set(lost))
        made.documents = states.lost(made.documents, lost)

    def _place(self, made: Made, looked: Looked, first: int) -> None:
        """Bring every document's records into a part of its range, and tell which parts come and go."""
        if not made.parts and not made.gone:
            return  # nothing has changed, and there may be very many documents to go through
        before = Counter(looked.ledger.column("part").to_pylist())
        of_run = {part.name: part for part in made.parts if part.rows}
        if before and not looked.anew:
            documents = states.by_id(made.documents)
            planned = merges(documents, before, first)
            done = run_merges(planned, self.run, self.root, schema_of(self.settings.further_encodings), self.workers)
            ids = documents.column("doc_id")
            places: dict[str, str] = {}
            for merge, merged in zip(planned, done, strict=True):
                places |= dict.fromkeys(ids.take(pa.array(merge.rows)).to_pylist(), merged.part.name)
                made.added.append(merged.part)
                made.seconds["merge"] = made.seconds.get("merge", 0.0) + merged.seconds
                made.peak_bytes = max(made.peak_bytes, merged.peak_bytes)
            made.documents = states.placed_anew(made.documents, places)
        now = set(pc.unique(made.documents.column("part")).to_pylist())
        made.added += [
            NewPart(part.name, part.size, part.rows, part.doc_ids) for name, part in of_run.items() if name in now
        ]
        made.removed += [name for name in before if name not in now]


def _outside(documents: pa.Table, parts: set[str]) -> pa.Table:
    """The documents whose records are in other parts than these."""
    placed = in_ledger(documents)
    return placed.filter(pc.invert(pc.is_in(placed.column("part"), pa.array(parts, pa.string()))))


def unused(made: Made) -> list[str]:
    """Parts that were written on the way and are in no commit."""
    added = {part.name for part in made.added}
    return [part.name for part in made.parts if part.rows and part.name not in added]
