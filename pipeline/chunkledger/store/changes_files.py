"""The files that hold what a run changed: rows of the feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from chunkledger.store.changes import NO_RENAMES, ChangeCounts, Renames, changed, changes_schema, total
from chunkledger.store.files import write_file
from chunkledger.store.layout import changes_name
from chunkledger.store.parts import part_content

_FILE_BYTES = 64 * 1024 * 1024
"""Rows of the feed that make a file: so many are in memory at once."""


def written_changes(
    root: str,
    run: int,
    before: Iterator[pa.Table],
    after: Iterator[pa.Table],
    schema: pa.Schema,
    renames: Renames = NO_RENAMES,
) -> tuple[ChangeCounts, tuple[str, ...]]:
    """Compare two states, and write what is another one, in files of a bounded size.

    Args:
        root: of the ledger.
        run: number of the run.
        before: records in document order, of every role.
        after: those of the other state.
        schema: of the records after.
        renames: documents that are the same as others that are gone.

    Returns:
        How many chunks are what, and the names of the files below the root; none where nothing changed.

    Raises:
        OSError: a file can't be written.
    """
    counts: list[ChangeCounts] = []

    def rows() -> Iterator[pa.Table]:
        for table, each in changed(before, after, schema, renames):
            counts.append(each)
            yield table

    names = tuple(_written(root, run, rows(), schema))
    return total(counts), names


def _written(root: str, run: int, tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[str]:
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        if len(table):
            waiting.append(table)
            size += table.nbytes
        if size >= _FILE_BYTES:
            yield _file(root, run, waiting, schema)
            waiting, size = [], 0
    if waiting:
        yield _file(root, run, waiting, schema)


def _file(root: str, run: int, tables: list[pa.Table], schema: pa.Schema) -> str:
    batches = (batch for table in tables for batch in table.to_batches())
    content, _ = part_content(batches, changes_schema(schema))
    name = changes_name(run, content)
    write_file(root, name, content)
    return name
