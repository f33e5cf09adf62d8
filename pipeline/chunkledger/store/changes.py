"""What changed between two states of a ledger, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from chunkledger.store.merging import side_by_side

if TYPE_CHECKING:
    import polars as pl

_PLACE = ("chunk_index", "char_start", "char_end", "line_start", "line_end")
_IGNORED = ("chunk_id", "doc_id", "doc_sha256", "settings_sha256", *_PLACE)


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many chunks were added, kept as they were, moved, updated, deleted."""

    add: int
    keep: int
    move: int
    update: int
    delete: int


def change_counts(before: Iterator[pa.Table], after: Iterator[pa.Table]) -> ChangeCounts:
    """Compare two states by chunk_id, some documents at a time: an id is made with that of its document.

    Args:
        before: records in document order.
        after: those of the other state.

    Returns:
        The counts; what is what is said at `compared`.
    """
    total = [0] * len(astuple(ChangeCounts(0, 0, 0, 0, 0)))
    for old, new in side_by_side(before, after):
        counts = astuple(compared(old, new))
        total = [sum(pair) for pair in zip(total, counts, strict=True)]
    return ChangeCounts(*total)


def compared(before: pa.Table | None, after: pa.Table | None) -> ChangeCounts:
    """Compare two tables of the same documents by chunk_id; None is one without rows.

    A chunk is *moved* where its place in the document is another, else *updated* where any other column but the
    document's and the settings' fingerprints is, else *kept*. Columns that only one of the tables has, as those of an
    encoding that was not counted in before, make no difference.
    """
    if before is None or after is None or not len(before):
        added, deleted = (0 if table is None else len(table) for table in (after, before))
        return ChangeCounts(add=added, keep=0, move=0, update=0, delete=deleted)
    import polars as pl  # not at the top: a first run has nothing to compare, and the import takes 25 MB

    old, new = pl.DataFrame(before), pl.DataFrame(after)
    both = new.join(old, on="chunk_id", how="inner", suffix="_before")
    moved = _any_differs(_PLACE)
    content = tuple(name for name in new.columns if name in old.columns and name not in _IGNORED)
    counted = both.select(
        moved.sum().alias("move"), (~moved & _any_differs(content)).sum().alias("update"), pl.len().alias("both")
    ).row(0, named=True)
    return ChangeCounts(
        add=len(new) - len(both),
        keep=counted["both"] - counted["move"] - counted["update"],
        move=counted["move"],
        update=counted["update"],
        delete=len(old) - len(both),
    )


def _any_differs(columns: tuple[str, ...]) -> pl.Expr:
    import polars as pl

    return pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_before")) for name in columns)
