"""What stands before a chunk's text when it is embedded: its heading path, and the repeated lines of its container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, Blocks, BoolArray, IntArray
from chunkledger.packer.render import SECTION_SEPARATOR
from chunkledger.settings import Settings
from chunkledger.splitting.headings import Headings
from chunkledger.structure import kinds

_OPTION = re.compile(r"\s*(?:\.\. |:[^:\s])")
"""The last line before the body of a directive of reStructuredText: its first one, or an option."""
_BLANK_LINE = re.compile(r"[ \t]*(?>\r\n|\n|\r)[ \t]*[\r\n]")


@dataclass(frozen=True, slots=True)
class Repeated:
    """Tables and fences: the containers whose first lines travel along where they are cut.

    Attributes:
        start: byte where the first line starts, ascending; containers do not overlap.
        body: byte from which a chunk that starts there needs the first lines (a table's first row, the line behind
            a fence's opening).
        end: byte where the container ends.
        is_table: whether it is a table, and no fence.
    """

    start: IntArray
    body: IntArray
    end: IntArray
    is_table: BoolArray

    def at(self, position: IntArray) -> IntArray:
        """Index of the container that each position is in the body of; -1 for none."""
        index = np.searchsorted(self.start, position, side="right") - 1
        if not len(self.start):
            return index
        return np.where((index >= 0) & (position >= self.body[index]) & (position < self.end[index]), index, -1)

    def head_end(self, position: int) -> int:
        """From where lines of the container that holds the position may be cut apart; the position where none does.

        The first lines stay whole, and the opening line of a fence keeps one line of what it opens.
        """
        index = int(np.searchsorted(self.start, position, side="right")) - 1
        if index < 0 or position >= self.end[index]:
            return position
        return max(position, int(self.body[index]) + (0 if self.is_table[index] else 1))

    def context(self, batch: Batch, index: int) -> str:
        """The lines to repeat, without the last line end; "" for index -1.

        The blank line behind the options of a directive belongs to it: without it what follows would be one of them.
        """
        if index < 0:
            return ""
        source = batch.data[int(self.start[index]) : int(self.body[index])].decode()
        kept = source.rstrip()
        ends_with_options = _OPTION.match(kept[max(kept.rfind("\n"), kept.rfind("\r")) + 1 :])
        return f"{kept}\n" if ends_with_options and _BLANK_LINE.match(source, len(kept)) else kept


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
    return Repeated(start, np.minimum(body, end), end, table[chosen])


@dataclass(slots=True)
class Prefixes:
    """The embed prefixes that a batch needs, each made and counted once.

    A prefix is asked for by the heading and the container that a chunk starts in; the answer is a row of the
    parallel lists here. Those of headings alone, which nearly all chunks have, are the first rows: row 0 above a
    document's first heading, row n + 1 for heading n.

    Attributes:
        batch, headings, repeated, counter, settings: what they are made from.
        text, context, tokens: of each row: the prefix, the repeated lines in it, and its count.
        rows: row for a heading and a container.
        narrow, narrow_rows: places, ascending, where a block starts that needs a shorter prefix, and its row.
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
    narrow: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    narrow_rows: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        shown = self.settings.heading_context
        paths = [(), *self.headings.paths] if shown else [()] * (len(self.headings.paths) + 1)
        self._add(paths, [""] * len(paths))

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
        if len(self.narrow):
            place = np.minimum(np.searchsorted(self.narrow, position), len(self.narrow) - 1)
            here = self.narrow[place] == position
            rows[here] = self.narrow_rows[place[here]]
        return rows

    def make_room(self, position: IntArray, document: IntArray, room: IntArray) -> None:
        """Shorten the prefixes at these places to so many tokens: titles are left out from the root on.

        Args:
            position: where blocks start that fit into a chunk, but not with the whole prefix; ascending.
            document: of each.
            room: tokens that the block leaves.
        """
        rows: list[int] = []
        for row, most in zip(self.at(position, document).tolist(), room.tolist(), strict=True):
            path = self.headings.path(row - 1) if row <= len(self.headings.paths) else ()
            text, context, count = self._shortened(path, self.context[row], most)
            rows.append(len(self.text))
            self.text.append(text)
            self.context.append(context)
            self.tokens.append(count)
        self.narrow, self.narrow_rows = position, np.array(rows, np.int64)

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
        self.rows |= zip(keys, range(len(self.text), len(self.text) + len(keys)), strict=True)
        paths = [self.headings.path(heading) if shown else () for heading, _ in keys]
        self._add(paths, [self.repeated.context(self.batch, container) for _, container in keys])

    def _add(self, paths: Sequence[tuple[str, ...]], contexts: list[str]) -> None:
        texts = list(map(prefix_text, paths, contexts))
        counts = self.counter.count(texts)
        tokens = counts.tolist()
        for index in np.flatnonzero(2 * counts > self.settings.max_tokens).tolist():
            texts[index], contexts[index], tokens[index] = self._shortened(
                paths[index], contexts[index], self.settings.max_tokens // 2
            )
        self.text += texts
        self.context += contexts
        self.tokens += tokens

    def _shortened(self, path: tuple[str, ...], context: str, most: int) -> tuple[str, str, int]:
        """A prefix of so many tokens: titles left out from the root on, and the context where it is too long.

        A context that does not fit alone is left out first, so that it does not cost the titles as well.
        """
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
