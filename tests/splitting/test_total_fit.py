"""The dynamic programme finds the cheapest cuts there are, for many documents at once as for one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.splitting import prices, total_fit
from chunkledger.splitting.prices import Aim, chunk_costs, loose_slack
from chunkledger.splitting.total_fit import Candidates, best_cuts
from plain_fit import chunk_cost, plain_cuts

many = hypothesis_settings(max_examples=200)


class Segment(NamedTuple):
    """One document's pieces: parallel lists with one value for each cut."""

    widths: list[int]
    overlaps: list[int]
    prefix: list[int]
    price: list[float]
    loose: list[bool]

    @property
    def tokens(self) -> list[int]:
        """Before each cut, and before the end."""
        return [sum(self.widths[:count]) for count in range(len(self.widths) + 1)]

    def arguments(self, aim: Aim) -> tuple[list[int], list[int], list[int], list[float], list[bool], Aim]:
        """As the plain loop takes them."""
        starts = [max(0, before - back) for before, back in zip(self.tokens, self.overlaps, strict=False)]
        return self.tokens, starts, self.prefix, self.price, self.loose, aim


def cuts_of(segments: Sequence[Segment], aim: Aim) -> list[list[int]]:
    """What is taken in each segment when all are given at once, as indices within it."""
    before, base = [], 0
    columns: list[list[float]] = [[], [], [], [], [], []]
    for segment in segments:
        tokens, starts, prefix, price, loose, _ = segment.arguments(aim)
        parts = (tokens[:-1], tokens[1:], starts, prefix, price, loose)
        for number, (column, part) in enumerate(zip(columns, parts, strict=True)):
            column += [value + base for value in part] if number < 3 else part
        before.append(len(columns[0]) - len(prefix))
        base += tokens[-1]
    types = (np.int64, np.int64, np.int64, np.int64, np.float64, np.bool_)
    candidates = Candidates(*(np.array(column, kind) for column, kind in zip(columns, types, strict=True)))
    last = np.array([*before[1:], len(columns[0])], np.int64)
    taken = best_cuts(candidates, np.array(before, np.int64), last, aim).tolist()
    return [
        [index - first for index in taken if first <= index < done]
        for first, done in zip(before, last.tolist(), strict=True)
    ]


def segments(most: int, widths: Sequence[int]) -> st.SearchStrategy[Segment]:
    """Pieces with overlaps, prefixes, prices and loose ends."""

    @st.composite
    def made(draw: st.DrawFn) -> Segment:
        count = draw(st.integers(1, most))

        def column(values: st.SearchStrategy[object]) -> list:  # type: ignore[type-arg]
            return draw(st.lists(values, min_size=count, max_size=count))

        return Segment(
            column(st.sampled_from(widths)),
            column(st.integers(0, 30)),
            column(st.integers(0, 40)),
            column(st.sampled_from([0.0, 0.12, 0.4, 3.0])),
            column(st.booleans()),
        )

    return made()


