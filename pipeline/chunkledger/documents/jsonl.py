"""JSON Lines -> rows, a line at a time; a row is found again by the byte where its line starts."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO

from chunkledger.documents.decoding import UndecodableError, text_in
from chunkledger.documents.rows import NestingError, Place, Row, RowError, TableError, row_of
from chunkledger.settings import Settings

_ESCAPED = 6
"""Most bytes that JSON takes for one byte of a text (`\\u0041`)."""
_BESIDE_TEXT = 1024 * 1024
"""What a line may hold besides the longest text."""
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_REASON = 200
_MOST_PARSED_DEPTH = 256
"""What Python's parser manages from any caller; deeper lines are not given to it, as it may fail or not."""
_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([\[{])|([\]}])', re.DOTALL)
"""Strings, also one that does not end (so that no quote in it is tried again), and brackets outside of them."""


def all_rows(file: IO[bytes], settings: Settings, longest: int) -> Iterator[tuple[Place, Row | RowError]]:
    """Every row of the table in the order of its lines; blank lines count as lines, and are no rows.

    Args:
        file: open at its start.
        settings: which columns hold id and text, and what the text may be encoded in.
        longest: most bytes of a document; a line that must hold more is not read whole.

    Raises:
        TableError: the file is UTF-16, whose lines can't be told apart by bytes.
    """
    limit = longest * _ESCAPED + _BESIDE_TEXT
    number = offset = 0
    while line := file.readline(limit):
        number += 1
        if offset == 0 and line.startswith(_MARKS):
            raise TableError("is UTF-16; JSON Lines are read as UTF-8 only")
        place = Place(number, offset, len(line))
        offset += len(line)
        if len(line) == limit and not line.endswith(b"\n"):
            offset += _passed_over(file, limit)
            yield place, RowError(f"has over {limit:,} bytes; raise --max-document-bytes")
        elif line.strip():
            yield place, _parsed(line, place, settings)


def rows_at(
    file: IO[bytes], places: Iterable[Place], settings: Settings, longest: int
) -> Iterator[tuple[Place, Row | RowError]]:
    """The rows at these places, as `all_rows` gave them."""
    for place in places:
        file.seek(place.offset)
        yield place, _parsed(file.readline(longest * _ESCAPED + _BESIDE_TEXT), place, settings)


def _passed_over(file: IO[bytes], limit: int) -> int:
    """Read on to the end of the line; how many bytes that took."""
    passed = 0
    while rest := file.readline(limit):
        passed += len(rest)
        if rest.endswith(b"\n"):
            break
    return passed


def _parsed(line: bytes, place: Place, settings: Settings) -> Row | RowError:
    try:
        written = text_in(line, settings.source_encoding)
        _check_depth(written)
        values = json.loads(written, parse_constant=str)
    except UndecodableError as error:
        return RowError(f"(at byte {place.offset:,} of the file) {error}")
    except NestingError as error:
        return RowError(str(error))
    except ValueError as error:
        hint = "; lines must end in a newline, and these end in carriage returns alone" if _is_joined(line) else ""
        return RowError(f"is not JSON: {str(error)[:_LONGEST_REASON] or type(error).__name__}{hint}")
    if not isinstance(values, dict):
        return RowError("is not a JSON object")
    try:
        return row_of(values, settings)
    except RowError as error:
        return error


def _check_depth(written: str) -> None:
    """Raise NestingError for a line that is not to be parsed."""
    if written.count("[") + written.count("{") <= _MOST_PARSED_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(written):
        depth += (bracket[1] is not None) - (bracket[2] is not None)
        if depth > _MOST_PARSED_DEPTH:
            raise NestingError


def _is_joined(line: bytes) -> bool:
    """Whether a line looks like several, each an object, with a lone carriage return between them."""
    return re.search(rb"\}[ \t]*\r+[ \t]*\{", line) is not None
