"""CPU of packing ranked chunks, beside the loop that it replaces: count each text with tiktoken, add what fits.

`python benchmarks/packing.py FOLDER`.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chunkledger.counting.vocabulary import reference_encoding
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.packer import pack
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings

ROUNDS = 30
SLOT = 6_000
SEED = 7


def main() -> None:
    """Print a line for each number of candidates."""
    entries = listed([source_of(sys.argv[1] if len(sys.argv) > 1 else "sample_corpus")], Selection()).entries
    reads = documents_of(entries, Settings(), MAX_DOCUMENT_BYTES)
    documents = [read.document for read in reads if read.document]
    rows = chunk_batch(documents, Settings()).to_pylist()
    encoding = reference_encoding("o200k_base")
    for count in (50, 1000):
        hits = random.Random(SEED).choices(rows, k=count)  # noqa: S311 (a benchmark's sample)
        hits = [{**row, "chunk_id": f"{place}"} for place, row in enumerate(hits)]
        packing = _least(lambda hits=hits: pack(hits, SLOT, encoding="o200k_base"))
        counting = _least(lambda hits=hits: _counting_loop(hits, encoding))
        print(
            f"{count:>5} candidates: pack {packing * 1e3:7.3f} ms of CPU; counting each text {counting * 1e3:8.3f} ms; "
            f"ratio {packing / counting:.4f}"
        )


def _counting_loop(hits: Sequence[Mapping[str, Any]], encoding: Any) -> list[str]:  # noqa: ANN401 (tiktoken.Encoding)
    left, packed = SLOT, []
    for hit in hits:
        tokens = len(encoding.encode_ordinary(hit["text"]))
        if tokens <= left:
            packed.append(hit["text"])
            left -= tokens
    return packed


def _least(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
