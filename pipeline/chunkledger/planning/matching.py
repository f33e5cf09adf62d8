"""Documents of the sources, and those that the last run knows -> which are unchanged, and which must be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.entries import Entries, Listing
from chunkledger.documents.formats import format_of, given_format_of
from chunkledger.documents.sources import Entry, Selection, TableFile
from chunkledger.documents.tables import TableRows
from chunkledger.model import BoolArray, Finding, IntArray
from chunkledger.settings import Settings


@dataclass(frozen=True, slots=True)
class Matched:
    """Which entries the last run knows.

    Attributes:
        unchanged: places of the entries that are what they were, ascending.
        known: for each of them, the row of the table of documents that knows it.
        doubtful: places of those of the same size whose stamp is another one, so that their hash must tell.
        doubtful_known: for each of them, the row that knows it.
        other: places of those that are new or other ones, ascending.
    """

    unchanged: IntArray
    known: IntArray
    doubtful: IntArray
    doubtful_known: IntArray
    other: IntArray


def matched(entries: Entries, known: pa.Table, *, rehash: bool = False) -> Matched:
    """Compare what is there with what the last run knows; nothing is read.

    A file is the one that was read where its size and its stamp are those of then. A stamp that was not kept, because
    the file had been written to in the moment in which it was read, is never equal.

    Args:
        entries: the documents of the sources.
        known: what the last run knows, as `DOCUMENTS_SCHEMA`.
        rehash: trust no stamp.
    """
    rows = np.flatnonzero(_is_told(known))
    places = pc.index_in(entries.ids(), known.column("doc_id").take(rows))
    is_known = places.is_valid().to_numpy(zero_copy_only=False)
    at = np.flatnonzero(is_known)
    of = rows[places.drop_null().to_numpy()]
    stamps = entries.stamps().take(at)
    is_size = entries.sizes[at] == known.column("size").to_numpy()[of]
    stamps_known = known.column("stamp").take(of)
    is_stamp: BoolArray = pc.and_(pc.equal(stamps, stamps_known), pc.not_equal(stamps, "")).to_numpy()
    is_same = is_size & is_stamp & (not rehash)
    is_doubtful = is_size & ~is_same
    is_other = ~is_known
    is_other[at] = ~is_size
    return Matched(at[is_same], of[is_same], at[is_doubtful], of[is_doubtful], np.flatnonzero(is_other))


def _is_told(known: pa.Table) -> BoolArray:
    """Rows of documents that were read to the end: those that are in the ledger, and those that hold nothing."""
    status = known.column("status")
    is_ok = pc.and_(pc.equal(status, "ok"), pc.not_equal(known.column("part"), ""))
    is_empty = pc.and_(pc.equal(status, "skipped"), pc.not_equal(known.column("sha256"), ""))
    found: BoolArray = pc.or_(is_ok, is_empty).to_numpy()
    return found


def by_hash(matches: Matched, same: Sequence[bool]) -> Matched:
    """The matches once the hashes of the doubtful ones have told.

    Args:
        matches: as they were found.
        same: for each of the doubtful ones, whether it is what it was.
    """
    is_same = np.fromiter(same, np.bool_, len(matches.doubtful))
    unchanged = np.concatenate([matches.unchanged, matches.doubtful[is_same]])
    known = np.concatenate([matches.known, matches.doubtful_known[is_same]])
    order = np.argsort(unchanged, kind="stable")
    none = np.zeros(0, np.int64)
    other = np.sort(np.concatenate([matches.other, matches.doubtful[~is_same]]))
    return Matched(unchanged[order], known[order], none, none, other)


def known_rows(
    listing: Listing, known: pa.Table, settings: Settings, selection: Selection
) -> dict[TableFile, TableRows]:
    """The rows of the tables that are what they were, without reading them again.

    Args:
        listing: its tables.
        known: what the last run knows, which was made with these settings and this selection.
        settings: of both runs.
        selection: of both runs.
    """
    if not listing.tables:
        return {}
    is_row = pc.greater(known.column("row"), 0).to_numpy()
    rows = known.filter(is_row)
    found: dict[TableFile, TableRows] = {}
    for table in listing.tables:
        own = rows.filter(pc.equal(rows.column("origin"), table.doc_id))
        if len(own) and _is_as_it_was(own, table):
            found[table] = _rows(own, table, settings)
    return found


def _is_as_it_was(rows: pa.Table, table: TableFile) -> bool:
    """Whether all rows of a table are known from it as it is now; what failed is tried again."""
    told = set(pc.unique(rows.column("status")).to_pylist())
    stamps = pc.unique(rows.column("stamp")).to_pylist()
    return told <= {"ok", "skipped"} and stamps == [table.stamp] and table.stamp != ""


def _rows(rows: pa.Table, table: TableFile, settings: Settings) -> TableRows:
    rows = rows.take(pc.sort_indices(rows, [("row", "ascending")]))
    columns = (rows.column(name).to_pylist() for name in ("doc_id", "size", "row", "sha256"))
    how = given_format_of if settings.chunks else format_of
    entries = (
        Entry(
            doc_id, table.path, size, table.mtime_ns, table.stamp, how(doc_id, settings.format), table.doc_id,
            row, sha256=sha256,
        )
        for doc_id, size, row, sha256 in zip(*columns, strict=True)
    )  # fmt: skip
    return TableRows(Entries(entries))


def carried_findings(states: pa.Table) -> list[Finding]:
    """What was found of documents that are carried over, to be told again."""
    told = states.filter(pc.not_equal(states.column("reason"), ""))
    columns = ["doc_id", "status", "reason", "row", "origin"]
    return [
        Finding(doc_id, status, reason, row, origin if row else "")
        for doc_id, status, reason, row, origin in zip(
            *(told.column(name).to_pylist() for name in columns), strict=True
        )
    ]
