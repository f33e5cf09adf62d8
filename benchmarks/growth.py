"""How CPU and memory grow with the size of one document.

`python benchmarks/growth.py FOLDER [ENCODING]`. A document of one megabyte is made from the texts of a folder, and one
of ten by repeating it with small changes, so that both are of the same kind and no text is seen twice. A process of its
own makes the records of each several times, and then a ledger; it has worked on a small document before, so start-up
is left out. The bound for memory is that of the whole process: 300 MB and 40 times the document.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from chunkledger import Settings, ingest
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.model import Document, Format
from chunkledger.records.chunk_batch import chunk_batch

MEGABYTE = 1_000_000
TIMES = 10
ROUNDS = 3
SUFFIXES: dict[Format, str] = {"markdown": ".md", "plain": ".txt", "rst": ".rst"}


class Measured(NamedTuple):
    """Median CPU seconds to make the records and to ingest, and the most memory of the process in MB."""

    records: float
    ingest: float
    memory: float


def main() -> None:
    """Print a line for each format that the folder has texts of."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    encoding = sys.argv[2] if len(sys.argv) > 2 else "cl100k_base"
    print(f"{folder}, {encoding}: a document of 1 MB, and one of {TIMES} MB")
    for name, text in _texts(folder).items():
        long = "".join(text.replace(" the ", f" the {number} ") for number in range(TIMES)).encode()
        long = long[: TIMES * MEGABYTE]
        small = _measured(text, name, encoding)
        large = _measured(long.decode(errors="ignore"), name, encoding)
        print(f"  {name}")
        for what, one, ten in (
            ("records", small.records, large.records),
            ("all of ingest", small.ingest, large.ingest),
        ):
            print(f"    {what:<16}{one:6.2f} s {ten:6.2f} s of CPU: {ten / one:4.1f} times")
        print(f"    {'memory':<16}{small.memory:5.0f} MB {large.memory:5.0f} MB, bound {300 + 40 * TIMES} MB")


def _texts(folder: str) -> dict[Format, str]:
    """A megabyte of text for each format, from whole documents one behind the other."""
    entries = listed([source_of(folder)], Selection()).entries
    found: dict[Format, list[str]] = {}
    for read in documents_of(entries, Settings(), MAX_DOCUMENT_BYTES):
        if read.document and read.document.format in SUFFIXES:
            found.setdefault(read.document.format, []).append(read.document.text)
    texts: dict[Format, str] = {}
    for name, parts in sorted(found.items()):
        one = "\n\n".join(parts) + "\n\n"
        data = (one * (MEGABYTE // len(one.encode()) + 1)).encode()[:MEGABYTE]
        texts[name] = data.decode(errors="ignore") + "\n\n"
    return texts


def _measured(text: str, name: Format, encoding: str) -> Measured:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_in_process, (text, name, encoding))


def _in_process(text: str, name: Format, encoding: str) -> Measured:
    for warm in (_records, _ingest):
        warm("One.\n", name, encoding)
    records = statistics.median(_records(text, name, encoding) for _ in range(ROUNDS))
    whole = statistics.median(_ingest(text, name, encoding) for _ in range(ROUNDS))
    return Measured(records, whole, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _records(text: str, name: Format, encoding: str) -> float:
    started = time.process_time()
    chunk_batch([Document(f"document{SUFFIXES[name]}", text, "", name)], Settings(encoding=encoding))
    return time.process_time() - started


def _ingest(text: str, name: Format, encoding: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"document{SUFFIXES[name]}"
        path.write_bytes(text.encode())
        started = time.process_time()
        selection = Selection(max_document_bytes=2 * TIMES * MEGABYTE)
        run = ingest([path], Path(folder) / "ledger", Settings(encoding=encoding), selection=selection)
        seconds = time.process_time() - started
        if run.failed:
            sys.exit(f"growth.py: the document of {len(text):,} characters failed")
        return seconds


if __name__ == "__main__":
    main()
