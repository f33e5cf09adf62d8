"""Documents -> records: the waist of the house. Pure, picklable, deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from chunkledger.counting.counter import Engine
from chunkledger.documents.batch import joined
from chunkledger.model import Batch, Blocks, Document
from chunkledger.records.columns import Rows, Tokenized, batch_of, tokenized
from chunkledger.records.given import given_columns
from chunkledger.records.metadata import metadata_of
from chunkledger.settings import Settings
from chunkledger.splitting.split import Split, split
from chunkledger.structure.blocks import blocks_of


@dataclass(frozen=True, slots=True)
class Records:
    """The records of some documents, and what is to be told of these.

    Attributes:
        rows: in document order, with the columns of `schema_of`.
        unused: document id -> why its front matter gives no metadata.
    """

    rows: pa.RecordBatch
    unused: Mapping[str, str]


def chunk_batch(documents: Sequence[Document], settings: Settings, *, engine: Engine = "toktok") -> pa.RecordBatch:
    """The records of these documents, in document order, with the columns of `schema_of`.

    Args:
        documents: in order of doc_id, some megabytes of text at most (they are worked on all at once).
        settings: what to make.
        engine: whose tokenizer counts.
    """
    return records_of(documents, settings, engine).rows


def records_of(documents: Sequence[Document], settings: Settings, engine: Engine) -> Records:
    """The records as `chunk_batch` gives them, and what is to be told of the documents."""
    if settings.chunks:
        return Records(batch_of(given_columns(documents, settings, engine), settings), {})
    batch = joined(documents)
    first, *further = tokenized([document.text for document in documents], settings, engine)
    blocks = blocks_of(batch)
    cut = split(batch, blocks, first.ends, first.counter, settings)
    metadata = metadata_of(batch, blocks)
    return Records(record_batch(batch, blocks, first, further, cut, metadata.written, settings), metadata.unused)


def record_batch(
    batch: Batch,
    blocks: Blocks,
    first: Tokenized,
    further: Sequence[Tokenized],
    cut: Split,
    metadata: Sequence[str],
    settings: Settings,
) -> pa.RecordBatch:
    """The records of chunks that are already cut, and of their parents, document by document, chunks first.

    Args:
        batch: the documents.
        blocks: their structure.
        first: their tokens in the encoding of the limits.
        further: their tokens in further encodings.
        cut: the chunks.
        metadata: of each document, as JSON.
        settings: what they were made with.
    """
    chunks = Rows("chunk", batch, blocks, cut, settings)
    columns = chunks.columns(first, further, metadata)
    if cut.parents is None or cut.parent is None:
        return batch_of(columns | {"parent_id": pa.nulls(len(chunks.spans.start), pa.string())}, settings)
    parents = Rows("parent", batch, blocks, replace(cut, measured=cut.parents), settings)
    parent_columns = parents.columns(first, further, metadata)
    both = [
        batch_of(columns | {"parent_id": parent_columns["chunk_id"].take(pa.array(cut.parent))}, settings),
        batch_of(parent_columns | {"parent_id": pa.nulls(len(parents.spans.start), pa.string())}, settings),
    ]
    order = np.argsort(np.concatenate([chunks.spans.document, parents.spans.document]), kind="stable")
    [merged] = pa.Table.from_batches(both).take(pa.array(order)).combine_chunks().to_batches() or [both[0]]
    return merged
