"""How many cited passages a border of chunks cuts, as a ratio to what borders thrown anywhere would cut.

`python benchmarks/evidence.py FOLDER PASSAGES.tsv [ENCODING]`. PASSAGES.tsv has a line for each passage that somebody
cited as evidence for an answer: document id below FOLDER, first character, first character behind it (code points of
the decoded text), with tabs between; further columns are passed over, a passage that is there twice counts once.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import pairwise

from chunkledger import Settings, chunk_text
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.model import Document

SIZES = (200, 400, 800)

Span = tuple[int, int]


def main() -> None:
    """Print a line for each size."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} FOLDER PASSAGES.tsv [ENCODING]")
    folder, table, *rest = sys.argv[1:]
    passages = _passages(table)
    documents = [each for each in _documents(folder) if each.doc_id in passages]
    print(f"{sum(len(passages[each.doc_id]) for each in documents)} passages in {len(documents)} documents")
    all_cut, all_blind = 0, 0.0
    for size in SIZES:
        settings = Settings(encoding=rest[0] if rest else "cl100k_base", max_tokens=size)
        found = [_cut(each, passages[each.doc_id], settings) for each in documents]
        cut, blind = sum(cut for cut, _ in found), sum(blind for _, blind in found)
        all_cut, all_blind = all_cut + cut, all_blind + blind
        print(f"  {size:>5} tokens: {cut} cut, {blind:.1f} by borders anywhere, ratio {_ratio(cut, blind)}")
    print(f"  all sizes: ratio {_ratio(all_cut, all_blind)}")


def _passages(table: str) -> dict[str, set[Span]]:
    found: dict[str, set[Span]] = defaultdict(set)
    with open(table, encoding="utf-8") as lines:
        for line in lines:
            doc_id, start, end = line.rstrip("\n").split("\t")[:3]
            found[doc_id].add((int(start), int(end)))
    return found


def _documents(folder: str) -> list[Document]:
    entries = listed([source_of(folder)], Selection()).entries
    return [read.document for read in documents_of(entries, Settings(), MAX_DOCUMENT_BYTES) if read.document]


def _cut(document: Document, passages: set[Span], settings: Settings) -> tuple[int, float]:
    """How many are cut, and how many would be on average if as many borders fell anywhere in the text."""
    text = document.text
    chunks = chunk_text(text, settings, format=document.format, doc_id=document.doc_id)
    borders = [chunk.char_end for chunk, _ in pairwise(chunks) if chunk.char_end is not None]
    cut, blind = 0, 0.0
    for start, end in passages:
        # A passage is cut where something of it is on both sides: the stop of its last sentence is not always cited.
        cut += any(text[start:border].strip() and text[border : end - 1].strip() for border in borders)
        inner = len(text[start:end].strip()) - 1
        blind += 1 - (1 - inner / len(text)) ** len(borders)
    return cut, blind


def _ratio(cut: int, blind: float) -> str:
    return f"{cut / blind:.3f}" if blind else "-"


if __name__ == "__main__":
    main()
