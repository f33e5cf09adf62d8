"""The pass over the hits: which go in.

The rule is one sentence: of the hits whose turn has come, the best-ranked one that fits goes in, again and again. A hit
fits when the whole prompt with it is not over the slot, so what it costs is what it adds: less than its own block
where it goes on in a neighbour's, or where it shows what smaller chunks have shown before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .assembly import Assembly
from .costs import Costs
from .cuts import cut_within
from .render import extra_number_tokens
from .rows import Rows

_NOTHING: list[int] = []


class Filling:
    """The state of one pass; places are 0-based indexes into the ranking.

    Attributes:
        assembly: the blocks.
        packed: the packed places, each with the best place whose text it shows.
        skipped: the places that did not fit at their turn and have not gone in since, ascending.
        median: the lower median of all sizes; 0 where there are none.
        with_room: places that did not fit though at least the median was left.
        duplicates: how many hits show nothing that is not shown.
        reached: how many hits had their turn.
        cut: place -> (code points shown, tokens of its block) of the one chunk that is cut.
    """

    __slots__ = (
        "_by_index", "_by_line", "_replaced_in", "_rows", "_siblings", "_slot_tokens", "_spare", "assembly", "cut",
        "duplicates", "median", "packed", "reached", "skipped", "with_room",
    )  # fmt: skip

    def __init__(self, rows: Rows, slot_tokens: int, *, merging: bool, equal_texts: bool) -> None:
        self._siblings = merging and len(set(rows.lines)) < len(rows.lines)
        self.assembly = Assembly(rows, merging=self._siblings, equal_texts=equal_texts)
        self.packed: dict[int, int] = {}
        self.skipped: dict[int, None] = {}
        self.with_room: set[int] = set()
        self.duplicates = self.reached = 0
        self.cut: dict[int, tuple[int, int]] = {}
        self._rows, self._slot_tokens = rows, slot_tokens
        self.median = sorted(rows.tokens)[(len(rows.tokens) - 1) // 2] if rows.tokens else 0
        self._by_line: dict[str, list[int]] = {}
        self._by_index: dict[str, dict[int | None, list[int]]] = {}
        self._spare: _Spare | None = None
        self._replaced_in: str | None = None

    @property
    def left(self) -> int:
        """Tokens of the slot that are left; below 0 only where rank 1 is over the slot, whole and alone."""
        return self._slot_tokens - self.assembly.used

    def put_first(self, kinds: Collection[str]) -> None:
        """Rank 1 goes in, whatever it costs; where it is over the slot by itself, it is cut if it can be.

        Args:
            kinds: where it may be cut; none if it may not.
        """
        self.reached = 1
        over = self._rows.tokens[0] > self._slot_tokens
        if over and kinds and (cut := self._cut(0, self._slot_tokens, kinds)):
            self.put_cut(0, cut)
        else:
            self.assembly.put(0)
            self.packed[0] = 0

    def fill(self, limit: int | None, *, stop_on_miss: bool) -> None:
        """Take the hits behind rank 1 in turn, until nothing is left, the limit is reached or a hit ends the pass.

        Args:
            limit: most hits to pack; None is no limit.
            stop_on_miss: whether a hit that does not fit ends the pass.
        """
        # Plain and long, because it takes a third of the time of packing. Most hits share nothing with what is packed.
        assembly, packed = self.assembly, self.packed
        tokens, chunk_ids, owners = self._rows.tokens, self._rows.chunk_ids, self._rows.documents
        documents, lengths, of_length = assembly.documents, assembly.lengths, assembly.of_length
        seen = {chunk_ids[0]}
        left, room = self.left, self._room()
        for place in range(1, len(tokens)):
            if left < 0 or len(packed) == limit:
                return
            self.reached = place + 1
            chunk_id = chunk_ids[place]
            apart = owners[place] not in documents and lengths[place] not in of_length
            inside = _NOTHING if apart else assembly.adds(place)
            if chunk_id in seen or inside is None:
                self.duplicates += 1
                continue
            seen.add(chunk_id)
            if apart and tokens[place] <= room:
                packed[place] = place
                assembly.put_apart(place)
            elif apart or not self._goes_in(place, inside):
                self.skipped[place] = None
                if self._spare is not None:
                    self._note_cost(place)
                if left >= self.median:
                    self.with_room.add(place)
                if stop_on_miss:
                    return
                continue
            if self.skipped:
                self._try_again(place, room, limit)
            left, room = self.left, self._room()

    def put_cut(self, place: int, cut: tuple[int, int]) -> None:
        """One chunk goes in, cut; its tokens are those with a number below 1,000."""
        self.assembly.put_cut(place, *cut)
        self.packed[place] = place
        self.cut[place] = cut
        self.skipped.pop(place, None)

    def cut_into_the_rest(self, kinds: Collection[str]) -> None:
        """The best-ranked of the skipped hits that can be cut to fit is cut, if there is one.

        Args:
            kinds: where it may be cut.
        """
        room = self._room()
        for place in self.skipped:
            cut = self._cut(place, room, kinds)
            if cut and not self.assembly.shows_start(place, cut[0]):
                self.put_cut(place, cut)
                return

    def _cut(self, place: int, tokens: int, kinds: Collection[str]) -> tuple[int, int] | None:
        shift = self._rows.shifts.get(place, 0)
        return self._rows.at(place, lambda column: cut_within(column, tokens, kinds, shift))

    def _room(self) -> int:
        """What the next block of its own may take with a number below 1,000."""
        return self.left - extra_number_tokens(self.assembly.blocks + 1)

    def _goes_in(self, place: int, inside: Sequence[int]) -> bool:
        """Pack the hit where it fits, in the place of smaller chunks whose text it holds; whether it did."""
        if not inside:
            if fits := self.assembly.put_within(place, self.left):
                self.packed[place] = place
            return fits
        if self._lacking(place, inside) > 0:
            return False
        for each in inside:
            self.assembly.take(each)
        self.assembly.put(place)
        self.packed[place] = min([place, *map(self.packed.pop, inside)])
        self.duplicates += len(inside)
        self._replaced_in = self._rows.documents[place]
        return True

    def _lacking(self, place: int, inside: Sequence[int]) -> int:
        """The tokens that are lacking for the hit in the place of these packed chunks; 0 or less where it fits.

        Where they are surely lacking, it may be fewer than they are.
        """
        assembly = self.assembly
        if not inside:
            return assembly.price(place) - self.left
        if (least := assembly.least_price(place, inside) - self.left) > 0:
            return least
        for each in inside:
            assembly.take(each)
        lacking = assembly.price(place) - self.left
        for each in reversed(inside):
            assembly.put_back(each)
        return lacking

    def _try_again(self, place: int, room: int, limit: int | None) -> None:
        """Give what was skipped another turn where it may fit now, the best-ranked first.

        That is so for the skipped neighbours of what went in, which are cheaper now, for everything where merging left
        more room than there was, and for the whole document where a chunk took the place of smaller ones, because what
        these had joined costs more now, and what would replace that in turn saves more.

        Args:
            place: what went in.
            room: what there was before.
            limit: most hits to pack.
        """
        waiting: list[int] = []
        went_in, grown = True, False
        while self.skipped and len(self.packed) != limit:
            new: list[int] = []
            if went_in:
                new += self._skipped_neighbours(place)
                if self._replaced_in is not None:
                    new += [each for each in self.skipped if self._rows.documents[each] == self._replaced_in]
                    self._replaced_in = None
                if (more := self._room() - room) > 0:
                    grown = True
                    self._spare_costs().growth += more
            if grown:
                new += self._spare_costs().that_may_fit(self.left)
            if not new and not waiting:
                return
            if new:
                waiting = sorted({*waiting, *new}, reverse=True)
            candidate, now = waiting.pop(), self._room()
            inside = self.assembly.adds(candidate) if candidate in self.skipped else None
            went_in = inside is not None and self._goes_in(candidate, inside)
            if went_in:
                del self.skipped[candidate]
                place, room = candidate, now
            self._note_cost(candidate)

    def _spare_costs(self) -> _Spare:
        """What is known of the skipped hits; made when room has grown for the first time, which it mostly never does.

        Made anew where the number of the next block has become shorter, because then all of them are cheaper.
        """
        digits = extra_number_tokens(self.assembly.blocks + 1)
        if self._spare is None or digits < self._spare.digits:
            self._spare = _Spare(len(self._rows.tokens), digits, self._rows.nested_documents())
            for place in self.skipped:
                self._note_cost(place)
        return self._spare

    def _note_cost(self, place: int) -> None:
        """Remember what a skipped hit would add now."""
        spare = self._spare
        if spare is None:
            return
        inside = self.assembly.adds(place) if place in self.skipped else None
        if inside is None:
            spare.costs.drop(place)
            spare.thresholds.drop(place)
        elif self._rows.documents[place] in spare.nested:
            spare.thresholds.put(place, spare.growth + self._lacking(place, inside))
        else:
            spare.costs.put(place, self.assembly.price(place))

    def something_would_fit(self) -> bool:
        """Whether a skipped hit would go in if one more were allowed."""
        added = ((place, self.assembly.adds(place)) for place in self.skipped)
        return any(inside is not None and self._lacking(place, inside) <= 0 for place, inside in added)

    def _skipped_neighbours(self, place: int) -> list[int]:
        """The skipped hits that stand next to this one in its document."""
        if not self._siblings or (index := self._rows.indexes[place]) is None:
            return []
        line = self._rows.lines[place]
        if not self._by_line:
            for each, its_line in enumerate(self._rows.lines):
                self._by_line.setdefault(its_line, []).append(each)
        if len(self._by_line[line]) == 1:
            return []
        near = self._by_index.get(line)
        if near is None:
            near = self._by_index[line] = {}
            for each in self._by_line[line]:
                near.setdefault(self._rows.indexes[each], []).append(each)
        return [each for each in (*near.get(index - 1, ()), *near.get(index + 1, ())) if each in self.skipped]


class _Spare:
    """What the skipped hits would add, for the case that room grows.

    Attributes:
        costs: by place, of those whose cost changes only through their neighbours.
        thresholds: by place, of the others, in whose documents chunks hold one another: what is packed inside of one
            makes it cheaper by what it leaves less room for, so it lacks the same until room grows. It is the growth
            that would make it fit.
        nested: the documents of these.
        growth: by how much room has grown, all in all.
        digits: tokens that the number of the next block cost when this was made.
    """

    __slots__ = ("costs", "digits", "growth", "nested", "thresholds")

    def __init__(self, places: int, digits: int, nested: set[str]) -> None:
        self.costs = Costs(places)
        self.thresholds = Costs(places)
        self.growth = 0
        self.nested = nested
        self.digits = digits

    def that_may_fit(self, left: int) -> list[int]:
        """The best-ranked hit of each kind that may fit into what is left."""
        found = (self.costs.first(left), self.thresholds.first(self.growth))
        return [place for place in found if place is not None]
