"""The start-up check knows what tiktoken counts, and finds a fast tokenizer that differs."""

from __future__ import annotations

import json
from typing import Any

import pytest
import toktok

from chunkledger.counting.self_test import disagreements
from chunkledger.counting.vocabulary import VOCABULARIES
from counting.adversarial import STORED, adversarial_texts, stored_content
from recounting import tokens


def test_the_stored_counts_are_those_of_tiktoken() -> None:
    """`self_test.json` is what `tests/counting/adversarial.py` makes by asking tiktoken."""
    assert STORED.read_text("utf-8") == stored_content()


def test_the_strings_cover_every_encoding() -> None:
    """Every encoding has a count for every string, and no string is there twice."""
    stored = json.loads(STORED.read_text("utf-8"))
    assert sorted(stored["counts"]) == sorted(VOCABULARIES)
    assert stored["texts"] == adversarial_texts()
    assert {len(counts) for counts in stored["counts"].values()} == {len(set(stored["texts"]))}


@pytest.mark.parametrize("encoding", sorted(VOCABULARIES))
def test_the_installed_tokenizer_agrees(encoding: str) -> None:
    """The fast tokenizer that is installed counts every string as tiktoken did."""
    assert disagreements(encoding) == []


def test_a_tokenizer_that_encodes_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts may be right and encoding wrong: that is reported just the same."""
    right = toktok._encoding

    class Doubling:
        """toktok's tokenizer, but that one text has each of its tokens twice."""

        def __init__(self, name: str) -> None:
            self._right = right(name)

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (toktok ships no types)
            return getattr(self._right, name)

        def encode_batch_to_numpy(self, texts: list[str], **options: Any) -> Any:  # noqa: ANN401
            return self._right.encode_batch_to_numpy([text * (1 + (text == "12345678")) for text in texts], **options)

    monkeypatch.setattr(toktok, "_encoding", Doubling)
    [found] = disagreements("cl100k_base")
    once, twice = tokens("12345678", "cl100k_base"), tokens("12345678" * 2, "cl100k_base")
    assert found == f"'12345678' is {twice} tokens, not {once}"


def test_a_broken_tokenizer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that is off by one is reported with string, count and right count."""
    right = toktok.batch_count

    def off_by_one_on_digits(texts: list[str], encoding: str, **options: Any) -> list[int]:  # noqa: ANN401 (toktok's)
        return [n + ("12345678" in text) for n, text in zip(right(texts, encoding, **options), texts, strict=True)]

    monkeypatch.setattr(toktok, "batch_count", off_by_one_on_digits)
    count = tokens("12345678", "cl100k_base")
    assert disagreements("cl100k_base")[0] == f"'12345678' is {count + 1} tokens, not {count}"
