"""What is written into TOML is read from it again, and nothing breaks out of a comment."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.proposals.toml_text import comment, toml_value

STORABLE = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(STORABLE | st.sampled_from("\"'\\\n\r\t\0\x7f\x85\u2028\u202e#[]"))


@given(TEXTS | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.lists(TEXTS))
def test_value_is_read_again(value: object) -> None:
    """Any text, number, truth or list of texts comes back as it was, from one line."""
    written = f"value = {toml_value(value)}"
    assert (tomllib.loads(written), written.isprintable()) == ({"value": value}, True)


@given(st.text(st.characters() | st.sampled_from("\n\r\0\x1b\u2028\ud800"), max_size=600))
def test_comment_stays_one(text: str) -> None:
    """Whatever is in a comment, lone surrogates too, the file says nothing through it."""
    line = comment(text)
    assert (tomllib.loads(f"{line}\nend = 1\n"), line.isprintable()) == ({"end": 1}, True)
    line.encode()


def test_no_other_value_is_written() -> None:
    """TOML has no null, and we have no floats."""
    with pytest.raises(TypeError, match="no setting holds None"):
        toml_value(None)