aims = st.builds(
    lambda limit, share, least: Aim(limit, max(1, limit * share // 100), least),
    st.sampled_from([1, 5, 16, 60, 100, 512]),
    st.integers(1, 100),
    st.sampled_from([0, 5, 50]),
)


def total_cost(taken: Sequence[int], segment: Segment, aim: Aim) -> float:
    """What these cuts cost, by the rule alone; infinite where pieces that do not fit are put together."""
    tokens, starts, prefix, price, loose, _ = segment.arguments(aim)
    cost = 0.0
    for start, end in zip(taken, [*taken[1:], len(starts)], strict=True):
        own = tokens[end] - tokens[start]
        if own > aim.limit and end - start > 1:
            return float("inf")
        slack = loose_slack(aim.limit) if loose[start] or (end < len(loose) and loose[end]) else 0
        size = tokens[end] - starts[start] + prefix[start] + slack
        cost += chunk_cost(size, own, aim) + (price[start] if start else 0.0)
    return cost


@many
@given(segments(8, range(30)), aims)
@example(Segment([5, 5], [0, 0], [0, 0], [0.0, 0.0], [False] * 2), Aim(4, 4, 0))
def test_no_other_cuts_are_cheaper(segment: Segment, aim: Aim) -> None:
    """The cuts cost as little as the best of all sets of cuts."""
    count = len(segment.widths)
    every = [(0, *rest) for size in range(count) for rest in combinations(range(1, count), size)]
    [taken] = cuts_of([segment], aim)
    assert taken[0] == 0
    assert taken == sorted(set(taken))
    assert total_cost(taken, segment, aim) == pytest.approx(min(total_cost(one, segment, aim) for one in every))


@many
@given(
    st.lists(segments(40, [0, 1, 1, 1, 2, 3, 9, 40, 700]), min_size=1, max_size=8), aims, st.sampled_from([0, 10**9])
)
def test_many_documents_at_once_give_the_cuts_of_the_plain_loop(several: list[Segment], aim: Aim, wide: int) -> None:
    """In step or one by one, every document gets the cuts that it gets alone, of equal ones the same too."""
    expected = [plain_cuts(*segment.arguments(aim)) for segment in several]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(total_fit, "WIDE", wide)
        patch.setattr(total_fit, "_BLOCK_PAIRS", 50)
        assert cuts_of(several, aim) == expected


@many
@given(st.lists(st.integers(0, 200), min_size=1), aims)
def test_costs_of_many_are_those_of_each(sizes: list[int], aim: Aim) -> None:
    """Arrays of costs have the values of the rule, to the last bit."""
    own = [size * 2 // 3 for size in sizes]
    expected = [chunk_cost(size, each, aim) for size, each in zip(sizes, own, strict=True)]
    assert chunk_costs(np.array(sizes), np.array(own), aim).tolist() == expected


def test_a_chunk_at_its_target_costs_the_flat_price() -> None:
    """Cost is least at the target, grows to both sides, jumps over the limit, and has a fine for tiny chunks."""
    aim = Aim(limit=100, target=95, least=20)
    at = [chunk_cost(size, size, aim) for size in (95, 94, 50, 20)]
    assert at == sorted(at)
    assert at[0] == prices.CHUNK_PRICE
    assert chunk_cost(95, 95, aim) < chunk_cost(100, 100, aim) < chunk_cost(101, 101, aim)
    assert chunk_cost(20, 19, aim) == chunk_cost(20, 20, aim) + prices.TINY_PRICE
    assert chunk_cost(100, 100, Aim(100, 100, 0)) == chunk_cost(95, 95, aim)


def test_cuts_fall_where_they_are_cheap() -> None:
    """Of two ways to cut that fit, the one at a section is taken, not the one that fills the first chunk more."""
    for cheap, expected in ((1, [0, 1]), (2, [0, 2])):
        price = [0.0, 1.2, 1.2]
        price[cheap] = 0.01
        segment = Segment([40, 10, 40], [0] * 3, [0] * 3, price, [False] * 3)
        assert cuts_of([segment], Aim(60, 57, 0)) == [expected]


def test_a_piece_over_the_limit_stays_alone() -> None:
    """A piece that does not fit takes no neighbour with it."""
    segment = Segment([10, 100, 10], [0] * 3, [0] * 3, [0.0] * 3, [False] * 3)
    assert cuts_of([segment], Aim(60, 57, 0)) == [[0, 1, 2]]


@pytest.mark.parametrize("documents", [1, 200])
def test_work_is_the_pairs_that_fit(documents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20,000 pieces of one token, 512 of which fit, each end is compared with 512 starts, and memory is bounded."""
    sizes: list[int] = []

    def counted(size: np.ndarray, own: np.ndarray, aim: Aim) -> np.ndarray:  # type: ignore[type-arg]
        sizes.append(len(size))
        return chunk_costs(size, own, aim)

    monkeypatch.setattr(total_fit, "chunk_costs", counted)
    count = 20_000 // documents
    tokens = np.arange(documents * count)
    candidates = Candidates(
        tokens, tokens + 1, tokens, np.full(len(tokens), 3), np.full(len(tokens), 0.1), np.zeros(len(tokens), np.bool_)
    )
    first = np.arange(documents) * count
    taken = best_cuts(candidates, first, first + count, Aim(512, 486, 50))
    assert max(after - before for before, after in pairwise(taken.tolist())) <= 509
    assert max(sizes) <= 2_000_000
    assert sum(sizes) <= 20_000 * 514
    assert len(sizes) < 200
