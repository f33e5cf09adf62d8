"""Where the golden documents are cut, and what the chunks count.

`python tests/golden/spans.py` writes `spans.json` anew. Look at its difference, and say in the commit why it changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from chunkledger import Settings, chunk_text
from chunkledger.model import Format

HERE = Path(__file__).parent
STORED = HERE / "spans.json"
DOCUMENTS: tuple[tuple[str, Format], ...] = (("guide.md", "markdown"), ("notes.md", "markdown"), ("plain.txt", "plain"))
SETTINGS = {
    "default": Settings(),
    "small": Settings(encoding="cl100k_base", max_tokens=48, min_tokens=8, template="markdown/1"),
    "sections": Settings(max_tokens=96, split_headings=6, overlap_tokens=24, min_tokens=8),
}


def spans() -> dict[str, list[str]]:
    """For each document under each settings a line a chunk: span, kind, counts, flags, boundaries, first words."""
    found: dict[str, list[str]] = {}
    for name, form in DOCUMENTS:
        text = (HERE / name).read_bytes().decode()
        for label, settings in SETTINGS.items():
            found[f"{name} {label}"] = [
                f"{chunk.char_start}-{chunk.char_end} {chunk.kind} text {chunk.token_count} embed {chunk.embed_tokens} "
                f"rendered {chunk.rendered_tokens} joined {chunk.joined_tokens} flags {','.join(chunk.flags)} "
                f"cuts {chunk.boundary_chars} {chunk.text[:24]!r}"
                for chunk in chunk_text(text, settings, format=form, doc_id=name)
            ]
    return found


def content() -> str:
    """The file as it should be."""
    return json.dumps(spans(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    STORED.write_text(content(), "utf-8")
    sys.stderr.write(f"wrote {STORED}\n")
