"""Chunks -> figures by folder, kind, cause, or a key of their metadata."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from chunkledger.errors import SettingsError

GROUPINGS = ("folder", "kind", "cause", "metadata.KEY")
_NOTHING = {"folder": "(top)", "cause": "(not flagged)"}


@dataclass(frozen=True, slots=True)
class Group:
    """The chunks of one group.

    Attributes:
        name: of the folder, the kind, …
        documents, chunks, flagged: how many.
        over_slot: chunks that can never be packed whole.
        tokens: sum of the token counts.
        p50, p95, max: of rendered_tokens.
    """

    name: str
    documents: int
    chunks: int
    flagged: int
    over_slot: int
    tokens: int
    p50: int
    p95: int
    max: int


def column_of(by: str) -> str:
    """The column that a report needs for a grouping.

    Raises:
        SettingsError: there is no such grouping.
    """
    if by.startswith("metadata.") and len(by) > len("metadata."):
        return by
    columns = {"folder": "doc_id", "kind": "kind", "cause": "flag_cause"}
    if by not in columns:
        raise SettingsError(f"--group-by {by!r} is not known; there are: {', '.join(GROUPINGS)}")
    return columns[by]


def grouped(chunks: pl.DataFrame, by: str) -> tuple[Group, ...]:
    """Every group, those with the most flagged chunks first.

    Args:
        chunks: with the column of `column_of`.
        by: one of `GROUPINGS`.
    """
    name = pl.col(column_of(by)).cast(pl.String)
    if by == "folder":
        # Everything before the last slash; of a document at the top, nothing.
        name = pl.when(name.str.contains("/", literal=True)).then(name.str.replace("/[^/]*$", "")).otherwise(None)
    is_flagged = pl.col("flags").list.len() > 0
    found = (
        chunks.with_columns(name.fill_null(_NOTHING.get(by, "(none)")).alias("name"))
        .group_by("name")
        .agg(
            pl.col("doc_id").n_unique().alias("documents"),
            pl.len().alias("chunks"),
            is_flagged.sum().alias("flagged"),
            pl.col("flags").list.contains("over_slot").sum().alias("over_slot"),
            pl.col("token_count").cast(pl.Int64).sum().alias("tokens"),
            *(
                pl.col("rendered_tokens").quantile(share, "higher").cast(pl.Int64).alias(f"p{share * 100:.0f}")
                for share in (0.5, 0.95)
            ),
            pl.col("rendered_tokens").max().cast(pl.Int64).alias("max"),
        )
        .sort(["flagged", "chunks", "name"], descending=[True, True, False])
    )
    return tuple(Group(*row) for row in found.rows())
