"""Ranges of whole numbers on the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.cli.ranges import MOST_VALUES, whole_numbers
from chunkledger.errors import SettingsError


@given(st.integers(0, 10**6), st.integers(0, MOST_VALUES - 1), st.integers(1, 10**4), st.data())
def test_range_goes_to_its_end_at_most(first: int, steps: int, step: int, data: st.DataObject) -> None:
    """It begins with the first value, and goes on by the step as long as it is not over the last."""
    last = first + steps * step + data.draw(st.integers(0, step - 1))
    assert whole_numbers(f"{first}..{last}:{step}", "x") == tuple(first + n * step for n in range(steps + 1))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_values_keep_their_order(values: list[int]) -> None:
    """Each once; underscores and blanks are no matter."""
    assert whole_numbers(" , ".join(f"{value:_}" for value in values), "x") == tuple(dict.fromkeys(values))


@pytest.mark.parametrize(
    "given", ["", "a", "1,", "-1", "1.5", "1..2", "1..2:-1", "1..2:x", "1:2", "1..2:1,4", "²", "1..", "٣"]
)
def test_what_is_no_range(given: str) -> None:
    """It is named, with what would work."""
    with pytest.raises(SettingsError, match=r"^--k must be a whole number, several with commas, or FIRST\.\.LAST:STEP"):
        whole_numbers(given, "--k")


@pytest.mark.parametrize("given", ["2..1:1", "1..9:0", "1..101:1", "0..1000000000000:1"])
def test_too_few_or_too_many_values(given: str) -> None:
    """A slip of the keyboard must not start a thousand splittings."""
    with pytest.raises(SettingsError, match=r"^--k: .* gives [\d,]+ values; there must be 1 to 100$"):
        whole_numbers(given, "--k")
