"""Cut points as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from chunkledger.model import BoolArray, IntArray
from chunkledger.structure.graphemes import at_clusters

Point = tuple[int, int]
"""A cut point: byte, strength."""


class Points(NamedTuple):
    """Cut points as columns: a line of ten megabytes has ten million, too many for objects."""

    place: IntArray
    strength: IntArray

    @classmethod
    def of(cls, place: IntArray, strength: int) -> Points:
        """Points of one strength."""
        return cls(place, np.full(len(place), strength, np.int64))

    def where(self, chosen: BoolArray | IntArray) -> Points:
        """Some of the points."""
        return Points(self.place[chosen], self.strength[chosen])

    @classmethod
    def together(cls, parts: Sequence[Points]) -> Points:
        """The points of all parts, part by part."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def inner_bytes(text: str, places: IntArray, base: int) -> IntArray:
    """Code point offsets into `text` as bytes, from `base`: those that have text on both sides.

    What lies within a grapheme is moved behind it.
    """
    is_ascii = text.isascii()
    if not is_ascii:
        places = at_clusters(text, places)
    least, most = len(text) - len(text.lstrip()), len(text.rstrip())
    places = places[(places > least) & (places < most)]
    if is_ascii or not len(places):
        return places + base
    first_bytes = np.flatnonzero((np.frombuffer(text.encode(), np.uint8) & 0xC0) != 0x80)
    result: IntArray = first_bytes[places] + base
    return result
