"""Rows of reStructuredText tables: grids, simple ones, and those that the list-table and csv-table directives hold."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from chunkledger.structure.rst_lines import Lines

_GRID_EDGE = re.compile(rb"\+-[-+]+-\+[ \t]*+\Z")
_GRID_SEPARATOR = re.compile(rb"\+[-+]+\+\Z")
_GRID_HEAD_END = re.compile(rb"\+=[=+]+=\+\Z")
_SIMPLE_BORDER = re.compile(rb"=[ =]*\Z")
_SIMPLE_SPAN = re.compile(rb"-[ -]*\Z")
_LIST_ITEM = re.compile(rb"(?:[-+*]|\xe2\x80[\xa2\xa3]|\xe2\x81\x83)(?:[ \t]|\Z)")
_HEADER_ROWS = re.compile(rb":header-rows:[ \t]*+([0-9]{1,4})\Z")


class Rows(NamedTuple):
    """A table's parts, as lines.

    Attributes:
        body: the first line of each row of the body. The head, which has the top border or the directive's opening,
            goes up to the first of them.
        until: the line behind the table's last one.
    """

    body: list[int]
    until: int


def grid_rows(lines: Lines, top: int, level: int) -> Rows:
    """The rows of a grid table, parted at separators that cross all of it; no rows where it has no bottom.

    Args:
        lines: the document.
        top: the line that has the top border.
        level: indentation of the block that the table is in.
    """
    data, first, end = lines.data, lines.first, lines.end
    at = top + 1
    while lines.indent[at] == level and data[first[at]] in b"+|":
        at += 1
    bottom = at - 1
    while bottom > top and not _GRID_EDGE.match(data, first[bottom], end[bottom]):
        bottom -= 1
    if bottom < top + 2:
        return Rows([], at)
    body: list[int] = []
    head_end = 0
    for line in range(top + 1, bottom):
        if data[first[line]] != ord("+"):
            continue
        if not head_end and _GRID_HEAD_END.match(data, first[line], end[line]):
            head_end = line
            body = [line + 1]
        elif _GRID_SEPARATOR.match(data, first[line], end[line]):
            body.append(line + 1)
    return Rows(body if head_end else [top + 1, *body], bottom + 1)


def borders_of(lines: Lines) -> list[int]:
    """The lines that may be borders of simple tables, ascending."""
    data, first, end = lines.data, lines.first, lines.end
    return [
        line
        for line, column in enumerate(lines.indent)
        if column >= 0 and data[first[line]] == ord("=") and _SIMPLE_BORDER.match(data, first[line], end[line])
    ]


def simple_rows(lines: Lines, borders: list[int], top: int, place: int, level: int) -> Rows | None:
    """The rows of a simple table, or None where no border as long as the top one closes it.

    Args:
        lines: the document.
        borders: what `borders_of` gives.
        top: the line that has the top border.
        place: byte where that border starts.
        level: indentation of the block that the table is in.
    """
    found: list[int] = []
    last = top
    for line in _borders_at(lines, borders, top, level):
        if not _within(lines, last, line, level) or lines.end[line] - lines.first[line] != lines.end[top] - place:
            return None
        found.append(line)
        last = line
        if lines.indent[line + 1] < level:
            break
    if not found or (len(found) == 1 and lines.indent[last + 1] >= level):
        return None
    head_end = found[0] if len(found) == 2 else top
    column = lines.data.index(b" ", place) - place
    body = _simple_body(lines, head_end + 1, last, level + column)
    return Rows(body, last + 1) if body else None


def _borders_at(lines: Lines, borders: list[int], top: int, level: int) -> list[int]:
    """The next two borders behind the top one that are not indented further.

    A border is passed over only by the nearest top before it of each lower indentation, so all calls together take
    time linear in the text.
    """
    found: list[int] = []
    at = bisect_left(borders, top + 1)
    while at < len(borders) and len(found) < 2:
        if lines.indent[borders[at]] <= level:
            found.append(borders[at])
        at += 1
    return found


def _within(lines: Lines, line: int, until: int, level: int) -> bool:
    """Whether no line behind the first one, up to the second and with it, has less indentation than `level`."""
    at = lines.filled[line + 1]
    if lines.indent[at] < level:
        return False
    while at < until:
        if lines.shallower[at] > until:
            return True
        at = lines.shallower[at]
        if lines.indent[at] < level:
            return False
    return at == until and lines.indent[at] == level


def _simple_body(lines: Lines, start: int, bottom: int, column: int) -> list[int]:
    """The first line of each row: one with text in the first column, or the one behind a line of spans."""
    data, first, end = lines.data, lines.first, lines.end
    body: list[int] = []
    waiting, texted = start, False
    for line in range(start, bottom):
        if lines.indent[line] < 0:
            continue
        if data[first[line]] == ord("-") and _SIMPLE_SPAN.match(data, first[line], end[line]):
            if not texted:
                body.append(lines.filled[waiting])
            waiting, texted = line + 1, False
        elif lines.indent[line] < column:
            body.append(lines.filled[waiting] if not texted else line)
            texted = True
    return body


def list_table_rows(lines: Lines, line: int, until: int, level: int) -> list[int]:
    """The first line of each row of a list-table directive's body.

    Args:
        lines: the document.
        line: the directive's own.
        until: the line behind its body.
        level: indentation of the body.
    """
    heads, start = _options(lines, line, until)
    found = [
        at
        for at in range(start, until)
        if lines.indent[at] == level and _LIST_ITEM.match(lines.data, lines.first[at], lines.end[at])
    ]
    return found[heads:]


def csv_table_rows(lines: Lines, line: int, until: int) -> list[int]:
    """The first line of each row of a csv-table directive's body; a quoted cell may go over several lines.

    Args:
        lines: the document.
        line: the directive's own.
        until: the line behind its body.
    """
    heads, start = _options(lines, line, until)
    found: list[int] = []
    quoted = False
    for at in range(start, until):
        if lines.indent[at] < 0:
            continue
        if not quoted:
            found.append(at)
        quoted ^= lines.data.count(b'"', lines.first[at], lines.end[at]) % 2 == 1
    return found[heads:]


def _options(lines: Lines, line: int, until: int) -> tuple[int, int]:
    """How many header rows a table directive says it has, and the first line behind its title and options."""
    heads = 0
    at = line + 1
    while at < until and lines.indent[at] >= 0:
        option = _HEADER_ROWS.match(lines.data, lines.first[at], lines.end[at])
        heads = int(option[1]) if option else heads
        at += 1
    return heads, at
