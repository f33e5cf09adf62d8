"""The blocks of a reStructuredText document as they are found: which are open, and how what follows joins them."""

from __future__ import annotations

from dataclasses import dataclass, field

from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges
from chunkledger.structure.rst_enumerators import Enumerator, goes_on
from chunkledger.structure.rst_lines import Lines


@dataclass(slots=True)
class Frame:
    """An open block that holds others.

    Attributes:
        level: the indentation of what it holds.
        block: its index among the ranges; -1 for the document.
        head_start, head_end: bytes of an opening that is not in a block yet (a term, a field's name, a directive's
            first line); its first paragraph takes it in. -1 where there is none.
        list_block: index of the open list in it; -1 for none.
        list_key: what the next item must be like to belong to that list.
    """

    level: int
    block: int
    head_start: int = -1
    head_end: int = -1
    list_block: int = -1
    list_key: str | Enumerator = ""


@dataclass(slots=True)
class HeldBlocks:
    """The blocks so far, and a stack of those that are open: no recursion, however deep a document nests.

    Attributes:
        found: the blocks so far; an open one ends with what it is known to hold.
        frames: the open blocks that hold others, outer ones first; the document's own is always there.
        styles: the title styles, in order of their first appearance.
        last_end: byte where the text seen so far ends.
        leading: whether nothing but titles, comments and targets was seen so far.
        labels: index of the first of the labels that nothing but blank lines parts from here; -1 for none.
    """

    found: Ranges = field(default_factory=lambda: Ranges([], [], [], []))
    frames: list[Frame] = field(default_factory=lambda: [Frame(0, -1)])
    styles: list[bytes] = field(default_factory=list)
    last_end: int = 0
    leading: bool = True
    labels: int = -1

    @property
    def level(self) -> int:
        """Indentation of what the innermost open block holds."""
        return self.frames[-1].level

    def add(self, kind: int, start: int, end: int, level: int = 0) -> int:
        """Add a block of the innermost frame, and end the list before it. Returns its index."""
        frame = self.frames[-1]
        if frame.list_block >= 0:
            self.found.end[frame.list_block] = self.last_end
            frame.list_block = -1
        if frame.head_start >= 0:
            if kind == kinds.PARAGRAPH:
                start = frame.head_start
            else:
                self.append(kinds.PARAGRAPH, frame.head_start, frame.head_end)
            frame.head_start = -1
        self.labels = -1
        self.leading = False
        return self.append(kind, start, end, level)

    def append(self, kind: int, start: int, end: int, level: int = 0) -> int:
        """Add a block inside the one that was added last. Returns its index."""
        found = self.found
        found.start.append(start)
        found.end.append(end)
        found.kind.append(kind)
        found.level.append(level)
        if end > self.last_end:
            self.last_end = end
        return len(found.start) - 1

    def add_heading(self, start: int, end: int, style: bytes) -> None:
        """Add a section title; its level is the place of its style among all that there were.

        Labels (`.. _name:`) right above it are what others refer to it by, so they go into its block.
        """
        if style not in self.styles:
            self.styles.append(style)
        level = self.styles.index(style) + 1
        leading, first, found = self.leading, self.labels, self.found
        if first < 0:
            self.add(kinds.HEADING, start, end, level)
        else:
            label_start, labels_end = found.start[first], found.end[-1]
            for column in found:
                del column[first:]
            self.add(kinds.HEADING, label_start, end, level)
            self.append(kinds.DEFINITION, label_start, labels_end)
        self.leading = leading

    def add_whole(self, start: int, end: int) -> None:
        """Add a comment, a substitution definition or a line block: not cut where it fits, else between lines."""
        self.add(kinds.QUOTE, start, end)
        self.append(kinds.DEFINITION, start, end)

    def open(self, kind: int, level: int, start: int, head_end: int) -> None:
        """Open a block that holds others, with an opening that ends at `head_end`."""
        block = self.add(kind, start, head_end)
        self.frames.append(Frame(level, block, start, head_end))

    def open_item(self, key: str | Enumerator, level: int, start: int, head_end: int) -> None:
        """Open an item of the list that is open in the innermost frame, or of a new one."""
        frame = self.frames[-1]
        if frame.list_block < 0 or not _belongs(frame.list_key, key):
            frame.list_block = self.add(kinds.LIST, start, head_end)
        frame.list_key = key
        block = self.append(kinds.ITEM, start, head_end)
        self.frames.append(Frame(level, block, start, head_end))

    def open_quotes(self, lines: Lines, line: int) -> None:
        """Open a block quote for each indentation, from the least of the block that starts here to its own."""
        indent, shallower = lines.indent, lines.shallower
        levels: list[int] = []
        at = line
        while indent[at] > self.frames[-1].level:
            levels.append(indent[at])
            at = shallower[at]
        start = lines.first[line]
        for level in reversed(levels):
            block = self.add(kinds.QUOTE, start, lines.end[line])
            self.frames.append(Frame(level, block))

    def close(self) -> None:
        """Close the innermost open block."""
        frame = self.frames.pop()
        if frame.head_start >= 0:
            self.append(kinds.PARAGRAPH, frame.head_start, frame.head_end)
        if frame.list_block >= 0:
            self.found.end[frame.list_block] = self.last_end
        if frame.block >= 0:
            self.found.end[frame.block] = self.last_end


def _belongs(before: str | Enumerator, after: str | Enumerator) -> bool:
    """Whether an item of the second kind goes on with a list whose last item was of the first."""
    if isinstance(before, Enumerator) and isinstance(after, Enumerator):
        return goes_on(before, after)
    return before == after
