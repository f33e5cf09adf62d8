"""The blocks that packed chunks make: what they show, what they cost, what one more chunk would add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .render import extra_number_tokens
from .rows import Rows
from .shown import Shown
from .values import gap_after, known_context, overlap_chars, titles

_STR = {str}


class Assembly:
    """Packed chunks as blocks. A chunk is named by its place, the 0-based index into the ranking.

    Attributes:
        used: tokens of all blocks, numbers included.
        blocks: how many there are.
        documents: of which something is packed, each with the packed places that `_shown` does not know yet.
        lengths: code points of each hit's text; 0 where it is unknown, or where equal texts do not count.
        of_length: the packed places by the length of their text, without those that `_by_text` knows.
    """

    __slots__ = (
        "_by_text", "_lines", "_merging", "_rows", "_shown", "_texts", "blocks", "documents", "lengths", "of_length",
        "used",
    )  # fmt: skip

    def __init__(self, rows: Rows, *, merging: bool, equal_texts: bool) -> None:
        self.used = self.blocks = 0
        self._rows = rows
        self._merging = merging
        self._lines: dict[str, dict[int, int]] = {}
        self._shown: dict[str, Shown] = {}
        self.documents: dict[str, list[int]] = {}
        self._texts: Sequence[str] = rows.values("text") if equal_texts else [""] * len(rows.hits)
        if not set(map(type, self._texts)) <= _STR:
            self._texts = [text if isinstance(text, str) else "" for text in self._texts]
        self.lengths = list(map(len, self._texts))
        self.of_length: dict[int, list[int]] = {}
        self._by_text: dict[str, list[int]] = {}

    def price(self, place: int) -> int:
        """What the prompt grows by with this chunk; below 0 where it saves more by joining two blocks."""
        return self._price(place, *self._neighbours(place))

    def put_within(self, place: int, tokens: int) -> bool:
        """Add a whole chunk if the prompt grows by at most so many tokens; whether it did."""
        before, after = self._neighbours(place)
        price = self._price(place, before, after)
        if price > tokens:
            return False
        self._add(place, before, after, price)
        return True

    def least_price(self, place: int, inside: Sequence[int]) -> int:
        """What the prompt grows by at least with this chunk in the place of those inside it; soon computed.

        What goes away has cost its own blocks and their numbers at most, but for gaps that cost more than the line end
        that they replace.
        """
        rows = self._rows
        each = extra_number_tokens(self.blocks) + 2 * rows.largest_gap
        saved = sum(map(rows.tokens.__getitem__, inside)) + (len(inside) + 1) * each
        return min(self.price(place), rows.tokens[place]) - saved

    def put(self, place: int) -> None:
        """Add a whole chunk."""
        before, after = self._neighbours(place)
        self._add(place, before, after, self._price(place, before, after))

    def _add(self, place: int, before: int | None, after: int | None, price: int) -> None:
        self.used += price
        self.blocks += 1 - (before is not None) - (after is not None)
        self._note(place)

    def put_back(self, place: int) -> None:
        """Add a whole chunk that `take` has removed."""
        rows = self._rows
        before, after = self._neighbours(place)
        self.used += self._price(place, before, after)
        self.blocks += 1 - (before is not None) - (after is not None)
        self._put_in_line(place)
        self._shown_in(rows.documents[place]).put(rows.starts[place], rows.ends[place], place)  # type: ignore[arg-type]

    def put_apart(self, place: int) -> None:
        """Add a whole chunk of a new document, which goes on in no block; as `put` does, in half the time."""
        self.blocks += 1
        self.used += self._rows.tokens[place] + extra_number_tokens(self.blocks)
        self._note(place)

    def _note(self, place: int) -> None:
        self._put_in_line(place)
        # What most chunks are never asked for is made when it is.
        self.documents.setdefault(self._rows.documents[place], []).append(place)
        if length := self.lengths[place]:
            self.of_length.setdefault(length, []).append(place)

    def _put_in_line(self, place: int) -> None:
        if self._merging and (index := self._rows.indexes[place]) is not None:
            self._lines.setdefault(self._rows.lines[place], {}).setdefault(index, place)

    def put_cut(self, place: int, shown_chars: int, tokens: int) -> None:
        """Add a chunk that is cut; it has a block of its own."""
        self.blocks += 1
        self.used += tokens + extra_number_tokens(self.blocks)
        start = self._rows.starts[place]
        shown = self._shown_in(self._rows.documents[place])
        if start is not None:
            shown.add(start, start + shown_chars)

    def take(self, place: int) -> None:
        """Remove a whole chunk; its text stays marked as shown, because a larger one shows it or it comes back."""
        rows = self._rows
        if self._stands_in_line(place):
            del self._lines[rows.lines[place]][rows.indexes[place]]  # type: ignore[arg-type]
        before, after = self._neighbours(place)
        self.blocks -= 1 - (before is not None) - (after is not None)
        self.used -= self._price(place, before, after)
        self._shown_in(rows.documents[place]).take(rows.starts[place], rows.ends[place], place)  # type: ignore[arg-type]

    def adds(self, place: int) -> list[int] | None:
        """The packed whole chunks that lie within a chunk; None where the prompt shows all of the chunk already.

        It does by the chunk's span in the same document, or, where equal texts count, by a packed chunk of the same
        text, context and heading path.
        """
        rows = self._rows
        document, start, end = rows.documents[place], rows.starts[place], rows.ends[place]
        inside: list[int] = []
        if start is not None and end is not None and document in self.documents:
            shown = self._shown_in(document)
            if shown.holds(start, end):
                return None
            inside = shown.within(start, end)
        length = self.lengths[place]
        return None if length and length in self.of_length and self._is_said(place, length) else inside

    def shows_start(self, place: int, chars: int) -> bool:
        """Whether the prompt shows the first `chars` code points of a chunk."""
        document, start = self._rows.documents[place], self._rows.starts[place]
        if start is None or document not in self.documents:
            return False
        return self._shown_in(document).holds(start, start + chars)

    def _is_said(self, place: int, length: int) -> bool:
        for other in self.of_length[length]:  # hashed only now that a second text is as long
            self._by_text.setdefault(self._texts[other], []).append(other)
        self.of_length[length].clear()
        return any(self._equal(place, other) for other in self._by_text.get(self._texts[place], ()))

    def runs(self, packed: Iterable[int]) -> list[list[int]]:
        """The blocks of these chunks, which are all that are packed: lists of places in reading order."""
        in_line = {place for line in self._lines.values() for place in line.values()}
        runs = [[place] for place in packed if place not in in_line]
        for line in self._lines.values():
            run: list[int] = []
            for index in sorted(line):
                place = line[index]
                if run and self._rows.indexes[run[-1]] == index - 1 and self._join(run[-1], place):
                    run.append(place)
                else:
                    run = [place]
                    runs.append(run)
        return runs

    def _price(self, place: int, before: int | None, after: int | None) -> int:
        rows = self._rows
        if before is None and after is None:
            return rows.tokens[place] + extra_number_tokens(self.blocks + 1)
        price = rows.body(place) if after is None else rows.joint(place)
        price += rows.around(place) if before is None else rows.joint(before) - rows.body(before)
        if after is not None:
            price -= rows.around(after)
            if before is not None:
                price -= extra_number_tokens(self.blocks)
        return price

    def _neighbours(self, place: int) -> tuple[int | None, int | None]:
        """The packed chunks that make one block with this one: the one before it and the one after."""
        line = self._lines.get(self._rows.lines[place])
        index = self._rows.indexes[place]
        if not line or index is None or index in line:
            return None, None
        before, after = line.get(index - 1), line.get(index + 1)
        if before is not None and not self._join(before, place):
            before = None
        if after is not None and not self._join(place, after):
            after = None
        return before, after

    def _join(self, place: int, after: int) -> bool:
        """Whether the second chunk goes on where the first one ends, under the same context, at a proven seam."""
        rows = self._rows
        end, start = rows.ends[place], rows.starts[after]
        if rows.joined[place] is None or rows.bodies[place] is None or rows.bodies[after] is None:
            return False
        if end is None or start is None or (place in rows.shifts) != (after in rows.shifts):
            return False
        overlap = rows.at(after, overlap_chars)
        if end + len(rows.at(place, gap_after)) != start + overlap:
            return False
        if not overlap and 2 * rows.joint(place) < rows.body(place):
            raise rows.contradiction(
                place, f"joined_tokens is {rows.joint(place)} and body_tokens, of the same text, {rows.body(place)}"
            )
        before = rows.at(place, known_context)
        return before is not None and before == rows.at(after, known_context)

    def _stands_in_line(self, place: int) -> bool:
        index = self._rows.indexes[place]
        return index is not None and self._lines.get(self._rows.lines[place], {}).get(index) == place

    def _shown_in(self, doc_id: str) -> Shown:
        """What is shown of a document; made when a second chunk of it comes, which it mostly does not."""
        shown, new = self._shown.get(doc_id), self.documents.get(doc_id)
        if shown is None:
            shown = self._shown[doc_id] = Shown()
            new = self.documents.setdefault(doc_id, [])
        if new:
            rows = self._rows
            for place in new:
                start, end = rows.starts[place], rows.ends[place]
                if start is not None and end is not None:
                    shown.add(start, end + len(rows.at(place, gap_after)))
                    shown.put(start, end, place)
            new.clear()
        return shown

    def _equal(self, place: int, other: int) -> bool:
        """Whether equal texts stand under equal headings and context."""
        rows = self._rows
        return all(rows.at(place, read) == rows.at(other, read) for read in (titles, known_context))
