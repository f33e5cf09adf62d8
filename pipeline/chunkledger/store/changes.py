"""What changed between two states of a ledger, chunk by chunk."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.model import BoolArray
from chunkledger.records.ids import chunk_ids
from chunkledger.store.merging import side_by_side

Operation = Literal["add", "delete", "move", "update"]

PLACE = ("chunk_index", "char_start", "char_end", "line_start", "line_end")
IGNORED = ("chunk_id", "doc_id", "doc_sha256", "settings_sha256")
OPERATION_FIELDS = (
    pa.field("operation", pa.string(), False, {"description": "add, delete, move or update"}),
    pa.field(
        "embed_needed", pa.bool_(), False, {"description": "whether embed_prefix + text is another one than before"}
    ),
    pa.field(
        "previous_chunk_id", pa.string(), True, {"description": "the chunk of the renamed document that it was before"}
    ),
)
"""What a row of the feed says before it has the whole record: that of now, or for a delete the last one there was."""


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many chunks were added, kept as they were, moved, updated, deleted."""

    add: int = 0
    keep: int = 0
    move: int = 0
    update: int = 0
    delete: int = 0


class Renames:
    """Documents that were renamed, and what their chunks were called.

    A document's id is part of its chunks' ids, so that each of them has another one now.
    """

    def __init__(self, of: Mapping[str, str], before: Iterable[pa.Table]) -> None:
        """Read what is needed of the old documents.

        Args:
            of: new document id -> old one.
            before: records of the old documents with `chunk_id` and `embed_prefix`, in any order.
        """
        self._of = of
        self._prefixes: dict[str, bytes] = {}
        for table in before:
            ids, prefixes = (table.column(name).to_pylist() for name in ("chunk_id", "embed_prefix"))
            self._prefixes.update(zip(ids, map(_short, prefixes), strict=True))

    def previous(self, added: pa.Table) -> tuple[list[str | None], list[bool]]:
        """For each added record the id that it had, None where it is of no renamed document, and whether to embed it.

        Args:
            added: records of whole documents, those of a document together, in order.
        """
        previous: list[str | None] = []
        needed: list[bool] = []
        columns = (added.column(name).to_pylist() for name in ("doc_id", "role", "text", "embed_prefix"))
        rows = zip(*columns, strict=True)
        for (doc_id, role), group in groupby(rows, key=lambda row: (row[0], row[1])):
            own = list(group)
            before = self._of.get(doc_id)
            if before is None:
                previous += [None] * len(own)
                needed += [True] * len(own)
                continue
            ids = chunk_ids(before, role, (text for _, _, text, _ in own))
            for chunk_id, (_, _, _, prefix) in zip(ids, own, strict=True):
                known = chunk_id in self._prefixes
                previous.append(chunk_id if known else None)
                needed.append(not known or self._prefixes[chunk_id] != _short(prefix))
        return previous, needed


def _short(prefix: str) -> bytes:
    """Stands for a prefix, of which there are too many to remember where a large folder was renamed."""
    return hashlib.blake2b(prefix.encode(), digest_size=12).digest()


NO_RENAMES = Renames({}, ())


