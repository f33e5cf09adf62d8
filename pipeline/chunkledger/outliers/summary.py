"""Ledger -> how its chunks suit their slot: sizes, flags by cause, the documents that hold most of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from chunkledger.store.ledger import Ledger

SUMMARY_VERSION = 1
"""Grows whenever a key of the JSON changes its name or meaning."""

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
SIZES = ("token_count", "embed_tokens", "rendered_tokens")
_COLUMNS = ("doc_id", "chunk_index", "line_start", "line_end", *SIZES, "flags", "flag_cause", "flag_detail")


@dataclass(frozen=True, slots=True)
class FlagCount:
    """How many chunks have a flag for one cause, and in how many documents."""

    flag: str
    cause: str
    chunks: int
    documents: int


@dataclass(frozen=True, slots=True)
class Place:
    """One flagged chunk: where it is, how large, and why."""

    doc_id: str
    chunk_index: int
    line_start: int | None
    line_end: int | None
    rendered_tokens: int
    flags: tuple[str, ...]
    cause: str
    detail: str


@dataclass(frozen=True, slots=True)
class WorstDocument:
    """A document with flagged chunks, and the worst of those."""

    doc_id: str
    flagged: int
    chunks: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The outlier report as values.

    Attributes:
        run: the run that is reported on.
        settings: by name.
        documents, chunks: in the ledger.
        flagged: chunks with at least one flag.
        tokens: sum of token counts, without overlap counted twice being taken out.
        rendered_tokens: what all chunks together would cost in a prompt.
        percentiles: size column -> percentile -> tokens.
        flags: by flag and cause, the most first.
        worst: documents with the most flagged chunks first.
    """

    run: int
    settings: Mapping[str, object]
    documents: int
    chunks: int
    flagged: int
    tokens: int
    rendered_tokens: int
    percentiles: Mapping[str, Mapping[str, int]]
    flags: tuple[FlagCount, ...]
    worst: tuple[WorstDocument, ...]

    def fits_whole(self, window: int) -> bool:
        """Whether the whole corpus would fit into a window of that many tokens."""
        return self.rendered_tokens <= window

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"summary_version": SUMMARY_VERSION, **asdict(self)}


def summary(ledger: Ledger, *, top: int = 10, places: int = 3) -> Summary:
    """The outlier report of a ledger.

    Args:
        ledger: what to report on.
        top: how many documents.
        places: how many chunks of each.
    """
    frame = pl.DataFrame(ledger.chunks(_COLUMNS))
    settings = ledger.settings()
    flagged = frame.filter(pl.col("flag_cause").is_not_null())
    return Summary(
        run=ledger.run,
        settings={**settings.as_dict(), "target_tokens": settings.target},
        documents=frame["doc_id"].n_unique(),
        chunks=len(frame),
        flagged=len(flagged),
        tokens=int(frame["token_count"].sum()),
        rendered_tokens=int(frame["rendered_tokens"].sum()),
        percentiles={name: _percentiles(frame[name]) for name in SIZES},
        flags=_flags(flagged),
        worst=_worst(frame, flagged, top, places),
    )


def _percentiles(sizes: pl.Series) -> dict[str, int]:
    """Sizes below or at which that share of the chunks is; of a size that chunks really have."""
    if not len(sizes):
        return {}
    found = {f"p{share}": sizes.quantile(share / 100, "higher") for share in PERCENTILES if share < 100}
    return {**{name: int(value or 0) for name, value in found.items()}, "max": int(sizes.max() or 0)}  # type: ignore[arg-type]


def _flags(flagged: pl.DataFrame) -> tuple[FlagCount, ...]:
    counted = (
        flagged.explode("flags")
        .group_by("flags", "flag_cause")
        .agg(pl.len().alias("chunks"), pl.col("doc_id").n_unique().alias("documents"))
        .sort(["chunks", "flags", "flag_cause"], descending=[True, False, False])
    )
    return tuple(FlagCount(*row) for row in counted.rows())


def _worst(frame: pl.DataFrame, flagged: pl.DataFrame, top: int, places: int) -> tuple[WorstDocument, ...]:
    sizes = dict(frame.group_by("doc_id").len().rows())
    ranked = flagged.group_by("doc_id").len().sort(["len", "doc_id"], descending=[True, False]).head(top)
    return tuple(
        WorstDocument(doc_id, count, sizes[doc_id], _places(flagged.filter(pl.col("doc_id") == doc_id), places))
        for doc_id, count in ranked.rows()
    )


def _places(chunks: pl.DataFrame, most: int) -> tuple[Place, ...]:
    """The largest flagged chunks of one document; where none is too big, the smallest."""
    too_big = chunks.filter(pl.col("flags").list.set_difference(["under_min"]).list.len() > 0)
    order = ["rendered_tokens", "chunk_index"]
    chosen = too_big.sort(order, descending=[True, False]) if len(too_big) else chunks.sort(order)
    rows: Sequence[dict[str, object]] = chosen.head(most).to_dicts()
    return tuple(
        Place(
            doc_id=str(row["doc_id"]),
            chunk_index=int(row["chunk_index"]),  # type: ignore[call-overload]
            line_start=row["line_start"],  # type: ignore[arg-type]
            line_end=row["line_end"],  # type: ignore[arg-type]
            rendered_tokens=int(row["rendered_tokens"]),  # type: ignore[call-overload]
            flags=tuple(row["flags"]),  # type: ignore[arg-type]
            cause=str(row["flag_cause"]),
            detail=str(row["flag_detail"]),
        )
        for row in rows
    )
