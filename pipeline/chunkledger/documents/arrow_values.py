"""Values of Arrow columns -> what JSON can hold, each by itself: it does not depend on the rows beside it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.rows import TOO_LARGE

_MOST_TIMES_JSON = 8
"""Values take at most so many times the bytes here that they take as JSON (a number of one digit takes 8 for 2)."""
_EXPONENTS = {"s": 0, "ms": -3, "us": -6, "ns": -9}


def plain(column: Any, most: int | None = None) -> list[Any]:  # noqa: ANN401
    """The column's values; strings as bytes, because Parquet's need not be UTF-8, and times as ISO 8601.

    A value does not depend on the rows beside it: what can't be made of one is told in its own place.

    Args:
        column: an array.
        most: bytes of JSON; of what takes more for certain, no value is made, and `TOO_LARGE` stands there.
    """
    if may_be_text(column.type):
        return _bytes(column, most)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if most is not None and decoded_size(column) > most:
        # One at a time: any of them may be the one that takes gigabytes.
        return [value for place in range(len(column)) for value in _one(column.slice(place, 1), most)]
    return _values(column)


def _one(column: Any, most: int) -> list[Any]:  # noqa: ANN401
    return [TOO_LARGE] if decoded_size(column) > _MOST_TIMES_JSON * most else _values(column)


def _bytes(column: Any, most: int | None) -> list[Any]:  # noqa: ANN401
    """Strings as bytes; those that are stored once are made once."""
    if pa.types.is_dictionary(column.type):
        used = column.indices.unique().drop_null()
        made = dict(zip(used.to_pylist(), _bytes(column.dictionary.take(used), most), strict=True))
        return [made.get(index) for index in column.indices.to_pylist()]
    texts = column.cast(pa.large_binary())
    if most is None or (pc.max(lengths(column)).as_py() or 0) <= most:
        return list(texts.to_pylist())
    sizes = lengths(column).to_pylist()
    return [TOO_LARGE if (size or 0) > most else text.as_py() for text, size in zip(texts, sizes, strict=True)]


def _values(column: Any) -> list[Any]:  # noqa: ANN401
    if not _holds_time(column.type):
        try:
            return list(column.to_pylist())
        except (ValueError, OverflowError, pa.ArrowException):
            pass
    return [_value(scalar) for scalar in column]


def lengths(column: Any) -> Any:  # noqa: ANN401
    """Bytes of each string of a column of them, as an array; null for null."""
    if pa.types.is_dictionary(column.type):
        return lengths(column.dictionary).take(column.indices)
    return pc.binary_length(column.cast(pa.large_binary()))


def decoded_size(column: Any) -> int:  # noqa: ANN401
    """Bytes that the values of a column take, each by itself; strings in lists and structs too."""
    kind = column.type
    if may_be_text(kind):
        return pc.sum(lengths(column)).as_py() or 0
    if pa.types.is_map(kind):
        # Keys and items are those of all rows, whatever slice of them the column is.
        start, end = (column.offsets[place].as_py() for place in (0, -1))
        return sum(decoded_size(part.slice(start, end - start)) for part in (column.keys, column.items))
    if pa.types.is_struct(kind):
        return sum(decoded_size(part) for part in column.flatten())
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):
        return decoded_size(column.flatten())
    return int(column.nbytes)


def may_be_text(kind: Any) -> bool:  # noqa: ANN401
    """Whether values of this type can be texts."""
    return is_text(kind) or is_binary(kind)


def may_be_id(kind: Any) -> bool:  # noqa: ANN401
    """Whether values of this type can be ids."""
    return may_be_text(kind) or bool(pa.types.is_integer(_value_type(kind)))


def is_binary(kind: Any) -> bool:  # noqa: ANN401
    """Whether values of this type are bytes."""
    of = _value_type(kind)
    return any(test(of) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view))


def is_text(kind: Any) -> bool:  # noqa: ANN401
    """Whether values of this type are strings."""
    of = _value_type(kind)
    return any(test(of) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _value_type(kind: Any) -> Any:  # noqa: ANN401
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _value(scalar: Any) -> Any:  # noqa: ANN401
    """One value, as `to_pylist` gives it, but for times."""
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if pa.types.is_temporal(kind):
        return _iso(kind, scalar.value)
    try:
        if pa.types.is_struct(kind):
            # By number, because names may come twice; the last one stands.
            return {kind.field(place).name: _value(scalar[place]) for place in range(kind.num_fields)}
        if pa.types.is_map(kind):
            return [[_value(entry[0]), _value(entry[1])] for entry in scalar.values]
        if pa.types.is_dictionary(kind):
            return _value(scalar.dictionary[scalar.index.as_py()])
        if pa.types.is_nested(kind):
            return [_value(item) for item in scalar.values]
        if is_text(kind):
            return bytes(scalar.as_buffer()).decode("utf-8", "replace")
        return scalar.as_py()
    except (ValueError, OverflowError, TypeError, KeyError, pa.ArrowException):
        return f"({kind} that can't be read)"


def _holds_time(kind: Any) -> bool:  # noqa: ANN401
    """Whether values of this type are, or hold, dates or times."""
    if pa.types.is_dictionary(kind):
        return _holds_time(kind.value_type)
    if pa.types.is_nested(kind):
        return any(_holds_time(kind.field(place).type) for place in range(kind.num_fields))
    return bool(pa.types.is_temporal(kind))


def _iso(kind: Any, value: int) -> str:  # noqa: ANN401
    """A date, a time, a moment or a duration as ISO 8601.

    Through NumPy: Python's own types end at the year 9999 and at microseconds, and know only the time zones that a
    machine has. A moment with a time zone is stored in UTC, and is given so.
    """
    if pa.types.is_date(kind):
        return str(np.datetime64(value, "D" if pa.types.is_date32(kind) else "ms").astype("datetime64[D]"))
    if pa.types.is_duration(kind):
        return f"PT{Decimal(value).scaleb(_EXPONENTS[kind.unit]).normalize():f}S"
    moment = str(np.datetime64(value, kind.unit))
    whole, point, fraction = moment.partition(".")
    moment = whole + (point + fraction).rstrip("0").rstrip(".")
    if pa.types.is_time(kind):
        return moment.partition("T")[2]
    return f"{moment}Z" if kind.tz else moment
