"""Documents -> records: the waist of the house. Pure, picklable, deterministic."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from chunkledger.counting.counter import Counter, Engine, counter_for
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.documents.batch import joined
from chunkledger.model import Batch, Blocks, Document, IntArray, TokenEnds
from chunkledger.packer.cuts import BOUNDARY_KINDS
from chunkledger.records.arrow import lists, repeated, strings, uuid_strings
from chunkledger.records.boundaries import Boundaries, boundaries_of
from chunkledger.records.composition import chunk_kinds, unit_detail
from chunkledger.records.flags import Sizes, cause_of, flagged
from chunkledger.records.ids import id_digests
from chunkledger.records.metadata import metadata_of
from chunkledger.records.positions import char_offsets, line_numbers
from chunkledger.records.rendering import RenderedCounts, rendered_counts
from chunkledger.records.schema import COLUMNS, KINDS, SCHEMA
from chunkledger.settings import Settings
from chunkledger.splitting.split import Split, split
from chunkledger.structure.blocks import blocks_of


@dataclass(frozen=True, slots=True)
class Records:
    """The records of some documents, and what is to be told of these.

    Attributes:
        rows: in document order, with the columns of `SCHEMA`.
        unused: document id -> why its front matter gives no metadata.
    """

    rows: pa.RecordBatch
    unused: Mapping[str, str]


def chunk_batch(documents: Sequence[Document], settings: Settings, *, engine: Engine = "toktok") -> pa.RecordBatch:
    """The records of these documents, in document order, with the columns of `SCHEMA`.

    Args:
        documents: in order of doc_id, some megabytes of text at most (they are worked on all at once).
        settings: what to make.
        engine: whose tokenizer counts.
    """
    return records_of(documents, settings, engine).rows


def records_of(documents: Sequence[Document], settings: Settings, engine: Engine) -> Records:
    """The records as `chunk_batch` gives them, and what is to be told of the documents."""
    batch = joined(documents)
    counter = counter_for(settings.encoding, engine)
    blocks = blocks_of(batch)
    ends = counter.token_ends([document.text for document in documents])
    cut = split(batch, blocks, ends, counter, settings)
    metadata = metadata_of(batch, blocks)
    return Records(record_batch(batch, blocks, ends, counter, cut, metadata.written, settings), metadata.unused)


def record_batch(
    batch: Batch,
    blocks: Blocks,
    ends: TokenEnds,
    counter: Counter,
    cut: Split,
    metadata: Sequence[str],
    settings: Settings,
) -> pa.RecordBatch:
    """The records of chunks that are already cut.

    Args:
        batch: the documents.
        blocks: their structure.
        ends: where their tokens end.
        counter: of the encoding that `ends` is in.
        cut: the chunks.
        metadata: of each document, as JSON.
        settings: what they were made with.
    """
    boundaries = boundaries_of(batch, cut)
    counts = rendered_counts(batch, ends, counter, cut, boundaries, settings)
    columns: dict[str, pa.Array] = {}
    columns |= _document_columns(batch, metadata, cut.spans.document)
    columns |= _text_columns(batch, cut)
    columns |= _count_columns(cut, counts)
    columns |= _boundary_columns(batch, cut, boundaries, counts)
    columns |= _flag_columns(batch, blocks, ends, cut, counts, settings)
    columns |= _constant_columns(len(cut.tokens), settings)
    return pa.RecordBatch.from_arrays([columns[name].cast(SCHEMA.field(name).type) for name in COLUMNS], schema=SCHEMA)


def _document_columns(batch: Batch, metadata: Sequence[str], document: IntArray) -> dict[str, pa.Array]:
    """Columns that are the same for all chunks of a document."""
    index = pa.array(document)
    per_document = {
        "doc_id": [entry.doc_id for entry in batch.documents],
        "doc_sha256": [entry.sha256 for entry in batch.documents],
        "metadata": metadata,
    }
    return {name: strings([value.encode() for value in values]).take(index) for name, values in per_document.items()}


def _text_columns(batch: Batch, cut: Split) -> dict[str, pa.Array]:
    spans, data = cut.spans, batch.data
    texts = [data[start:end] for start, end in zip(spans.start.tolist(), spans.end.tolist(), strict=True)]
    start = char_offsets(batch, spans.start, spans.document)
    end = char_offsets(batch, spans.end, spans.document)
    overlap = np.zeros(len(texts), np.int64)
    overlap[1:] = np.where(spans.document[1:] == spans.document[:-1], np.maximum(end[:-1] - start[1:], 0), 0)
    prefixes = pa.array(cut.prefix)
    return {
        "chunk_id": _ids(batch, spans.document, texts),
        "chunk_index": pa.array(_index_in_document(spans.document)),
        "char_start": pa.array(start),
        "char_end": pa.array(end),
        "line_start": pa.array(line_numbers(batch, spans.start, spans.document)),
        "line_end": pa.array(line_numbers(batch, spans.end - 1, spans.document)),
        "text": strings(texts),
        "gap_after": strings(_gaps(batch, cut)),
        "heading_path": _heading_paths(cut),
        "context": strings([context.encode() for context in cut.prefixes.context]).take(prefixes),
        "embed_prefix": strings([text.encode() for text in cut.prefixes.text]).take(prefixes),
        "overlap_chars": pa.array(overlap),
    }


def _ids(batch: Batch, document: IntArray, texts: Sequence[bytes]) -> pa.Array:
    first = np.flatnonzero(np.diff(document, prepend=-1)).tolist()
    digests: list[bytes] = []
    for begun, done in itertools.pairwise([*first, len(texts)]):
        digests += id_digests(batch.documents[int(document[begun])].doc_id, "chunk", texts[begun:done])
    return uuid_strings(digests)


def _heading_paths(cut: Split) -> pa.Array:
    """Each path is made once, and rows refer to it."""
    used, row = np.unique(cut.headings.at(cut.spans.start, cut.spans.document), return_inverse=True)
    paths = [cut.headings.path(index) for index in used.tolist()]
    offsets = np.cumsum([0, *map(len, paths)])
    titles = strings([title.encode() for path in paths for title in path])
    return lists(offsets, titles).take(pa.array(row))


def _index_in_document(document: IntArray) -> IntArray:
    place = np.arange(len(document), dtype=np.int64)
    first = np.flatnonzero(np.diff(document, prepend=-1))
    return place - np.repeat(first, np.diff(np.append(first, len(document))))


def _gaps(batch: Batch, cut: Split) -> list[bytes]:
    """The blank space from each chunk to the next one's text, or to the end of the document."""
    spans = cut.spans
    document_end = batch.starts[spans.document + 1]
    following = np.minimum(np.append(spans.start[1:], len(batch.data)), document_end)
    return [batch.data[end:until] for end, until in zip(spans.end.tolist(), following.tolist(), strict=True)]


