"""Records -> their documents and chunks again, to be counted in another encoding without being cut anew."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from chunkledger.counting.counter import Engine, counter_for
from chunkledger.documents.batch import joined
from chunkledger.documents.formats import given_format_of
from chunkledger.model import Batch, Document, GivenChunk, IntArray, Spans
from chunkledger.packer.cuts import BOUNDARY_KINDS
from chunkledger.records.boundaries import Boundaries
from chunkledger.records.columns import count_columns
from chunkledger.records.described import Described
from chunkledger.records.given import given_columns
from chunkledger.records.rendering import rendered_counts
from chunkledger.records.schema import COUNT_COLUMNS, schema_of
from chunkledger.settings import Settings
from chunkledger.splitting.measure import Embedded, measured_again

Row = Mapping[str, Any]


def with_encoding(records: pa.Table, encoding: str, settings: Settings, engine: Engine) -> pa.Table:
    """The records with the counts of one more encoding, which are those that ingest would have made.

    Args:
        records: of whole documents, those of a document together, with every column of `settings`.
        encoding: what to count in.
        settings: the records were made with.
        engine: whose tokenizer counts.
    """
    if settings.chunks:
        return _with_encoding_of_given(records, encoding, settings, engine)
    rows = records.to_pylist()
    documents = [_document(list(group)) for _, group in groupby(rows, key=lambda row: str(row["doc_id"]))]
    batch = joined(documents)
    number = {document.doc_id: index for index, document in enumerate(documents)}
    owner = np.array([number[row["doc_id"]] for row in rows], np.int64)
    counter = counter_for(encoding, engine)
    ends = counter.token_ends([document.text for document in documents])
    columns: dict[str, list[pa.Array]] = {}
    places: list[IntArray] = []
    for role in ("chunk", "parent"):
        chosen = np.array([index for index, row in enumerate(rows) if row["role"] == role], np.int64)
        if not len(chosen):
            continue
        places.append(chosen)
        shown, boundaries = _described(batch, [rows[index] for index in chosen.tolist()], owner[chosen])
        found = measured_again(shown.embedded, ends, counter)
        counts = rendered_counts(shown, ends, counter, found, boundaries, settings)
        for name, values in count_columns(found, counts, boundaries, encoding).items():
            columns.setdefault(f"{name}_{encoding}", []).append(values)
    schema = schema_of([encoding])
    order = pa.array(np.argsort(np.concatenate(places)))
    for name, parts in columns.items():
        field = schema.field(name)
        records = records.append_column(field, pa.concat_arrays([part.cast(field.type) for part in parts]).take(order))
    return records


def _document(rows: Sequence[Row]) -> Document:
    first = rows[0]
    chunks = [row for row in rows if row["role"] == "chunk"]
    return Document(first["doc_id"], text_of(chunks), first["doc_sha256"], "plain")


def text_of(chunks: Sequence[Row]) -> str:
    """The text of a document from its chunks, in order: the same characters at the same offsets and on the same lines.

    Of the blanks before the first chunk only their number is known, and how many lines they make.
    """
    first = chunks[0]
    if first["char_start"] is None:
        # Of chunks that another splitter has cut, without offsets.
        return "\n".join(str(chunk["text"]) for chunk in chunks)
    lines = (first["line_start"] or 1) - 1
    leading: str = " " * (first["char_start"] - lines) + "\n" * lines
    return leading + "".join(chunk["text"][chunk["overlap_chars"] :] + chunk["gap_after"] for chunk in chunks)


def given_of(chunks: Sequence[Row]) -> tuple[GivenChunk, ...]:
    """The chunks of a document as another splitter has cut them, from their records in order."""
    names = ("text", "char_start", "char_end", "line_start", "line_end", "gap_after", "overlap_chars")
    return tuple(
        GivenChunk(**{name: row[name] for name in names}, metadata=json.loads(row["metadata"])) for row in chunks
    )


def _with_encoding_of_given(records: pa.Table, encoding: str, settings: Settings, engine: Engine) -> pa.Table:
    """The records of chunks that another splitter has cut, whose texts need not add up to a document."""
    rows = records.to_pylist()
    documents = [
        Document(doc_id, "", "", given_format_of(doc_id, settings.format), chunks=given_of(list(group)))
        for doc_id, group in groupby(rows, key=lambda row: str(row["doc_id"]))
    ]
    columns = given_columns(documents, replace(settings, further_encodings=(encoding,)), engine)
    schema = schema_of([encoding])
    for name in COUNT_COLUMNS:
        field = schema.field(f"{name}_{encoding}")
        records = records.append_column(field, columns[field.name].cast(field.type))
    return records


def _described(batch: Batch, rows: Sequence[Row], document: IntArray) -> tuple[Described, Boundaries]:
    """The chunks of the records, and the boundaries in them, in the bytes of the batch."""
    of_char = _bytes_of_chars(batch)
    first_char = batch.starts - np.searchsorted(batch.continuations, batch.starts)
    start_char = np.array([row["char_start"] for row in rows], np.int64) + first_char[document]
    end_char = np.array([row["char_end"] for row in rows], np.int64) + first_char[document]
    start, end = of_char[start_char], of_char[end_char]
    own_start = of_char[start_char + np.array([row["overlap_chars"] for row in rows], np.int64)]
    lines = batch.line_starts
    loose = lines[np.searchsorted(lines, start, side="right") - 1] != start
    prefixes = {key: index for index, key in enumerate(dict.fromkeys(map(_prefix, rows)))}
    paths = {key: index for index, key in enumerate(dict.fromkeys(map(_path, rows)))}
    shown = Described(
        Embedded(
            batch,
            Spans(own_start, end, start, end, document, loose),
            np.array([prefixes[_prefix(row)] for row in rows], np.int64),
            [text for text, _ in prefixes],
        ),
        [context for _, context in prefixes],
        np.array([paths[_path(row)] for row in rows], np.int64),
        list(paths),
    )
    counts = [len(row["boundary_chars"]) for row in rows]
    chunk = np.repeat(np.arange(len(rows), dtype=np.int64), counts)
    places = np.array([place for row in rows for place in row["boundary_chars"]], np.int64)
    names = [BOUNDARY_KINDS.index(kind) for row in rows for kind in row["boundary_kinds"]]
    kind = np.array(names, np.int64)
    sentence = kind == BOUNDARY_KINDS.index("sentence")
    return shown, Boundaries(chunk, of_char[start_char[chunk] + places], kind, sentence)


def _prefix(row: Row) -> tuple[str, str]:
    return row["embed_prefix"], row["context"]


def _path(row: Row) -> tuple[str, ...]:
    return tuple(row["heading_path"])


def _bytes_of_chars(batch: Batch) -> IntArray:
    """Where each code point of the batch starts, and where the last one ends."""
    starts = np.ones(len(batch.data) + 1, np.bool_)
    starts[batch.continuations] = False
    return np.flatnonzero(starts)
