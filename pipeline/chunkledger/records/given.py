"""Documents of chunks that another splitter has cut -> the columns of their records.

Each chunk is read as a text of its own, so that its boundaries and what is to blame for its size come from what it
holds, and from nothing around it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from chunkledger.counting.counter import Counter, Engine
from chunkledger.documents.batch import joined
from chunkledger.model import Batch, Blocks, Document, GivenChunk, IntArray, TokenEnds
from chunkledger.packer.render import Template, defused, template_named
from chunkledger.records.arrow import uuid_strings
from chunkledger.records.columns import Rows, flag_columns, tokenized
from chunkledger.records.composition import counted_units, unit_detail
from chunkledger.records.cut_away import looks_like
from chunkledger.records.flags import Sizes, flagged, given_cause_of
from chunkledger.records.ids import id_digests
from chunkledger.records.metadata import written
from chunkledger.records.schema import KINDS
from chunkledger.settings import Settings
from chunkledger.splitting.taken import taken
from chunkledger.structure import kinds
from chunkledger.structure.blocks import blocks_of
from chunkledger.structure.graphemes import is_grapheme

_STARTS_LINE = re.compile(r"[ \t]*[!-~]")
"""A text that may follow a newline without any token taking both: nothing but indentation before plain characters."""


def given_columns(documents: Sequence[Document], settings: Settings, engine: Engine) -> Mapping[str, pa.Array]:
    """The columns of the records of these documents, chunk by chunk.

    Args:
        documents: with chunks.
        settings: what to count, and what to flag.
        engine: whose tokenizer counts.
    """
    chunks = [chunk for document in documents for chunk in document.chunks]
    counts = [len(document.chunks) for document in documents]
    batch = joined(
        [
            Document(document.doc_id, chunk.text, document.sha256, document.format)
            for document in documents
            for chunk in document.chunks
        ]
    )
    first, *further = tokenized([chunk.text for chunk in chunks], settings, engine)
    blocks = blocks_of(batch)
    cut = taken(batch, blocks, first.ends, first.counter, settings)
    metadata = [written(chunk.metadata) for chunk in chunks]
    columns = Rows("chunk", batch, blocks, cut, settings).columns(first, further, metadata)
    columns |= _place_columns(documents, chunks, counts)
    for counted, suffix in ((first, ""), *((each, f"_{each.counter.encoding}") for each in further)):
        columns[f"joined_tokens{suffix}"] = _joined(chunks, counts, counted.counter, template_named(settings.template))
    columns |= _flags(batch, blocks, first.ends, columns, counts, settings)
    columns["parent_id"] = pa.nulls(len(chunks), pa.string())
    return columns


def _place_columns(
    documents: Sequence[Document], chunks: Sequence[GivenChunk], counts: Sequence[int]
) -> dict[str, pa.Array]:
    digests = itertools.chain.from_iterable(
        id_digests(document.doc_id, "chunk", (chunk.text.encode() for chunk in document.chunks))
        for document in documents
    )
    numbers = ("char_start", "char_end", "line_start", "line_end", "overlap_chars")
    return {
        "chunk_id": uuid_strings(list(digests)),
        "chunk_index": pa.array([index for count in counts for index in range(count)], pa.int32()),
        "gap_after": pa.array([chunk.gap_after for chunk in chunks], pa.string()),
        **{name: pa.array([getattr(chunk, name) for chunk in chunks], pa.int64()) for name in numbers},
    }


def _joined(chunks: Sequence[GivenChunk], counts: Sequence[int], counter: Counter, template: Template) -> pa.Array:
    """Tokens up to the next chunk's start, where that is surely additive; null elsewhere."""
    last = set(itertools.accumulate(counts))
    pairs = enumerate(pairwise([*chunks, GivenChunk("")]), 1)
    strings = [None if number in last else _up_to(*pair, counter, template) for number, pair in pairs]
    places = [place for place, string in enumerate(strings) if string is not None]
    found: list[int | None] = [None] * len(chunks)
    tokens = counter.count([string for string in strings if string is not None]).tolist()
    for place, count in zip(places, tokens, strict=True):
        found[place] = count
    return pa.array(found, pa.int32())


def _up_to(chunk: GivenChunk, following: GivenChunk, counter: Counter, template: Template) -> str | None:
    if chunk.char_start is None or chunk.char_end is None or following.char_start is None:
        return None
    if following.overlap_chars:
        string = chunk.text[: following.char_start - chunk.char_start]
    elif following.char_start == chunk.char_end + len(chunk.gap_after):
        string = chunk.text + chunk.gap_after
    else:
        return None
    is_additive = (
        string.endswith("\n")
        and _STARTS_LINE.match(chunk.text) is not None
        and _STARTS_LINE.match(following.text) is not None
        and not (counter.slash_joins and (chunk.text.startswith("/") or following.text.startswith("/")))
        and defused(chunk.text, template) == chunk.text
    )
    return string if is_additive else None


def _flags(
    batch: Batch,
    blocks: Blocks,
    ends: TokenEnds,
    columns: Mapping[str, pa.Array],
    counts: Sequence[int],
    settings: Settings,
) -> dict[str, pa.Array]:
    names = ("token_count", "embed_tokens", "rendered_tokens")
    sizes = Sizes(*(columns[name].to_numpy(zero_copy_only=False).astype(np.int64) for name in names))
    found = flagged(sizes, settings)
    kind = [KINDS.index(name) for name in columns["kind"].to_pylist()]
    alone = np.repeat([count == 1 for count in counts], counts)
    causes: list[str | None] = [None] * len(kind)
    details: list[str | None] = [None] * len(kind)
    for index, flags in found.items():
        start, end = int(batch.starts[index]), int(batch.starts[index + 1])
        text = batch.data[start:end].decode()
        paragraphs = _paragraphs(blocks, ends, start, end)
        is_broken = bool(len(paragraphs)) and 2 * int(paragraphs.max()) <= int(sizes.token_count[index])
        cause = given_cause_of(
            flags,
            kind[index],
            only_chunk=bool(alone[index]),
            is_grapheme=is_grapheme(text),
            is_broken=is_broken,
        )
        looks = looks_like(text) if cause in ("unbroken_prose", "foreign") else None
        causes[index] = cause = looks or cause
        if cause in ("grapheme", "short_document", "short_section"):
            details[index] = counted_units(int(sizes.token_count[index]), "tokens")
        elif looks:
            details[index] = counted_units(len(text.splitlines()), "rows" if looks == "table" else "lines")
        elif cause == "foreign":
            details[index] = counted_units(len(paragraphs), "paragraphs")
        else:
            details[index] = unit_detail(batch, blocks, kind[index], start, end)
    return flag_columns(found, causes, details)


def _paragraphs(blocks: Blocks, ends: TokenEnds, start: int, end: int) -> IntArray:
    """Tokens of each paragraph that lies in no other block."""
    first, last = np.searchsorted(blocks.start, [start, end], side="left").tolist()
    chosen = first + np.flatnonzero((blocks.kind[first:last] == kinds.PARAGRAPH) & (blocks.depth[first:last] == 0))
    found: IntArray = ends.before(blocks.end[chosen]) - ends.before(blocks.start[chosen])
    return found