def _count_columns(cut: Split, counts: RenderedCounts) -> dict[str, pa.Array]:
    return {
        "token_count": pa.array(cut.tokens),
        "embed_tokens": pa.array(cut.embed_tokens),
        "rendered_tokens": pa.array(counts.rendered),
        "body_tokens": pa.array(counts.body),
        "joined_tokens": pa.array(counts.joined, mask=counts.joined < 0),
    }


def _boundary_columns(batch: Batch, cut: Split, boundaries: Boundaries, counts: RenderedCounts) -> dict[str, pa.Array]:
    spans = cut.spans
    owner = spans.document[boundaries.chunk]
    chars = char_offsets(batch, boundaries.position, owner) - char_offsets(batch, spans.start[boundaries.chunk], owner)
    names = pa.array(BOUNDARY_KINDS, pa.string()).take(pa.array(boundaries.kind))
    offsets = boundaries.rows(len(spans.start))
    flat = {
        "boundary_chars": pa.array(chars, pa.int32()),
        "boundary_kinds": names,
        "boundary_tokens": pa.array(counts.boundary_tokens, pa.int32()),
        "boundary_rendered_tokens": pa.array(counts.boundary_rendered, pa.int32()),
    }
    return {name: lists(offsets, values) for name, values in flat.items()}


def _flag_columns(
    batch: Batch,
    blocks: Blocks,
    ends: TokenEnds,
    cut: Split,
    counts: RenderedCounts,
    settings: Settings,
) -> dict[str, pa.Array]:
    spans = cut.spans
    kind = chunk_kinds(batch, blocks, ends, spans)
    count = len(kind)
    chunks_of = np.bincount(spans.document, minlength=len(batch.documents))
    found = flagged(Sizes(cut.tokens, cut.embed_tokens, counts.rendered), settings)
    causes: list[str | None] = [None] * count
    details: list[str | None] = [None] * count
    for index, flags in found.items():
        cause = cause_of(flags, int(kind[index]), only_chunk=chunks_of[spans.document[index]] == 1)
        causes[index] = cause
        if cause in ("grapheme", "short_document", "short_section"):
            details[index] = f"{int(cut.tokens[index]):,} tokens"
        else:
            details[index] = unit_detail(
                batch, blocks, int(kind[index]), int(spans.start[index]), int(spans.end[index])
            )
    widths = np.zeros(count + 1, np.int64)
    widths[[index + 1 for index in found]] = [len(flags) for flags in found.values()]
    every_flag = pa.array(list(itertools.chain.from_iterable(found.values())), pa.string())
    return {
        "kind": pa.array(KINDS, pa.string()).take(pa.array(kind)),
        "flags": lists(np.cumsum(widths), every_flag),
        "flag_cause": pa.array(causes, pa.string()),
        "flag_detail": pa.array(details, pa.string()),
    }


def _constant_columns(count: int, settings: Settings) -> dict[str, pa.Array]:
    constant = {
        "role": "chunk",
        "template": settings.template,
        "encoding": settings.encoding,
        "encoding_sha256": VOCABULARIES[settings.encoding].sha256(),
        "settings_sha256": settings.sha256(),
    }
    columns = {name: repeated(value, count) for name, value in constant.items()}
    return columns | {"parent_id": pa.nulls(count, pa.string())}
