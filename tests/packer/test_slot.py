"""The slot is a subtraction that sums up."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkledger.packer import Slot, SlotError, ceiling

TERMS = ("system", "tools", "history", "question", "reserved_output", "framing")
small = st.integers(min_value=0, max_value=10_000)
terms = st.fixed_dictionaries({name: small for name in TERMS})
caps = st.none() | st.integers(min_value=1, max_value=300_000)
margins = small | st.floats(min_value=0, max_value=0.5)


@given(terms, margins, caps)
def test_tokens_are_the_window_less_every_term_at_most_the_cap(
    terms: dict[str, int], margin: float, cap: int | None
) -> None:
    """The slot is the window less all terms and the margin, and never above the cap."""
    held_back = margin if isinstance(margin, int) else math.ceil(round(margin * 200_000, 6))
    left = 200_000 - sum(terms.values()) - held_back
    slot = Slot(window=200_000, margin=margin, cap=cap, **terms)
    assert slot.tokens == (left if cap is None else min(left, cap))


@given(terms, margins, caps)
def test_breakdown_sums_up(terms: dict[str, int], margin: float, cap: int | None) -> None:
    """The rows before `left` sum to it, and all rows but `left` and `slot` sum to the slot."""
    slot = Slot(window=200_000, margin=margin, cap=cap, **terms)
    rows = slot.breakdown()
    names = [name for name, _ in rows]
    before_left = sum(tokens for _, tokens in rows[: names.index("left")])
    all_terms = sum(tokens for name, tokens in rows if name not in ("left", "slot"))
    assert (before_left, all_terms) == (dict(rows)["left"], slot.tokens)
    assert (names[0], names[-1], "cap" in names) == ("window", "slot", slot.tokens < dict(rows)["left"])


@example(70, 100)
@given(st.integers(min_value=0, max_value=999), st.integers(min_value=1, max_value=2_000_000))
def test_share_is_rounded_up_as_the_decimal_that_was_written(thousandths: int, window: int) -> None:
    """A share that is written in decimals is exact: 0.07 of 100 is 7 and not 8."""
    wanted = math.ceil(Fraction(thousandths, 1000) * window)
    assert dict(Slot(window=window + 1, margin=wanted).breakdown())["margin"] == -wanted
    if wanted < window:
        assert dict(Slot(window=window, margin=thousandths / 1000).breakdown())["margin"] == -wanted


def test_breakdown_names_every_term_once() -> None:
    """The subtraction is itemised, with the cap where it bites."""
    slot = Slot(
        window=128_000, system=900, tools=1_200, history=6_000, question=60, reserved_output=2_000, framing=40,
        margin=0.02, cap=6_000,
    )  # fmt: skip
    assert slot.breakdown() == [
        ("window", 128_000),
        ("reserved_output", -2_000),
        ("system", -900),
        ("tools", -1_200),
        ("history", -6_000),
        ("question", -60),
        ("framing", -40),
        ("margin", -2_560),
        ("left", 115_240),
        ("cap", -109_240),
        ("slot", 6_000),
    ]


def test_cap_that_does_not_bite_is_not_shown() -> None:
    """A cap above what is left changes nothing and has no row."""
    assert Slot(window=100, cap=100).breakdown()[-2:] == [("left", 100), ("slot", 100)]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"window": 0}, "window is 0: it must be a whole number of at least 1"),
        ({"window": 100, "history": -1}, "history is -1: it must be a whole number of at least 0"),
        ({"window": 100, "system": True}, "system is True: it must be a whole number of at least 0"),
        ({"window": 100, "tools": 2.0}, "tools is 2.0: it must be a whole number of at least 0"),
        ({"window": 100, "question": None}, "question is None: it must be a whole number of at least 0"),
        ({"window": 100, "framing": "9"}, "framing is '9': it must be a whole number of at least 0"),
        ({"window": 100, "margin": -1}, "margin is -1: it must be a whole number of at least 0"),
        ({"window": 100, "margin": False}, "margin is False: it must be a whole number of at least 0"),
        ({"window": 100, "cap": 0}, "cap is 0: it must be a whole number of at least 1"),
        ({"window": 100, "cap": 0.5}, "cap is 0.5: it must be a whole number of at least 1"),
    ],
)
def test_value_that_cannot_be_is_named(values: dict[str, object], message: str) -> None:
    """A faulty value is refused when the slot is made, with its name, itself and what would work."""
    with pytest.raises(ValueError, match=message) as raised:
        Slot(**values)  # type: ignore[arg-type]
    assert str(raised.value) == message


@pytest.mark.parametrize("share", [1.0, -0.1, math.nan, math.inf])
def test_share_outside_zero_to_one_is_refused(share: float) -> None:
    """A float margin is a share of the window, at least 0 and below 1."""
    with pytest.raises(ValueError, match=r"margin is .*: a float is a share of the window, at least 0 and below 1"):
        Slot(window=100, margin=share)


@given(terms)
def test_slot_is_positive_or_refused(terms: dict[str, int]) -> None:
    """A window that is used up raises SlotError, any other gives a positive slot."""
    left = 20_000 - sum(terms.values())
    if left > 0:
        assert Slot(window=20_000, **terms).tokens == left
    else:
        with pytest.raises(SlotError, match=f"the slot would be {left} tokens"):
            Slot(window=20_000, **terms)


def test_used_up_window_names_the_largest_terms() -> None:
    """The message of a slot of nothing says by what the window is used up, largest first."""
    with pytest.raises(SlotError) as raised:
        Slot(window=1_000, system=50, history=700, tools=10, reserved_output=240)
    assert str(raised.value) == (
        "the slot would be 0 tokens: window 1000 is used up by history 700, reserved_output 240, system 50; "
        "shorten these or take a larger window"
    )


def test_slot_error_is_a_value_error() -> None:
    """Whoever catches ValueError catches a slot of nothing too."""
    assert issubclass(SlotError, ValueError)


def test_slot_is_keyword_only_and_frozen() -> None:
    """A slot is a value: made by names, never changed."""
    with pytest.raises(TypeError):
        Slot(100)  # type: ignore
    with pytest.raises(AttributeError):
        Slot(window=100).window = 200  # type: ignore


def test_numpy_integers_become_plain_ones() -> None:
    """Counts from numpy are taken, and the slot stays ready for JSON."""
    assert type(Slot(window=np.int64(100), history=np.int32(10)).tokens) is int  # type: ignore[arg-type]


@given(small, st.integers(min_value=1, max_value=900), st.integers(min_value=0, max_value=90))
def test_ceiling_is_the_most_chunks_that_fit(budget: int, chunk_tokens: int, overhead_tokens: int) -> None:
    """That many chunks fit into the budget and one more does not."""
    each, most = chunk_tokens + overhead_tokens, ceiling(budget, chunk_tokens, overhead_tokens)
    assert most * each <= budget < (most + 1) * each


@pytest.mark.parametrize(
    ("values", "name"), [((-1, 1, 0), "budget"), ((1, 0, 0), "chunk_tokens"), ((1, 1, -1), "overhead_tokens")]
)
def test_ceiling_names_a_value_that_cannot_be(values: tuple[int, int, int], name: str) -> None:
    """A faulty value is named."""
    with pytest.raises(ValueError, match=f"{name} is "):
        ceiling(*values)


@pytest.mark.parametrize("share", [np.float32(0.5), Decimal("0.5"), Fraction(1, 2)])
def test_share_may_be_of_any_number_type(share: Any) -> None:  # noqa: ANN401
    """A margin from numpy, or from an exact number, is a share too."""
    assert Slot(window=100, margin=share).tokens == 50
