"""The lines of a reStructuredText document, with their indentation and where their blocks end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

_TAB_WIDTH = 8
"""Columns of a tab stop, as docutils has it."""
_ODD_SPACES = bytes.maketrans(b"\x0b\x0c\x1c\x1d\x1e\x1f", b"      ")
_EXOTIC_RUN = re.compile(
    rb"(?:\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"
    rb"(?:[ \t]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)*+(\n|\Z)?"
)
"""Blanks beyond ASCII, and whether the line ends behind them. Always consumed whole, so that time stays linear."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one document: parallel lists, one entry more than there are lines (a blank one at the end).

    Attributes:
        data: the document's bytes, as wide as they were: every line end is a newline, odd blanks are spaces.
        indent: column of each line's first character that is no blank; -1 where there is none.
        first: byte of that character.
        end: byte behind the line's last character that is no blank.
        filled: the index of the line itself if it is not blank, else of the next one that is not.
        shallower: the index of the next line that is not blank and has less indentation.
    """

    data: bytes
    indent: list[int]
    first: list[int]
    end: list[int]
    filled: list[int]
    shallower: list[int]

    def below(self, line: int, column: int) -> tuple[int, int, int]:
        """The block of lines from `line` on that are indented by more than `column`.

        Each step along `shallower` passes lines of the block, so all calls together take time linear in the text.

        Returns:
            Its first line that is not blank, the first line behind it that is not blank, and its least indentation;
            where there is no such block the first two are equal.
        """
        start = at = self.filled[line]
        least = column + 1
        while self.indent[at] > column:
            least = self.indent[at]
            at = self.shallower[at]
        return start, at, least

    def last_filled(self, line: int) -> int:
        """The nearest line before `line` that is not blank."""
        line -= 1
        while self.indent[line] < 0:
            line -= 1
        return line


def lines_of(source: bytes) -> Lines:
    """The lines of a document, from its UTF-8 bytes."""
    data = _normalised(source)
    raw = data.split(b"\n")
    kept = list(map(bytes.rstrip, raw))
    bare = list(map(len, map(bytes.lstrip, kept)))
    full = list(map(len, kept))
    start = [0, *accumulate(len(line) + 1 for line in raw)]
    indent = [width - inner if inner else -1 for width, inner in zip(full, bare, strict=True)]
    first = [at + width - inner for at, width, inner in zip(start, full, bare, strict=False)]
    end = [at + width for at, width in zip(start, full, strict=False)]
    if b"\t" in data:
        for line, text in enumerate(kept):
            if indent[line] > 0 and b"\t" in text[: indent[line]]:
                indent[line] = len(text[: indent[line]].expandtabs(_TAB_WIDTH))
    for column, value in ((indent, -1), (first, len(data)), (end, len(data))):
        column.append(value)
    filled, shallower = _following(indent)
    return Lines(data, indent, first, end, filled, shallower)


def column_behind(blanks: bytes, column: int) -> int:
    r"""The column behind these blanks, which start in `column`.

    >>> column_behind(b" ", 1), column_behind(b"\t", 1)
    (2, 8)
    """
    if b"\t" not in blanks:
        return column + len(blanks)
    for blank in blanks:
        column += _TAB_WIDTH - column % _TAB_WIDTH if blank == ord("\t") else 1
    return column


def _normalised(data: bytes) -> bytes:
    if b"\r" in data:
        data = data.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
    data = data.translate(_ODD_SPACES)
    if data.isascii():
        return data
    return _EXOTIC_RUN.sub(lambda run: run[0] if run[1] is None else b" " * (len(run[0]) - len(run[1])) + run[1], data)


def _following(indent: list[int]) -> tuple[list[int], list[int]]:
    count = len(indent) - 1
    filled, shallower = [count] * (count + 1), [count] * (count + 1)
    waiting: list[int] = []
    later = count
    for line in range(count - 1, -1, -1):
        column = indent[line]
        if column >= 0:
            while waiting and indent[waiting[-1]] >= column:
                waiting.pop()
            if waiting:
                shallower[line] = waiting[-1]
            waiting.append(line)
            later = line
        filled[line] = later
    return filled, shallower
