"""Parquet -> rows, streamed through its row groups; a row is found again by its index.

With `arrow_values` the only module of this folder that knows pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from chunkledger.documents.arrow_values import as_bytes, is_binary, may_be_id, may_be_text, plain
from chunkledger.documents.decoding import UndecodableError, text_in
from chunkledger.documents.rows import Place, Row, RowError, TableError, row_of, usable_id
from chunkledger.model import IntArray
from chunkledger.settings import Settings

_BATCH_BYTES = 8 * 1024 * 1024
_MOST_BATCH_ROWS = 512
"""Few, because what a row takes in the file says little where values are repeated. Reading takes a third longer."""
_BUFFER_BYTES = 1024 * 1024
_LONGEST_REASON = 300


def sizes(file: IO[bytes], settings: Settings) -> Iterator[tuple[Place, str | RowError, int]]:
    """The place, the id (or what is wrong with it) and the bytes of text of every row; no text is made of them.

    Raises:
        TableError: it is no Parquet file, or has no such columns.
    """
    table = _opened(file)
    _check_columns(table, settings)
    offset = 0
    # The columns of metadata too, whose size in the file says little: a value that is repeated is stored once.
    for batch in _batches(table, range(table.num_row_groups), _columns(table, settings)):
        ids = plain(batch.column(settings.id_column))
        each = batch.nbytes // len(batch)
        for value, size in zip(ids, _lengths(batch.column(settings.text_column)), strict=True):
            place = Place(offset + 1, offset, each)
            offset += 1
            try:
                found = {settings.id_column: _text(settings.id_column, value, settings)}
                yield place, usable_id(found, settings.id_column), size
            except RowError as error:
                yield place, error, size


def rows_at(file: IO[bytes], places: Sequence[Place], settings: Settings) -> Iterator[tuple[Place, Row | RowError]]:
    """The rows at these places, ascending by offset; only row groups that hold one are read.

    Raises:
        TableError: it is no Parquet file, or has no such columns.
    """
    table = _opened(file)
    _check_columns(table, settings)
    wanted = np.array([place.offset for place in places], np.int64)
    columns = _columns(table, settings)
    counts = [table.metadata.row_group(number).num_rows for number in range(table.num_row_groups)]
    borders = np.cumsum([0, *counts])
    for group, (start, end) in enumerate(pairwise(borders.tolist())):
        first, last = np.searchsorted(wanted, [start, end]).tolist()
        if first == last:
            continue
        for batch in _batches(table, [group], columns):
            following = int(np.searchsorted(wanted, start + len(batch)))
            chosen = wanted[first:following] - start
            values = [_chosen(column, chosen) for column in batch.columns]
            for place, *row in zip(places[first:following], *values, strict=True):
                yield place, _row(dict(zip(batch.schema.names, row, strict=True)), settings)
            first, start = following, start + len(batch)
            if first == last:
                break


def _opened(file: IO[bytes]) -> Any:  # noqa: ANN401 (pyarrow ships no types)
    try:
        return pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"is no Parquet file that can be read: {str(error)[:_LONGEST_REASON]}") from None


def _check_columns(table: Any, settings: Settings) -> None:  # noqa: ANN401
    schema = table.schema_arrow
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
    return [field.name for field in table.schema_arrow if _is_metadata(field.type) or _is_named(field.name, settings)]


def _is_metadata(kind: Any) -> bool:  # noqa: ANN401
    """Whether a further column is metadata; bytes are not."""
    return not is_binary(kind) and not pa.types.is_fixed_size_binary(kind)


def _is_named(name: str, settings: Settings) -> bool:
    return name in (settings.id_column, settings.text_column)


def _chosen(column: Any, indices: IntArray) -> list[Any]:  # noqa: ANN401
    """The values at these indices."""
    whole = as_bytes(column) if may_be_text(column.type) else column
    try:
        return plain(whole.take(pa.array(indices)))
    except pa.ArrowNotImplementedError:
        values = plain(whole)
        return [values[index] for index in indices.tolist()]


def _batches(table: Any, groups: Sequence[int], columns: list[str]) -> Iterator[Any]:  # noqa: ANN401
    """Record batches of some row groups, of some megabytes each by what the file says of itself."""
    for group in groups:
        about = table.metadata.row_group(group)
        each = max(1, about.total_byte_size // max(1, about.num_rows))
        rows = max(1, min(_MOST_BATCH_ROWS, _BATCH_BYTES // each))
        try:
            for batch in table.iter_batches(rows, row_groups=[group], columns=columns):
                if len(batch):
                    yield batch
        except (pa.ArrowException, OSError) as error:
            raise TableError(f"row group {group + 1} can't be read: {str(error)[:_LONGEST_REASON]}") from None


def _lengths(column: Any) -> list[int]:  # noqa: ANN401
    return [size or 0 for size in pc.binary_length(as_bytes(column)).to_pylist()]


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
