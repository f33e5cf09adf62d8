"""Records -> the flagged chunks that the page lists, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import polars as pl

from chunkledger.outliers.page.shown import script_json

MOST_ROWS = 1000
_OF_EACH = 20
"""Of each flag and cause at least so many: a thousand tables would else hide the one character over the limit."""
_MOST_BYTES = 1_500_000
"""Of all ids and details as JSON, which takes six bytes for many a sign."""
_SEVERITY = (("over_slot", 3), ("over_max", 2), ("over_share", 1))


@dataclass(frozen=True, slots=True)
class Offender:
    """One flagged chunk; the columns of its record, under their names."""

    doc_id: str
    chunk_index: int
    line_start: int | None
    line_end: int | None
    kind: str
    token_count: int
    embed_tokens: int
    rendered_tokens: int
    flags: tuple[str, ...]
    flag_cause: str
    flag_detail: str


def offenders_of(frame: pl.DataFrame) -> tuple[Offender, ...]:
    """The flagged chunks that suit least; of those that are too small the smallest, after those that are too large.

    Args:
        frame: the chunks of a ledger, with the columns of `selected.COLUMNS`.
    """
    ordered = _ordered(frame.filter(pl.col("flag_cause").is_not_null()))
    if len(ordered) > MOST_ROWS:
        each = ordered.filter(pl.col("nth") < _OF_EACH)
        others = ordered.filter(pl.col("nth") >= _OF_EACH).head(MOST_ROWS - len(each))
        ordered = pl.concat([each, others]).sort("place")
    rows = ordered.select(field.name for field in fields(Offender)).to_dicts()
    return tuple(_bounded(Offender(**row | {"flags": tuple(row["flags"])}) for row in rows))


def _bounded(offenders: Iterable[Offender]) -> Iterator[Offender]:
    """As many of them, from the first on, as a page has room for."""
    known: set[str] = set()
    left = _MOST_BYTES
    for offender in offenders:
        left -= len(script_json([offender.flags, offender.flag_cause, offender.flag_detail]).encode())
        if offender.doc_id not in known:
            left -= len(script_json(offender.doc_id).encode())
            known.add(offender.doc_id)
        if left < 0:
            return
        yield offender


def _ordered(flagged: pl.DataFrame) -> pl.DataFrame:
    """By how bad a chunk is; `place` counts them all, `nth` those of the same severity and cause."""
    severity = pl.lit(0)
    for flag, weight in reversed(_SEVERITY):
        severity = pl.when(pl.col("flags").list.contains(flag)).then(weight).otherwise(severity)
    size = pl.when(pl.col("severity") > 0).then(pl.col("rendered_tokens")).otherwise(-pl.col("token_count"))
    return (
        flagged.with_columns(severity.alias("severity"))
        .with_columns(size.alias("size"))
        .sort(["severity", "size", "doc_id", "chunk_index"], descending=[True, True, False, False])
        .with_columns(pl.int_range(pl.len()).alias("place"))
        .with_columns(pl.int_range(pl.len()).over("severity", "flag_cause").alias("nth"))
    )
