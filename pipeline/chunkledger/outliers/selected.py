"""Ledger -> the columns that a report is made of, of the chunks that are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl
from polars.exceptions import PolarsError

from chunkledger.errors import SettingsError
from chunkledger.store.ledger import Ledger

SIZES = ("token_count", "embed_tokens", "rendered_tokens")
"""The columns of sizes, in tokens."""
COLUMNS = (
    "chunk_id", "doc_id", "chunk_index", "line_start", "line_end", "kind", *SIZES, "flags", "flag_cause", "flag_detail",
)  # fmt: skip
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_KEY = re.compile(r'(?:"metadata"|\bmetadata)\.(?:"([^"\\]+)"|(\w+))')


def selected(ledger: Ledger, where: str | None = None, further: Sequence[str] = ()) -> pl.DataFrame:
    """The chunks of a ledger in document order, with `COLUMNS` and the further ones.

    Args:
        ledger: what to read.
        where: a condition in SQL on the columns of a record, `metadata.KEY` among them; None takes all chunks.
        further: names of columns, or `metadata.KEY`, which gives a column of that name.

    Raises:
        SettingsError: the condition can't be read, or is on a column that there is not.
    """
    condition = None if where is None else _condition(where)
    keys = _keys(where or "") | {name.removeprefix("metadata.") for name in further if name.startswith("metadata.")}
    used = set() if condition is None else set(condition.meta.root_names())
    wanted = dict.fromkeys([*COLUMNS, *(name for name in further if not name.startswith("metadata."))])
    if unknown := sorted(used - set(ledger.schema.names)):
        raise SettingsError(
            f"--where {where!r}: no such column: {', '.join(unknown)}; there are {', '.join(ledger.schema.names)}, "
            "and metadata.KEY"
        )
    read = dict.fromkeys([*wanted, *sorted(used), *(["metadata"] if keys else [])])
    made = [_value(key).alias(f"metadata.{key}") for key in sorted(keys)]
    # Piece by piece, because a condition on text would hold all of it in memory.
    pieces = [
        _matching(pl.DataFrame(table).with_columns(made), condition, where, keys).select(
            *wanted, *(name for name in further if name.startswith("metadata."))
        )
        for table in ledger.iter_tables(list(read))
    ]
    if pieces:
        return pl.concat(pieces)
    empty = pl.DataFrame(ledger.schema.empty_table()).with_columns(made)
    return empty.select(*wanted, *(name for name in further if name.startswith("metadata.")))


def _condition(where: str) -> pl.Expr:
    try:
        return pl.sql_expr(where)
    except PolarsError as error:
        raise _refused(where, error) from None


def _keys(where: str) -> set[str]:
    """The metadata keys that a condition names, outside of its strings."""
    return {quoted or plain for quoted, plain in _KEY.findall(_QUOTED.sub("''", where))}


def _value(key: str) -> pl.Expr:
    if '"' in key or "\\" in key or not key:
        raise SettingsError(f"metadata.{key}: a key is asked for by its name, without quotes")
    return pl.col("metadata").str.json_path_match(f'$["{key}"]')


def _matching(frame: pl.DataFrame, condition: pl.Expr | None, where: str | None, keys: set[str]) -> pl.DataFrame:
    if condition is None:
        return frame
    fields = [pl.col(f"metadata.{key}").alias(key) for key in sorted(keys)]
    asked = frame.with_columns(pl.struct(fields).alias("metadata")) if fields else frame
    try:
        return asked.filter(condition)
    except PolarsError as error:
        raise _refused(where or "", error) from None


def _refused(where: str, error: Exception) -> SettingsError:
    said = str(error).partition("\n")[0]
    return SettingsError(
        f"--where {where!r} is no condition that can be asked: {said}; write it as in SQL, for example "
        "\"kind = 'table' AND rendered_tokens > 500\""
    )
