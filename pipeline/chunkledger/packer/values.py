"""Values of the ledger's columns as stores hand them back: checked, and made what the ledger has."""

from __future__ import annotations

import json
import operator

from .hits import Column
from .slot import whole_number


def stored_number(name: str, value: object, *, at_least: int) -> int:
    """`value` as an `int`; a float that is whole will do too, because some stores keep every number as a float.

    Raises:
        ValueError: not a whole number, or below `at_least`; the message names the column.

    >>> stored_number("rendered_tokens", 60.0, at_least=1)
    60
    """
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return whole_number(name, whole, at_least=at_least)


def counted(column: Column, name: str, at_least: int) -> int | None:
    """The value of a column of whole numbers; None where it is missing.

    Raises:
        ValueError: it is there, but not a whole number, or below `at_least`.
    """
    value = column(name)
    if type(value) is int and value >= at_least:
        return value
    return stored_number(name, value, at_least=at_least) if known(value) else None


def needed(column: Column, name: str) -> int:
    """The value of a column of counts that must be there.

    Raises:
        ValueError: it is not, or no positive whole number.
    """
    value = counted(column, name, 1)
    if value is None:
        raise ValueError(missing(name))
    return value


def known(value: object) -> bool:
    """Whether a column has a value: neither None nor, as pandas writes null, a NaN.

    >>> [known(value) for value in (None, float("nan"), 0)]
    [False, False, True]
    """
    return value is not None and value == value


def string(column: Column, name: str) -> str:
    """The value of a column that must be there and be a string.

    Raises:
        ValueError: it is not.
    """
    value = column(name)
    if isinstance(value, str):
        return value
    if not known(value):
        raise ValueError(missing(name))
    raise ValueError(f"column {name} is {value!r}; it must be a string, as in the ledger")


def optional_string(column: Column, name: str) -> str:
    """The value of a column of strings; "" where it is missing, as stores leave out what is empty.

    Raises:
        ValueError: it is there, but no string.
    """
    return string(column, name) if known(column(name)) else ""


def missing(name: str) -> str:
    """What to say of a column that is missing.

    >>> missing("doc_id")
    'column doc_id is missing or null; hits must carry it as the ledger does'
    """
    return f"column {name} is missing or null; hits must carry it as the ledger does"


def listed(column: Column, name: str) -> list[object]:
    """The values of a column of lists; [] where it is missing. A string is read as JSON.

    Raises:
        ValueError: it is neither a list nor null.

    >>> listed({"boundary_chars": "[4, 9]"}.get, "boundary_chars")
    [4, 9]
    """
    value = column(name)
    if isinstance(value, str):
        value = _from_json(value)
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if not known(value):
        return []
    try:
        if not isinstance(value, (str, dict)):
            return list(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        pass
    raise ValueError(f"{name} is {value!r}; it must be a list, as in the ledger, or null")


def _from_json(value: str) -> object:
    try:
        return json.loads(value)
    except ValueError:
        return value or None


def whole_numbers(column: Column, name: str) -> list[int]:
    """The values of a column of lists of whole numbers; [] where it is missing.

    Raises:
        ValueError: it is no list, or holds something else.
    """
    values = listed(column, name)
    try:
        return list(map(operator.index, values))  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        # Some stores keep lists of strings only.
        plain = [int(value) if isinstance(value, str) and value.isdecimal() else value for value in values]
        return [stored_number(name, value, at_least=0) for value in plain]
    except ValueError:
        raise ValueError(f"{name} is {values!r}; it must be whole numbers, as in the ledger") from None


def titles(column: Column) -> list[str]:
    """The heading path: a list of titles, that list as JSON, or the titles already joined.

    Raises:
        ValueError: something else.

    >>> titles({"heading_path": "Rates > 2026"}.get)
    ['Rates > 2026']
    """
    value = column("heading_path")
    if isinstance(value, str) and not (value.startswith("[") and value.endswith("]")):
        return [value] if value else []
    try:
        found = listed(column, "heading_path")
    except ValueError:
        found = [value]
    if isinstance(value, str) and not all(isinstance(title, str) for title in found):
        return [value]
    if not all(isinstance(title, str) for title in found):
        raise ValueError(f"column heading_path is {value!r}; it must be a list of titles")
    return found  # type: ignore[return-value]


def gap_after(column: Column) -> str:
    """The blank space up to the next chunk's text; "" where it is missing, as stores leave out what is empty."""
    return optional_string(column, "gap_after")


def known_context(column: Column) -> str | None:
    """The repeated structure that stands before the text; None where it is missing, which is not the same as none."""
    return string(column, "context") if known(column("context")) else None


def overlap_chars(column: Column) -> int:
    """How much of the start of the text repeats the end of the chunk before; 0 where it is missing."""
    return counted(column, "overlap_chars", 0) or 0
