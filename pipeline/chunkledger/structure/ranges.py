"""What a format gives for one text: its blocks as ranges of bytes."""

from __future__ import annotations

from typing import NamedTuple


class Ranges(NamedTuple):
    """Blocks of one text: four parallel lists, by start, outer ones first. Positions are bytes of its UTF-8."""

    start: list[int]
    end: list[int]
    kind: list[int]
    level: list[int]


def in_bytes(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending spans of characters as spans of bytes of the text's UTF-8."""
    moved: list[tuple[int, int]] = []
    character = byte = 0
    for start, end in spans:
        byte += len(text[character:start].encode())
        length = len(text[start:end].encode())
        moved.append((byte, byte + length))
        byte += length
        character = end
    return moved
