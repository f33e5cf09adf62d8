"""Documents that can't be read now -> their texts, as the records of the last run have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from chunkledger.documents.reading import Read
from chunkledger.documents.sources import Entry
from chunkledger.model import Document
from chunkledger.records.again import given_of, text_of
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import Role, records_of_documents

_TEXT_COLUMNS = [
    "doc_id", "role", "doc_sha256", "metadata", "char_start", "char_end", "line_start", "line_end", "overlap_chars",
    "text", "gap_after",
]  # fmt: skip
Row = dict[str, Any]


def kept_texts(entries: Sequence[Entry], *, is_given: bool) -> Iterator[Read]:
    """The documents, as far as their chunks know them, to be split anew.

    Where the settings are not the last run's, its records would not go with the others (other limits, another
    encoding). Where blanks lead, others of the same number stand in.

    Args:
        entries: by document id; the path of each is that of the part that holds it.
        is_given: whether chunks are taken over as they are.
    """
    of = {entry.doc_id: entry for entry in entries}
    rows = (row for table in _records(entries, _TEXT_COLUMNS, "chunk") for row in table.to_pylist())
    for doc_id, group in groupby(rows, key=lambda row: str(row["doc_id"])):
        chunks = list(group)
        first = chunks[0]
        entry = of[doc_id]
        sha256 = first["doc_sha256"]
        if is_given:
            document = Document(doc_id, "", sha256, entry.format, {}, given_of(chunks))
        else:
            document = Document(doc_id, text_of(chunks), sha256, entry.format, json.loads(first["metadata"]))
        yield Read(entry, document, None, sha256)


def _records(entries: Sequence[Entry], columns: list[str], role: Role) -> Iterator[pa.Table]:
    by_path: dict[str, list[str]] = {}
    for entry in entries:
        by_path.setdefault(entry.path, []).append(entry.doc_id)
    parts = [PartRange(path, ids[0], ids[-1]) for path, ids in by_path.items()]
    return in_document_order(parts, lambda path: records_of_documents(path, by_path[path], columns, role))
