"""toktok, the fast tokenizer. The only module that knows it.

Its public API counts; where tokens end, and its tables, are read through the tokenizer object that it calls private,
which is why pyproject pins the minor release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import toktok
from numpy.typing import NDArray

from chunkledger.model import IntArray


def _tokenizer(encoding: str) -> Any:  # noqa: ANN401 (toktok ships no types)
    return toktok._encoding(encoding)


def token_bytes_by_rank(encoding: str) -> list[bytes]:
    """The bytes of each ordinary token; the place in the list is the token's rank."""
    return [bytes(value) for value in _tokenizer(encoding).token_byte_values()]


def count_batch(texts: Sequence[str], encoding: str) -> list[int]:
    """Tokens of each text. One thread: a batch job runs one process per core."""
    return list(toktok.batch_count(texts, encoding, threads=1))


def encode_batch(texts: Sequence[str], encoding: str) -> tuple[NDArray[np.uint32], IntArray]:
    """Token ids of all texts in one array, and where each text's ids start in it (texts + 1 values)."""
    ids, offsets = _tokenizer(encoding).encode_batch_to_numpy(list(texts), threads=1)
    return ids, offsets
