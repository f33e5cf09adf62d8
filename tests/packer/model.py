"""The rules of packing, slow and obvious: every cost and everything that is shown is computed anew at every step."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
_IN_READING_ORDER = ("doc_id", "role", "chunk_index")


@dataclass
class Options:
    """What `pack` is asked for."""

    on_miss: str = "skip"
    truncate: str = "floor"
    max_chunks: int | None = None
    kinds: tuple[str, ...] = ()
    merge: bool = True
    duplicates: str = "text"


@dataclass
class Model:
    """The hits, the slot, and what has been decided so far; hits are named by their place in the ranking."""

    hits: list[Row]
    slot: int
    options: Options
    packed: list[int] = field(default_factory=list)
    cut: dict[int, tuple[int, int]] = field(default_factory=dict)
    skipped: list[int] = field(default_factory=list)
    room: dict[int, int] = field(default_factory=dict)
    duplicates: int = 0
    reached: int = 0
    shown: set[tuple[str, int]] = field(default_factory=set)
    shown_texts: list[Row] = field(default_factory=list)
    best: dict[int, int] = field(default_factory=dict)

    def blocks(self, packed: list[int]) -> list[list[int]]:
        """Runs of chunks that follow each other, in reading order."""
        runs: list[list[int]] = []
        for place in sorted(packed, key=lambda each: [self.hits[each][name] for name in _IN_READING_ORDER]):
            if runs and self.joins(runs[-1][-1], place):
                runs[-1].append(place)
            else:
                runs.append([place])
        return runs

    def joins(self, before: int, after: int) -> bool:
        """Whether the second goes on in the block of the first."""
        one, two = self.hits[before], self.hits[after]
        return (
            self.options.merge
            and before not in self.cut
            and after not in self.cut
            and (one["doc_id"], one["role"]) == (two["doc_id"], two["role"])
            and one["chunk_index"] + 1 == two["chunk_index"]
            and one["joined_tokens"] is not None
            and one["context"] == two["context"]
            and one["char_end"] + len(one["gap_after"]) == two["char_start"] + two["overlap_chars"]
        )

    def block_cost(self, run: list[int]) -> int:
        """By the formula of the contract."""
        if run[0] in self.cut:
            return self.cut[run[0]][1]
        first, last = self.hits[run[0]], self.hits[run[-1]]
        joined = sum(self.hits[place]["joined_tokens"] for place in run[:-1])
        return int(first["rendered_tokens"] - first["body_tokens"] + joined + last["body_tokens"])

    def used(self, packed: list[int]) -> int:
        """Tokens of the prompt; a block's number costs one token for each three digits, the first is counted."""
        runs = self.blocks(packed)
        numbers = sum(-(-len(str(number)) // 3) - 1 for number in range(1, len(runs) + 1))
        return sum(map(self.block_cost, runs)) + numbers

    def with_hit(self, place: int) -> list[int]:
        """What would be packed with this one: not the chunks that lie within it."""
        hit = self.hits[place]
        kept = []
        for each in self.packed:
            other = self.hits[each]
            within = hit["char_start"] <= other["char_start"] and other["char_end"] <= hit["char_end"]
            if each in self.cut or other["doc_id"] != hit["doc_id"] or not within:
                kept.append(each)
        return [*kept, place]

    def is_shown(self, place: int, chars: int | None = None) -> bool:
        """Whether the prompt shows all of it."""
        hit = self.hits[place]
        end = hit["char_end"] if chars is None else hit["char_start"] + chars
        if all((hit["doc_id"], at) in self.shown for at in range(hit["char_start"], end)):
            return True
        same = ("text", "context", "heading_path")
        return (
            chars is None
            and self.options.duplicates == "text"
            and any(all(hit[name] == other[name] for name in same) for other in self.shown_texts)
        )

    def show(self, place: int) -> None:
        """Mark as shown what this chunk shows, with the blank space behind it."""
        hit = self.hits[place]
        if place in self.cut:
            end = hit["char_start"] + self.cut[place][0]
        else:
            end = hit["char_end"] + len(hit["gap_after"])
            self.shown_texts.append(hit)
        self.shown |= {(hit["doc_id"], at) for at in range(hit["char_start"], end)}

    def goes_in(self, place: int) -> bool:
        """Pack it where it fits."""
        packed = self.with_hit(place)
        if self.used(packed) > self.slot:
            return False
        gone = [each for each in self.packed if each not in packed]
        self.best[place] = min([place, *(self.best[each] for each in gone)])
        self.duplicates += len(gone)
        self.packed = packed
        self.show(place)
        return True

    def best_cut(self, place: int, room: int) -> tuple[int, int] | None:
        """The last boundary of an allowed kind that fits."""
        hit = self.hits[place]
        cuts = zip(hit["boundary_chars"], hit["boundary_kinds"], hit["boundary_rendered_tokens"], strict=True)
        fitting = [(chars, tokens) for chars, kind, tokens in cuts if kind in self.options.kinds and tokens <= room]
        return fitting[-1] if fitting and hit["payload"] != "end" else None

    def put_cut(self, place: int, cut: tuple[int, int]) -> None:
        """Pack it cut."""
        self.cut[place] = cut
        self.packed.append(place)
        self.best[place] = place
        self.show(place)

    def run(self) -> None:
        """The pass."""
        if not self.hits:
            return
        over = self.hits[0]["rendered_tokens"] > self.slot
        cut = self.best_cut(0, self.slot) if over and self.options.truncate != "never" else None
        self.reached = 1
        if cut:
            self.put_cut(0, cut)
        else:
            self.packed, self.best = [0], {0: 0}
            self.show(0)
        self._turns()
        left = self.slot - self.used(self.packed)
        if self.options.truncate == "any" and not over and len(self.packed) != self.options.max_chunks:
            number = len(self.blocks(self.packed)) + 1
            left -= -(-len(str(number)) // 3) - 1
            for place in sorted(self.skipped):
                cut = self.best_cut(place, left)
                if cut and not self.is_shown(place, cut[0]):
                    self.skipped.remove(place)
                    self.put_cut(place, cut)
                    break

    def _turns(self) -> None:
        median = statistics.median_low([hit["rendered_tokens"] for hit in self.hits])
        for place in range(1, len(self.hits)):
            left = self.slot - self.used(self.packed)
            if left < 0 or len(self.packed) == self.options.max_chunks:
                return
            self.reached = place + 1
            earlier = [hit["chunk_id"] for hit in self.hits[:place]]
            if self.hits[place]["chunk_id"] in earlier or self.is_shown(place):
                self.duplicates += 1
            elif self.goes_in(place):
                while len(self.packed) != self.options.max_chunks and self._one_again():
                    pass
            else:
                self.skipped.append(place)
                if left >= median:
                    self.room[place] = left
                if self.options.on_miss == "stop":
                    return

    def _one_again(self) -> bool:
        for place in sorted(self.skipped):
            if not self.is_shown(place) and self.goes_in(place):
                self.skipped.remove(place)
                return True
        return False

    def would_go_on(self) -> bool:
        """Whether a skipped hit would fit if one more were allowed."""
        return any(not self.is_shown(place) and self.used(self.with_hit(place)) <= self.slot for place in self.skipped)

    def outcome(self) -> dict[str, object]:
        """The blocks in rank order as (rank, tokens, [(chunk rank, cut)]), and the figures of the log."""
        self.run()
        runs = sorted(self.blocks(self.packed), key=lambda run: min(self.best[place] for place in run))
        blocks = [
            (
                min(self.best[place] for place in run) + 1,
                self.block_cost(run) + -(-len(str(number)) // 3) - 1,
                [(place + 1, self.cut.get(place, (None,))[0]) for place in run],
            )
            for number, run in enumerate(runs, 1)
        ]
        used = self.used(self.packed)
        not_reached = len(self.hits) - self.reached
        if not self.skipped and not not_reached:
            because = "no_more_candidates"
        elif (self.slot - used) * 50 <= self.slot:
            because = "full"
        elif len(self.packed) == self.options.max_chunks and (not_reached or self.would_go_on()):
            because = "max_chunks"
        else:
            because = "nothing_fits"
        with_room = [place for place in sorted(self.skipped) if place in self.room]
        over = bool(self.hits) and self.hits[0]["rendered_tokens"] > self.slot
        return {
            "block_list": blocks,
            "slot": self.slot,
            "used": used,
            "offered": len(self.hits),
            "packed": len(self.packed),
            "blocks": len(blocks),
            "skipped_for_size": len(self.skipped),
            "truncated": len(self.cut),
            "duplicates": self.duplicates,
            "merged": len(self.packed) - len(blocks),
            "not_reached": not_reached,
            "skipped_with_room": len(with_room),
            "passed_over": len([place for place in self.skipped if place < max(self.packed)]),
            "floor_over_slot": over,
            "space_left_because": because,
            "used_is_estimate": False,
            "packed_ids": [self.hits[place]["chunk_id"] for run in runs for place in run],
            "median_tokens": statistics.median_low([hit["rendered_tokens"] for hit in self.hits]) if self.hits else 0,
            "truncated_chunk_id": next((self.hits[place]["chunk_id"] for place in self.cut), None),
            "floor_chunk_tokens": self.hits[0]["rendered_tokens"] if over else None,
            "floor_chunk_id": self.hits[0]["chunk_id"] if over else None,
            "skipped_with_room_ids": [self.hits[place]["chunk_id"] for place in with_room][:20],
            "skipped_with_room_tokens": [self.hits[place]["rendered_tokens"] for place in with_room][:20],
        }
