"""What a run saw of every document, and where its records are: the table of documents of the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.entries import Entries
from chunkledger.model import Finding
from chunkledger.planning.matching import Matched
from chunkledger.store.documents_table import (
    PLACED,
    DocumentState,
    documents_table,
    in_ledger,
    with_columns,
)


def carried(entries: Entries, matches: Matched, known: pa.Table) -> pa.Table:
    """The rows of unchanged documents: what the last run knew of them, with where and what they are now.

    Args:
        entries: the documents of the sources.
        matches: which of them are unchanged.
        known: the table of documents of the last run.
    """
    rows = known
    if len(matches.known) < len(known) or (np.diff(matches.known) != 1).any():
        rows = known.take(pa.array(matches.known)).combine_chunks()
    here = matches.unchanged
    places = pa.array(here)
    return with_columns(
        rows,
        {
            "origin": entries.origins().take(places),
            "row": pa.array(entries.rows[here]),
            "mtime_ns": pa.array(entries.mtimes[here]),
            "stamp": entries.stamps().take(places),
        },
    )


def found(findings: Sequence[Finding]) -> pa.Table:
    """The rows of what was found where a document was looked for."""
    return documents_table(
        DocumentState(each.doc_id, each.table or each.doc_id, each.row, 0, 0, "", "", each.status, each.reason)
        for each in findings
    )


def unseen(known: pa.Table, reasons: Mapping[str, str]) -> pa.Table:
    """The rows of documents that nobody could see and that keep their records.

    Args:
        known: rows of documents that are in the ledger.
        reasons: document id -> why it was not seen.
    """
    rows = _of(known, reasons)
    told = [reasons[doc_id] for doc_id in rows.column("doc_id").to_pylist()]
    return with_columns(rows, {"status": ["kept"] * len(rows), "reason": told})


def keeping(table: pa.Table, records: pa.Table, doc_ids: Collection[str]) -> pa.Table:
    """The rows, where those of documents that could not be taken, or seen, say which records they keep.

    Args:
        table: rows of this run.
        records: rows of documents that are in the ledger, and say where.
        doc_ids: of the documents that stay; each has at least one row that is failed or kept.
    """
    if not doc_ids:
        return table
    left = set(doc_ids)
    columns = (table.column(name).to_pylist() for name in ("doc_id", "row", "status"))
    rows = sorted(
        (doc_id, row, place, status) for place, (doc_id, row, status) in enumerate(zip(*columns, strict=True))
    )
    before = {row["doc_id"]: row for row in _of(records, left).to_pylist()}
    values = {name: table.column(name).to_pylist() for name in (*PLACED, "weight")}
    for doc_id, _, place, status in rows:
        if doc_id in left and status in ("failed", "kept"):
            left.remove(doc_id)
            for name, column in values.items():
                column[place] = before[doc_id][name]
    return with_columns(table, values)


def without_records(table: pa.Table) -> pa.Table:
    """The rows of documents that are to be made again, which have no records until then."""
    return with_columns(table, {"part": [""] * len(table)} | dict.fromkeys(PLACED[1:], [0] * len(table)))


def lost(table: pa.Table, reasons: Mapping[str, str]) -> pa.Table:
    """The rows, where those of documents that were to be kept and could not be say so.

    Args:
        table: rows of this run.
        reasons: document id -> why.
    """
    if not reasons:
        return table
    values = {name: table.column(name).to_pylist() for name in ("doc_id", "status", "reason")}
    for place, doc_id in enumerate(values["doc_id"]):
        if doc_id in reasons and values["status"][place] == "kept":
            values["status"][place], values["reason"][place] = "failed", reasons[doc_id]
    return with_columns(table, values)


def _of(table: pa.Table, doc_ids: Collection[str]) -> pa.Table:
    return table.filter(pc.is_in(table.column("doc_id"), pa.array(doc_ids, pa.string())))


def placed_anew(states: pa.Table, places: Mapping[str, str]) -> pa.Table:
    """The rows, where records of the parts with these names are in others now.

    Args:
        states: of this run.
        places: document id -> the part that holds it now.
    """
    if not places:
        return states
    moved = pc.index_in(states.column("doc_id"), pa.array(places, pa.string()))
    now = pa.array(places.values(), pa.string()).take(moved)
    is_placed = pc.not_equal(states.column("part"), "")
    return with_columns(states, {"part": pc.if_else(is_placed, pc.coalesce(now, states.column("part")), "")})


def by_id(states: pa.Table) -> pa.Table:
    """Id, part and weight of the documents that are in the ledger, a row each, by id."""
    rows = in_ledger(states.select(["doc_id", "part", "weight"]))
    return rows.take(pc.sort_indices(rows, [("doc_id", "ascending")])).combine_chunks()
