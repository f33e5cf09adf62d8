"""Splitters side by side on the Markdown documents of a folder: CPU, and what our judge says of their chunks.

`make peers CORPUS=folder`, which runs `python benchmarks/peers.py FOLDER [--rounds 3]` where the peers are installed.
Prints a Markdown table. Chunks have at most 512 tokens of cl100k_base and no overlap.

Each splitter is made anew for each round, outside the clock, so that none finds the last round's counts in a cache. CPU
is user and system time, the least of the rounds, because noise only adds. `judge.py` says what is wrong with a chunk.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any, TypeVar

from chunkledger import Settings, ingest, open_ledger
from chunkledger.counting.vocabulary import reference_encoding
from chunkledger.documents.formats import SUFFIXES
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from judging import Measure, Row, figures, judged
from peer_splitters import PEERS, Split

ENCODING = "cl100k_base"
MAX_TOKENS = 512
LEAST_BYTES = 2_000_000
"""A smaller corpus is split several times over, so that a figure is more than noise."""
SETTINGS = Settings(encoding=ENCODING, max_tokens=MAX_TOKENS)
SELECTION = Selection(include=tuple(f"*{suffix}" for suffix, kind in SUFFIXES.items() if kind == "markdown"))
KEYS = ("doc_id", "text", "char_start", "char_end", "token_count", "context", "embed_prefix")
COLUMNS = {
    "clean %": "clean",
    "excess": "excess",
    "over %": "over",
    "counts exact %": "counts",
    "offsets true %": "offsets",
    "lossless %": "lossless",
}
OURS, OURS_INGEST = "**chunkledger**", "chunkledger, all of ingest"
PINNED = Path(__file__).with_name("peers.txt")

Value = TypeVar("Value")


@dataclass(slots=True)
class Result:
    """What a splitter took at its best, in CPU seconds, its chunks of each document, and what it raised at which."""

    seconds: float = float("inf")
    chunks: dict[str, list[Row]] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default="sample_corpus")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if absent := _absent(_packages()):
        sys.exit(f"peers.py: not installed here: {', '.join(absent)}; `make peers` makes an environment that has them")
    texts = _texts(args.folder)
    if not texts:
        sys.exit(f"peers.py: no Markdown document in {args.folder}")
    size = sum(len(text.encode()) for text in texts.values())
    bare, results = _measured(args.folder, texts, max(1, LEAST_BYTES // size), max(1, args.rounds))
    print(_table(bare, results, _judged(texts, results)))
    print(_legend(args.folder, len(texts), size, max(1, args.rounds)))
    for line in _failures(results):
        print(line)


def _packages() -> list[str]:
    """Whose versions make the figures."""
    pinned = [line.partition("==")[0] for line in PINNED.read_text("utf-8").splitlines() if "==" in line]
    return ["chunkledger", "tiktoken", *pinned]


def _absent(packages: Sequence[str]) -> list[str]:
    return [name for name in packages if not list(distributions(name=name))]


# What is measured


def _texts(folder: str) -> dict[str, str]:
    """The Markdown documents that can be read, by id."""
    entries = listed([source_of(folder)], SELECTION).entries
    reads = documents_of(entries, SETTINGS, MAX_DOCUMENT_BYTES)
    return {read.document.doc_id: read.document.text for read in reads if read.document}


def _measured(folder: str, texts: dict[str, str], copies: int, rounds: int) -> tuple[float, dict[str, Result]]:
    """CPU seconds of a bare tiktoken pass over so many copies of the texts, and what each splitter made of them."""
    encoding, bare = reference_encoding(ENCODING), float("inf")
    results = {name: Result() for name in [*PEERS, OURS, OURS_INGEST]}
    with tempfile.TemporaryDirectory() as made:
        _warm_up(Path(made))
        for number in range(rounds):
            seconds, _ = _timed(
                lambda: [encoding.encode_ordinary(text) for _ in range(copies) for text in texts.values()]
            )
            bare = min(bare, seconds)
            for name, make in PEERS.items():
                _split(results[name], [make(ENCODING, MAX_TOKENS) for _ in range(copies)], texts)
            _records(results[OURS], texts, copies)
            _ingest(results[OURS_INGEST], folder, copies, Path(made, f"ledger-{number}"))
    return bare, results


def _split(result: Result, splitters: Sequence[Split], texts: dict[str, str]) -> None:
    """Split each text once with each of the splitters; a text that one can't split is left out."""
    seconds, chunks = _timed(lambda: [_chunks(split, texts, result.raised) for split in splitters])
    result.seconds, result.chunks = min(result.seconds, seconds), chunks[0]


