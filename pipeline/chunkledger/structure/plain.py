"""Plain text -> block ranges: paragraphs parted by blank lines."""

from __future__ import annotations

import re

from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges, in_bytes

_PARAGRAPH = re.compile(r"[^\s][^\r\n]*(?:(?:\r\n|\n|\r)[^\S\r\n]*[^\s][^\r\n]*)*")


def plain_blocks(text: str, data: bytes) -> Ranges:
    """One paragraph for each run of lines that are not blank.

    Args:
        text: the document.
        data: its UTF-8 bytes.
    """
    spans = [match.span() for match in _PARAGRAPH.finditer(text)]
    if len(data) != len(text):
        spans = in_bytes(text, spans)
    return Ranges(
        [start for start, _ in spans], [end for _, end in spans], [kinds.PARAGRAPH] * len(spans), [0] * len(spans)
    )
