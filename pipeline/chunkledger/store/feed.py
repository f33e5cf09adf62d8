"""What changed from one run of a ledger to another: the changes of all runs between, folded into one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.store.changes import IGNORED, OPERATION_FIELDS, PLACE, changes_schema
from chunkledger.store.files import is_there, place_of, source_at
from chunkledger.store.log import published
from chunkledger.store.parts import Role, readable

if TYPE_CHECKING:
    import polars as pl

    from chunkledger.store.ledger import Ledger

ANEW = "begin anew with --since 0, and take it for all there is"
"""What a reader of the feed can always do."""
_BATCH_ROWS = 1024
_SAID = [field.name for field in OPERATION_FIELDS]


def feed(ledger: Ledger, since: int, role: Role = "chunk") -> Iterator[pa.Table]:
    """What became of chunks since a run, each at most once: rows of `changes_schema`, some at a time.

    What came and went in between is not told, and neither is what went and came back as it was. What moved or changed
    and then did so back is told as what it is now, because its rows have only the records of then. The first run that
    there can be is 1, so that everything is told since run 0: all records of now, as added.

    Args:
        ledger: as the run left it that the changes lead to.
        since: number of the run whose records are known.
        role: only records of this role.

    Raises:
        SettingsError: there is no such run.
        LedgerError: the changes of a run are gone, or can't be read.
    """
    files = files_since(ledger, since)
    if since == 0:
        yield from _everything(ledger, role)
    elif files:
        yield from _folded(files, ledger.schema, role)


def files_since(ledger: Ledger, since: int) -> list[str]:
    """The files of the changes since a run, the oldest first, as places.

    Raises:
        SettingsError: there is no such run.
        LedgerError: the changes of a run are gone.
    """
    if not 0 <= since <= ledger.run:
        raise SettingsError(f"--since must be a run from 0 to {ledger.run}, not {since}")
    if since == 0:
        return []
    found: list[str] = []
    every = {run.files.run: run for run in published(ledger.table) if since < run.files.run <= ledger.run}
    for number in range(since + 1, ledger.run + 1):
        if number not in every:
            raise LedgerError(
                f"{ledger.root} has no run {number} in its log, though later ones, so that nobody can say what changed "
                f"since run {since}; {ANEW}"
            )
        each = every[number]
        for name in each.files.changes:
            if not is_there(ledger.root, name):
                raise LedgerError(
                    f"the changes of run {each.files.run} are gone (vacuum removes old ones), so that nobody can say "
                    f"what changed since run {since}; {ANEW}"
                )
            found.append(place_of(ledger.root, name))
    return found


def _everything(ledger: Ledger, role: Role) -> Iterator[pa.Table]:
    schema = changes_schema(ledger.schema)
    for records in ledger.iter_tables(role=role):
        said = [["add"] * len(records), [True] * len(records), [None] * len(records)]
        arrays = [pa.array(values, field.type) for values, field in zip(said, OPERATION_FIELDS, strict=True)]
        yield pa.Table.from_arrays([*arrays, *records.columns], schema=schema)


def _folded(files: Sequence[str], schema: pa.Schema, role: Role) -> Iterator[pa.Table]:
    """Two passes: what is to be told of each chunk, and then the rows that tell it. Only the first is in memory."""
    told = _told(_steps(files, role))
    wanted = changes_schema(schema)
    for file, (path, batches) in enumerate(_batches(files, None)):
        own = told.filter(told["file"] == file).sort("row")
        rows = own["row"].to_numpy()
        start = 0
        for batch in batches:
            first, last = rows.searchsorted([start, start + len(batch)]).tolist()
            if first < last:
                chosen = batch.take(pa.array(rows[first:last] - start))
                yield _row_of_now(chosen, own.slice(first, last - first), wanted)
            start += len(batch)
        del path


def _batches(files: Sequence[str], columns: list[str] | None) -> Iterator[tuple[str, Iterator[pa.Table]]]:
    for path in files:
        yield path, _batches_of(path, columns)


def _batches_of(path: str, columns: list[str] | None) -> Iterator[pa.Table]:
    with readable(path, ANEW):
        for batch in pq.ParquetFile(source_at(path)).iter_batches(_BATCH_ROWS, columns=columns):
            yield pa.Table.from_batches([batch])


def _row_of_now(rows: pa.Table, told: pl.DataFrame, schema: pa.Schema) -> pa.Table:
    said = {name: told[name].to_arrow() for name in _SAID}
    columns = [
        said[field.name].cast(field.type)
        if field.name in said
        else rows.column(field.name)
        if field.name in rows.column_names
        else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _steps(files: Sequence[str], role: Role) -> pl.DataFrame:
    """Every row of the files, with hashes instead of what is only compared."""
    import polars as pl

    found: list[pl.DataFrame] = []
    for file, (_, batches) in enumerate(_batches(files, None)):
        start = 0
        for batch in batches:
            frame = pl.DataFrame(batch)
            content = [name for name in frame.columns if name not in (*_SAID, *IGNORED, *PLACE)]
            hashes = {
                "place": frame.select(PLACE).hash_rows(),
                "content": frame.select(content).hash_rows(),
                "prefix": frame.select("embed_prefix").hash_rows(),
            }
            rows = frame.select(
                "chunk_id", "role", *_SAID, **hashes, file=pl.lit(file), row=pl.int_range(start, start + len(frame))
            )
            start += len(frame)
            found.append(rows if role == "all" else rows.filter(pl.col("role") == role))
    return pl.concat(found)


def _told(steps: pl.DataFrame) -> pl.DataFrame:
    """What is to be told of each chunk: its last row, and what that means from where it began."""
    import polars as pl

    is_back = (pl.col("operation") != "delete") & (pl.col("operation").shift(1) == "delete")
    other = {name: pl.col(name) != pl.col(name).shift(1) for name in ("place", "content", "prefix")}
    each = (
        steps.with_columns(step=pl.int_range(pl.len()))
        .group_by("chunk_id", maintain_order=True)
        .agg(
            was_there=pl.col("operation").first() != "add",
            is_there=pl.col("operation").last() != "delete",
            left_first=pl.col("operation").first() == "delete",
            is_same_place=pl.col("place").first() == pl.col("place").last(),
            is_same_content=pl.col("content").first() == pl.col("content").last(),
            is_same_prefix=pl.col("prefix").first() == pl.col("prefix").last(),
            moved=((pl.col("operation") == "move") | (is_back & other["place"])).any(),
            changed=(
                pl.col("operation").is_in(["move", "update"]) | (is_back & (other["place"] | other["content"]))
            ).any(),
            needed=(
                (pl.col("operation").is_in(["move", "update"]) & pl.col("embed_needed")) | (is_back & other["prefix"])
            ).any(),
            added=pl.col("embed_needed").filter(pl.col("operation") == "add").last(),
            previous_chunk_id=pl.col("previous_chunk_id").filter(pl.col("operation") == "add").last(),
            file=pl.col("file").last(),
            row=pl.col("row").last(),
        )
    )
    stayed = pl.col("was_there") & pl.col("is_there")
    # What it was is known where it left first; otherwise each step has to say.
    is_moved = pl.when("left_first").then(~pl.col("is_same_place")).otherwise(pl.col("moved"))
    is_changed = (
        pl.when("left_first").then(~pl.col("is_same_place") | ~pl.col("is_same_content")).otherwise(pl.col("changed"))
    )
    is_needed = pl.when("left_first").then(~pl.col("is_same_prefix")).otherwise(pl.col("needed"))
    told = each.with_columns(
        operation=pl.when(stayed & is_moved)
        .then(pl.lit("move"))
        .when(stayed & is_changed)
        .then(pl.lit("update"))
        .when(~pl.col("was_there") & pl.col("is_there"))
        .then(pl.lit("add"))
        .when(pl.col("was_there") & ~pl.col("is_there"))
        .then(pl.lit("delete"))
        .otherwise(None),
        embed_needed=pl.when(stayed).then(is_needed).otherwise(pl.col("added").fill_null(True) | pl.col("needed")),
    )
    return _with_origins(told).filter(pl.col("operation").is_not_null())


def _with_origins(told: pl.DataFrame) -> pl.DataFrame:
    """The rows, where a chunk that came by several renames says what it was at the beginning."""
    import polars as pl

    columns = ("chunk_id", "was_there", "previous_chunk_id", "embed_needed")
    linked = told.filter(pl.col("previous_chunk_id").is_not_null())
    names = set(linked["previous_chunk_id"]) | set(linked["chunk_id"])
    known = {row[0]: row[1:] for row in told.filter(pl.col("chunk_id").is_in(names)).select(columns).iter_rows()}
    origins: dict[str, tuple[str | None, bool]] = {}
    for chunk_id in linked["chunk_id"]:
        previous, needed = known[chunk_id][1:]
        seen = {chunk_id}
        while previous is not None and previous in known and not known[previous][0] and previous not in seen:
            seen.add(previous)
            needed |= known[previous][2]
            previous = known[previous][1]
        origins[chunk_id] = (previous, needed or previous is None)
    is_add = pl.col("operation") == "add"
    own = [origins.get(chunk_id, (None, True)) for chunk_id in told["chunk_id"]]
    found = told.with_columns(
        origin=pl.Series([origin for origin, _ in own], dtype=pl.String),
        needs=pl.Series([needs for _, needs in own], dtype=pl.Boolean),
    )
    return found.with_columns(
        previous_chunk_id=pl.when(is_add).then("origin").otherwise(None),
        embed_needed=pl.when(is_add)
        .then("needs")
        .otherwise(pl.col("embed_needed") & (pl.col("operation") != "delete")),
    )
