"""How much memory a run takes in all, whatever the size of the corpus.

`python benchmarks/memory.py FOLDER [MEGABYTES] [ENCODING]`. Corpora of an eighth of so many megabytes and of all of
them are made from the texts of a folder, every document a little different, and ingested by the command line with two
jobs. The resident memory of the driver and its workers is added up twenty times a second; the most there was is
printed, with the bound: 300 MB and 40 times the largest document for each job, and 1.2 GB in all for two.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chunkledger import Settings
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of

MEGABYTE = 1_000_000
BOUND = 1_200
_SECONDS = 0.05
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Print a line for each size."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    encoding = sys.argv[3] if len(sys.argv) > 3 else "cl100k_base"
    entries = listed([source_of(folder)], Selection()).entries
    reads = documents_of(entries, Settings(), MAX_DOCUMENT_BYTES)
    texts = [read.document.text for read in reads if read.document is not None]
    print(f"{folder}, {encoding}, two jobs; at most {BOUND:,} MB")
    for megabytes in (most // 8, most):
        with tempfile.TemporaryDirectory() as place:
            count, largest = _corpus(texts, Path(place, "docs"), megabytes * MEGABYTE)
            first, alone = _peak(Path(place), encoding)
            again, _ = _peak(Path(place), encoding)
        print(
            f"  {megabytes:5,} MB in {count:7,} documents, the largest of {largest / MEGABYTE:.1f} MB: "
            f"{first:5,.0f} MB in all, {alone:4,.0f} MB in one process; unchanged {again:4,.0f} MB"
        )


def _corpus(texts: list[str], folder: Path, size: int) -> tuple[int, int]:
    """Documents of so many bytes together; how many, and the bytes of the largest."""
    written = number = largest = 0
    while written < size:
        text = texts[number % len(texts)]
        # Every copy is another text, so that nothing can be known from one to the next.
        content = text.replace(" the ", f" the {number} ").encode()
        path = folder / f"{number // 1000:03}" / f"{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written, number, largest = written + len(content), number + 1, max(largest, len(content))
    return number, largest


def _peak(place: Path, encoding: str) -> tuple[float, float]:
    """The most megabytes of the run and its workers together, and of one of them."""
    command = [sys.executable, "-m", "chunkledger", "ingest", str(place / "docs"), "--out", str(place / "ledger")]
    most = alone = 0
    with subprocess.Popen([*command, "--encoding", encoding, "--jobs", "2", "-q"], stderr=subprocess.DEVNULL) as run:
        while run.poll() is None:
            sizes = [_resident(pid) for pid in _family(run.pid)]
            most, alone = max(most, sum(sizes)), max([alone, *sizes])
            time.sleep(_SECONDS)
    if run.returncode not in (0, 3):
        raise SystemExit(f"the run ended with {run.returncode}")
    return most / MEGABYTE, alone / MEGABYTE


def _family(pid: int) -> list[int]:
    """The process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(each for child in children for each in _family(int(child)))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


if __name__ == "__main__":
    main()
