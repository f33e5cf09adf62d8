"""Rows of tables that are chunks -> the documents that they are of, before any of them is read."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chunkledger.documents.formats import given_format_of
from chunkledger.documents.rows import Place, RowError
from chunkledger.documents.sources import Entry, Selection, TableFile
from chunkledger.model import Finding
from chunkledger.settings import Settings


@dataclass(slots=True)
class _Group:
    """The rows of one document.

    Attributes:
        row: number of the first one.
        offsets: where they are.
        size: bytes of their texts.
        beside: bytes of what else they hold.
        hashes: of each, where they are known.
        trouble: what is wrong with the first bad row, and how many more there are.
    """

    row: int
    offsets: array[int] = field(default_factory=lambda: array("q"))
    size: int = 0
    beside: int = 0
    hashes: list[str] = field(default_factory=list)
    trouble: list[tuple[int, str]] = field(default_factory=list)


def documents_in(
    rows: Iterable[tuple[Place, str | RowError, int, str]], table: TableFile, settings: Settings, selection: Selection
) -> Iterator[Entry | Finding]:
    """The documents whose chunks a table holds, by their first rows; its rows may lie anywhere, in their order.

    A document is taken whole or not at all: one of whose rows is bad would lose a chunk.

    Args:
        rows: place, id (or what is wrong with it), bytes of text and hash of every row, as far as it is known.
        table: that holds them.
        settings: for the format.
        selection: which documents are wanted.
    """
    groups: dict[str, _Group] = {}
    for place, row_id, size, sha256 in rows:
        known = row_id.row_id if isinstance(row_id, RowError) else row_id
        if known is None:
            yield Finding(table.doc_id, "failed", str(row_id), place.row, table.doc_id)
            continue
        group = groups.setdefault(known, _Group(place.row))
        if isinstance(row_id, RowError):
            group.trouble.append((place.row, str(row_id)))
        else:
            group.offsets.append(place.offset)
            group.size += size
            group.beside += max(0, place.size - size)
            group.hashes.append(sha256)
    for known, group in groups.items():
        doc_id = table.source.doc_id(known)
        if selection.wants(doc_id, table.doc_id):
            yield _document(doc_id, known, group, table, settings, selection)


def _document(
    doc_id: str, known: str, group: _Group, table: TableFile, settings: Settings, selection: Selection
) -> Entry | Finding:
    if group.trouble:
        row, reason = group.trouble[0]
        more = f"; {len(group.trouble) - 1:,} more of its rows are bad" if len(group.trouble) > 1 else ""
        reason += f"{more}; without it the document would lack a chunk"
        return Finding(doc_id, "failed", reason, row, table.doc_id)
    if trouble := selection.too_large(group.size):
        return Finding(doc_id, "failed", f"its chunks have {trouble}", group.row, table.doc_id)
    return Entry(
        doc_id, table.path, group.size, table.mtime_ns, table.stamp, given_format_of(known, settings.format),
        table.doc_id, group.row, group.offsets[0], group.beside // (1 + group.size // 2000),
        hash_of(group.hashes) if all(group.hashes) else "", group.offsets[1:].tobytes(),
    )  # fmt: skip


def hash_of(rows: Sequence[str], original: str = "") -> str:
    """The hash of a document that is many rows.

    Args:
        rows: the hash of each.
        original: that of the file that they were cut from, where their offsets are checked against it.
    """
    found = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return with_original(found, original) if original else found


def with_original(rows: str, original: str) -> str:
    """The hash of rows together with that of the file that they were cut from."""
    return hashlib.sha256(f"{rows}\n{original}".encode()).hexdigest()
