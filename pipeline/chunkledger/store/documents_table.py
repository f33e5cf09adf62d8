"""The table of documents that a run saw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.string(), False),
        pa.field("size", pa.int64(), False),
        pa.field("mtime_ns", pa.int64(), False),
        pa.field("sha256", pa.string(), False),
        pa.field("status", pa.string(), False),
        pa.field("reason", pa.string(), False),
    ]
)
"""One row a document; `status` is ok, skipped or failed, `reason` says why (empty where nothing is to be said)."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What a run saw of one document."""

    doc_id: str
    size: int
    mtime_ns: int
    sha256: str
    status: str
    reason: str


def documents_content(states: Iterable[DocumentState]) -> bytes:
    """The table as the bytes of a Parquet file, by document id."""
    rows = sorted(states, key=lambda state: state.doc_id)
    names = DOCUMENTS_SCHEMA.names
    columns = [pa.array([getattr(row, name) for row in rows], DOCUMENTS_SCHEMA.field(name).type) for name in names]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, schema=DOCUMENTS_SCHEMA), sink, compression="zstd")
    result: bytes = sink.getvalue().to_pybytes()
    return result
