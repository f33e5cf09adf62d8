"""Chunks of a batch -> the columns of their records."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from chunkledger.counting.counter import Counter, Engine, counter_for
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.model import Batch, Blocks, IntArray, Spans, TokenEnds
from chunkledger.packer.cuts import BOUNDARY_KINDS
from chunkledger.records.arrow import lists, repeated, strings, uuid_strings
from chunkledger.records.boundaries import Boundaries, boundaries_of
from chunkledger.records.composition import chunk_kinds, counted_units, unit_detail
from chunkledger.records.described import Described, described
from chunkledger.records.flags import Sizes, cause_of, flagged
from chunkledger.records.ids import id_digests
from chunkledger.records.positions import char_offsets, line_numbers
from chunkledger.records.rendering import RenderedCounts, rendered_counts
from chunkledger.records.schema import KINDS, schema_of
from chunkledger.settings import Settings
from chunkledger.splitting.measure import Measured, measured_again
from chunkledger.splitting.split import Split


@dataclass(frozen=True, slots=True)
class Tokenized:
    """The documents of a batch in one encoding: its counter, and where their tokens end."""

    counter: Counter
    ends: TokenEnds


def tokenized(texts: Sequence[str], settings: Settings, engine: Engine) -> list[Tokenized]:
    """These texts in every encoding of the settings, that of the limits first."""
    return [Tokenized(counter := counter_for(name, engine), counter.token_ends(texts)) for name in settings.encodings]


def batch_of(columns: Mapping[str, pa.Array], settings: Settings) -> pa.RecordBatch:
    """The columns as records of these settings have them."""
    schema = schema_of(settings.further_encodings)
    return pa.RecordBatch.from_arrays([columns[field.name].cast(field.type) for field in schema], schema=schema)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one role of a batch."""

    role: str
    batch: Batch
    blocks: Blocks
    cut: Split
    settings: Settings

    @property
    def spans(self) -> Spans:
        """The rows as spans."""
        return self.cut.spans

    def columns(self, first: Tokenized, further: Sequence[Tokenized], metadata: Sequence[str]) -> dict[str, pa.Array]:
        """All columns but parent_id."""
        batch, cut, settings = self.batch, self.cut, self.settings
        shown, boundaries = described(batch, cut), boundaries_of(batch, cut)
        counts = rendered_counts(shown, first.ends, first.counter, cut.measured, boundaries, settings)
        columns = _document_columns(batch, metadata, cut.spans.document)
        columns |= _text_columns(shown, self.role)
        columns |= count_columns(cut.measured, counts, boundaries, first.counter.encoding)
        columns |= _boundary_columns(batch, cut.spans, boundaries)
        columns |= _constant_columns(len(cut.measured.tokens), self.role, settings)
        kind = chunk_kinds(batch, self.blocks, first.ends, cut.spans)
        columns["kind"] = pa.array(KINDS, pa.string()).take(pa.array(kind))
        sizes = Sizes(cut.measured.tokens, cut.measured.embed_tokens, counts.rendered)
        columns |= _flag_columns(
            batch, self.blocks, cut.spans, kind, flagged(sizes, settings) if self.role == "chunk" else {}, sizes
        )
        for other in further:
            found = measured_again(shown.embedded, other.ends, other.counter)
            counts = rendered_counts(shown, other.ends, other.counter, found, boundaries, settings)
            name = other.counter.encoding
            columns |= {
                f"{column}_{name}": values for column, values in count_columns(found, counts, boundaries, name).items()
            }
        return columns


def _document_columns(batch: Batch, metadata: Sequence[str], document: IntArray) -> dict[str, pa.Array]:
    """Columns that are the same for all chunks of a document."""
    index = pa.array(document)
    per_document = {
        "doc_id": [entry.doc_id for entry in batch.documents],
        "doc_sha256": [entry.sha256 for entry in batch.documents],
        "metadata": metadata,
    }
    return {name: strings([value.encode() for value in values]).take(index) for name, values in per_document.items()}


def _text_columns(shown: Described, role: str) -> dict[str, pa.Array]:
    batch, spans, data = shown.batch, shown.spans, shown.batch.data
    texts = [data[start:end] for start, end in zip(spans.start.tolist(), spans.end.tolist(), strict=True)]
    start = char_offsets(batch, spans.start, spans.document)
    end = char_offsets(batch, spans.end, spans.document)
    overlap = np.zeros(len(texts), np.int64)
    overlap[1:] = np.where(spans.document[1:] == spans.document[:-1], np.maximum(end[:-1] - start[1:], 0), 0)
    used, row = np.unique(shown.prefix, return_inverse=True)
    prefixes = pa.array(row)
    return {
        "chunk_id": _ids(batch, spans.document, role, texts),
        "chunk_index": pa.array(_index_in_document(spans.document)),
        "char_start": pa.array(start),
        "char_end": pa.array(end),
        "line_start": pa.array(line_numbers(batch, spans.start, spans.document)),
        "line_end": pa.array(line_numbers(batch, spans.end - 1, spans.document)),
        "text": strings(texts),
        "gap_after": strings(_gaps(batch, spans)),
        "heading_path": _heading_paths(shown),
        "context": strings([shown.contexts[index].encode() for index in used.tolist()]).take(prefixes),
        "embed_prefix": strings([shown.embedded.prefix_texts[index].encode() for index in used.tolist()]).take(
            prefixes
        ),
        "overlap_chars": pa.array(overlap),
    }


