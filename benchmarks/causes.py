"""How often the cause of a flag is the kind of block that another parser finds most of the chunk in.

`python benchmarks/causes.py FOLDER [MAX_TOKENS SLOT_TOKENS]`. The Markdown documents of a folder are split at a small
limit (256, for a slot of 2,000), so that many chunks are flagged; markdown-it-py, which no station uses, says line by
line which block each line is of, tiktoken what it costs. Differences are printed with both opinions.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from chunkledger import Settings, ingest, open_ledger
from chunkledger.counting.vocabulary import reference_encoding
from chunkledger.documents.sources import Selection

ENCODING = "o200k_base"
CAUSES = {"prose": "unbroken_prose", "list": "list", "table": "table", "code": "code", "html": "html"}
_KINDS = {"fence": "code", "code_block": "code", "html_block": "html", "table_open": "table"}
_TEXT = ("paragraph_open", "heading_open")
_MOST_SHOWN = 20


def main() -> None:
    """Print how many causes are the same, and where they are not."""
    if len(sys.argv) not in (2, 4):
        sys.exit(f"usage: {sys.argv[0]} FOLDER [MAX_TOKENS SLOT_TOKENS]")
    folder = Path(sys.argv[1])
    most, slot = map(int, sys.argv[2:] or (256, 2000))
    with tempfile.TemporaryDirectory() as ledger:
        wanted = Selection(include=("*.md",))
        ingest([folder], ledger, Settings(encoding=ENCODING, max_tokens=most, slot_tokens=slot), selection=wanted)
        rows = [row for row in open_ledger(ledger).chunks().to_pylist() if row["flag_cause"] in CAUSES.values()]
    kinds = {doc_id: _line_kinds((folder / doc_id).read_text("utf-8")) for doc_id in {row["doc_id"] for row in rows}}
    other = 0
    for row in rows:
        held = _held(row, kinds[row["doc_id"]])
        if CAUSES[held.most_common(1)[0][0]] != row["flag_cause"]:
            other += 1
            if other <= _MOST_SHOWN:
                print(f"  {row['doc_id']} line {row['line_start']}: {row['flag_cause']}; there are {dict(held)}")
    print(
        f"{len(rows):,} causes, {other:,} of them another kind for the other parser ({other / max(1, len(rows)):.1%})"
    )


def _line_kinds(text: str) -> list[str]:
    """For each line of a document the kind of block that it is of; what is in no block is prose."""
    kinds = ["prose"] * (text.count("\n") + 2)
    depth = 0
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        depth += {"list_item_open": 1, "list_item_close": -1}.get(token.type, 0)
        kind = _KINDS.get(token.type) or (("list" if depth else "prose") if token.type in _TEXT else None)
        if token.map is not None and kind is not None:
            for line in range(*token.map):
                kinds[line] = kind
    return kinds


def _held(row: dict[str, Any], kinds: list[str]) -> Counter[str]:
    """Tokens of each kind of block in a chunk, line by line."""
    encoding = reference_encoding(ENCODING)
    found: Counter[str] = Counter()
    for number, line in enumerate(row["text"].split("\n"), row["line_start"] - 1):
        found[kinds[number]] += len(encoding.encode_ordinary(f"{line}\n"))
    return found


if __name__ == "__main__":
    main()
