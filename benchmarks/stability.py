"""How many chunks have to be embedded again after an edit.

`python benchmarks/stability.py FOLDER [EDITS] [ENCODING]`. Documents of at least twenty chunks are edited at random,
one edit at a time, and split again; a chunk is to be embedded again where no chunk of the same document had its embed
text before. What an edit changes by itself (the chunk that it is in) counts as well.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable

from chunkledger import Settings, chunk_text
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.model import Document
from chunkledger.structure import kinds
from chunkledger.structure.markdown import markdown_blocks
from chunkledger.structure.sentences import sentence_spans

LEAST_CHUNKS = 20
SENTENCE = "This sentence was put here later, and says nothing new."


def main() -> None:
    """Print a line for each kind of edit."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    settings = Settings(encoding=sys.argv[3] if len(sys.argv) > 3 else "cl100k_base")
    choose = random.Random(1)  # noqa: S311 (the same edits each time)
    found = [(each, embedded(each, each.text, settings)) for each in markdown_documents(folder)]
    long = [(each, before) for each, before in found if before.total() >= LEAST_CHUNKS]
    if not long:
        sys.exit(f"stability.py: no document of {LEAST_CHUNKS} chunks in {folder}")
    print(f"{folder}: {len(long)} documents of at least {LEAST_CHUNKS} chunks, {count} edits of each kind")
    print("chunks to embed again: mean, median, 95th percentile, most")
    for name, edit in EDITS.items():
        again = []
        while len(again) < count:
            document, before = choose.choice(long)
            text = edit(document.text, choose)
            if text is not None:
                again.append((embedded(document, text, settings) - before).total())
        again.sort()
        print(f"  {name:<28}{sum(again) / count:6.2f} {again[count // 2]:4} {again[count * 95 // 100]:4} {again[-1]:4}")


def markdown_documents(folder: str) -> list[Document]:
    """The Markdown documents of a folder."""
    entries = listed([source_of(folder)], Selection()).entries
    reads = documents_of(entries, Settings(), MAX_DOCUMENT_BYTES)
    return [read.document for read in reads if read.document and read.document.format == "markdown"]


def embedded(document: Document, text: str, settings: Settings) -> Counter[str]:
    """The embed texts of a document."""
    chunks = chunk_text(text, settings, format=document.format, doc_id=document.doc_id)
    return Counter(chunk.embed_prefix + chunk.text for chunk in chunks)


def _paragraph(text: str, choose: random.Random) -> tuple[int, int] | None:
    """A paragraph, in code points."""
    data = text.encode()
    blocks = markdown_blocks(text, data)
    spans = [
        (start, end)
        for start, end, kind in zip(blocks.start, blocks.end, blocks.kind, strict=True)
        if kind == kinds.PARAGRAPH
    ]
    if not spans:
        return None
    start, end = choose.choice(spans)
    return len(data[:start].decode()), len(data[:end].decode())


def _replaced(text: str, choose: random.Random, edit: Callable[[str], str]) -> str | None:
    """The text with one sentence of one paragraph edited."""
    paragraph = _paragraph(text, choose)
    if paragraph is None:
        return None
    start, end = paragraph
    sentences = sentence_spans(text[start:end])
    if not sentences:
        return None
    first, last = choose.choice(sentences)
    return text[: start + first] + edit(text[start + first : start + last]) + text[start + last :]


def _sentence(text: str, choose: random.Random) -> str | None:
    edits = (lambda _: "", lambda sentence: f"{sentence} {SENTENCE}", lambda sentence: f"{sentence[:-1]}, as we said.")
    return _replaced(text, choose, choose.choice(edits))


def _paragraph_at_top(text: str, _: random.Random) -> str:
    front, _, rest = text.partition("\n\n")
    return f"{front}\n\n{SENTENCE} {SENTENCE}\n\n{rest}"


def _headings(text: str) -> list[int]:
    """Places of the headings after the first."""
    blocks = markdown_blocks(text, text.encode())
    data = text.encode()
    found = [start for start, kind in zip(blocks.start, blocks.kind, strict=True) if kind == kinds.HEADING]
    return [len(data[:start].decode()) for start in found[1:]]


def _section_deleted(text: str, choose: random.Random) -> str | None:
    places = _headings(text)
    if len(places) < 3:
        return None
    index = choose.randrange(len(places) - 1)
    return text[: places[index]] + text[places[index + 1] :]


def _heading_renamed(text: str, choose: random.Random) -> str | None:
    places = _headings(text)
    if not places:
        return None
    place = choose.choice(places)
    end = text.find("\n", place)
    return text[:end] + " renamed" + text[end:] if end >= 0 else None


EDITS: dict[str, Callable[[str, random.Random], str | None]] = {
    "one sentence": _sentence,
    "a paragraph at the top": _paragraph_at_top,
    "a section deleted": _section_deleted,
    "a heading renamed": _heading_renamed,
}

if __name__ == "__main__":
    main()
