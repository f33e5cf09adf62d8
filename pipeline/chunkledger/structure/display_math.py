"""Display math as a block: what stands between two `$$`, blank lines included.

The parser sees math only inside a paragraph, and takes what stands between blank lines of a longer formula for
paragraphs, lists or headings. TeX itself allows no blank line there, but people write them and renderers show them.
"""

from __future__ import annotations

import bisect
import itertools
import re

from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges

_LINE_END = rb"(?>\r\n|\n|\r)"
_FENCED = re.compile(
    rb"(?<![^\r\n]) {0,3}(?P<math>\$\$)[ \t]*" + _LINE_END + rb"(?:(?! {0,3}(?:\#{1,6}[ \t]|```|~~~|\$\$))"
    rb"[^\r\n]*" + _LINE_END + rb")*? {0,3}\$\$[ \t]*(?=[\r\n]|\Z)"
)
"""Two lines of `$$` alone; a heading or a fence between them says that they do not belong together."""
_VERBATIM = (kinds.CODE, kinds.HTML, kinds.FRONT_MATTER)


def with_display_math(found: Ranges, data: bytes) -> Ranges:
    """The same blocks, those that display math holds or is made of replaced by one block of math each.

    Args:
        found: blocks of one document.
        data: its UTF-8 bytes.
    """
    made = Ranges([], [], [], [])
    done = 0
    for start, end in sorted([*_fenced_spans(found, data), *_paragraph_spans(found, data)]):
        first, last = bisect.bisect_left(found.start, start), bisect.bisect_left(found.start, end)
        if first < done:
            continue
        for column, values, value in zip(made, found, (start, 0, kinds.MATH, 0), strict=True):
            column += values[done:first]
            column.append(value)
        made.end[-1] = max([end, *found.end[first:last]])
        done = last
    for column, values in zip(made, found, strict=True):
        column += values[done:]
    return made


def _fenced_spans(found: Ranges, data: bytes) -> list[tuple[int, int]]:
    """Formulas between lines of `$$` alone that start a block and are not inside code, HTML or another block."""
    spans: list[tuple[int, int]] = []
    reach = list(itertools.accumulate(found.end, max))
    for match in _FENCED.finditer(data):
        start = match.start("math")
        index = bisect.bisect_left(found.start, start)
        starts_block = index < len(found.start) and found.start[index] == start
        if starts_block and found.kind[index] not in _VERBATIM and (index == 0 or reach[index - 1] <= start):
            spans.append((start, match.end()))
    return spans


def _paragraph_spans(found: Ranges, data: bytes) -> list[tuple[int, int]]:
    """Paragraphs that are one formula and nothing else, and that no line of `$$` alone opens."""
    spans: list[tuple[int, int]] = []
    for start, end, kind in zip(found.start, found.end, found.kind, strict=True):
        if kind == kinds.PARAGRAPH and data.startswith(b"$$", start):
            source = data[start:end].rstrip()
            inner = source[2:-2]
            if len(source) > 4 and source.endswith(b"$$") and b"$$" not in inner and inner[:1] not in b"\r\n":
                spans.append((start, end))
    return spans
