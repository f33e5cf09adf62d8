"""The table of documents that a run saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.string(), False),
        pa.field("origin", pa.string(), False),
        pa.field("row", pa.int64(), False),
        pa.field("size", pa.int64(), False),
        pa.field("mtime_ns", pa.int64(), False),
        pa.field("sha256", pa.string(), False),
        pa.field("status", pa.string(), False),
        pa.field("reason", pa.string(), False),
    ]
)
"""One row a document or finding.

`origin` is the id of the file that it comes from (a table's, for a row; else its own), `row` the number of the row, 0
for a file. `status` is ok, skipped, failed, or kept: a document that was not looked at, because its table or folder
failed, and that keeps its chunks. `reason` says why (empty where nothing is to be said).
"""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What a run saw of one document."""

    doc_id: str
    origin: str
    row: int
    size: int
    mtime_ns: int
    sha256: str
    status: str
    reason: str


def documents_content(states: Iterable[DocumentState]) -> bytes:
    """The table as the bytes of a Parquet file, by document id."""
    rows = sorted(states, key=lambda state: (state.doc_id, state.row, state.reason))
    names = DOCUMENTS_SCHEMA.names
    columns = [pa.array([getattr(row, name) for row in rows], DOCUMENTS_SCHEMA.field(name).type) for name in names]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, schema=DOCUMENTS_SCHEMA), sink, compression="zstd")
    result: bytes = sink.getvalue().to_pybytes()
    return result
