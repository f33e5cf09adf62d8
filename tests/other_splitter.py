"""A splitter as many are: at headings down to the second level, or blank lines of plain text, to a size at most.

`python tests/other_splitter.py` writes what it makes of the sample corpus, for tests, the README and the demo.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from ledgers import SAMPLE_CORPUS

OTHER_SPLITTER = Path(__file__).parent / "outliers" / "other_splitter.jsonl"
MOST_CHARACTERS = 4000
_STARTS = {".md": re.compile(r"^##? ", re.MULTILINE), ".rst": re.compile(r"^(?=\.\. )", re.MULTILINE)}
_PARAGRAPH = re.compile(r"(?<=\n\n)(?=\S)")
_BAD = ("latin1.txt", "utf16.txt", "blank.md", "empty.md", ".draft.md")


def rows() -> Iterator[dict[str, object]]:
    """The chunks of the sample corpus, with where they start."""
    for path in sorted(SAMPLE_CORPUS.rglob("*")):
        if path.suffix in (".md", ".txt", ".rst") and path.name not in _BAD:
            text = path.read_bytes().decode().removeprefix("\ufeff")
            found = _STARTS.get(path.suffix, _PARAGRAPH).finditer(text)
            starts = [0, *(match.start() for match in found if match.start())]
            for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
                for first in range(start, end, MOST_CHARACTERS):
                    piece = text[first : min(end, first + MOST_CHARACTERS)]
                    if piece.strip():
                        doc_id = path.relative_to(SAMPLE_CORPUS).as_posix()
                        yield {"doc_id": doc_id, "text": piece.rstrip(), "char_start": first, "splitter": "by heading"}
    for row in pq.read_table(SAMPLE_CORPUS / "support" / "lab_notes.parquet").to_pylist():
        yield {"doc_id": row["id"], "text": row["text"], "splitter": "by row"}


def written() -> str:
    """The same as a table of chunks."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows())


if __name__ == "__main__":
    OTHER_SPLITTER.write_text(written(), "utf-8")