def _ids(batch: Batch, document: IntArray, role: str, texts: Sequence[bytes]) -> pa.Array:
    first = np.flatnonzero(np.diff(document, prepend=-1)).tolist()
    digests: list[bytes] = []
    for begun, done in itertools.pairwise([*first, len(texts)]):
        digests += id_digests(batch.documents[int(document[begun])].doc_id, role, texts[begun:done])
    return uuid_strings(digests)


def _heading_paths(shown: Described) -> pa.Array:
    """Each path is made once, and rows refer to it."""
    used, row = np.unique(shown.section, return_inverse=True)
    paths = [shown.paths[index] for index in used.tolist()]
    offsets = np.cumsum([0, *map(len, paths)])
    titles = strings([title.encode() for path in paths for title in path])
    return lists(offsets, titles).take(pa.array(row))


def _index_in_document(document: IntArray) -> IntArray:
    place = np.arange(len(document), dtype=np.int64)
    first = np.flatnonzero(np.diff(document, prepend=-1))
    return place - np.repeat(first, np.diff(np.append(first, len(document))))


def _gaps(batch: Batch, spans: Spans) -> list[bytes]:
    """The blank space from each chunk to the next one's text, or to the end of the document."""
    document_end = batch.starts[spans.document + 1]
    following = np.minimum(np.append(spans.start[1:], len(batch.data)), document_end)
    return [batch.data[end:until] for end, until in zip(spans.end.tolist(), following.tolist(), strict=True)]


def count_columns(
    found: Measured, counts: RenderedCounts, boundaries: Boundaries, encoding: str
) -> dict[str, pa.Array]:
    """The columns that depend on the encoding.

    Args:
        found: counts of the chunks' texts.
        counts: counts of their blocks.
        boundaries: theirs.
        encoding: all counts are in.
    """
    offsets = boundaries.rows(len(found.tokens))
    return {
        "token_count": pa.array(found.tokens),
        "embed_tokens": pa.array(found.embed_tokens),
        "rendered_tokens": pa.array(counts.rendered),
        "body_tokens": pa.array(counts.body),
        "joined_tokens": pa.array(counts.joined, mask=counts.joined < 0),
        "boundary_tokens": lists(offsets, pa.array(counts.boundary_tokens, pa.int32())),
        "boundary_rendered_tokens": lists(offsets, pa.array(counts.boundary_rendered, pa.int32())),
        "encoding_sha256": repeated(VOCABULARIES[encoding].sha256(), len(found.tokens)),
    }


def _boundary_columns(batch: Batch, spans: Spans, boundaries: Boundaries) -> dict[str, pa.Array]:
    owner = spans.document[boundaries.chunk]
    chars = char_offsets(batch, boundaries.position, owner) - char_offsets(batch, spans.start[boundaries.chunk], owner)
    offsets = boundaries.rows(len(spans.start))
    return {
        "boundary_chars": lists(offsets, pa.array(chars, pa.int32())),
        "boundary_kinds": lists(offsets, pa.array(BOUNDARY_KINDS, pa.string()).take(pa.array(boundaries.kind))),
    }


def _flag_columns(
    batch: Batch,
    blocks: Blocks,
    spans: Spans,
    kind: IntArray,
    found: Mapping[int, list[str]],
    sizes: Sizes[IntArray],
) -> dict[str, pa.Array]:
    count = len(kind)
    chunks_of = np.bincount(spans.document, minlength=len(batch.documents))
    causes: list[str | None] = [None] * count
    details: list[str | None] = [None] * count
    for index, flags in found.items():
        cause = cause_of(flags, int(kind[index]), only_chunk=chunks_of[spans.document[index]] == 1)
        causes[index] = cause
        if cause in ("grapheme", "short_document", "short_section"):
            details[index] = counted_units(int(sizes.token_count[index]), "tokens")
        else:
            start, end = int(spans.start[index]), int(spans.end[index])
            details[index] = unit_detail(batch, blocks, int(kind[index]), start, end)
    return flag_columns(found, causes, details)


def flag_columns(
    found: Mapping[int, list[str]], causes: Sequence[str | None], details: Sequence[str | None]
) -> dict[str, pa.Array]:
    """The columns that say what does not suit, and why.

    Args:
        found: place -> flags, of the chunks that have some; ascending.
        causes: of every chunk.
        details: of every chunk.
    """
    widths = np.zeros(len(causes) + 1, np.int64)
    widths[[index + 1 for index in found]] = [len(flags) for flags in found.values()]
    every_flag = pa.array(list(itertools.chain.from_iterable(found.values())), pa.string())
    return {
        "flags": lists(np.cumsum(widths), every_flag),
        "flag_cause": pa.array(causes, pa.string()),
        "flag_detail": pa.array(details, pa.string()),
    }


def _constant_columns(count: int, role: str, settings: Settings) -> dict[str, pa.Array]:
    constant = {
        "role": role,
        "template": settings.template,
        "encoding": settings.encoding,
        "settings_sha256": settings.sha256(),
    }
    return {name: repeated(value, count) for name, value in constant.items()}
