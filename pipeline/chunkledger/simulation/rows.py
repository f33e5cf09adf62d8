"""A ledger -> the records that are to be packed, with no more of each than the packer reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.model import IntArray
from chunkledger.packer.hits import COUNTED
from chunkledger.store.ledger import Ledger

Row = dict[str, Any]
Key = TypeVar("Key", int, str)

_COUNTS = tuple(sorted(COUNTED))
_OTHERS = (
    "chunk_id", "doc_id", "doc_sha256", "role", "settings_sha256", "template", "chunk_index", "char_start", "char_end",
    "gap_after", "overlap_chars", "context", "heading_path", "boundary_chars", "boundary_kinds", "parent_id",
    "metadata", "text",
)  # fmt: skip
_REPEATED = ("doc_id", "doc_sha256", "role", "settings_sha256", "template", "context", "metadata", "parent_id")


def rows_at(ledger: Ledger, places: AbstractSet[int], encoding: str, *, parents: bool) -> dict[int, Row]:
    """The records at these places, counted over all chunks in document order.

    Args:
        ledger: where they are.
        places: from 0 on.
        encoding: whose counts they are to carry as their own.
        parents: whether to take the parent of each in its stead, where it has one.
    """
    wanted = np.array(sorted(places), np.int64)
    kept = _Kept(encoding)
    before = 0
    for table in _tables(ledger, encoding, parents=parents):
        chunks = np.flatnonzero(pc.equal(table.column("role"), "chunk").to_numpy())
        first, last = np.searchsorted(wanted, (before, before + len(chunks)))
        here = wanted[first:last]
        kept.keep(table, chunks[here - before], here.tolist(), parents=parents)
        before += len(chunks)
    return kept.rows(wanted.tolist())


def rows_of(ledger: Ledger, ids: AbstractSet[str], encoding: str, *, parents: bool) -> dict[str, Row]:
    """The records of these ids, of every role; those that the ledger does not have are left out.

    Args:
        ledger: where they are.
        ids: of chunks.
        encoding: as for `rows_at`.
        parents: as for `rows_at`.
    """
    kept = _Kept(encoding)
    for table in _tables(ledger, encoding, parents=True):
        # Not by pyarrow: it makes its set of the ids anew for each of the many tables.
        every = table.column("chunk_id").to_pylist()
        here = [place for place, chunk_id in enumerate(every) if chunk_id in ids]
        kept.keep(table, np.array(here, np.int64), [every[place] for place in here], parents=parents)
    return kept.rows(ids)


def _tables(ledger: Ledger, encoding: str, *, parents: bool) -> Iterator[pa.Table]:
    counts = [name if encoding == ledger.settings().encoding else f"{name}_{encoding}" for name in _COUNTS]
    for table in ledger.iter_tables([*_OTHERS, *counts], role="all" if parents else "chunk"):
        yield table.rename_columns([*_OTHERS, *_COUNTS])


class _Kept:
    """Records by key, made small: a ledger's million chunks repeat their document's columns."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._found: dict[Any, Row] = {}
        self._parents: dict[str, Row] = {}
        self._parent_of: dict[Any, str] = {}
        self._waiting: set[str] = set()
        self._seen: dict[str, str] = {}
        self._by_text: dict[bytes, Row] = {}

    def keep(self, table: pa.Table, places: IntArray, keys: Sequence[Key], *, parents: bool) -> None:
        """Keep the rows at these places of a table.

        Args:
            table: some records in document order.
            places: ascending.
            keys: of the rows.
            parents: whether their parents are wanted in their stead. A document's parents come behind its chunks.
        """
        for key, row in zip(keys, table.take(places).to_pylist(), strict=True):
            if parents and row["parent_id"] is not None:
                self._parent_of[key] = row["parent_id"]
                self._waiting.add(row["parent_id"])
            else:
                self._found[key] = self._small(row)
        if not self._waiting:
            return
        of_parents = np.flatnonzero(pc.equal(table.column("role"), "parent").to_numpy())
        ids = table.column("chunk_id").take(of_parents).to_pylist()
        here = [place for place, chunk_id in zip(of_parents, ids, strict=True) if chunk_id in self._waiting]
        for row in table.take(here).to_pylist() if here else ():
            self._waiting.discard(row["chunk_id"])
            self._parents[row["chunk_id"]] = self._small(row)

    def rows(self, keys: Iterable[Key]) -> dict[Key, Row]:
        """What was found of these, by key."""
        found = self._found | {key: self._parents[parent] for key, parent in self._parent_of.items()}
        return {key: found[key] for key in keys if key in found}

    def _small(self, row: Row) -> Row:
        seen = self._seen
        row["encoding"] = self._encoding
        # All that the packer reads of metadata is whether the payload stands at the end.
        if '"payload"' not in row["metadata"]:
            row["metadata"] = None
        for name in _REPEATED:
            if (value := row[name]) is not None:
                row[name] = seen.setdefault(value, value)
        row["boundary_kinds"] = [seen.setdefault(kind, kind) for kind in row["boundary_kinds"]]
        row["heading_path"] = [seen.setdefault(title, title) for title in row["heading_path"]]
        self._keep_text_that_repeats(row)
        return row

    def _keep_text_that_repeats(self, row: Row) -> None:
        """Texts are only asked whether they are equal, so one that is like no other needs not be there."""
        text = row["text"]
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        first = self._by_text.setdefault(digest, row)
        if first is row:
            row["text"] = None
        else:
            row["text"] = first["text"] = text
