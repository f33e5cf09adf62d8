"""Blocks -> the heading path in force at any place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.model import Blocks, IntArray
from chunkledger.structure import kinds


@dataclass(frozen=True, slots=True)
class Headings:
    """The headings of a batch.

    Attributes:
        position: byte where each one's line starts, ascending.
        document: index of its document.
        paths: titles from the document's root to the heading, its own included.
    """

    position: IntArray
    document: IntArray
    paths: tuple[tuple[str, ...], ...]

    def at(self, position: IntArray, document: IntArray) -> IntArray:
        """Index of the heading whose section holds each position; -1 above a document's first heading."""
        index = np.searchsorted(self.position, position, side="right") - 1
        if not len(self.position):
            return index
        return np.where((index >= 0) & (self.document[index] == document), index, -1)

    def path(self, index: int) -> tuple[str, ...]:
        """The titles for an index that `at` gave."""
        return self.paths[index] if index >= 0 else ()


def headings_of(blocks: Blocks) -> Headings:
    """The headings and their paths.

    A heading's parent is the nearest one above it of a higher level, so siblings after a jump of levels stay
    siblings. Headings inside quotes and lists are part of those and open no section; one without a title opens a
    section but adds nothing to the path.
    """
    is_heading = blocks.kind == kinds.HEADING
    outer = blocks.depth[is_heading] == 0
    index = np.flatnonzero(is_heading)[outer]
    titles = [title for title, kept in zip(blocks.titles, outer.tolist(), strict=True) if kept]
    document = blocks.document[index]
    paths: list[tuple[str, ...]] = []
    stack: list[tuple[int, tuple[str, ...]]] = []
    current = -1
    for title, level, owner in zip(titles, blocks.level[index].tolist(), document.tolist(), strict=True):
        if owner != current:
            stack, current = [], owner
        while stack and stack[-1][0] >= level:
            stack.pop()
        above = stack[-1][1] if stack else ()
        path = (*above, title) if title else above
        stack.append((level, path))
        paths.append(path)
    return Headings(blocks.line_start[index], document, tuple(paths))
