"""Two runs -> what got worse, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from chunkledger.outliers.places import Place, worst


@dataclass(frozen=True, slots=True)
class Change:
    """A figure in the earlier run and now."""

    before: int
    now: int


@dataclass(frozen=True, slots=True)
class FlagChange:
    """How many chunks had a flag for one cause, and have it now."""

    flag: str
    cause: str
    before: int
    now: int


@dataclass(frozen=True, slots=True)
class Worse:
    """A document with more flagged chunks than it had, or more that are larger than the slot.

    Attributes:
        before, now: its flagged chunks; before is 0 for a new document.
        is_new: whether the earlier run did not have it.
        places: the worst of those that are flagged now and were not.
    """

    doc_id: str
    before: int
    now: int
    is_new: bool
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Nights:
    """What is different from an earlier run.

    Attributes:
        run: that is compared with.
        settings: name -> its value then and now, where they differ.
        documents, chunks, flagged, over_slot: counts.
        percentiles: of rendered_tokens, by name.
        flags: by flag and cause, those that changed most first.
        worse: documents that got worse, the worst first; at most as many as were asked for.
        worse_in_all: how many there are.
        better_in_all: how many have fewer flagged chunks, or are gone with them.
    """

    run: int
    settings: Mapping[str, tuple[object, object]]
    documents: Change
    chunks: Change
    flagged: Change
    over_slot: Change
    percentiles: Mapping[str, Change]
    flags: tuple[FlagChange, ...]
    worse: tuple[Worse, ...]
    worse_in_all: int
    better_in_all: int


def flag_changes(before: pl.DataFrame, now: pl.DataFrame) -> tuple[FlagChange, ...]:
    """How many chunks each flag and cause has in both."""
    both = _by_flag(before, "before").join(_by_flag(now, "now"), on=["flags", "flag_cause"], how="full", coalesce=True)
    both = both.with_columns(pl.col("before").fill_null(0), pl.col("now").fill_null(0))
    both = both.sort((pl.col("now").cast(pl.Int64) - pl.col("before").cast(pl.Int64)).abs(), "flags", "flag_cause",
                     descending=[True, False, False])  # fmt: skip
    return tuple(FlagChange(*row) for row in both.select("flags", "flag_cause", "before", "now").rows())


def _by_flag(flagged: pl.DataFrame, name: str) -> pl.DataFrame:
    exploded = flagged.select("flags", "flag_cause").explode("flags")
    return exploded.group_by("flags", "flag_cause").agg(pl.len().alias(name))


def changed_documents(
    before: pl.DataFrame, now: pl.DataFrame, known: pl.Series, top: int, places: int
) -> tuple[tuple[Worse, ...], int, int]:
    """Documents that got worse, how many those are in all, and how many got better.

    Args:
        before: the flagged chunks of the earlier run.
        now: the flagged chunks of this one.
        known: ids of all documents that the earlier run had.
        top: how many documents to name.
        places: how many chunks of each.
    """
    both = _counts(before, "before").join(_counts(now, "now"), on="doc_id", how="full", coalesce=True).fill_null(0)
    is_worse = (pl.col("now") > pl.col("before")) | (pl.col("over_slot_now") > pl.col("over_slot_before"))
    is_better = (pl.col("now") < pl.col("before")) | (pl.col("over_slot_now") < pl.col("over_slot_before"))
    worse = both.filter(is_worse)
    # As many flagged chunks as before may be others: one that was mended hides none that came.
    fresh = now.join(before.select("chunk_id", "flags"), on=["chunk_id", "flags"], how="anti")
    ranked = worse.sort(pl.col("now") - pl.col("before"), "doc_id", descending=[True, False]).head(top)
    there = set(known.to_list()) if len(ranked) else set()
    found = tuple(
        Worse(doc_id, was, is_now, doc_id not in there, worst(fresh.filter(pl.col("doc_id") == doc_id), places))
        for doc_id, was, is_now in ranked.select("doc_id", "before", "now").rows()
    )
    return found, len(worse), len(both.filter(is_better & ~is_worse))


def _counts(flagged: pl.DataFrame, name: str) -> pl.DataFrame:
    return flagged.group_by("doc_id").agg(
        pl.len().cast(pl.Int64).alias(name),
        pl.col("flags").list.contains("over_slot").sum().cast(pl.Int64).alias(f"over_slot_{name}"),
    )
