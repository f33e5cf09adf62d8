"""Documents of the last run that were not made in this one -> which of them stay, and which are gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.sources import Selection


@dataclass(frozen=True, slots=True)
class Remaining:
    """What becomes of documents that are in the ledger and were not made or found unchanged.

    Attributes:
        failed: ids of those that could not be taken now; they keep their records.
        unseen: ids of those that nobody could see, each with why; they keep their records.
        gone: ids of the others.
    """

    failed: tuple[str, ...]
    unseen: Mapping[str, str]
    gone: tuple[str, ...]


def remaining(
    ledger: pa.Table,
    well: pa.Array,
    seen: Mapping[str, str],
    unseen: Collection[str],
    selection: Selection,
) -> Remaining:
    """Tell what stays: a document is gone only where its folder or its table was read whole.

    Args:
        ledger: the documents that were in the ledger, as `DOCUMENTS_SCHEMA`.
        well: ids of those that are there, and were made or are unchanged.
        seen: document id -> `skipped` or `failed`, for the others that were seen.
        unseen: ids of folders, links and tables of which it is not known what they hold; "" is above all of them.
        selection: what is wanted; the rest is gone, whether it was seen or not.
    """
    others = ledger.filter(pc.invert(pc.is_in(ledger.column("doc_id"), well)))
    failed: list[str] = []
    kept: dict[str, str] = {}
    gone: list[str] = []
    for doc_id, origin in zip(*(others.column(name).to_pylist() for name in ("doc_id", "origin")), strict=True):
        status = seen.get(doc_id)
        if status == "failed":
            failed.append(doc_id)
        elif (
            status is None and selection.wants(doc_id, origin) and (place := _unseen_place(origin, unseen)) is not None
        ):
            kept[doc_id] = f"{place or 'its source'} failed, so this document was not seen; it keeps its chunks"
        else:
            gone.append(doc_id)
    return Remaining(tuple(failed), kept, tuple(gone))


def _unseen_place(origin: str, unseen: Collection[str]) -> str | None:
    """The place that was not seen and that the file of this id is, or lies below; None where it was seen."""
    if not unseen:
        return None
    if "" in unseen:
        return ""
    parts = origin.split("/")
    places = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((place for place in places if place in unseen), None)


def renamed(gone: pa.Table, new: pa.Table) -> dict[str, str]:
    """New documents that hold what one that is gone held, byte for byte: the new id -> the old one.

    Where several hold the same, they are paired in order of their ids.

    Args:
        gone: documents that were in the ledger, as `DOCUMENTS_SCHEMA`; those of which it is not known what their
            records were made of are passed over.
        new: documents that were not in it, and are now.
    """
    waiting: dict[str, list[str]] = {}
    was_well = gone.filter(pc.equal(gone.column("status"), "ok"))
    for doc_id, sha256 in _sorted(was_well):
        waiting.setdefault(sha256, []).append(doc_id)
    found: dict[str, str] = {}
    for doc_id, sha256 in _sorted(new):
        if before := waiting.get(sha256):
            found[doc_id] = before.pop(0)
    return found


def _sorted(table: pa.Table) -> list[tuple[str, str]]:
    columns = (table.column(name).to_pylist() for name in ("doc_id", "sha256"))
    return sorted((doc_id, sha256) for doc_id, sha256 in zip(*columns, strict=True) if sha256)
