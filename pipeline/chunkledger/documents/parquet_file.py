"""A Parquet file -> record batches of a size that is bounded, whatever a few bytes of the file stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

from chunkledger.documents.arrow_values import is_text
from chunkledger.documents.rows import TableError

_BATCH_BYTES = 8 * 1024 * 1024
_MOST_BATCH_ROWS = 512
"""Few, because what a row takes in the file says little where values are repeated. Reading takes a third longer."""
_BUFFER_BYTES = 1024 * 1024
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_MOST_REPEATED_BYTES, _MOST_TIMES = 256 * 1024 * 1024, 100
"""Values of a row group that take more than both (bytes, times what they take in the file) are repeated on purpose."""
_LONGEST_REASON = 300


def opened_table(file: IO[bytes]) -> Any:  # noqa: ANN401 (pyarrow ships no types)
    """The file as pyarrow's; strings that it stores once and refers to come as dictionaries, so that they stay one.

    Args:
        file: open for reading.

    Raises:
        TableError: it is no Parquet file.
    """
    # Extension types are taken for what they are stored as: the strings of a JSON column can't be a dictionary else.
    options = {"buffer_size": _BUFFER_BYTES, "pre_buffer": False, "arrow_extensions_enabled": False}
    try:
        table = pq.ParquetFile(file, **options)
        dictionaries = _dictionaries(table)
        return pq.ParquetFile(file, **options, metadata=table.metadata, read_dictionary=dictionaries)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"is no Parquet file that can be read: {str(error)[:_LONGEST_REASON]}") from None


def schema_of(table: Any) -> Any:  # noqa: ANN401
    """The file's columns as `batches` gives them: UUIDs as strings, other extensions as what they are stored in."""
    uuids = _uuids(table)
    return pa.schema(
        [
            pa.field(field.name, pa.string() if field.name in uuids else _stored_type(field.type))
            for field in table.schema_arrow
        ]
    )


def batches(table: Any, group: int, columns: Sequence[str]) -> Iterator[Any]:  # noqa: ANN401
    """Record batches of a row group, of some megabytes each; without those columns that are too large to be read.

    Args:
        table: as `opened_table` gave it.
        group: number of the row group, from 0.
        columns: names.

    Raises:
        TableError: the row group is damaged.
    """
    about = table.metadata.row_group(group)
    each = max(1, about.total_byte_size // max(1, about.num_rows))
    rows = max(1, min(_MOST_BATCH_ROWS, _BATCH_BYTES // each))
    too_large = _too_large(table, group)
    uuids = _uuids(table)
    wanted = [name for name in columns if name not in too_large]
    try:
        for batch in table.iter_batches(rows, row_groups=[group], columns=wanted):
            if len(batch):
                names = batch.schema.names
                stored = [column.storage if _is_extension(column.type) else column for column in batch.columns]
                found = [_written(each) if name in uuids else each for name, each in zip(names, stored, strict=True)]
                yield pa.RecordBatch.from_arrays(found, names)
    except (pa.ArrowException, OSError) as error:
        raise TableError(f"row group {group + 1} can't be read: {str(error)[:_LONGEST_REASON]}") from None


def _dictionaries(table: Any) -> list[str]:  # noqa: ANN401
    """Paths of the strings, also in lists and structs, of which a row group has a dictionary."""
    found: dict[str, None] = {}
    leaves = _leaves(table)
    for group in range(table.num_row_groups):
        about = table.metadata.row_group(group)
        for number, (_, kind) in enumerate(leaves):
            column = about.column(number)
            if column.physical_type == "BYTE_ARRAY" and column.has_dictionary_page and is_text(kind):
                found[column.path_in_schema] = None
    return list(found)


def _too_large(table: Any, group: int) -> set[str]:  # noqa: ANN401
    """Columns of numbers that a few bytes of the file multiply beyond reason."""
    about = table.metadata.row_group(group)
    found: set[str] = set()
    for number, (name, _) in enumerate(_leaves(table)):
        column = about.column(number)
        size = column.num_values * _WIDTHS.get(column.physical_type, 0)
        if size > max(_MOST_REPEATED_BYTES, _MOST_TIMES * column.total_uncompressed_size):
            found.add(name)
    return found


def _leaves(table: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """What the file stores each by itself: the name of the column that it is of, and its type."""
    leaves = [(field.name, kind) for field in table.schema_arrow for kind in _leaf_types(field.type)]
    # A type that has other parts in the file than it has here is none that is known.
    return leaves if len(leaves) == table.metadata.num_columns else []


def _uuids(table: Any) -> set[str]:  # noqa: ANN401
    """Columns of UUIDs, which the file stores as 16 bytes each."""
    of_16_bytes = {field.name for field in table.schema_arrow if _stored_type(field.type) == pa.binary(16)}
    return {
        name
        for number, (name, _) in enumerate(_leaves(table))
        if name in of_16_bytes and table.schema.column(number).logical_type.type == "UUID"
    }


def _written(column: Any) -> Any:  # noqa: ANN401
    return pa.array([value and str(UUID(bytes=value)) for value in column.to_pylist()], pa.string())


def _is_extension(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, pa.BaseExtensionType)


def _stored_type(kind: Any) -> Any:  # noqa: ANN401
    return kind.storage_type if _is_extension(kind) else kind


def _leaf_types(kind: Any) -> list[Any]:  # noqa: ANN401
    kind = _stored_type(kind)
    if not pa.types.is_nested(kind):
        return [kind]
    return [leaf for place in range(kind.num_fields) for leaf in _leaf_types(kind.field(place).type)]
