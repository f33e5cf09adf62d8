"""Records of requests -> what a diagnosis needs of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from chunkledger.request_log.drift import Answered, answered_of
from chunkledger.request_log.findings import Thresholds
from chunkledger.request_log.lines import Record, number_of


@dataclass(slots=True)
class SkippedChunk:
    """One chunk that was skipped with room: how often, how large, and whether it is larger than every slot."""

    skipped: int = 0
    tokens: int = 0
    over_slot: int = 0
    large: int = 0


@dataclass(slots=True)
class Seen:
    """What is kept of the records that were noted: a few figures a request, however many there are.

    Attributes:
        limits: from where on something is a finding.
        is_whole: whether all requests that were made are among the records; a log may have lost those below its level.
    """

    limits: Thresholds
    is_whole: bool = False
    requests: int = 0
    empty: Counter[str] = field(default_factory=Counter)
    with_room: list[list[str]] = field(default_factory=list)
    unnamed: int = 0
    cut_floor: int = 0
    cut_into_rest: int = 0
    floor: int = 0
    chunks: dict[str, SkippedChunk] = field(default_factory=dict)
    floor_chunks: dict[str, list[int]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    answered: list[Answered] = field(default_factory=list)


def note(seen: Seen, record: Record) -> None:
    """Keep what is needed of one record, which has the packer's fields."""
    limits = seen.limits
    slot, used = record["slot"], record["used"]
    seen.requests += 1
    if used <= limits.empty * slot:
        seen.empty[record["space_left_because"]] += 1
    floor_id, cut_id = record.get("floor_chunk_id"), record.get("truncated_chunk_id")
    if record["truncated"] > 0:
        into_rest = isinstance(cut_id, str) and cut_id != floor_id
        seen.cut_into_rest += into_rest
        seen.cut_floor += not into_rest
    if record.get("floor_over_slot"):
        seen.floor += 1
        if isinstance(floor_id, str):
            seen.floor_chunks.setdefault(floor_id, []).append(int(number_of(record, "floor_chunk_tokens") or 0))
    # A chunk that was cut, or sent though it was over the slot, did not fit.
    seen.whole.update(chunk_id for chunk_id in _strings(record, "packed_ids") if chunk_id not in (floor_id, cut_id))
    if record["skipped_with_room"] > 0:
        _note_skipped(seen, record)
    if (answered := answered_of(record)) is not None:
        seen.answered.append(answered)


def _note_skipped(seen: Seen, record: Record) -> None:
    ids, sizes = _strings(record, "skipped_with_room_ids"), record.get("skipped_with_room_tokens")
    median = number_of(record, "median_tokens") or 0
    seen.unnamed += not ids
    seen.with_room.append(list(ids))
    for place, chunk_id in enumerate(ids):
        chunk = seen.chunks.setdefault(chunk_id, SkippedChunk())
        chunk.skipped += 1
        tokens = sizes[place] if isinstance(sizes, list) and place < len(sizes) else None
        if isinstance(tokens, int):
            chunk.tokens = tokens
            chunk.over_slot += tokens > record["slot"]
            chunk.large += tokens >= seen.limits.outlier_size * median


def _strings(record: Record, name: str) -> Sequence[str]:
    values = record.get(name)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
