"""Plain text -> block ranges: paragraphs parted by blank lines."""

from __future__ import annotations

import re

from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges

_PARAGRAPH = re.compile(r"[^\s][^\r\n]*(?:(?:\r\n|\n|\r)[^\S\r\n]*[^\s][^\r\n]*)*")


def plain_blocks(text: str, data: bytes) -> Ranges:
    """One paragraph for each run of lines that are not blank.

    Args:
        text: the document.
        data: its UTF-8 bytes.
    """
    spans = [match.span() for match in _PARAGRAPH.finditer(text)]
    if len(data) != len(text):
        spans = _in_bytes(text, spans)
    return Ranges(
        [start for start, _ in spans], [end for _, end in spans], [kinds.PARAGRAPH] * len(spans), [0] * len(spans)
    )


def _in_bytes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    moved: list[tuple[int, int]] = []
    character = byte = 0
    for start, end in spans:
        byte += len(text[character:start].encode())
        length = len(text[start:end].encode())
        moved.append((byte, byte + length))
        byte += length
        character = end
    return moved
