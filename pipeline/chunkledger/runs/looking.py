"""Sources and what the last run knows of them -> what there is to do; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.entries import Entries, Listing
from chunkledger.documents.listing import listed
from chunkledger.documents.originals import as_chunks
from chunkledger.documents.sources import Selection, Source
from chunkledger.documents.tables import with_rows
from chunkledger.engines.collector import paused_collector
from chunkledger.engines.local import Pool, hashes_of, read_tables
from chunkledger.planning.anew import reasons_to_split_anew
from chunkledger.planning.guard import exceeds
from chunkledger.planning.matching import Matched, by_hash, known_rows, matched
from chunkledger.planning.remaining import Remaining, remaining
from chunkledger.settings import Settings
from chunkledger.store.documents_table import DOCUMENTS_SCHEMA, in_ledger
from chunkledger.store.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Looked:
    """What there is to do.

    Attributes:
        listing: what is in the sources, rows of tables too.
        known: the table of documents of the last run; empty where there was none.
        ledger: its rows of documents that are in the ledger.
        anew: why all documents are split anew; "" where unchanged ones are not.
        matches: which of the entries are unchanged, and which must be read.
        hashed: how many documents had to be read to tell whether they are the same.
        remaining: what becomes of documents that are in the ledger and are no entries now.
        notices: what the operator should know.
    """

    listing: Listing
    known: pa.Table
    ledger: pa.Table
    anew: str
    matches: Matched
    hashed: int
    remaining: Remaining
    notices: list[str] = field(default_factory=list)

    @property
    def to_read(self) -> Entries:
        """The documents that must be read, in the order of the listing."""
        return self.listing.entries.take(self.matches.other)

    @property
    def emptied(self) -> list[str]:
        """Ids of documents that are in the ledger and hold not one byte now, so that they will be deleted."""
        entries, other = self.listing.entries, self.matches.other
        empty = [entries.doc_ids[place] for place in other[entries.sizes[other] == 0].tolist()]
        there = pc.is_in(pa.array(empty, pa.string()), self.ledger.column("doc_id")).to_pylist()
        return [doc_id for doc_id, is_there in zip(empty, there, strict=True) if is_there]

    def lost(self, most: float, hashes: Callable[[Entries], Sequence[str]]) -> list[str]:
        """Ids of documents that would be deleted, as far as that can be told before anything is split.

        Where they are more than may be, new documents of their sizes are read to tell which were only renamed.

        Args:
            most: share of documents that may be deleted.
            hashes: of entries.
        """
        every = [*self.remaining.gone, *self.emptied]
        if not exceeds(len(every), len(self.ledger), most):
            return every
        gone = pa.array(every, pa.string())
        rows = self.ledger.filter(pc.is_in(self.ledger.column("doc_id"), gone))
        sizes = set(rows.column("size").to_pylist())
        there = set(self.ledger.column("doc_id").to_pylist())
        places = [
            place
            for place, entry in enumerate(self.to_read)
            if entry.doc_id not in there and (entry.table or entry.size in sizes)
        ]
        waiting = Counter(hashes(self.to_read.take(np.array(places, np.int64))))
        left: list[str] = []
        for doc_id, sha256 in zip(*(rows.column(name).to_pylist() for name in ("doc_id", "sha256")), strict=True):
            if waiting[sha256] > 0:
                waiting[sha256] -= 1
            else:
                left.append(doc_id)
        return left


def look(
    sources: Sequence[Source],
    root: str,
    before: Ledger | None,
    settings: Settings,
    selection: Selection,
    workers: Pool,
    *,
    rehash: bool = False,
) -> Looked:
    """Find out what there is to do.

    Args:
        sources: where to look.
        root: of the ledger, which is passed over.
        before: as the last run left it.
        settings: of this run.
        selection: which documents are wanted.
        workers: who reads tables, and rows that may have changed.
        rehash: read every document to tell whether it is the same, whatever its stamp says.

    Raises:
        SourceError: a source can't be listed, or two documents have the same id.
        LedgerError: the ledger can't be read.
        WorkerError: worker processes can't be started.
    """
    with paused_collector():
        listing, longest = listed(sources, selection, root), selection.max_document_bytes
        known = before.documents() if before else DOCUMENTS_SCHEMA.empty_table()
        report = before.report() if before else None
        anew = reasons_to_split_anew(report, settings) if report else ""
        # That a table is what it was does not say that the documents are which its chunks were cut from.
        trusted = report is not None and not anew and not rehash and not selection.documents
        is_same_selection = report is not None and report["selection"] == as_written(selection)
        as_before = known_rows(listing, known, settings, selection) if trusted and is_same_selection else {}
        others = [table for table in listing.tables if table not in as_before]
        rows = dict(read_tables(others, settings, selection, workers)) | as_before
        every = [(table, rows[table]) for table in listing.tables]
        with_rows(listing, every, are_chunks=settings.chunks)
        if settings.chunks:
            as_chunks(listing, selection, lambda files: hashes_of(files, settings, longest, None))
        matches = matched(listing.entries, known if not anew else known.slice(0, 0), rehash=rehash)
        hashed = len(matches.doubtful)
        if hashed:
            matches = _told_by_hash(listing, matches, known, settings, selection, workers)
        ledger = in_ledger(known)
        notices = []
        if selection.include and not (listing.entries or listing.tables or listing.findings):
            notices.append(f"no file is included by {', '.join(selection.include)}")
        return Looked(listing, known, ledger, anew, matches, hashed, _remaining(listing, ledger, selection), notices)


def as_written(selection: Selection) -> dict[str, object]:
    """A selection as a run's report has it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(selection).items()}


def _told_by_hash(
    listing: Listing, matches: Matched, known: pa.Table, settings: Settings, selection: Selection, workers: Pool
) -> Matched:
    entries = listing.entries.take(matches.doubtful)
    now = hashes_of(entries, settings, selection.max_document_bytes, workers)
    before = known.column("sha256").take(pa.array(matches.doubtful_known)).to_pylist()
    return by_hash(matches, [bool(one) and one == other for one, other in zip(now, before, strict=True)])


def _remaining(listing: Listing, ledger: pa.Table, selection: Selection) -> Remaining:
    there = listing.entries.ids()
    seen = {finding.doc_id: str(finding.status) for finding in listing.findings}
    return remaining(ledger, there, seen, listing.unseen, selection)
