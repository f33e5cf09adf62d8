"""Flagged chunks -> where they are: places in documents, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

_UNDER = ["under_min"]


@dataclass(frozen=True, slots=True)
class Place:
    """One chunk: where it is, how large, and why it does not suit; without flags, cause and detail are empty.

    Attributes:
        line_start, line_end: 1-based, inclusive; None where only the number of the chunk is known.
    """

    doc_id: str
    chunk_id: str
    chunk_index: int
    line_start: int | None
    line_end: int | None
    token_count: int
    rendered_tokens: int
    flags: tuple[str, ...]
    cause: str
    detail: str

    @property
    def where(self) -> str:
        """Its lines, or the number of the chunk where they are not known.

        >>> Place("a", "", 3, 5, 9, 0, 0, (), "", "").where, Place("a", "", 3, None, None, 0, 0, (), "", "").where
        ('5-9', 'chunk 3')
        """
        if self.line_start is None:
            return f"chunk {self.chunk_index}"
        return f"{self.line_start}" if self.line_start == self.line_end else f"{self.line_start}-{self.line_end}"


@dataclass(frozen=True, slots=True)
class Held:
    """A document that holds some of the chunks in question.

    Attributes:
        doc_id: its id.
        flagged: how many of them it holds.
        chunks: how many chunks it has in all.
        places: the worst.
    """

    doc_id: str
    flagged: int
    chunks: int
    places: tuple[Place, ...]


def held_by(flagged: pl.DataFrame, chunks_of: pl.DataFrame, top: int, places: int) -> tuple[Held, ...]:
    """The documents that hold most of these chunks, each with the worst of them.

    Args:
        flagged: the chunks in question.
        chunks_of: `doc_id` and `len`, how many chunks each document has.
        top: how many documents.
        places: how many chunks of each.
    """
    ranked = (
        flagged.group_by("doc_id").agg(pl.len().alias("flagged")).sort(["flagged", "doc_id"], descending=[True, False])
    )
    ranked = ranked.head(top).join(chunks_of, on="doc_id", maintain_order="left")
    chosen = flagged.filter(pl.col("doc_id").is_in(ranked["doc_id"].implode()))
    of = {key[0]: group for key, group in chosen.group_by("doc_id")}
    return tuple(Held(doc_id, count, size, worst(of[doc_id], places)) for doc_id, count, size in ranked.rows())


def worst(chunks: pl.DataFrame, most: int) -> tuple[Place, ...]:
    """The largest flagged chunks; where none is too big, the smallest."""
    too_big = chunks.filter(pl.col("flags").list.set_difference(pl.lit(_UNDER)).list.len() > 0)
    order = ["rendered_tokens", "doc_id", "chunk_index"]
    chosen = too_big.sort(order, descending=[True, False, False]) if len(too_big) else chunks.sort(order)
    return places_of(chosen.head(most))


def places_of(chunks: pl.DataFrame) -> tuple[Place, ...]:
    """These chunks as places, in their order."""
    return tuple(_place(row) for row in chunks.to_dicts())


def _place(row: dict[str, Any]) -> Place:
    return Place(
        doc_id=row["doc_id"],
        chunk_id=row["chunk_id"],
        chunk_index=row["chunk_index"],
        line_start=row["line_start"],
        line_end=row["line_end"],
        token_count=row["token_count"],
        rendered_tokens=row["rendered_tokens"],
        flags=tuple(row["flags"]),
        cause=row["flag_cause"] or "",
        detail=row["flag_detail"] or "",
    )
