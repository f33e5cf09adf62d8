"""Tables -> which of their columns can hold ids and texts, from their beginning alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from chunkledger.documents import jsonl, parquet
from chunkledger.documents.decoding import repaired, wide_encoding
from chunkledger.documents.files import content, opened
from chunkledger.documents.rows import RowError, TableError, usable_id
from chunkledger.documents.tables import is_parquet

FIRST_BYTES = 256 * 1024
"""Of a JSON Lines table, what is looked at: some hundred rows of the usual size."""
_MOST_ROWS = 200


class Columns(NamedTuple):
    """Names of columns, in the order of the table.

    Attributes:
        ids: those that can hold ids: texts or whole numbers; of JSON Lines, different ones in most rows.
        texts: those that can hold texts; of JSON Lines, that do in most rows.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]


def columns_of(path: str) -> Columns | None:
    """The usable columns of a table; None where nothing can be told of it.

    Args:
        path: of the file, links resolved.
    """
    try:
        if not is_parquet(path):
            return _of_lines(content(path, FIRST_BYTES))
        with opened(path) as file:
            ids, texts = parquet.usable_columns(file)
    except (OSError, TableError):
        return None
    except Exception:  # whatever a library makes of a damaged file, it is the file's
        return None
    return Columns(tuple(filter(_is_name, ids)), tuple(filter(_is_name, texts)))


def _of_lines(raw: bytes) -> Columns | None:
    """The usable columns of JSON Lines, of which these are the first bytes; one more than wanted where there are."""
    if wide_encoding(raw):
        return None
    lines = raw.split(b"\n")
    if len(raw) > FIRST_BYTES:
        lines.pop()  # it has not come to its end
    rows = [row for line in lines[:_MOST_ROWS] if (row := _row(line))]
    ids: dict[str, set[str]] = {}
    texts: dict[str, int] = {}
    for row in rows:
        for name, value in row.items():
            if (row_id := _id(row, name)) is not None:
                ids.setdefault(name, set()).add(row_id)
            if isinstance(value, str) and value.strip():
                texts[name] = texts.get(name, 0) + 1
    # Most rows, not all: a bad row is a finding about itself, and says nothing of its column.
    most = len(rows) / 2
    found = Columns(
        tuple(name for name, values in ids.items() if len(values) > most and _is_name(name)),
        tuple(name for name, count in texts.items() if count > most and _is_name(name)),
    )
    return found if rows else None


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        value = jsonl.value_in(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _id(row: Mapping[str, object], name: str) -> str | None:
    try:
        return usable_id(row, name)
    except RowError:
        return None


def _is_name(name: str) -> bool:
    """Whether settings can name a column so."""
    return bool(name) and not repaired(name)[1]
