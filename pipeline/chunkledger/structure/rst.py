"""reStructuredText -> block ranges: a scanner over lines that keeps the open blocks on a stack of its own.

Which construct a line opens follows docutils' reStructuredText specification and, where that is silent, its parser
(`docutils/parsers/rst/states.py`, 0.23). docutils itself gives no ranges, and recurses once a level.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges
from chunkledger.structure.rst_enumerators import Enumerator, enumerator
from chunkledger.structure.rst_held import HeldBlocks
from chunkledger.structure.rst_lines import Lines, column_behind, lines_of
from chunkledger.structure.rst_marks import (
    ADORNMENT,
    CODE_DIRECTIVES,
    EXPLICIT,
    HEADER,
    MARK,
    OPENED_BY_TEXT,
    QUOTING,
    SHORT,
    TARGET_NAME,
)
from chunkledger.structure.rst_tables import Rows, borders_of, csv_table_rows, grid_rows, list_table_rows, simple_rows


def rst_blocks(text: str, data: bytes) -> Ranges:
    """The blocks of a reStructuredText document; together they cover all that is not blank.

    What docutils reports as an error stays text: a short underline, a title inside a list, a table without a bottom.
    Time is linear in the length of the text, whatever is nested in it.

    Args:
        text: the document.
        data: its UTF-8 bytes.
    """
    return _Scanner(lines_of(data)).scanned()


@dataclass(slots=True)
class _Scanner:
    """One pass over the lines of a document.

    Attributes:
        lines: the document.
        held: its blocks so far.
        place: byte at which the line of the construct before goes on, behind its mark; -1 where it does not.
        borders: what may be borders of simple tables, once they are asked for.
    """

    lines: Lines
    held: HeldBlocks = field(default_factory=HeldBlocks)
    place: int = -1
    borders: list[int] | None = None

    def scanned(self) -> Ranges:
        """All blocks of the document."""
        lines, held = self.lines, self.held
        indent, first, filled, frames = lines.indent, lines.first, lines.filled, held.frames
        count = len(indent) - 1
        line = filled[self._header()]
        while line < count:
            while frames[-1].level > indent[line]:
                held.close()
            if indent[line] > frames[-1].level:
                held.open_quotes(lines, line)
            place = first[line]
            while place >= 0:
                self.place = -1
                line = self._construct(line, place)
                place = self.place
            line = filled[line]
        while frames:
            held.close()
        return self.held.found

    # Constructs: each takes the line and byte where it starts and returns the line to go on with.

    def _construct(self, line: int, place: int) -> int:
        mark = MARK.match(self.lines.data, place, self.lines.end[line])
        if mark is None:
            return self._text(line, place)
        name = mark.lastgroup or ""
        following = _CONSTRUCTS[name](self, line, place, mark)
        return following if following >= 0 else self._text(line, place)

    def _header(self) -> int:
        """Take an RFC 2822 header at the top; returns the line behind it."""
        header = HEADER.match(self.lines.data)
        if not header:
            return 0
        start, end = header.start(1), len(self.lines.data[: header.end(1)].rstrip())
        self.held.add(kinds.FRONT_MATTER, start, end)
        line = 0
        while self.lines.first[line] < end:
            line += 1
        return line

    def _text(self, line: int, place: int) -> int:
        """A paragraph, a section title with an underline, or an item of a definition list."""
        lines = self.lines
        indent, end = lines.indent, lines.end
        level = self.held.level
        at = line + 1
        if indent[at] > level:
            _, _, least = lines.below(at, level)
            self.held.open_item("definition", least, place, end[line])
            return at
        if indent[at] == level and ADORNMENT.match(lines.data, lines.first[at], end[at]):
            marks = end[at] - lines.first[at]
            if marks >= SHORT or marks >= _width(lines.data[place : end[line]]):
                return self._underlined(line, place)
        while indent[at] == level:
            at += 1
        return self._paragraph(place, at)

    def _underlined(self, line: int, place: int) -> int:
        """A section title; inside another block a paragraph, as only the document itself has sections."""
        lines = self.lines
        if len(self.held.frames) > 1:
            self.held.add(kinds.PARAGRAPH, place, lines.end[line + 1])
        else:
            style = lines.data[lines.first[line + 1] : lines.first[line + 1] + 1]
            self.held.add_heading(place, lines.end[line + 1], style)
        return line + 2

    def _paragraph(self, place: int, until: int) -> int:
        """The paragraph from `place` up to the line `until`, and the literal block that it announces."""
        lines = self.lines
        end = lines.end[until - 1]
        if not (lines.data.endswith(b"::", place, end) and _announces(lines.data, place, end)):
            self.held.add(kinds.PARAGRAPH, place, end)
            return until
        start, last, following = self._literal(until)
        if end - place == 2 and start >= 0:
            self.held.add(kinds.CODE, place, last, 1)
            return following
        self.held.add(kinds.PARAGRAPH, place, end)
        if start >= 0:
            self.held.add(kinds.CODE, start, last)
        return following

    def _literal(self, line: int) -> tuple[int, int, int]:
        """Where the literal block behind this line starts and ends (-1 where there is none), and the line behind it."""
        lines = self.lines
        level = self.held.level
        start, until, _ = lines.below(line, level)
        if start == until and lines.indent[start] == level:
            mark = lines.data[lines.first[start] : lines.first[start] + 1]
            if QUOTING.match(mark):
                while lines.indent[until] == level and lines.data.startswith(mark, lines.first[until]):
                    until += 1
        if start == until:
            return -1, -1, line
        return lines.first[start], lines.end[lines.last_filled(until)], until

    def _adornment(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        """A transition, a title with an overline, or what docutils takes for a broken one."""
        lines = self.lines
        marks = lines.end[line] - place
        if len(self.held.frames) > 1:
            if marks < SHORT or lines.data.startswith(b"::", place):
                return -1
            self.held.add(kinds.PARAGRAPH, place, lines.end[line])
            return line + 1
        if lines.indent[line + 1] < 0:
            if marks < SHORT:
                return -1
            self.held.add(kinds.RULE, place, lines.end[line])
            return line + 1
        last = line + 2 if lines.indent[line + 2 if line + 2 < len(lines.indent) else -1] >= 0 else line + 1
        over, under = mark[0], lines.data[lines.first[last] : lines.end[last]]
        second = lines.indent[line + 1] == 0 and ADORNMENT.match(lines.data, lines.first[line + 1], lines.end[line + 1])
        titled = last == line + 2 and over == under and lines.indent[last] == 0 and not second
        title = lines.data[lines.first[line + 1] : lines.end[line + 1]]
        if marks < SHORT and not (titled and _width(title) + lines.indent[line + 1] <= marks):
            return -1
        if titled:
            self.held.add_heading(place, lines.end[last], over[:1] * 2)
            return last + 1
        last = line + 1 if second else last
        self.held.add(kinds.PARAGRAPH, place, lines.end[last])
        return last + 1

    def _bullet(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        return self._item(line, place, mark, mark[0].strip().decode())

    def _enumerated(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        """An item of an enumerated list, unless the next line shows that it is a sentence."""
        frame, lines = self.held.frames[-1], self.lines
        before = frame.list_key if frame.list_block >= 0 and isinstance(frame.list_key, Enumerator) else None
        key = enumerator(mark[0].strip(), before)
        if key is None:
            return -1
        if lines.indent[line + 1] == frame.level:
            following = lines.data[lines.first[line + 1] : lines.end[line + 1] + 1].replace(b"\n", b" ")
            if not following.startswith(key.marks_after() or (b"\n",)):
                return -1
        return self._item(line, place, mark, key)

    def _item(self, line: int, place: int, mark: re.Match[bytes], key: str | Enumerator) -> int:
        """An item whose text is indented as its first line is, behind the mark."""
        lines = self.lines
        level = self.held.level
        if mark.end() < lines.end[line]:
            text = mark[0].rstrip()
            width = len(text.decode())
            column = column_behind(mark[0][len(text) :], level + width)
            self.held.open_item(key, column, place, mark.end())
            self.held.frames[-1].head_start = -1
            self.place = mark.end()
            return line
        self.held.open_item(key, lines.below(line + 1, level)[2], place, lines.end[line])
        return line + 1

    def _named(self, key: str, line: int, place: int, mark: re.Match[bytes]) -> int:
        """An item whose text is indented as the lines behind its first one are."""
        lines = self.lines
        head_end = place + len(mark[0].rstrip())
        self.held.open_item(key, lines.below(line + 1, self.held.level)[2], place, head_end)
        if mark.end() < lines.end[line]:
            self.place = mark.end()
            return line
        return line + 1

    def _field(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        if self.held.leading and len(self.held.frames) == 1:
            return self._docinfo(line, place)
        return self._named("field", line, place, mark)

    def _docinfo(self, line: int, place: int) -> int:
        """The bibliographic fields that a document begins with, behind its title where it has one."""
        lines = self.lines
        at = line
        while True:
            _, at, _ = lines.below(at + 1, 0)
            mark = MARK.match(lines.data, lines.first[at], lines.end[at])
            if lines.indent[at] != 0 or mark is None or mark.lastgroup != "field":
                break
        self.held.add(kinds.FRONT_MATTER, place, lines.end[lines.last_filled(at)])
        return at

    def _option(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        start, until, _ = self.lines.below(line + 1, self.held.level)
        if mark.end() >= self.lines.end[line] and start == until:
            return -1
        return self._named("option", line, place, mark)

    def _doctest(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        lines = self.lines
        at = line + 1
        while lines.indent[at] >= self.held.level:
            at += 1
        self.held.add(kinds.CODE, place, lines.end[at - 1])
        return at

    def _line_block(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        lines = self.lines
        level = self.held.level
        at = line + 1
        while lines.indent[at] > level or (lines.indent[at] == level and _is_line_of_block(lines, at)):
            at += 1
        self.held.add_whole(place, lines.end[at - 1])
        return at

    def _grid(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        rows = grid_rows(self.lines, line, self.held.level)
        if not rows.body and rows.until - line < 3:
            return -1
        return self._table(place, rows)

    def _simple(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        if self.borders is None:
            self.borders = borders_of(self.lines)
        rows = simple_rows(self.lines, self.borders, line, place, self.held.level)
        return -1 if rows is None else self._table(place, rows)

    def _table(self, place: int, rows: Rows) -> int:
        """A table: what stands above its first row is its head, and goes with each part of it that is cut off."""
        lines = self.lines
        end = lines.end[lines.last_filled(rows.until)]
        self.held.add(kinds.TABLE, place, end)
        parts = [place, *(lines.first[row] for row in rows.body)]
        ends = [*(lines.end[lines.last_filled(row)] for row in rows.body), end]
        for index, (start, part_end) in enumerate(zip(parts, ends, strict=True)):
            self.held.append(kinds.TABLE_ROW if index else kinds.TABLE_HEAD, start, part_end)
        return rows.until

    def _anonymous(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        return self._target(line, place)

    def _target(self, line: int, place: int) -> int:
        lines = self.lines
        at = line + 1
        while lines.indent[at] > self.held.level:
            at += 1
        leading, labels = self.held.leading, self.held.labels
        block = self.held.add(kinds.DEFINITION, place, lines.end[at - 1])
        self.held.leading = leading
        named = lines.data.startswith(b"..", place) and lines.data[lines.end[line] - 1] == ord(":")
        if named and len(self.held.frames) == 1 and at == line + 1:
            self.held.labels = block if labels < 0 else labels
        return at

    def _explicit(self, line: int, place: int, mark: re.Match[bytes]) -> int:
        """A footnote, target, substitution definition or directive; what is none of them is a comment."""
        lines = self.lines
        level = self.held.level
        start, until, least = lines.below(line + 1, level)
        what = EXPLICIT.match(lines.data, mark.end(), lines.end[line])
        name = what.lastgroup if what else ""
        if what and name == "footnote":
            self.held.open(kinds.FOOTNOTE, least, place, place + len(mark[0]) + len(what[0].rstrip()))
            self.place = what.end() if what.end() < lines.end[line] else -1
            return line if self.place >= 0 else line + 1
        if what and name == "directive":
            return self._directive(line, place, what)
        if name == "target" and self._is_target(line, mark.end()):
            return self._target(line, place)
        alone = mark.end() >= lines.end[line] and lines.indent[line + 1] < 0
        until = line + 1 if alone or start == until else until
        leading = self.held.leading
        self.held.add_whole(place, lines.end[lines.last_filled(until)])
        self.held.leading = leading
        return until

    def _is_target(self, line: int, place: int) -> bool:
        lines = self.lines
        at = line + 1
        while lines.indent[at] > self.held.level:
            at += 1
        return TARGET_NAME.match(lines.data, place, lines.end[at - 1]) is not None

    def _directive(self, line: int, place: int, what: re.Match[bytes]) -> int:
        lines = self.lines
        start, until, least = lines.below(line + 1, self.held.level)
        until = line + 1 if start == until else until
        end = lines.end[lines.last_filled(until)]
        name = what["name"].lower()
        if name == b"raw" and lines.data[what.end() : lines.end[line]].strip() == b"html":
            self.held.add(kinds.HTML, place, end)
        elif name == b"math":
            self.held.add(kinds.MATH, place, end)
        elif name in CODE_DIRECTIVES:
            self.held.add(kinds.CODE, place, end, 1)
        elif name == b"list-table":
            self._table(place, Rows(list_table_rows(lines, line, until, least), until))
        elif name == b"csv-table":
            self._table(place, Rows(csv_table_rows(lines, line, until), until))
        else:
            return self._container(line, place, what, least)
        return until

    def _container(self, line: int, place: int, what: re.Match[bytes], least: int) -> int:
        """A directive whose body is parsed: its name, arguments and options are its opening."""
        lines = self.lines
        level = self.held.level
        argued = what.end() < lines.end[line]
        if argued and what["name"].lower() in OPENED_BY_TEXT:
            self.held.open(kinds.QUOTE, least, place, place + len(lines.data[place : what.end()].rstrip()))
            self.place = what.end()
            return line
        at = line + 1
        if argued or (lines.indent[at] > level and lines.data.startswith(b":", lines.first[at])):
            while lines.indent[at] > level:
                at += 1
        self.held.open(kinds.QUOTE, least, place, lines.end[at - 1])
        return at


_CONSTRUCTS: dict[str, Callable[[_Scanner, int, int, re.Match[bytes]], int]] = {
    "bullet": _Scanner._bullet,
    "enumerated": _Scanner._enumerated,
    "field": _Scanner._field,
    "option": _Scanner._option,
    "doctest": _Scanner._doctest,
    "line_block": _Scanner._line_block,
    "grid": _Scanner._grid,
    "simple": _Scanner._simple,
    "explicit": _Scanner._explicit,
    "anonymous": _Scanner._anonymous,
    "adornment": _Scanner._adornment,
}
"""Mark -> what takes the construct; it returns -1 where the line is text after all."""


def _announces(data: bytes, start: int, end: int) -> bool:
    """Whether the `::` at the end of a paragraph is none of an escape."""
    at = end - 2
    while at > start and data[at - 1] == ord("\\"):
        at -= 1
    return (end - at) % 2 == 0


def _is_line_of_block(lines: Lines, line: int) -> bool:
    start = lines.first[line]
    return lines.data.startswith(b"|", start) and (start + 1 == lines.end[line] or lines.data[start + 1] in b" \t")


def _width(text: bytes) -> int:
    """Columns of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text.decode()
    )
