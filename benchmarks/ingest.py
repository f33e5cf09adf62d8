"""CPU of each station of ingest, as a ratio to one bare tiktoken pass over the same text in the same process.

`python benchmarks/ingest.py FOLDER [ENCODING]`. Start-up (imports, vocabularies) and the cross-check are left out;
each figure is the least of several rounds, because noise only adds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from chunkledger.counting.counter import counter_for
from chunkledger.counting.vocabulary import reference_encoding
from chunkledger.documents.batch import joined
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.engines.collector import paused_collector
from chunkledger.model import Document
from chunkledger.records.chunk_batch import record_batch
from chunkledger.records.columns import Tokenized
from chunkledger.records.metadata import metadata_of
from chunkledger.settings import Settings
from chunkledger.splitting.split import split
from chunkledger.store.files import write_file
from chunkledger.store.layout import part_name
from chunkledger.store.parts import part_content
from chunkledger.structure.blocks import blocks_of

ROUNDS = 5
LEAST_BYTES = 2_000_000
"""A smaller corpus is worked on several times over, so that a figure is more than noise."""

Value = TypeVar("Value")


def main() -> None:
    """Print a table of stations."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    encodings = sys.argv[2:] or ["cl100k_base", "o200k_base"]
    for encoding in encodings:
        measured, size, chunks = _measured(folder, encoding)
        bare = measured.pop("tiktoken")
        print(f"{folder}, {encoding}: {size / 1e6:.1f} MB, {chunks:,} chunks; a bare tiktoken pass is 1")
        for station, seconds in measured.items():
            print(f"  {station:<24}{seconds / bare:6.3f}")
        print(f"  {'all of ingest':<24}{sum(measured.values()) / bare:6.3f}\n")


def _measured(folder: str, encoding: str) -> tuple[dict[str, float], int, int]:
    best: dict[str, float] = defaultdict(lambda: float("inf"))
    settings, counter, reference = Settings(encoding=encoding), counter_for(encoding), reference_encoding(encoding)
    size = chunks = 0
    for _ in range(ROUNDS):
        documents = _timed(best, "list, read, decode, hash", lambda: _documents(folder))
        size = sum(len(document.text.encode()) for document in documents)
        batch = _timed(best, "join, lines", lambda documents=documents: joined(documents))
        blocks = _timed(best, "parse", lambda batch=batch: blocks_of(batch))
        texts = [document.text for document in documents]
        ends = _timed(best, "encode", lambda texts=texts: counter.token_ends(texts))
        cut = _timed(best, "cut", lambda b=batch, k=blocks, e=ends: split(b, k, e, counter, settings))
        args = (batch, blocks, Tokenized(counter, ends), (), cut)
        records = _timed(
            best, "records", lambda args=args: record_batch(*args, metadata_of(*args[:2]).written, settings)
        )
        chunks = len(records)
        _timed(best, "Parquet", lambda records=records: _written([records]))
        _timed(best, "tiktoken", lambda texts=texts: [reference.encode_ordinary(text) for text in texts])
    return dict(best), size, chunks


def _documents(folder: str) -> list[Document]:
    entries = listed([source_of(folder)], Selection()).entries
    repeat = max(1, LEAST_BYTES // max(1, sum(entry.size for entry in entries)))
    reads = (read for _ in range(repeat) for read in documents_of(entries, Settings(), MAX_DOCUMENT_BYTES))
    return [read.document for read in reads if read.document]


def _written(records: list) -> None:  # type: ignore[type-arg]
    content, _ = part_content(records)
    with tempfile.TemporaryDirectory() as root:
        write_file(root, part_name(1, 0, content), content)
        Path(root).stat()


def _timed(best: dict[str, float], name: str, work: Callable[[], Value]) -> Value:
    with paused_collector():  # as in a run
        started = time.process_time()
        value = work()
        seconds = time.process_time() - started
    best[name] = min(best[name], seconds)
    return value


if __name__ == "__main__":
    main()
