"""A ledger and a scratch ledger -> which documents and chunks are other ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.planning.remaining import renamed
from chunkledger.records.schema import SCHEMA
from chunkledger.store.changes import NO_RENAMES, PLACE, Renames, changed
from chunkledger.store.documents_table import in_ledger
from chunkledger.store.ledger import Ledger
from chunkledger.whatif.outcome import ChunkChanges, DocumentChanges

_BEFORE = ["chunk_id", "doc_id", "role", *PLACE, "embed_prefix", "embed_tokens"]
_AFTER = [*_BEFORE, "text"]
_CHANGES = pa.schema([SCHEMA.field(name) for name in _AFTER])


@dataclass(frozen=True, slots=True)
class Difference:
    """What is other, and which documents of the ledger can't be compared.

    Attributes:
        documents: how many are what.
        changes: what would become of the chunks.
    """

    documents: DocumentChanges
    changes: ChunkChanges


def difference(before: Ledger, after: Ledger, *, is_foreign: bool) -> Difference:
    """Compare two ledgers by document and by chunk.

    A document that failed in the second one is left out, because a run would keep its chunks. What must be embedded is
    what the feed would say: a chunk whose embed text is new, but not one of a document that was only renamed.

    Args:
        before: the ledger.
        after: the scratch ledger.
        is_foreign: whether the chunks of the first were cut elsewhere, so that the hashes of its documents are not
            those of the texts that they were cut from.
    """
    old, seen = in_ledger(before.documents()), after.documents()
    new = in_ledger(seen)
    failed = _failed(old, seen, new)
    is_compared = pc.invert(pc.is_in(old.column("doc_id"), pa.array(sorted(failed), pa.string())))
    compared = old.filter(is_compared)
    was, now = _hashes(compared), _hashes(new)
    both = was.keys() & now.keys()
    same = sum(was[doc_id] == now[doc_id] for doc_id in both)
    renames = {} if is_foreign else renamed(_without(compared, now), _without(new, _hashes(old)))
    failing = int(pc.sum(pc.equal(seen.column("status"), "failed")).as_py() or 0)
    return Difference(
        DocumentChanges(
            same=len(both) if is_foreign else same,
            changed=None if is_foreign else len(both) - same,
            new=len(now.keys() - was.keys()),
            gone=len(was.keys() - now.keys()),
            failed=failing,
        ),
        _chunk_changes(before, after, failed, renames),
    )


def _failed(old: pa.Table, seen: pa.Table, new: pa.Table) -> set[str]:
    """Documents of the ledger that failed now, or whose table or folder did."""
    places = set(seen.filter(pc.equal(seen.column("status"), "failed")).column("doc_id").to_pylist())
    if not places:
        return set()
    there = set(new.column("doc_id").to_pylist())
    ids, origins = (old.column(name).to_pylist() for name in ("doc_id", "origin"))
    return {
        doc_id
        for doc_id, origin in zip(ids, origins, strict=True)
        if doc_id not in there and (doc_id in places or not places.isdisjoint(_above(origin)))
    }


def _above(origin: str) -> Iterator[str]:
    """A place and all those above it."""
    parts = origin.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts) + 1))


def _hashes(documents: pa.Table) -> dict[str, str]:
    return dict(zip(*(documents.column(name).to_pylist() for name in ("doc_id", "sha256")), strict=True))


def _without(documents: pa.Table, ids: Collection[str]) -> pa.Table:
    return documents.filter(pc.invert(pc.is_in(documents.column("doc_id"), pa.array(list(ids), pa.string()))))


def _chunk_changes(before: Ledger, after: Ledger, failed: set[str], renames: dict[str, str]) -> ChunkChanges:
    found = {"add": 0, "delete": 0, "stay": 0, "embed": 0, "embed_tokens": 0}
    left_out = pa.array(sorted(failed), pa.string())
    old = (
        table.filter(pc.invert(pc.is_in(table.column("doc_id"), left_out))) if failed else table
        for table in before.iter_tables(_BEFORE)
    )
    for rows, counts in changed(old, after.iter_tables(_AFTER), _CHANGES, _renames(before, renames)):
        found["add"] += counts.add
        found["delete"] += counts.delete
        # Without the other columns a chunk that is there counts as updated, whether it is or not.
        found["stay"] += counts.keep + counts.move + counts.update
        needed = rows.filter(rows.column("embed_needed"))
        found["embed"] += len(needed)
        found["embed_tokens"] += int(pc.sum(needed.column("embed_tokens")).as_py() or 0)
    return ChunkChanges(found["stay"], found["delete"], found["add"], found["embed"], found["embed_tokens"])


def _renames(before: Ledger, renames: dict[str, str]) -> Renames:
    if not renames:
        return NO_RENAMES
    old = pa.array(sorted(renames.values()), pa.string())
    tables = before.iter_tables(["doc_id", "chunk_id", "embed_prefix"])
    return Renames(renames, (table.filter(pc.is_in(table.column("doc_id"), old)) for table in tables))
