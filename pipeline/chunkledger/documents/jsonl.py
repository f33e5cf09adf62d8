"""JSON Lines -> rows, a line at a time; a row is found again by the byte where its line starts."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import IO

from chunkledger.documents.decoding import UndecodableError, text_in
from chunkledger.documents.rows import Place, Row, RowError, TableError, row_of
from chunkledger.settings import Settings

_ESCAPED = 6
"""Most bytes that JSON takes for one byte of a text (`\\u0041`)."""
_BESIDE_TEXT = 1024 * 1024
"""What a line may hold besides the longest text."""
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_REASON = 200


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
        place = Place(number, offset)
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
        values = json.loads(text_in(line, settings.source_encoding), parse_constant=str)
    except UndecodableError as error:
        return RowError(f"(at byte {place.offset:,} of the file) {error}")
    except (ValueError, RecursionError) as error:
        return RowError(f"is not JSON: {str(error)[:_LONGEST_REASON] or type(error).__name__}")
    if not isinstance(values, dict):
        return RowError("is not a JSON object")
    try:
        return row_of(values, settings)
    except RowError as error:
        return error
