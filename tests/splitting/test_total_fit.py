"""The dynamic programme finds the cheapest cuts there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.splitting.total_fit import Aim, best_cuts, chunk_cost, loose_slack

untimed = hypothesis_settings(deadline=None, max_examples=200)


def total_cost(
    taken: Sequence[int],
    tokens: Sequence[int],
    start_tokens: Sequence[int],
    prefix: Sequence[int],
    price: Sequence[float],
    loose: Sequence[bool],
    aim: Aim,
) -> float:
    """What these cuts cost, by the rule alone; infinite where pieces that do not fit are put together."""
    cost = 0.0
    for start, end in zip(taken, [*taken[1:], len(start_tokens)], strict=True):
        own = tokens[end] - tokens[start]
        if own > aim.limit and end - start > 1:
            return float("inf")
        slack = loose_slack(aim.limit) if loose[start] or loose[end] else 0
        size = tokens[end] - start_tokens[start] + prefix[start] + slack
        cost += chunk_cost(size, own, aim) + (price[start] if start else 0.0)
    return cost


@st.composite
def inputs(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[float], list[bool], Aim]:
    """Up to seven pieces with overlaps, prefixes, prices and loose ends."""
    widths = draw(st.lists(st.integers(0, 30), min_size=1, max_size=7))
    tokens = [sum(widths[:count]) for count in range(len(widths) + 1)]
    back = st.integers(0, 12)
    limit = draw(st.integers(1, 60))
    return (
        tokens,
        [max(0, count - draw(back)) for count in tokens[:-1]],
        draw(st.lists(st.integers(0, 9), min_size=len(widths), max_size=len(widths))),
        draw(st.lists(st.sampled_from([0.0, 0.12, 0.4, 3.0]), min_size=len(widths), max_size=len(widths))),
        draw(st.lists(st.booleans(), min_size=len(widths) + 1, max_size=len(widths) + 1)),
        Aim(limit, draw(st.integers(1, limit)), draw(st.sampled_from([0, 5, 50]))),
    )


@untimed
@given(inputs())
@example(([0, 5, 10], [0, 5], [0, 0], [0.0, 0.0], [False] * 3, Aim(4, 4, 0)))
def test_no_other_cuts_are_cheaper(
    given_inputs: tuple[list[int], list[int], list[int], list[float], list[bool], Aim],
) -> None:
    """The cuts cost as little as the best of all sets of cuts."""
    count = len(given_inputs[1])
    every = [(0, *rest) for size in range(count) for rest in combinations(range(1, count), size)]
    taken = best_cuts(*given_inputs)
    assert taken[0] == 0
    assert taken == sorted(set(taken))
    assert total_cost(taken, *given_inputs) == pytest.approx(min(total_cost(one, *given_inputs) for one in every))


def test_a_chunk_at_its_target_costs_the_flat_price() -> None:
    """Cost is least at the target, grows to both sides, jumps over the limit, and has a fine for tiny chunks."""
    aim = Aim(limit=100, target=95, least=20)
    at = [chunk_cost(size, size, aim) for size in (95, 94, 50, 20)]
    assert at == sorted(at)
    assert chunk_cost(95, 95, aim) < chunk_cost(100, 100, aim) < chunk_cost(101, 101, aim)
    assert chunk_cost(20, 19, aim) == chunk_cost(20, 20, aim) + 2.0
    assert chunk_cost(100, 100, Aim(100, 100, 0)) == chunk_cost(95, 95, aim)


def test_cuts_fall_where_they_are_cheap() -> None:
    """Of two ways to cut that fit, the one at a section is taken, not the one that fills the first chunk more."""
    tokens = [0, 40, 50, 90]
    for cheap, expected in ((1, [0, 1]), (2, [0, 2])):
        price = [0.0, 1.2, 1.2]
        price[cheap] = 0.01
        assert best_cuts(tokens, tokens[:-1], [0] * 3, price, [False] * 4, Aim(60, 57, 0)) == expected


def test_a_piece_over_the_limit_stays_alone() -> None:
    """A piece that does not fit takes no neighbour with it."""
    tokens = [0, 10, 110, 120]
    assert best_cuts(tokens, tokens[:-1], [0] * 3, [0.0] * 3, [False] * 4, Aim(60, 57, 0)) == [0, 1, 2]
