"""Parquet -> rows, streamed through its row groups; a row is found again by its index.

Only `parquet_file`, `arrow_values` and this module know pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
import pyarrow as pa

from chunkledger.documents.arrow_values import decoded_size, is_binary, lengths, may_be_id, may_be_text, plain
from chunkledger.documents.decoding import UndecodableError, text_in
from chunkledger.documents.parquet_file import batches, opened_table, schema_of
from chunkledger.documents.rows import (
    MOST_METADATA_BYTES,
    TOO_LARGE,
    Place,
    Row,
    RowError,
    TableError,
    row_of,
    usable_id,
)
from chunkledger.model import IntArray
from chunkledger.settings import Settings


def sizes(file: IO[bytes], settings: Settings) -> Iterator[tuple[Place, str | RowError, int]]:
    """The place, the id (or what is wrong with it) and the bytes of text of every row; no text is made of them.

    Raises:
        TableError: it is no Parquet file, or has no such columns.
    """
    table = opened_table(file)
    _check_columns(table, settings)
    offset = 0
    # The columns of metadata too, whose size in the file says little: a value that is repeated is stored once.
    columns = _columns(table, settings)
    for batch in (batch for group in range(table.num_row_groups) for batch in batches(table, group, columns)):
        ids = plain(batch.column(settings.id_column))
        each = sum(map(decoded_size, batch.columns)) // len(batch)
        for value, size in zip(ids, lengths(batch.column(settings.text_column)).to_pylist(), strict=True):
            place = Place(offset + 1, offset, each)
            offset += 1
            try:
                found = {settings.id_column: _text(settings.id_column, value, settings)}
                yield place, usable_id(found, settings.id_column), size or 0
            except RowError as error:
                yield place, error, size or 0


def usable_columns(file: IO[bytes]) -> tuple[list[str], list[str]]:
    """Names of the columns whose types can hold ids, and of those that can hold texts; only the footer is read.

    Raises:
        TableError: it is no Parquet file.
    """
    schema = schema_of(opened_table(file))
    fields = [field for field in schema if schema.names.count(field.name) == 1]
    ids = [field.name for field in fields if may_be_id(field.type)]
    return ids, [field.name for field in fields if may_be_text(field.type)]


def rows_at(file: IO[bytes], places: Sequence[Place], settings: Settings) -> Iterator[tuple[Place, Row | RowError]]:
    """The rows at these places, ascending by offset; only row groups that hold one are read.

    Raises:
        TableError: it is no Parquet file, or has no such columns.
    """
    table = opened_table(file)
    _check_columns(table, settings)
    wanted = np.array([place.offset for place in places], np.int64)
    columns = _columns(table, settings)
    counts = [table.metadata.row_group(number).num_rows for number in range(table.num_row_groups)]
    borders = np.cumsum([0, *counts])
    for group, (start, end) in enumerate(pairwise(borders.tolist())):
        first, last = np.searchsorted(wanted, [start, end]).tolist()
        if first == last:
            continue
        for batch in batches(table, group, columns):
            following = int(np.searchsorted(wanted, start + len(batch)))
            chosen = wanted[first:following] - start
            left_out = [name for name in columns if name not in batch.schema.names]
            values = [
                _chosen(column, chosen, None if _is_named(name, settings) else MOST_METADATA_BYTES)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
            for place, *row in zip(places[first:following], *values, strict=True):
                found = dict(zip(batch.schema.names, row, strict=True)) | dict.fromkeys(left_out, TOO_LARGE)
                yield place, _row(found, settings)
            first, start = following, start + len(batch)
            if first == last:
                break


def _check_columns(table: Any, settings: Settings) -> None:  # noqa: ANN401
    schema = schema_of(table)
    for option, name in (("--id-column", settings.id_column), ("--text-column", settings.text_column)):
        if schema.names.count(name) != 1:
            known = ", ".join(schema.names[:20])
            raise TableError(f"has not one column {name!r}; it has {known}; name it with {option}")
    for name, fits in ((settings.id_column, may_be_id), (settings.text_column, may_be_text)):
        kind = schema.field(name).type
        if not fits(kind):
            raise TableError(f"column {name!r} is {kind}, which is no {'text' if fits is may_be_text else 'id'}")


def _columns(table: Any, settings: Settings) -> list[str]:  # noqa: ANN401
    """The columns that a document is made of."""
    return [field.name for field in schema_of(table) if _is_metadata(field.type) or _is_named(field.name, settings)]


def _is_metadata(kind: Any) -> bool:  # noqa: ANN401
    """Whether a further column is metadata; bytes are not."""
    return not is_binary(kind) and not pa.types.is_fixed_size_binary(kind)


def _is_named(name: str, settings: Settings) -> bool:
    return name in (settings.id_column, settings.text_column)


def _chosen(column: Any, indices: IntArray, most: int | None) -> list[Any]:  # noqa: ANN401
    """The values at these indices, of which only those at most so large are made."""
    try:
        return plain(column.take(pa.array(indices)), most)
    except pa.ArrowNotImplementedError:
        # Not every type can be picked from by index; strings whose views the file asks for can't.
        return [value for index in indices.tolist() for value in plain(column.slice(index, 1), most)]


def _row(values: Mapping[str, object], settings: Settings) -> Row | RowError:
    try:
        return row_of({name: _text(name, value, settings) for name, value in values.items()}, settings)
    except RowError as error:
        return error


def _text(name: str, value: object, settings: Settings) -> object:
    """The value, with bytes decoded: strictly those of an id or a text, as well as can be those of metadata."""
    if not isinstance(value, bytes):
        return value
    if not _is_named(name, settings):
        return value.decode("utf-8", "replace")
    try:
        return text_in(value, settings.source_encoding)
    except UndecodableError as error:
        raise RowError(f"{name!r}: {error}") from None
