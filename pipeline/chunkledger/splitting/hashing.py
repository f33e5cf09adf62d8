"""What stands at a place -> a number, so that choices are made by the text itself: an edit elsewhere changes none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import Batch, IntArray

_WORD = 8
_WORDS = 8
"""Words of eight bytes that are looked at: lines of a log begin alike with the date and the time."""
_FACTOR = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio, as in SplitMix64


def text_hashes(batch: Batch, position: IntArray, document: IntArray) -> NDArray[np.uint64]:
    """A hash of the first bytes at each place, of its own document alone; what is behind its end counts as zeros.

    Args:
        batch: the documents.
        position: bytes of `Batch.data`.
        document: that each is in.
    """
    width = _WORD * _WORDS
    end = np.minimum(position + width, batch.starts[document + 1])
    words = np.zeros((_WORDS, len(position)), np.uint64)
    whole = np.flatnonzero(end - position == width)
    if len(whole):
        every = np.ndarray(len(batch.data) - _WORD + 1, "<u8", batch.data, strides=(1,))
        for index in range(_WORDS):
            words[index, whole] = every[position[whole] + index * _WORD]
    for short in np.flatnonzero(end - position < width).tolist():
        text = batch.data[int(position[short]) : int(end[short])].ljust(width, b"\0")
        words[:, short] = np.frombuffer(text, "<u8")
    mixed = np.zeros(len(position), np.uint64)
    for word in words:
        mixed = (mixed ^ word) * np.uint64(_FACTOR)
        mixed ^= mixed >> np.uint64(29)
    return mixed
