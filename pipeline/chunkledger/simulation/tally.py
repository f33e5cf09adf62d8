"""What is kept of the packer's records while a simulation goes on, and what they come to."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from statistics import median_low

from chunkledger.packer import PackLog
from chunkledger.request_log.described import Described
from chunkledger.request_log.diagnosis import diagnosis_of
from chunkledger.request_log.findings import Thresholds
from chunkledger.request_log.seen import Seen, note
from chunkledger.simulation.outcome import Count, Simulation, SpaceLeft, WorstChunk, spread_of
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.verdict import verdict_of

COUNTS = (
    "offered", "packed", "skipped_for_size", "skipped_with_room", "passed_over", "truncated", "floor_over_slot",
    "duplicates", "merged", "not_reached",
)  # fmt: skip
"""The packer's counts that are added up."""

_ONLY_ANSWERS_TELL = "tokens_drift"


def _integers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Tally:
    """The records of one way of packing: a few figures of each, whatever it holds."""

    packing: Packing
    limits: Thresholds
    seen: Seen = field(init=False)
    used: array[int] = field(default_factory=_integers)
    packed: array[int] = field(default_factory=_integers)
    medians: array[int] = field(default_factory=_integers)
    totals: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    floor: Counter[str] = field(default_factory=Counter)
    with_room: Counter[str] = field(default_factory=Counter)
    outliers: int = 0

    def __post_init__(self) -> None:
        self.seen = Seen(self.limits, is_whole=True)

    def add(self, log: PackLog) -> None:
        """Take the record of one more request."""
        note(self.seen, log.as_dict())
        self.used.append(log.used)
        self.packed.append(log.packed)
        self.medians.append(log.median_tokens)
        for name in COUNTS:
            if value := int(getattr(log, name)):
                self.totals[name] += value
                self.requests[name] += 1
        self.reasons[log.space_left_because] += 1
        self.left[log.space_left_because] += max(0, log.slot - log.used)
        self.with_room.update(log.skipped_with_room_ids)
        # A share of the requests, which more of them do not change; that a chunk never fits, more of them make untrue.
        least = self.limits.outlier_size * log.median_tokens
        self.outliers += any(tokens >= least for tokens in log.skipped_with_room_tokens)
        if log.floor_chunk_id is not None:
            self.floor[log.floor_chunk_id] += 1

    def missed_ids(self) -> set[str]:
        """The chunks that did not fit, as far as the records name them."""
        return {*self.floor, *self.with_room}

    def simulation(self, top: int, described: Described) -> Simulation:
        """What the records come to; there must be at least one.

        Args:
            top: chunks to name, here and in each finding.
            described: what the ledger knows of these chunks.
        """
        slot, requests = self.packing.slot_tokens, len(self.used)
        found = diagnosis_of(self.seen, top=top, described=described)
        findings = tuple(each for each in found.findings if each.name != _ONLY_ANSWERS_TELL)
        return Simulation(
            packing=self.packing,
            requests=requests,
            fill=spread_of([used / slot for used in self.used]),
            used=spread_of(self.used),
            packed=spread_of(self.packed),
            counts={name: Count(self.totals[name], self.requests[name]) for name in COUNTS},
            space_left=tuple(
                SpaceLeft(reason, count, round(count / requests, 6), self.left[reason])
                for reason, count in sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))
            ),
            worst=self._worst(top, described),
            findings=findings,
            verdict=verdict_of(findings, self.outliers / requests, median_low(self.medians), slot, self.limits),
        )

    def _worst(self, top: int, described: Described) -> tuple[WorstChunk, ...]:
        known = described(list(self.missed_ids()))
        ranked = sorted(
            known, key=lambda each: (-self.floor[each], -self.with_room[each], -known[each]["rendered_tokens"], each)
        )
        return tuple(
            WorstChunk(
                chunk_id=chunk_id,
                floor=self.floor[chunk_id],
                skipped_with_room=self.with_room[chunk_id],
                doc_id=known[chunk_id]["doc_id"],
                line_start=known[chunk_id]["line_start"],
                line_end=known[chunk_id]["line_end"],
                rendered_tokens=known[chunk_id]["rendered_tokens"],
                kind=known[chunk_id]["kind"],
                flags=tuple(known[chunk_id]["flags"]),
                cause=known[chunk_id]["flag_cause"],
                detail=known[chunk_id]["flag_detail"],
            )
            for chunk_id in ranked[:top]
        )
