"""The table of documents that a run saw, and what the next run knows by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.string(), False),
        pa.field("origin", pa.string(), False),
        pa.field("row", pa.int64(), False),
        pa.field("size", pa.int64(), False),
        pa.field("mtime_ns", pa.int64(), False),
        pa.field("stamp", pa.string(), False),
        pa.field("sha256", pa.string(), False),
        pa.field("status", pa.string(), False),
        pa.field("reason", pa.string(), False),
        pa.field("weight", pa.int64(), False),
        pa.field("part", pa.string(), False),
        pa.field("chunks", pa.int64(), False),
        pa.field("flagged", pa.int64(), False),
        pa.field("tokens", pa.int64(), False),
    ]
)
"""One row a document or finding.

`origin` is the id of the file that it comes from (a table's, for a row; else its own), `row` the number of the row, 0
for a file. `stamp` is what says that a file of this size is the one that was read: its time and inode, or the ETag of
an object; empty where it may have been written to within the same tick of its clock, so that only its hash can tell.
`status` is ok, skipped, failed, or kept: a document that was not looked at, because its table or folder failed, and
that keeps its chunks. `reason` says why (empty where nothing is to be said). `weight` is in bytes, as `Entry.weight`.
`part` holds its records (empty where it has none); each document that is in the ledger has exactly one row with a part.
`chunks`, `flagged` and `tokens` are the sums over its chunks.
"""
_VALUES = attrgetter(*DOCUMENTS_SCHEMA.names)
_REPEATED = ["origin", "status", "reason", "part"]
PLACED = ("part", "chunks", "flagged", "tokens")
"""Columns that say what a document has in the ledger."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What a run saw of one document, or found instead of it; the columns are those of `DOCUMENTS_SCHEMA`."""

    doc_id: str
    origin: str
    row: int
    size: int
    mtime_ns: int
    stamp: str
    sha256: str
    status: str
    reason: str
    weight: int = 0
    part: str = ""
    chunks: int = 0
    flagged: int = 0
    tokens: int = 0


def documents_table(states: Iterable[DocumentState]) -> pa.Table:
    """The states as rows, in their order."""
    rows = list(map(_VALUES, states))
    columns = zip(*rows, strict=True) if rows else ([] for _ in DOCUMENTS_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, DOCUMENTS_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=DOCUMENTS_SCHEMA)


def documents_content(table: pa.Table) -> bytes:
    """The table as the bytes of a Parquet file, by document id."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        _in_order(table),
        sink,
        compression="zstd",
        compression_level=1,
        use_dictionary=_REPEATED,
        write_statistics=False,
    )
    result: bytes = sink.getvalue().to_pybytes()
    return result


def _in_order(table: pa.Table) -> pa.Table:
    ids = table.column("doc_id")
    if pc.all(pc.less(ids[:-1], ids[1:])).as_py():
        return table  # most are, and one of very many documents is not copied for nothing
    return table.take(pc.sort_indices(table, [("doc_id", "ascending"), ("row", "ascending"), ("reason", "ascending")]))


def with_columns(table: pa.Table, columns: Mapping[str, Sequence[object] | pa.Array]) -> pa.Table:
    """The table with other values in some of its columns."""
    for name, values in columns.items():
        field = DOCUMENTS_SCHEMA.field(name)
        column = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, field.type)
        table = table.set_column(table.schema.get_field_index(name), field, column)
    return table


def in_ledger(table: pa.Table) -> pa.Table:
    """The rows of documents that are in the ledger: one each."""
    is_placed = pc.not_equal(table.column("part"), "")
    # A table of very many documents is not copied for nothing.
    return table if pc.all(is_placed).as_py() else table.filter(is_placed)
