"""The slow, obvious version: strings built by hand and counted by tiktoken itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chunkledger.counting.vocabulary import reference_encoding

Row = Mapping[str, Any]


def tokens(text: str, encoding: str) -> int:
    """Tokens of the text, special tokens taken as plain text."""
    return len(reference_encoding(encoding).encode_ordinary(text))


def block_by_hand(row: Row, text: str, *, truncated: bool = False) -> str:
    """The block of one chunk, written out here without `packer.render`."""
    shown = text if truncated and text.endswith(("\n", "\r")) else f"{text}\n"
    if truncated:
        marker = "[truncated: the rest of this chunk did not fit]\n"
        return f"{opening(row)}{defused_by_hand(shown, row)}{marker}{closing(row)}"
    return f"{opening(row)}{defused_by_hand(text, row)}\n{closing(row)}"


def opening(row: Row) -> str:
    """Header line and context of a chunk's block, number 1."""
    section = re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", " > ".join(row["heading_path"]))
    if row["template"] == "xml/1":
        place = f' section="{_escaped(section)}"' if section else ""
        header = f'<chunk n="1" source="{_escaped(row["doc_id"])}"{place}>\n'
    else:
        header = f"### [1] {row['doc_id']}{f': {section}' if section else ''}\n"
    return header + (f"{defused_by_hand(row['context'], row)}\n" if row["context"] else "")


def closing(row: Row) -> str:
    """The line that ends a chunk's block."""
    return "</chunk>\n" if row["template"] == "xml/1" else "* * *\n"


def merged_by_hand(rows: Sequence[Row], document_text: str) -> str:
    """The block of neighbours merged: the first one's opening, the document's slice, a newline, the closing."""
    text = document_text[rows[0]["char_start"] : rows[-1]["char_end"]]
    return f"{opening(rows[0])}{defused_by_hand(text, rows[0])}\n{closing(rows[0])}"


def _escaped(value: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        value = value.replace(char, entity)
    return value


def defused_by_hand(text: str, row: Row) -> str:
    """The text with the marks of the row's template made harmless."""
    if row["template"] == "xml/1":
        return re.sub("<(?=/?chunk)", "&lt;", text, flags=re.IGNORECASE | re.ASCII)
    kept = [
        f"\\{line}" if line.startswith("### [") or re.fullmatch(r"\* \* \*[ \t]*[\r\n]*", line) else line
        for line in re.split("(?<=\n)|(?<=\r)(?!\n)", text)
    ]
    return "".join(kept)
