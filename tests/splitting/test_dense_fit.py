"""Many cuts within one limit are found row by row, and are the same cuts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.splitting import dense_fit, total_fit
from chunkledger.splitting.dense_fit import Candidates, cuts_to_take, dense_cuts
from chunkledger.splitting.total_fit import Aim, best_cuts

Inputs = tuple[list[int], list[int], list[int], list[float], list[bool], Aim]

untimed = hypothesis_settings(deadline=None, max_examples=200)


@st.composite
def inputs(draw: st.DrawFn) -> Inputs:
    """Up to sixty pieces: many equal ones, some over the limit, with overlaps, prefixes, prices and loose ends."""
    widths = draw(st.lists(st.sampled_from([0, 1, 1, 1, 2, 3, 9, 40, 700]), min_size=1, max_size=60))
    count = len(widths)
    tokens = [sum(widths[:index]) for index in range(count + 1)]
    limit = draw(st.sampled_from([1, 5, 16, 100, 512]))
    overlaps = draw(st.lists(st.integers(0, 30), min_size=count, max_size=count))
    return (
        tokens,
        [max(0, before - overlap) for before, overlap in zip(tokens, overlaps, strict=False)],
        draw(st.lists(st.integers(0, 40), min_size=count, max_size=count)),
        draw(st.lists(st.sampled_from([0.0, 0.12, 0.4, 3.0]), min_size=count, max_size=count)),
        draw(st.lists(st.booleans(), min_size=count + 1, max_size=count + 1)),
        Aim(limit, draw(st.integers(1, limit)), draw(st.sampled_from([0, 5, 50]))),
    )


def as_arrays(arguments: Inputs) -> tuple[Candidates, Aim]:
    """The lists as the arrays that the rows are made of."""
    *columns, aim = arguments
    types = (np.int64, np.int64, np.int64, np.float64, np.bool_)
    arrays: list[Any] = [np.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return Candidates(*arrays), aim


@untimed
@given(inputs())
def test_rows_give_the_cuts_of_the_plain_loop(arguments: Inputs) -> None:
    """Both ways take the same cuts, of equal ones the same too."""
    expected = best_cuts(*arguments)
    assert dense_cuts(*as_arrays(arguments)) == expected
    assert cuts_to_take(*as_arrays(arguments)) == expected


def test_many_cuts_within_a_limit_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20,000 pieces of one token, 512 of which fit, costs are made once for each size, not for each pair."""
    calls = 0
    cost = total_fit.chunk_cost

    def counted(size: int, own: int, aim: Aim) -> float:
        nonlocal calls
        calls += 1
        return cost(size, own, aim)

    for module in (total_fit, dense_fit):
        monkeypatch.setattr(module, "chunk_cost", counted)
    count = 20_000
    tokens = list(range(count + 1))
    aim = Aim(512, 486, 50)
    arguments = (tokens, tokens[:-1], [3] * count, [0.1] * count, [False] * (count + 1), aim)
    taken = cuts_to_take(*as_arrays(arguments))
    assert calls < 2_000
    assert max(after - before for before, after in pairwise(taken)) <= 509
