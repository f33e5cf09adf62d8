"""Bytes of a batch -> code points and lines of its documents."""

from __future__ import annotations

import numpy as np

from chunkledger.model import Batch, IntArray


def char_offsets(batch: Batch, position: IntArray, document: IntArray) -> IntArray:
    """The offset in code points, from the start of its document, of each byte position.

    Where no byte goes on a character, bytes are code points.
    """
    base = batch.starts[document]
    if not len(batch.continuations):
        return position - base
    before = np.searchsorted(batch.continuations, position, side="left")
    before_document = np.searchsorted(batch.continuations, batch.starts, side="left")
    return (position - base) - (before - before_document[document])


def line_numbers(batch: Batch, position: IntArray, document: IntArray) -> IntArray:
    """The 1-based line of its document on which each byte position lies."""
    line = np.searchsorted(batch.line_starts, position, side="right")
    first = np.searchsorted(batch.line_starts, batch.starts, side="right")
    return line - first[document] + 1
