"""Records -> what the page draws: how sizes are distributed, and where the tokens are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from chunkledger.settings import Settings

_BARS = 30
"""Of a histogram: each is some ten pixels wide on a phone."""
_POINTS = 120
_TAIL_ROOM = 1.3
"""How far beyond the 99th percentile a size is drawn; what is larger is counted in one bar, so that one outlier of a
million tokens does not squash all others into the first."""
_STEPS = (1, 2, 3, 4, 5, 6, 8, 10)
_MOST_FOLDERS = 8
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A size from the settings that chunks are held against."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Chunks of more than `above` and at most `up_to` tokens."""

    above: int
    up_to: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """How one size is distributed over the chunks.

    Attributes:
        column: of the record.
        lines: the sizes that it is held against; the first is the bound of what suits, and a border between bars.
        bars: of equal widths, from 0 on.
        beyond: chunks that are larger than the last bar reaches.
        largest: the largest size.
        within: share of the chunks that is not over the first line.
        shares: (tokens, share of the chunks of at most as many).
    """

    column: str
    lines: tuple[Line, ...]
    bars: tuple[Bar, ...]
    beyond: int
    largest: int
    within: float
    shares: tuple[tuple[int, float], ...]

    @property
    def reaches(self) -> int:
        """Up to where bars are drawn."""
        return self.bars[-1].up_to


@dataclass(frozen=True, slots=True)
class Group:
    """Chunks that have something in common; `flagged_tokens` are the tokens of those with a flag."""

    name: str
    chunks: int
    tokens: int
    flagged: int
    flagged_tokens: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What the page draws; distributions only where there are chunks enough to speak of one."""

    distributions: tuple[Distribution, ...]
    kinds: tuple[Group, ...]
    folders: tuple[Group, ...]


def figures_of(frame: pl.DataFrame, settings: Settings) -> Figures:
    """What the page draws of a ledger.

    Args:
        frame: its chunks.
        settings: that they were made with.
    """
    share, slot = Line("share", settings.share_tokens), Line("slot", settings.slot_tokens)
    limit, target = Line("limit", settings.max_tokens), Line("target", settings.target)
    drawn = (("rendered_tokens", (share, slot)), ("embed_tokens", (limit, target)))
    return Figures(
        tuple(distribution(frame[column], lines) for column, lines in drawn) if len(frame) > 1 else (),
        groups(frame, pl.col("kind")),
        groups(frame, _folder(frame), most=_MOST_FOLDERS),
    )


def distribution(sizes: pl.Series, lines: Sequence[Line]) -> Distribution:
    """How a size is distributed, drawn so that neither a long tail nor a far line squashes the rest.

    Args:
        sizes: of all chunks, at least one.
        lines: what they are held against, the first being the bound.
    """
    ordered = sizes.sort()
    largest, bound = int(ordered[-1]), lines[0].tokens
    reach = _reach(ordered, bound)
    step = nice(reach / _BARS)
    first = bound % step or step
    edges = [0, *range(first, reach + step, step)]
    at_most = [0, *(_at_most(ordered, edge) for edge in edges[1:])]
    bars = [
        Bar(above, up_to, until - before)
        for above, up_to, before, until in zip(edges, edges[1:], at_most, at_most[1:], strict=False)
    ]
    points = sorted({round(edges[-1] * place / _POINTS) for place in range(_POINTS + 1)})
    return Distribution(
        column=sizes.name,
        lines=tuple(lines),
        bars=tuple(bars),
        beyond=len(ordered) - at_most[-1],
        largest=largest,
        within=_at_most(ordered, bound) / len(ordered),
        shares=tuple((point, _at_most(ordered, point) / len(ordered)) for point in points),
    )


def _reach(ordered: pl.Series, bound: int) -> int:
    """Up to which size it is worth drawing."""
    largest: int = ordered[-1]
    usual: int = int(ordered[(len(ordered) - 1) * 99 // 100] * _TAIL_ROOM) + 1
    if bound <= 3 * usual:
        usual = max(usual, bound + bound // 10)
    # A bound that is just beyond all sizes is drawn too: that nothing reaches it is good to see.
    return max(min(usual, largest), bound if bound <= 2 * largest else 1)


def _at_most(ordered: pl.Series, tokens: int) -> int:
    found: int = ordered.search_sorted(tokens, side="right")
    return found


def nice(width: float) -> int:
    """The smallest number that people count in and that is not below the width.

    >>> [nice(width) for width in (0.2, 1.2, 17, 27.5, 43, 501)]
    [1, 2, 20, 30, 50, 600]
    """
    power = int(10 ** math.floor(math.log10(max(width, 1))))
    return next(factor * power for factor in _STEPS if factor * power >= width)


def groups(frame: pl.DataFrame, key: pl.Expr, *, most: int | None = None) -> tuple[Group, ...]:
    """Chunks by a key, the group of most tokens first; those after `most` as one."""
    is_flagged = pl.col("flag_cause").is_not_null()
    found = (
        frame.group_by(key.alias("name"))
        .agg(
            pl.len().alias("chunks"),
            pl.col("token_count").sum().alias("tokens"),
            is_flagged.sum().alias("flagged"),
            pl.col("token_count").filter(is_flagged).sum().alias("flagged_tokens"),
        )
        .sort(["tokens", "name"], descending=[True, False])
    )
    rows = [Group(*row) for row in found.rows()]
    if most is None or len(rows) <= most + 1:
        return tuple(rows)
    rest = rows[most:]
    sums = (sum(getattr(row, name) for row in rest) for name in ("chunks", "tokens", "flagged", "flagged_tokens"))
    return (*rows[:most], Group(f"{len(rest):,} others", *sums))


def _folder(frame: pl.DataFrame) -> pl.Expr:
    """The upper folders of a document, down to the level at which there is more than one."""
    parts = pl.col("doc_id").str.replace(r"/?[^/]*$", "").str.split("/")
    documents = frame.select(pl.col("doc_id").unique())
    for depth in range(1, _DEEPEST + 1):
        folder = parts.list.head(depth).list.join("/")
        if documents.select(folder.n_unique()).item() > 1:
            break
    return pl.when(folder == "").then(pl.lit("(no folder)")).otherwise(folder)
