"""Grapheme clusters: what a reader takes for one character (Unicode UAX 29).

The only module that knows regex.
"""

from __future__ import annotations

import re

import numpy as np
import regex

from chunkledger.model import BoolArray, IntArray

_GRAPHEME = regex.compile(r"\X")
_JOINING = regex.compile(
    r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}\p{GCB=Prepend}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}]++|\r\n"
)
"""All that can make one cluster of several characters; between two others a cluster always ends."""
_EXTENDING = regex.compile(r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]++")
"""What belongs to the character before it, be that a stop or a blank."""
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]{64}(?=[\U0001f1e6-\U0001f1ff])")
"""An even number of regional indicators before one more: two are a flag, so a cluster ends between them."""
_LAST_BLANK = 0x3000
_BLANK = np.array([chr(code).isspace() for code in range(_LAST_BLANK + 1)] + [False])


def grapheme_starts(text: str) -> IntArray:
    """Where each extended grapheme cluster starts, in code points, ascending.

    CR and LF stay together; an emoji family, or a letter with its combining marks, is one cluster.

    >>> grapheme_starts("e\u0301a").tolist()
    [0, 2]
    """
    is_start = np.ones(len(text), np.bool_)
    if text.isascii():
        values = np.frombuffer(text.encode(), np.uint8)
        is_start[1:] = (values[1:] != ord("\n")) | (values[:-1] != ord("\r"))
        return np.flatnonzero(is_start)
    for start, end in _unclear(text):
        is_start[start:end] = False
        is_start[_matched(text, start, end)] = True
    return np.flatnonzero(is_start)


def text_graphemes(text: str) -> IntArray:
    r"""Where each grapheme that is not blank starts, in code points.

    >>> text_graphemes("a e\u0301").tolist()
    [0, 2]
    """
    starts = grapheme_starts(text)
    if not len(starts):
        return starts
    found: BoolArray = np.logical_or.reduceat(~_blanks(text), starts)
    return starts[found]


def at_clusters(text: str, places: IntArray) -> IntArray:
    r"""Places that follow a stop, a comma or a blank, in code points, those within a cluster moved behind it.

    Where blanks follow the cluster, nothing starts there, and the place is left out.

    >>> at_clusters("ok.\ufe00No. Ah, \u0301 so", np.array([3, 8, 12])).tolist()
    [4, 8]
    """
    if not _EXTENDING.search(text):
        return places
    moved: list[int] = []
    for place in places.tolist():
        marks = _EXTENDING.match(text, place)
        there = marks.end() if marks else place
        if not marks or not text[there : there + 1].isspace():
            moved.append(there)
    return np.unique(np.array(moved, np.int64))


def is_grapheme(text: str) -> bool:
    """Whether the text is one grapheme."""
    first = _GRAPHEME.match(text)
    return first is not None and first.end() == len(text)


def _unclear(text: str) -> list[tuple[int, int]]:
    """Spans in which clusters must be looked for: what can join, with a character on both sides."""
    spans = np.array([match.span() for match in _JOINING.finditer(text)], np.int64).reshape(-1, 2)
    start, end = np.maximum(spans[:, 0] - 1, 0), np.minimum(spans[:, 1] + 1, len(text))
    first = np.flatnonzero(np.append(True, start[1:] > end[:-1])[: len(start)])
    last = np.append(first[1:], len(start))[: len(first)] - 1
    return list(zip(start[first].tolist(), end[last].tolist(), strict=True))


def _matched(text: str, start: int, end: int) -> list[int]:
    """Where clusters start in a span that starts with one."""
    found: list[int] = []
    part = text[start:end]
    begun = 0
    # In a run of flags the pattern looks back to the run's start each time: 4 s for 10,000 of them in one slice.
    for border in (*(match.end() for match in _FLAGS.finditer(part)), len(part)):
        found += [start + begun + match.start() for match in _GRAPHEME.finditer(part[begun:border])]
        begun = border
    return found


def _blanks(text: str) -> BoolArray:
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    result: BoolArray = _BLANK[np.minimum(codes, _LAST_BLANK + 1)]
    return result
