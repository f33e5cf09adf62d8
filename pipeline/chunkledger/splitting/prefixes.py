"""What stands before a chunk's text when it is embedded: its heading path, and the repeated lines of its container."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, Blocks, IntArray
from chunkledger.packer.render import SECTION_SEPARATOR
from chunkledger.settings import Settings
from chunkledger.splitting.headings import Headings
from chunkledger.structure import kinds


@dataclass(frozen=True, slots=True)
class Repeated:
    """Tables and fences: the containers whose first lines travel along where they are cut.

    Attributes:
        start: byte where the first line starts, ascending; containers do not overlap.
        body: byte from which a chunk that starts there needs the first lines (a table's first row, the line behind
            a fence's opening).
        end: byte where the container ends.
    """

    start: IntArray
    body: IntArray
    end: IntArray

    def at(self, position: IntArray) -> IntArray:
        """Index of the container that each position is in the body of; -1 for none."""
        index = np.searchsorted(self.start, position, side="right") - 1
        if not len(self.start):
            return index
        return np.where((index >= 0) & (position >= self.body[index]) & (position < self.end[index]), index, -1)

    def context(self, batch: Batch, index: int) -> str:
        """The lines to repeat, without the last line end; "" for index -1."""
        if index < 0:
            return ""
        return batch.data[int(self.start[index]) : int(self.body[index])].decode().rstrip()


def repeated_of(batch: Batch, blocks: Blocks) -> Repeated:
    """The tables and fences of a batch."""
    table = blocks.kind == kinds.TABLE
    chosen = np.flatnonzero(table | ((blocks.kind == kinds.CODE) & (blocks.level == 1)))
    start, end = blocks.line_start[chosen], blocks.end[chosen]
    lines = np.append(batch.line_starts, len(batch.data))
    body = lines[np.searchsorted(batch.line_starts, blocks.start[chosen], side="right")]
    rows = blocks.line_start[blocks.kind == kinds.TABLE_ROW]
    first_row = np.searchsorted(rows, start, side="right")
    row_at = np.append(rows, len(batch.data))[first_row]
    body = np.where(table[chosen], row_at, body)
    return Repeated(start, np.minimum(body, end), end)


@dataclass(slots=True)
class Prefixes:
    """The embed prefixes that a batch needs, each made and counted once.

    A prefix is asked for by the heading and the container that a chunk starts in; the answer is a row of the
    parallel lists here. Those of headings alone, which nearly all chunks have, are the first rows: row 0 above a
    document's first heading, row n + 1 for heading n.
    """

    batch: Batch
    headings: Headings
    repeated: Repeated
    counter: Counter
    settings: Settings
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._make([(heading, -1) for heading in range(-1, len(self.headings.position))])

    def at(self, position: IntArray, document: IntArray) -> IntArray:
        """The row for a chunk that starts at each position."""
        heading = self.headings.at(position, document)
        container = self.repeated.at(position)
        rows = heading + 1
        inside = np.flatnonzero(container >= 0)
        if len(inside):
            keys = list(zip(heading[inside].tolist(), container[inside].tolist(), strict=True))
            self._make([key for key in dict.fromkeys(keys) if key not in self.rows])
            rows[inside] = [self.rows[key] for key in keys]
        return rows

    def token_count(self, position: IntArray, document: IntArray) -> IntArray:
        """Tokens of the prefix of a chunk that starts at each position."""
        rows = self.at(position, document)
        if len(rows) < len(self.tokens):
            return np.array([self.tokens[row] for row in rows.tolist()], np.int64)
        return np.array(self.tokens, np.int64)[rows]

    def _make(self, keys: Sequence[tuple[int, int]]) -> None:
        if not keys:
            return
        shown = self.settings.heading_context
        paths = [self.headings.path(heading) if shown else () for heading, _ in keys]
        contexts = [self.repeated.context(self.batch, container) for _, container in keys]
        texts = [prefix_text(path, context) for path, context in zip(paths, contexts, strict=True)]
        counts = self.counter.count(texts).tolist()
        for key, path, context, text, count in zip(keys, paths, contexts, texts, counts, strict=True):
            if 2 * count > self.settings.max_tokens:
                text, context, count = self._shortened(path, context)
            if key[1] >= 0:
                self.rows[key] = len(self.text)
            self.text.append(text)
            self.context.append(context)
            self.tokens.append(count)

    def _shortened(self, path: tuple[str, ...], context: str) -> tuple[str, str, int]:
        """A prefix of at most half the limit: titles left out from the root on, and the context where it is too long.

        A context that does not fit alone is left out first, so that it does not cost the titles as well.
        """
        most = self.settings.max_tokens // 2
        contexts = [context] if not context or self._count(prefix_text((), context)) <= most else []
        for kept in [*contexts, ""]:
            for first in range(len(path) + 1):
                text = prefix_text(path[first:], kept)
                count = self._count(text)
                if count <= most:
                    return text, kept, count
        return "", "", 0

    def _count(self, text: str) -> int:
        return int(self.counter.count([text])[0])


def prefix_text(path: Sequence[str], context: str) -> str:
    r"""The embed prefix: titles and context, a line each.

    >>> prefix_text(("Rates", "2026"), "| city |")
    'Rates > 2026\n| city |\n'
    """
    titles = f"{SECTION_SEPARATOR.join(path)}\n" if path else ""
    return f"{titles}{context}\n" if context else titles
