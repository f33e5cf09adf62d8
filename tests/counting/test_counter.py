"""Both counters give what tiktoken gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.counting.counter import counter_for
from chunkledger.counting.vocabulary import VOCABULARIES, reference_encoding
from markdown_texts import odd_texts, texts
from recounting import tokens

encodings = st.sampled_from(sorted(VOCABULARIES))
any_texts = st.lists(
    texts | odd_texts | st.text(st.characters(exclude_categories=["Cs"])) | st.text("a' \n\r\t/.1ſ漢🙂\u00a0"),
    max_size=6,
)


@given(any_texts, encodings)
def test_counts_are_those_of_tiktoken(several: list[str], encoding: str) -> None:
    """The fast and the slow counter count every text as tiktoken's `encode_ordinary` does."""
    expected = [tokens(text, encoding) for text in several]
    assert counter_for(encoding).count(several).tolist() == expected
    assert counter_for(encoding, "tiktoken").count(several).tolist() == expected


@given(any_texts, encodings)
def test_ids_are_those_of_tiktoken(several: list[str], encoding: str) -> None:
    """The ids of all texts are those of `encode_ordinary`, one text behind the other, with where each starts."""
    expected = [reference_encoding(encoding).encode_ordinary(text) for text in several]
    for engine in ("toktok", "tiktoken"):
        ids, offsets = counter_for(encoding, engine).encode(several)
        assert [ids[first:last].tolist() for first, last in pairwise(offsets.tolist())] == expected


@given(any_texts, encodings)
def test_token_ends_are_where_tokens_end(several: list[str], encoding: str) -> None:
    """Every token ends where the bytes of the tokens up to it end, over all texts joined."""
    reference = reference_encoding(encoding)
    ids = [token for text in several for token in reference.encode_ordinary(text)]
    expected = np.cumsum([len(reference.decode_single_token_bytes(token)) for token in ids], dtype=np.int64).tolist()
    for engine in ("toktok", "tiktoken"):
        ends = counter_for(encoding, engine).token_ends(several)
        assert ends.end.tolist() == expected


@given(any_texts, st.data())
def test_before_counts_the_tokens_that_have_ended(several: list[str], data: st.DataObject) -> None:
    """`before` counts the tokens that end at or before a byte; `are_ends` says whether one ends there."""
    ends = counter_for("cl100k_base").token_ends(several)
    length = len("".join(several).encode())
    place = data.draw(st.integers(0, length))
    assert int(ends.before(np.array([place]))[0]) == sum(end <= place for end in ends.end.tolist())
    assert bool(ends.are_ends(np.array([place]))[0]) == (place in [0, *ends.end.tolist()])


@pytest.mark.parametrize("encoding", sorted(VOCABULARIES))
@pytest.mark.parametrize("engine", ["toktok", "tiktoken"])
def test_nothing_has_no_tokens(encoding: str, engine: str) -> None:
    """No texts, and empty ones, are counted without an error."""
    counter = counter_for(encoding, engine)  # type: ignore[arg-type]
    assert (counter.count([]).tolist(), counter.count(["", "a", ""]).tolist()) == ([], [0, 1, 0])
    assert (counter.token_ends([]).end.tolist(), counter.token_ends(["", ""]).end.tolist()) == ([], [])


def test_special_tokens_are_plain_text() -> None:
    """A document that holds the text of a special token is counted letter by letter."""
    assert counter_for("cl100k_base").count(["<|endoftext|>", "<|fim_prefix|>"]).tolist() == [7, 7]
    assert counter_for("o200k_harmony").count(["<|start|>"]).tolist() == counter_for("o200k_base").count(["<|start|>"])


def test_only_o200k_joins_a_slash() -> None:
    """Newline and `/` may be one token under o200k and never under cl100k, which is what `slash_joins` says."""
    for name, vocabulary in VOCABULARIES.items():
        first_piece = regex.match(vocabulary.pattern, ".\n/b")
        assert first_piece is not None
        assert counter_for(name).slash_joins == (first_piece[0] == ".\n/")
