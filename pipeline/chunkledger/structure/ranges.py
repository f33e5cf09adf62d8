"""What a format gives for one text: its blocks as ranges of bytes."""

from __future__ import annotations

from typing import NamedTuple


class Ranges(NamedTuple):
    """Blocks of one text: four parallel lists, by start, outer ones first. Positions are bytes of its UTF-8."""

    start: list[int]
    end: list[int]
    kind: list[int]
    level: list[int]
