"""A row of a table -> a document: what JSONL and Parquet have in common."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from chunkledger.documents.decoding import repaired
from chunkledger.settings import Settings

MOST_METADATA_BYTES = 64 * 1024
"""Larger metadata is left out and told: every chunk of the document would repeat it."""
MOST_DEPTH = 64
"""Lists and objects that may hold each other in metadata. Python's own limit depends on who calls."""
_LONGEST_ID = 1000
_MOST_KEYS = 12


SPAN_COLUMNS = ("char_start", "char_end")
"""Columns that say where a chunk is in its document; they are no metadata, and may be missing."""
Span = tuple[int | None, int | None]


class _TooLarge:
    """Stands for a value that alone is over `MOST_METADATA_BYTES`, and was not made."""

    def __repr__(self) -> str:
        return "TOO_LARGE"


TOO_LARGE = _TooLarge()


class NestingError(ValueError):
    """Metadata that goes deeper than `MOST_DEPTH`."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {MOST_DEPTH}")


class RowError(ValueError):
    """A row that is no document; the message says why.

    Attributes:
        row_id: the row's id, where it has a usable one.
    """

    def __init__(self, reason: str, row_id: str | None = None) -> None:
        super().__init__(reason)
        self.row_id = row_id


class TableError(ValueError):
    """A table that can't be read as one; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row is.

    Attributes:
        row: its number, from 1.
        offset: byte of its line, or its index, as `Entry.offset`.
        size: bytes that all of it takes, about.
    """

    row: int
    offset: int
    size: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is a document.

    Attributes:
        row_id: its id, without the name of a source.
        text: of the document; what can't be stored is U+FFFD.
        metadata: the further columns, as JSON values.
        replaced: how many characters of the text became U+FFFD.
        dropped: whether the metadata was left out because it is too large.
        sha256: of the text, the metadata that is there and the span, hexadecimal.
        span: of a chunk, where it says that it is in its document; None for what it does not say.
    """

    row_id: str
    text: str
    metadata: Mapping[str, object]
    replaced: int
    dropped: bool
    sha256: str
    span: Span = (None, None)


def row_of(values: Mapping[str, object], settings: Settings) -> Row:
    """The document that these values of a row make.

    Args:
        values: by column.
        settings: which columns hold id and text.

    Raises:
        RowError: there is no usable id or no text.
    """
    row_id = usable_id(values, settings.id_column)
    if settings.text_column not in values:
        raise RowError(f"has no {settings.text_column!r}{_keys(values)}", row_id)
    text = values[settings.text_column]
    if not isinstance(text, str):
        raise RowError(f"{settings.text_column!r} is {_kind(text)}, not text", row_id)
    named = (settings.id_column, settings.text_column)
    further, written = _metadata(values, (*named, *SPAN_COLUMNS) if settings.chunks else named, row_id)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    if further or written is None:
        digest.update(b"\0" + (written or b""))
    # A chunk is taken byte for byte.
    whole, replaced = repaired(text if settings.chunks else text.removeprefix("\ufeff"))
    span = _span(values, row_id) if settings.chunks else (None, None)
    if span != (None, None):
        digest.update(f"\0{span}".encode())
    return Row(row_id, whole, further, replaced, written is None, digest.hexdigest(), span)


def _span(values: Mapping[str, object], row_id: str) -> Span:
    start, end = (_offset(values, name, row_id) for name in SPAN_COLUMNS)
    return start, end


def _offset(values: Mapping[str, object], name: str, row_id: str) -> int | None:
    value = values.get(name)
    if isinstance(value, float):
        # A column of whole numbers in which some are missing becomes one of floats on its way through pandas.
        value = None if math.isnan(value) else int(value) if value.is_integer() else value
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise RowError(f"{name!r} is {_kind(value)}, not a whole number", row_id)
    return value


def _metadata(
    values: Mapping[str, object], without: Sequence[str], row_id: str
) -> tuple[dict[str, object], bytes | None]:
    """The further columns as JSON values, and written; none and None where they are too large."""
    further = {name: value for name, value in values.items() if name not in without}
    if any(value is TOO_LARGE for value in further.values()):
        return {}, None
    try:
        found = {repaired(str(name))[0]: as_json(value) for name, value in further.items()}
    except NestingError as error:
        raise RowError(str(error), row_id) from None
    written = json.dumps(found, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
    return ({}, None) if len(written) > MOST_METADATA_BYTES else (found, written)


def usable_id(values: Mapping[str, object], column: str) -> str:
    """The id of a row as text; whole numbers are taken too.

    Raises:
        RowError: there is none, or one that no table of ours can hold.
    """
    if column not in values:
        raise RowError(f"has no {column!r}{_keys(values)}")
    value = values[column]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowError(f"{column!r} is {_kind(value)}, not text or a whole number")
    row_id = str(value)
    if not row_id.strip():
        raise RowError(f"{column!r} is empty")
    if len(row_id) > _LONGEST_ID:
        raise RowError(f"{column!r} has {len(row_id):,} characters; at most {_LONGEST_ID:,} are taken")
    if repaired(row_id)[1]:
        raise RowError(f"{column!r} holds a NUL or a lone surrogate")
    return row_id


def as_json(value: object, depth: int = 0) -> object:
    """The value as JSON can hold it: dates as ISO 8601, what is no JSON type as its text, bytes left out.

    Args:
        value: of any type.
        depth: how many lists and objects hold it.

    Raises:
        NestingError: the limit of depth is passed.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray):
        return f"({len(value):,} bytes)"
    if isinstance(value, Mapping | Sequence | Set):
        if depth == MOST_DEPTH:
            raise NestingError
        if isinstance(value, Mapping):
            return {str(name): as_json(item, depth + 1) for name, item in value.items()}
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, datetime.date | datetime.datetime | datetime.time):
        return value.isoformat()
    return str(value)


def _keys(values: Mapping[str, object]) -> str:
    # The reason is stored, and JSON may name a column by what no table of ours can hold.
    names = [repaired(str(name))[0] for name in islice(values, _MOST_KEYS)]
    more = ", …" if len(values) > _MOST_KEYS else ""
    return f"; it has {', '.join(names)}{more}" if names else "; it has no columns"


def _kind(value: object) -> str:
    """What a value is, in words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    return "text" if isinstance(value, str) else f"of type {type(value).__name__}"