def _chunks(split: Split, texts: dict[str, str], raised: dict[str, str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for doc_id, text in texts.items():
        try:
            found[doc_id] = split(text)
        except Exception as error:  # whatever a peer raises; its other documents are measured all the same
            raised[doc_id] = type(error).__name__
    return found


def _records(result: Result, texts: dict[str, str], copies: int) -> None:
    """Make the records of the texts so many times: chunks with every count, offset, boundary and flag."""
    documents = [Document(doc_id, text, "", "markdown") for doc_id, text in texts.items()]
    seconds, made = _timed(lambda: [chunk_batch(documents, SETTINGS) for _ in range(copies)])
    result.seconds, result.chunks = min(result.seconds, seconds), {}
    for row in made[-1].select(KEYS).to_pylist():
        result.chunks.setdefault(row["doc_id"], []).append(row)


def _ingest(result: Result, folder: str, copies: int, out: Path) -> None:
    """Ingest the folder so many times in one run, as sources with names of their own, in this process."""
    sources = [f"{number}={folder}" for number in range(copies)]
    # With worker processes their start would count too, and process_time would not see their work.
    seconds, _ = _timed(lambda: ingest(sources, out, SETTINGS, selection=SELECTION, jobs=0))
    result.seconds, result.chunks = min(result.seconds, seconds), {}
    for row in open_ledger(out).chunks(KEYS).to_pylist():
        copy, _, doc_id = row["doc_id"].partition("/")
        if copy == "0":
            result.chunks.setdefault(doc_id, []).append(row)


def _warm_up(made: Path) -> None:
    """One ingest, so that imports and vocabularies are there."""
    (made / "tiny").mkdir()
    (made / "tiny" / "a.md").write_text("# One\n\nTwo.\n", "utf-8")
    ingest([made / "tiny"], made / "tiny-ledger", SETTINGS, jobs=0)


def _timed(work: Callable[[], Value]) -> tuple[float, Value]:
    # What other splitters left is neither collected nor looked through at the cost of this one.
    gc.collect()
    gc.freeze()
    started = time.process_time()
    value = work()
    return time.process_time() - started, value


# What is printed


def _judged(texts: dict[str, str], results: dict[str, Result]) -> dict[str, dict[str, Any]]:
    """The judge's figures for each splitter."""
    from judge import FAULTS, Structure  # it needs markdown-it-py, and an absent package is reported first

    measure = Measure(reference_encoding(ENCODING), MAX_TOKENS)
    seen: dict[str, Counter[str]] = {name: Counter() for name in results}
    for doc_id, text in texts.items():
        structure = Structure(text, measure)
        for name, counts in seen.items():
            if doc_id in results[name].raised:
                counts["documents"] += 1  # not lossless; there is nothing else to count
                continue
            counts.update(judged(text, results[name].chunks.get(doc_id, []), measure, structure)[0])
    return {name: figures(counts, FAULTS, MAX_TOKENS) for name, counts in seen.items()}


def _table(bare: float, results: dict[str, Result], found: dict[str, dict[str, Any]]) -> str:
    lines = [f"| splitter | CPU | {' | '.join(COLUMNS)} |", "|---|" + "--:|" * (1 + len(COLUMNS))]
    for name, result in results.items():
        given = any(row["token_count"] for rows in result.chunks.values() for row in rows)
        cells = [_cell(found[name][key], key, given) for key in COLUMNS.values()]
        lines.append(f"| {name} | {result.seconds / bare:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float, key: str, counts_given: bool) -> str:
    if key == "counts" and not counts_given:
        return "-"
    return f"{value:.2f}" if key == "excess" else f"{value:.1f}"


def _legend(folder: str, documents: int, size: int, rounds: int) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in _packages())
    return f"""
{os.path.basename(os.path.abspath(folder))}: {documents} Markdown documents, {size / 1e6:.1f} MB; at most {MAX_TOKENS} \
tokens of {ENCODING}, no overlap; Python {platform.python_version()}, {versions}.

CPU: user and system time, least of {rounds} rounds, as a ratio to one bare tiktoken pass over the same documents. \
Splitters split texts that are in memory; chunkledger also counts each chunk four ways, its boundaries, and describes \
it. All of its ingest goes from reading the files to a recount of some chunks and the committed Parquet. \
Clean: chunks with no fault of `benchmarks/judge.py`. Excess: chunks to the least possible number. Over: chunks of \
more than {MAX_TOKENS} tokens. Lossless: documents of which nothing but blanks is in no chunk. "-": the splitter gives \
no counts."""


def _failures(results: dict[str, Result]) -> list[str]:
    """A line for each splitter that raised."""
    return [
        f"\n{name} is measured without {', '.join(f'{doc_id} ({error})' for doc_id, error in result.raised.items())}."
        for name, result in results.items()
        if result.raised
    ]


if __name__ == "__main__":
    main()
