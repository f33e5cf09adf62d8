"""Encoding name -> an exact counter: toktok for speed, or tiktoken, whose counts are the definition.

Both give the same two things, so that a run which finds them in disagreement goes on with the reference alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chunkledger.counting import fast
from chunkledger.counting.reference import reference_counts, reference_ids
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.model import IntArray, TokenEnds

_BATCH_CHARACTERS = 4_000_000
"""Characters that are handed to a tokenizer at once, where the texts can be made one by one."""

Engine = Literal["toktok", "tiktoken"]


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens of one encoding, as `encode_ordinary` does: special tokens in a text are plain text.

    Attributes:
        encoding: its name.
        engine: whose counts these are.
        encode: texts -> the ids of all of them, and where each text's ids start (texts + 1 values).
        count: texts -> tokens of each.
        slash_joins: whether this encoding may join a newline and a following `/` into one token, so that counts do
            not add up where a text begins with `/`.
    """

    encoding: str
    engine: Engine
    encode: Callable[[Sequence[str]], tuple[NDArray[np.uint32], IntArray]]
    count: Callable[[Sequence[str]], IntArray]
    slash_joins: bool

    def token_ends(self, texts: Sequence[str]) -> TokenEnds:
        """Where the tokens of each text end, as bytes of the texts joined; each text is encoded whole."""
        ids, _ = self.encode(texts)
        return TokenEnds(np.cumsum(_token_widths(self.encoding)[ids], dtype=np.int64))

    def count_each(self, texts: Iterable[str]) -> IntArray:
        """Tokens of each text, for texts that are made one by one and are too many to be held at once.

        Equal texts that lie near each other are counted once: chunks of short lines are much alike.
        """
        counts: list[int] = []
        waiting: list[str] = []
        size = 0
        for text in texts:
            waiting.append(text)
            size += len(text)
            if size >= _BATCH_CHARACTERS:
                counts += self._count_once(waiting)
                waiting, size = [], 0
        return np.array(counts + self._count_once(waiting), np.int64)

    def _count_once(self, texts: list[str]) -> list[int]:
        unique = list(dict.fromkeys(texts))
        tokens = dict(zip(unique, self.count(unique).tolist(), strict=True))
        return [tokens[text] for text in texts]


def counter_for(encoding: str, engine: Engine = "toktok") -> Counter:
    """The counter of that encoding.

    Args:
        encoding: one of `VOCABULARIES`.
        engine: `toktok`, or `tiktoken` (slower, and by definition right).

    >>> counter_for("cl100k_base").count(["hello world", "<|endoftext|>"]).tolist()
    [2, 7]
    """
    slash_joins = encoding.startswith("o200k")
    if engine == "tiktoken":
        return Counter(
            encoding,
            engine,
            lambda t: _reference_encode(t, encoding),
            lambda t: reference_counts(t, encoding),
            slash_joins,
        )
    return Counter(
        encoding,
        engine,
        lambda texts: fast.encode_batch(texts, encoding),
        lambda texts: np.array(fast.count_batch(texts, encoding), np.int64),
        slash_joins,
    )


def _reference_encode(texts: Sequence[str], encoding: str) -> tuple[NDArray[np.uint32], IntArray]:
    ids = [np.array(reference_ids(text, encoding), np.uint32) for text in texts]
    offsets = np.zeros(len(ids) + 1, np.int64)
    np.cumsum([len(part) for part in ids], out=offsets[1:])
    return (np.concatenate(ids) if ids else np.zeros(0, np.uint32)), offsets


@lru_cache(maxsize=len(VOCABULARIES))
def _token_widths(encoding: str) -> NDArray[np.uint16]:
    """Bytes of each token, in two bytes: of a million tokens, eight each are looked up half as fast."""
    return np.array([len(token) for token in fast.token_bytes_by_rank(encoding)], np.uint16)
