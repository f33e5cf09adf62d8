"""Ledger -> how its chunks suit their slot: sizes, flags by cause, the documents that hold most of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import polars as pl

from chunkledger.outliers.advice import Advice, Basis, advice, on_limits
from chunkledger.outliers.atypical import Typical, typical
from chunkledger.outliers.gates import FLAGGED, FLAGS, WORSE
from chunkledger.outliers.groups import Group, column_of, grouped
from chunkledger.outliers.histogram import Bar, Line, histogram, lines_of
from chunkledger.outliers.nights import Change, Nights, changed_documents, flag_changes
from chunkledger.outliers.places import Held, Place, held_by, places_of
from chunkledger.outliers.selected import SIZES, selected
from chunkledger.settings import Settings
from chunkledger.store.ledger import Ledger

SUMMARY_VERSION = 2
"""Grows whenever a key of the JSON changes its name or meaning."""

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
_DISTRIBUTED = ("embed_tokens", "rendered_tokens")
_DOCUMENTS_OF_A_FLAG = 3


@dataclass(frozen=True, slots=True)
class FlagCount:
    """How many chunks have a flag for one cause.

    Attributes:
        flag, cause: what they have in common.
        chunks: how many.
        documents: how many documents hold them.
        held_by: the documents that hold most of them, with the worst places.
    """

    flag: str
    cause: str
    chunks: int
    documents: int
    held_by: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class Atypical:
    """Chunks of unusual sizes, flagged or not.

    Attributes:
        typical: the range of sizes that are usual; None of few chunks, or equal ones.
        largest: the largest chunks above it.
        smallest: the smallest below it.
    """

    typical: Typical | None
    largest: tuple[Place, ...]
    smallest: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The outlier report as values.

    Attributes:
        run: the run that is reported on.
        where: the condition that chunks were chosen by; None takes all.
        settings: by name, with the target in force.
        documents: that hold the chunks.
        chunks: in the ledger, or those that were chosen.
        flagged: chunks with at least one flag.
        over_slot: chunks that are larger than the slot by themselves, and can never be packed whole.
        tokens: sum of token counts, without overlap counted twice being taken out.
        rendered_tokens: what all chunks together would cost in a prompt.
        on_limits: what is to be said where the limit itself does not suit the slot; "" elsewhere.
        percentiles: size column -> percentile -> tokens.
        lines: what sizes are held against.
        histogram: of sizes.
        atypical: by a robust measure.
        flags: by flag and cause, the most first.
        advice: by cause, the most first.
        worst: documents with the most flagged chunks first.
        group_by: what `groups` are by; None where there are none.
        groups: figures by it; at most as many as documents were asked for.
        groups_in_all: how many there are.
        against: what is different from an earlier run.
    """

    run: int
    where: str | None
    settings: Mapping[str, object]
    documents: int
    chunks: int
    flagged: int
    over_slot: int
    tokens: int
    rendered_tokens: int
    on_limits: str
    percentiles: Mapping[str, Mapping[str, int]]
    lines: tuple[Line, ...]
    histogram: tuple[Bar, ...]
    atypical: Atypical
    flags: tuple[FlagCount, ...]
    advice: tuple[Advice, ...]
    worst: tuple[Held, ...]
    group_by: str | None
    groups: tuple[Group, ...]
    groups_in_all: int
    against: Nights | None

    def fits_whole(self, window: int) -> bool:
        """Whether the whole corpus would fit into a window of that many tokens."""
        return self.rendered_tokens <= window

    def counts(self) -> dict[str, tuple[int, int]]:
        """What a gate may be set to, by name: how many there are, and of how many."""
        flags = {flag: sum(entry.chunks for entry in self.flags if entry.flag == flag) for flag in FLAGS}
        found = {name: (count, self.chunks) for name, count in {**flags, FLAGGED: self.flagged}.items()}
        if self.against is not None:
            found[WORSE] = (self.against.worse_in_all, self.documents)
        return found

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"summary_version": SUMMARY_VERSION, **asdict(self)}


