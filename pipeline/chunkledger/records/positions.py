"""Bytes of a batch -> code points and lines of its documents."""

from __future__ import annotations

import numpy as np

from chunkledger.model import Batch, IntArray


def char_offsets(batch: Batch, position: IntArray, document: IntArray) -> IntArray:
    """The offset in code points, from the start of its document, of each byte position.

    Bytes that continue a character are those of the form 10xxxxxx; where there are none, bytes are code points.
    """
    base = batch.starts[document]
    if batch.data.isascii():
        return position - base
    values = np.frombuffer(batch.data, np.uint8)
    continuation = np.flatnonzero((values & 0xC0) == 0x80)
    before = np.searchsorted(continuation, position, side="left")
    before_base = np.searchsorted(continuation, base, side="left")
    return (position - base) - (before - before_base)


def line_numbers(batch: Batch, position: IntArray, document: IntArray) -> IntArray:
    """The 1-based line of its document on which each byte position lies."""
    line = np.searchsorted(batch.line_starts, position, side="right")
    first = np.searchsorted(batch.line_starts, batch.starts[document], side="right")
    return line - first + 1
