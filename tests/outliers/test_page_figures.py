"""What a page draws is what a slow look at every size gives, and no tail or far line squashes it."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings, open_ledger
from chunkledger.outliers.page.figures import Distribution, Line, distribution, figures_of
from chunkledger.outliers.selected import selected
from ledgers import Row, rows_of


def _drawn(sizes: list[int], bound: int, far: int = 10**6) -> Distribution:
    return distribution(pl.Series("rendered_tokens", sizes), (Line("share", bound), Line("slot", far)))


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(1, 6000))
def test_bars_hold_every_size_once(sizes: list[int], bound: int) -> None:
    """Each bar counts the sizes above its left border and up to its right one; what is larger is counted beyond."""
    found = _drawn(sizes, bound)
    assert [bar.above for bar in found.bars[1:]] == [bar.up_to for bar in found.bars[:-1]]
    for bar in found.bars:
        assert bar.chunks == sum(bar.above < size <= bar.up_to or size == bar.above == 0 for size in sizes)
    assert found.beyond == sum(size > found.reaches for size in sizes)
    assert found.largest == max(sizes)


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(1, 6000))
def test_the_bound_is_a_border_between_bars(sizes: list[int], bound: int) -> None:
    """No bar holds both chunks that suit and chunks that do not."""
    found = _drawn(sizes, bound)
    assert not [bar for bar in found.bars if bar.above < bound < bar.up_to]
    assert found.within == sum(size <= bound for size in sizes) / len(sizes)


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(1, 6000))
def test_shares_are_those_of_the_sizes(sizes: list[int], bound: int) -> None:
    """At each point stands the share of the chunks of at most that size."""
    found = _drawn(sizes, bound)
    assert [share for _, share in found.shares] == [
        sum(size <= point for size in sizes) / len(sizes) for point, _ in found.shares
    ]
    assert found.shares[-1][0] == found.reaches


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=20), st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_drawing_is_bounded(sizes: list[int], bound: int, far: int) -> None:
    """However far sizes and lines lie apart, bars are few."""
    assert 1 <= len(_drawn(sizes, bound, far).bars) <= 32


def test_a_long_tail_does_not_squash_the_rest() -> None:
    """Of 10,000 usual sizes and some huge ones, the usual fill the drawing; the others are counted."""
    found = _drawn([*range(200, 500)] * 33 + [90_000, 100_000], 750)
    assert (found.reaches < 1000, found.beyond, found.largest) == (True, 2, 100_000)
    assert sum(bar.chunks > 0 for bar in found.bars) > 8


def test_a_line_far_beyond_the_sizes_is_not_drawn_to() -> None:
    """Small chunks against the share of a huge slot: the drawing reaches as far as the chunks do."""
    assert _drawn([*range(100, 300)], 100_000).reaches <= 320


def test_a_line_just_beyond_the_sizes_is_drawn_to() -> None:
    """That no chunk reaches its share can be seen."""
    assert _drawn([*range(100, 500)], 750).reaches >= 750


@pytest.mark.parametrize("key", ["kind", "folder"])
def test_groups_are_sums_over_their_chunks(ledger: Path, key: str) -> None:
    """Chunks, tokens, and those of flagged chunks; the most tokens first."""
    rows = rows_of(ledger)
    opened = open_ledger(ledger)
    figures = figures_of(selected(opened), opened.settings())
    found = figures.kinds if key == "kind" else figures.folders
    assert [group.tokens for group in found if not group.name.endswith(" others")] == sorted(
        (group.tokens for group in found if not group.name.endswith(" others")), reverse=True
    )
    for group in found:
        held = [row for row in rows if _name(row, key) == group.name]
        if group.name.endswith(" others"):
            named = {each.name for each in found}
            held = [row for row in rows if _name(row, key) not in named]
            assert group.name == f"{len({_name(row, key) for row in held})} others"
        flagged = [row for row in held if row["flags"]]
        assert (group.chunks, group.tokens, group.flagged, group.flagged_tokens) == (
            len(held), sum(row["token_count"] for row in held), len(flagged),
            sum(row["token_count"] for row in flagged),
        )  # fmt: skip
    assert sum(group.chunks for group in found) == len(rows)


def _name(row: Row, key: str) -> str:
    folder, slash, _ = str(row["doc_id"]).partition("/")
    return str(row["kind"]) if key == "kind" else folder if slash else "(no folder)"


def test_folders_are_those_where_paths_part() -> None:
    """What all documents lie below says nothing; the level at which there are several does."""
    names = ["docs/v1/a/x.md", "docs/v1/a/b/y.md", "docs/v1/c/z.md"]
    frame = pl.DataFrame(
        {
            "doc_id": names, "kind": ["prose"] * 3, "token_count": [5, 2, 3], "embed_tokens": [1, 1, 1],
            "rendered_tokens": [1, 1, 1], "flag_cause": [None, None, "table"],
        }
    )  # fmt: skip
    folders = figures_of(frame, Settings()).folders
    assert [(group.name, group.tokens, group.flagged_tokens) for group in folders] == [
        ("docs/v1/a", 7, 0),
        ("docs/v1/c", 3, 3),
    ]


def test_one_chunk_has_no_distribution() -> None:
    """Of one size, or none, nothing is drawn, and no share is taken of nothing."""
    frame = pl.DataFrame(
        {"doc_id": ["a"], "kind": ["prose"], "token_count": [5], "embed_tokens": [5], "rendered_tokens": [9],
         "flag_cause": ["short_document"]}
    )  # fmt: skip
    assert figures_of(frame, Settings()).distributions == ()
    assert figures_of(frame.clear(), Settings()).kinds == ()
    assert math.isclose(distribution(frame["rendered_tokens"], (Line("share", 750),)).within, 1.0)
