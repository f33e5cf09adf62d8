"""The reference encodings are OpenAI's, and are built without a download."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import tiktoken_ext.openai_public
import toktok

from chunkledger.counting.vocabulary import VOCABULARIES, reference_encoding
from chunkledger.errors import VocabularyError


@pytest.fixture
def fresh_reference() -> Iterator[None]:
    """Encodings are built anew in the test, and again after it."""
    reference_encoding.cache_clear()
    yield
    reference_encoding.cache_clear()


@pytest.mark.parametrize("name", sorted(VOCABULARIES))
def test_patterns_and_special_tokens_are_tiktokens(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split pattern, special tokens and the expected fingerprint of the ranks stand so in tiktoken's own file."""
    asked: dict[str, Any] = {}

    def no_download(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked["hash"] = expected_hash
        return {}

    monkeypatch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", no_download)
    theirs = getattr(tiktoken_ext.openai_public, name)()
    ours = VOCABULARIES[name]
    assert (ours.pattern, ours.special_tokens) == (theirs["pat_str"], theirs["special_tokens"])
    assert ours.ranks_sha256 == asked["hash"]


@pytest.mark.usefixtures("fresh_reference")
@pytest.mark.parametrize("name", sorted(VOCABULARIES))
def test_an_encoding_is_built_without_the_network(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket is opened to build an encoding, and it gives a text back."""

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", no_socket)
    encoding = reference_encoding(name)
    assert encoding.decode(encoding.encode_ordinary("naïve 漢字 🙂 <|endoftext|>")) == "naïve 漢字 🙂 <|endoftext|>"
    assert encoding.n_vocab == max(VOCABULARIES[name].special_tokens.values()) + 1


@pytest.mark.usefixtures("fresh_reference")
@pytest.mark.parametrize("name", sorted(VOCABULARIES))
def test_a_changed_table_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One token that is not as published stops the program, with both fingerprints in the message."""
    tokens = toktok._encoding(name).token_byte_values()

    class Tampered:
        """A tokenizer with two tokens exchanged."""

        def token_byte_values(self) -> list[bytes]:
            """The table, changed."""
            return [tokens[1], tokens[0], *tokens[2:]]

    monkeypatch.setattr(toktok, "_encoding", lambda _: Tampered())
    with pytest.raises(VocabularyError, match=f"the ranks of {name} have the fingerprint [0-9a-f]{{12}}…, not "):
        reference_encoding(name)


def test_fingerprints_tell_encodings_apart() -> None:
    """Each encoding has a fingerprint of its own, and it is the same on every call."""
    prints = [vocabulary.sha256() for vocabulary in VOCABULARIES.values()]
    assert len(set(prints)) == len(VOCABULARIES)
    assert prints == [vocabulary.sha256() for vocabulary in VOCABULARIES.values()]
