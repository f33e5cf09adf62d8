"""CPU of packing ranked chunks, beside the loop that it replaces: count each text with tiktoken, add what fits.

Then of importing the packer, beside the modules that every service has, and of looking counts up by id.
`python benchmarks/packing.py FOLDER`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from chunkledger import ingest, open_ledger
from chunkledger.counting.vocabulary import reference_encoding
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.packer import pack
from chunkledger.packer.counts import open_counts
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings
from chunkledger.store.count_index import write_count_index

COUNTS = {50: 400, 250: 100, 1000: 40}
"""How many candidates, and how often each is packed; the least time counts."""
IMPORTS = 20
SLOT = 6_000
SEED = 7


def main() -> None:
    """Print a line for each number of candidates."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    rows = _rows(folder, max(COUNTS))
    encoding = reference_encoding("o200k_base")
    for count, rounds in COUNTS.items():
        hits = rows[:count]
        packing = _least(lambda hits=hits: pack(hits, SLOT, encoding="o200k_base"), rounds)
        counting = _least(lambda hits=hits: _counting_loop(hits, encoding), 1 + rounds // 10)
        print(
            f"{count:>5} candidates: pack {packing * 1e3:7.3f} ms of CPU, {packing / count * 1e6:5.2f} µs each; "
            f"counting each text {counting * 1e3:8.3f} ms; ratio {packing / counting:.4f}"
        )
    everyday, packer = _import_seconds("dataclasses, json, logging"), _import_seconds("chunkledger.packer")
    print(f"import {packer * 1e3:.1f} ms of CPU; dataclasses, json and logging {everyday * 1e3:.1f} ms; "
          f"ratio {packer / everyday:.2f}")  # fmt: skip
    with tempfile.TemporaryDirectory() as made:
        print(_looking_up(folder, Path(made)))


def _rows(folder: str, count: int) -> list[dict[str, Any]]:
    """So many rows in no order; of a small corpus several copies, each as documents of its own."""
    entries = listed([source_of(folder)], Selection()).entries
    reads = documents_of(entries, Settings(), MAX_DOCUMENT_BYTES)
    rows = chunk_batch([read.document for read in reads if read.document], Settings()).to_pylist()
    copies = [
        {
            **row,
            "chunk_id": f"{copy}-{row['chunk_id']}",
            "doc_id": f"{copy}/{row['doc_id']}",
            "text": row["text"][:-1] + chr(ord("a") + copy % 26),  # else they were duplicates, and cost nothing
        }
        for copy in range(-(-count // len(rows)))
        for row in rows
    ]
    random.Random(SEED).shuffle(copies)  # noqa: S311 (a benchmark's sample)
    return copies[:count]


def _counting_loop(hits: Sequence[Mapping[str, Any]], encoding: Any) -> list[str]:  # noqa: ANN401 (tiktoken.Encoding)
    left, packed = SLOT, []
    for hit in hits:
        tokens = len(encoding.encode_ordinary(hit["text"]))
        if tokens <= left:
            packed.append(hit["text"])
            left -= tokens
    return packed


def _import_seconds(names: str) -> float:
    script = f"import time; start = time.process_time(); import {names}; print(time.process_time() - start)"
    run = [sys.executable, "-c", script]
    # With compiled modules, as in a service, whatever the shell says; the first run compiles them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = [
        float(subprocess.run(run, capture_output=True, text=True, check=True, env=environment).stdout)
        for _ in range(IMPORTS)
    ]
    return min(times)


def _looking_up(folder: str, made: Path) -> str:
    ingest([folder], made / "ledger", Settings())
    ledger = open_ledger(made / "ledger")
    chunks = write_count_index(ledger, made / "counts.sqlite")
    ids = random.Random(SEED).sample(ledger.chunks(["chunk_id"]).column(0).to_pylist(), min(50, chunks))  # noqa: S311
    with open_counts(made / "counts.sqlite") as counts:
        seconds = _least(lambda: counts.rows(ids), 100)
    size = (made / "counts.sqlite").stat().st_size / chunks
    return (
        f"{len(ids)} of {chunks:,} ids looked up in {seconds * 1e3:.3f} ms of CPU; the index has {size:.0f} bytes each"
    )


def _least(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    main()
