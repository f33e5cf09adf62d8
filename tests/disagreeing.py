"""Tokenizers that disagree with tiktoken, for tests of what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import toktok

Count = Callable[..., Sequence[int]]


def counting_wrong(monkeypatch: pytest.MonkeyPatch, is_wrong: Callable[[str], bool]) -> None:
    """Let toktok count one token too many of some texts."""
    right: Count = toktok.batch_count

    def wrong(texts: Sequence[str], *arguments: object, **options: object) -> list[int]:
        counts = right(texts, *arguments, **options)
        return [count + is_wrong(text) for text, count in zip(texts, counts, strict=True)]

    monkeypatch.setattr(toktok, "batch_count", wrong)


class Splitting:
    """toktok's tokenizer, but that it splits one token in each text that holds a mark."""

    def __init__(self, right: Any, mark: str) -> None:  # noqa: ANN401 (toktok ships no types)
        self._right = right
        self._mark = mark
        self._bytes = [bytes(value) for value in right.token_byte_values()]

    def token_byte_values(self) -> Any:  # noqa: ANN401
        """Those of the tokenizer."""
        return self._right.token_byte_values()

    def count_batch(self, texts: list[str], threads: int, with_special: bool) -> Any:  # noqa: ANN401
        """Those of the tokenizer: counts are right."""
        return self._right.count_batch(texts, threads, with_special)

    def encode_batch_to_numpy(self, texts: list[str], threads: int) -> tuple[Any, Any]:
        """Ids and where each text's start, with one more id in marked texts."""
        ids, offsets = self._right.encode_batch_to_numpy(texts, threads=threads)
        parts = [ids[first:last] for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
        split = [self._split(part) if self._mark in text else part for text, part in zip(texts, parts, strict=True)]
        return np.concatenate(split), np.concatenate([[0], np.cumsum([len(part) for part in split])])

    def _split(self, ids: Any) -> Any:  # noqa: ANN401
        place = next(place for place, number in enumerate(ids.tolist()) if len(self._bytes[number]) > 3)
        value = self._bytes[ids[place]]
        halves = np.array([self._bytes.index(value[:1]), self._bytes.index(value[1:2])], ids.dtype)
        rest = np.array([self._bytes.index(value[2:3])] + [self._bytes.index(bytes([b])) for b in value[3:]], ids.dtype)
        return np.concatenate([ids[:place], halves, rest, ids[place + 1 :]])