def changes_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of a feed whose records have this schema."""
    return pa.schema([*OPERATION_FIELDS, *(field.with_nullable(True) for field in schema)], metadata=schema.metadata)


def changed(
    before: Iterator[pa.Table], after: Iterator[pa.Table], schema: pa.Schema, renames: Renames = NO_RENAMES
) -> Iterator[tuple[pa.Table, ChangeCounts]]:
    """Compare two states by chunk_id, some documents at a time: an id is made with that of its document.

    A chunk is *moved* where its place in the document is another, else *updated* where any other column but the
    document's and the settings' fingerprints is, else *kept*. Where one state has columns that the other has not, as
    those of a further encoding, no chunk is kept.

    Args:
        before: records in document order, of every role.
        after: those of the other state.
        schema: of the records after.
        renames: documents that are the same as others that are gone.

    Yields:
        Rows of the feed (`changes_schema`), and how many chunks they are; parents are not counted.
    """
    for old, new in side_by_side(before, after):
        if old is None or new is None:
            yield _whole(old, new, schema, renames)
        else:
            yield _compared(old, new, schema, renames)


def total(counts: Iterable[ChangeCounts]) -> ChangeCounts:
    """The sum of counts."""
    found: Counter[str] = Counter()
    for each in counts:
        found.update({field.name: getattr(each, field.name) for field in fields(each)})
    return ChangeCounts(**found)


def _whole(
    old: pa.Table | None, new: pa.Table | None, schema: pa.Schema, renames: Renames
) -> tuple[pa.Table, ChangeCounts]:
    found: list[pa.Table] = []
    if old is not None:
        found.append(_deleted(old, schema))
    if new is not None:
        found.append(_added(new, schema, renames))
    table = pa.concat_tables(found)
    return table, ChangeCounts(**_counts(table))


def _compared(old: pa.Table, new: pa.Table, schema: pa.Schema, renames: Renames) -> tuple[pa.Table, ChangeCounts]:
    places = pc.index_in(new.column("chunk_id"), old.column("chunk_id").combine_chunks()).combine_chunks()
    is_there = places.is_valid().to_numpy(zero_copy_only=False)
    both, before = new.filter(is_there), old.take(places.drop_null())
    is_moved = _any_differs(before, both, PLACE)
    is_updated = np.ones(len(both), np.bool_)
    if set(new.column_names) == set(old.column_names):
        is_updated = _any_differs(before, both, [name for name in new.column_names if name not in (*IGNORED, *PLACE)])
    is_other = is_moved | is_updated
    is_chunk = pc.equal(both.column("role"), "chunk").to_numpy()
    operations = np.where(is_moved, "move", "update")[is_other].tolist()
    needed = _any_differs(before, both, ["embed_prefix"])[is_other].tolist()
    gone = old.filter(pc.invert(pc.is_in(old.column("chunk_id"), new.column("chunk_id").combine_chunks())))
    come = new.filter(~is_there)
    rows = [
        _deleted(gone, schema),
        _added(come, schema, renames),
        _rows(both.filter(is_other), schema, operations, needed),
    ]
    table = pa.concat_tables(rows)
    return table, ChangeCounts(keep=int((is_chunk & ~is_other).sum()), **_counts(table))


def _counts(table: pa.Table) -> dict[str, int]:
    chunks = table.filter(pc.equal(table.column("role"), "chunk"))
    found: dict[str, int] = Counter(chunks.column("operation").to_pylist())
    return found


def _deleted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    return _rows(rows, schema, ["delete"] * len(rows), [False] * len(rows))


def _added(rows: pa.Table, schema: pa.Schema, renames: Renames) -> pa.Table:
    previous, needed = renames.previous(rows)
    return _rows(rows, schema, ["add"] * len(rows), needed, previous)


def _rows(
    rows: pa.Table,
    schema: pa.Schema,
    operations: Sequence[str],
    needed: Sequence[bool],
    previous: Sequence[str | None] | None = None,
) -> pa.Table:
    said = [operations, needed, previous if previous is not None else [None] * len(rows)]
    arrays = [pa.array(values, field.type) for values, field in zip(said, OPERATION_FIELDS, strict=True)]
    # A column of an encoding that was not counted in then is null in a record of then.
    columns = [
        rows.column(field.name) if field.name in rows.column_names else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays([*arrays, *columns], schema=changes_schema(schema))


def _any_differs(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> BoolArray:
    """For each row whether a column differs. In pyarrow, as importing polars takes longer than most nights."""
    found = np.zeros(len(left), np.bool_)
    for name in columns:
        found |= _differs(left.column(name).combine_chunks(), right.column(name).combine_chunks())
    return found


def _differs(left: pa.Array, right: pa.Array) -> BoolArray:
    """For each place whether the values differ; null is a value of its own."""
    if not len(left):
        return np.zeros(0, np.bool_)
    if not pa.types.is_list(left.type):
        other = pc.fill_null(pc.not_equal(left, right), False).to_numpy(zero_copy_only=False)
        found: BoolArray = other | (left.is_null().to_numpy(False) != right.is_null().to_numpy(False))
        return found
    lengths, others = (pc.fill_null(pc.list_value_length(side), -1).to_numpy() for side in (left, right))
    found = lengths != others
    filled = ~found & (lengths > 0)
    if filled.any():
        values = _differs(*(pc.list_flatten(side.filter(pa.array(filled))) for side in (left, right)))
        starts = np.cumsum(lengths[filled]) - lengths[filled]
        found[filled] = np.logical_or.reduceat(values, starts)
    return found