def summary(
    ledger: Ledger,
    *,
    top: int = 10,
    places: int = 3,
    where: str | None = None,
    group_by: str | None = None,
    against: Ledger | None = None,
    name: str | None = None,
) -> Summary:
    """The outlier report of a ledger.

    Args:
        ledger: what to report on.
        top: how many documents.
        places: how many chunks of each.
        where: a condition in SQL on the columns of a record; None reports on all chunks.
        group_by: `folder`, `kind`, `cause` or `metadata.KEY`; None makes no groups.
        against: an earlier run of the same ledger to compare with.
        name: what the ledger is called in the commands that are proposed; None is its path.

    Raises:
        SettingsError: a condition or a grouping that can't be.
    """
    chunks = selected(ledger, where, [] if group_by is None else [column_of(group_by)])
    settings, report = ledger.settings(), ledger.report()
    flagged = chunks.filter(pl.col("flags").list.len() > 0)
    sizes_of = chunks.group_by("doc_id").len()
    basis = Basis(settings, name or ledger.root, str(report["selection"].get("documents", "")))
    groups = () if group_by is None else grouped(chunks, group_by)
    return Summary(
        run=ledger.run,
        where=where,
        settings={**settings.as_dict(), "target_tokens": settings.target},
        documents=len(sizes_of),
        chunks=len(chunks),
        flagged=len(flagged),
        over_slot=len(over_slot(flagged)),
        tokens=int(chunks["token_count"].sum()),
        rendered_tokens=int(chunks["rendered_tokens"].sum()),
        on_limits=on_limits(chunks, settings),
        percentiles={size: percentiles(chunks[size]) for size in SIZES},
        lines=lines_of(settings),
        histogram=histogram({size: chunks[size].to_numpy() for size in _DISTRIBUTED}, settings),
        atypical=_atypical(chunks, top),
        flags=_flags(flagged, sizes_of, places),
        advice=advice(flagged, basis),
        worst=held_by(flagged, sizes_of, top, places),
        group_by=group_by,
        groups=groups[:top],
        groups_in_all=len(groups),
        against=None if against is None else _nights(against, where, settings, chunks, flagged, top, places),
    )


def over_slot(chunks: pl.DataFrame) -> pl.DataFrame:
    """Those that are larger than the slot by themselves."""
    return chunks.filter(pl.col("flags").list.contains("over_slot"))


def percentiles(sizes: pl.Series) -> dict[str, int]:
    """Sizes below or at which that share of the chunks is; of a size that chunks really have. Nothing of no chunk."""
    if not len(sizes):
        return {}
    found = {f"p{share}": sizes.quantile(share / 100, "higher") for share in PERCENTILES if share < 100}
    return {**{name: int(value or 0) for name, value in found.items()}, "max": int(sizes.max() or 0)}  # type: ignore[arg-type]


def _atypical(chunks: pl.DataFrame, top: int) -> Atypical:
    found = typical(chunks["rendered_tokens"].to_numpy())
    if found is None:
        return Atypical(None, (), ())
    order = ["rendered_tokens", "doc_id", "chunk_index"]
    large = chunks.filter(pl.col("rendered_tokens") > found.most).sort(order, descending=[True, False, False])
    small = chunks.filter(pl.col("rendered_tokens") < found.least).sort(order)
    return Atypical(found, places_of(large.head(top)), places_of(small.head(top)))


def _flags(flagged: pl.DataFrame, sizes_of: pl.DataFrame, places: int) -> tuple[FlagCount, ...]:
    exploded = flagged.with_columns(pl.col("flags").alias("flag")).explode("flag")
    counted = (
        exploded.group_by("flag", "flag_cause")
        .agg(pl.len().alias("chunks"), pl.col("doc_id").n_unique().alias("documents"))
        .sort(["chunks", "flag", "flag_cause"], descending=[True, False, False])
    )
    of = {key: group.drop("flag") for key, group in exploded.group_by("flag", "flag_cause")}
    return tuple(
        FlagCount(flag, cause, chunks, documents, held_by(of[flag, cause], sizes_of, _DOCUMENTS_OF_A_FLAG, places))
        for flag, cause, chunks, documents in counted.rows()
    )


def _nights(
    against: Ledger,
    where: str | None,
    settings: Settings,
    now: pl.DataFrame,
    flagged_now: pl.DataFrame,
    top: int,
    places: int,
) -> Nights:
    then = selected(against, where)
    flagged = then.filter(pl.col("flags").list.len() > 0)
    before, after = against.settings().as_dict(), settings.as_dict()
    worse, worse_in_all, better = changed_documents(flagged, flagged_now, then["doc_id"].unique(), top, places)
    sizes_then, sizes_now = percentiles(then["rendered_tokens"]), percentiles(now["rendered_tokens"])
    return Nights(
        run=against.run,
        settings={name: (before[name], value) for name, value in after.items() if before[name] != value},
        documents=Change(then["doc_id"].n_unique(), now["doc_id"].n_unique()),
        chunks=Change(len(then), len(now)),
        flagged=Change(len(flagged), len(flagged_now)),
        over_slot=Change(len(over_slot(flagged)), len(over_slot(flagged_now))),
        percentiles={name: Change(sizes_then.get(name, 0), value) for name, value in sizes_now.items()},
        flags=flag_changes(flagged, flagged_now),
        worse=worse,
        worse_in_all=worse_in_all,
        better_in_all=better,
    )
