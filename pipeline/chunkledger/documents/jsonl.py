"""JSON Lines -> rows, a line at a time; a row is found again by the byte where its line starts."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO

from chunkledger.documents.decoding import UndecodableError, text_in, wide_encoding
from chunkledger.documents.rows import NestingError, Place, Row, RowError, TableError, row_of
from chunkledger.settings import Settings

_ESCAPED = 6
"""Most bytes that JSON takes for one byte of a text (`\\u0041`)."""
_BESIDE_TEXT = 1024 * 1024
"""What a line may hold besides the longest text."""
_LONGEST_REASON = 200
_MOST_DIGITS = 4000
_MOST_PARSED_DEPTH = 128
"""What Python's parser manages from any caller; deeper lines are not given to it, as it may fail or not."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, also one that does not end, so that no quote in it is tried again."""
_NO_BRACKET = re.compile(r"[^\[\]{}]+")


def all_rows(file: IO[bytes], settings: Settings, longest: int) -> Iterator[tuple[Place, Row | RowError]]:
    """Every row of the table in the order of its lines; blank lines count as lines, and are no rows.

    Args:
        file: open at its start.
        settings: which columns hold id and text, and what the text may be encoded in.
        longest: most bytes of a document; a line that must hold more is not read whole.

    Raises:
        TableError: the file is UTF-16 or UTF-32.
    """
    limit = longest * _ESCAPED + _BESIDE_TEXT
    number = offset = 0
    while line := file.readline(limit):
        number += 1
        if offset == 0 and (wide := wide_encoding(line)):
            # Lines are told apart by bytes, so that no --source-encoding could help.
            raise TableError(f"is {wide}, it seems; save it as UTF-8")
        place = Place(number, offset, len(line))
        offset += len(line)
        if len(line) == limit and not line.endswith(b"\n"):
            offset += _passed_over(file, limit)
            yield place, RowError(f"has over {limit:,} bytes; raise --max-document-bytes")
        elif line.removeprefix(codecs.BOM_UTF8).strip():
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
        values = value_in(line, settings.source_encoding)
    except UndecodableError as error:
        return RowError(f"(at byte {place.offset:,} of the file) {error}")
    except (NestingError, RowError) as error:
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


def value_in(line: bytes, source_encoding: str | None = None) -> object:
    """The JSON value of a line.

    Raises:
        ValueError: it is no text, no JSON, or more than is taken: `UndecodableError`, `NestingError`, `RowError` too.
    """
    written = text_in(line, source_encoding)
    _check_structure(written)
    return _values(written)


def _values(written: str) -> object:
    try:
        return json.loads(written)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python makes no number of more than 4,300 digits, and could not write it again.
        return json.loads(written, parse_int=_number)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < _MOST_DIGITS else digits


def _check_structure(written: str) -> None:
    """Let a line pass that can be parsed in little time and memory, whatever it holds beside its strings.

    Raises:
        NestingError: it is nested too deeply.
        RowError: it holds too much.
    """
    if len(written) <= _BESIDE_TEXT and written.count("[") + written.count("{") <= _MOST_PARSED_DEPTH:
        return
    structure = _STRING.sub("", written)
    if len(structure) > _BESIDE_TEXT:
        raise RowError(
            f"holds {len(structure):,} characters beside its strings; up to {_BESIDE_TEXT:,} are "
            "taken; leave out what need not be metadata"
        )
    brackets = _NO_BRACKET.sub("", structure)
    for _ in range(_MOST_PARSED_DEPTH):
        outer = brackets.replace("[]", "").replace("{}", "")
        if len(outer) == len(brackets):
            break
        brackets = outer
    # What is left is deeper, or does not match: no JSON, as the parser will say, unless that is too deep for it.
    if "[]" in brackets or "{}" in brackets or brackets.count("[") + brackets.count("{") > _MOST_PARSED_DEPTH:
        raise NestingError


def _is_joined(line: bytes) -> bool:
    """Whether a line looks like several, each an object, with a lone carriage return between them."""
    return re.search(rb"\}[ \t]*\r+[ \t]*\{", line) is not None
