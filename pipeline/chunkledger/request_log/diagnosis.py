"""Records of requests -> what is wrong with the slot, with K or with the chunking, with figures and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkledger.errors import SettingsError
from chunkledger.request_log.findings import Diagnosis, Finding, Thresholds
from chunkledger.request_log.lines import Reading, Record, number_of, right_of

_FIGURES = ("slot", "used", "skipped_with_room", "truncated")


@dataclass(slots=True)
class _Chunk:
    """One chunk that was skipped with room: how often, how large, and whether it is larger than every slot."""

    skipped: int = 0
    tokens: int = 0
    over_slot: int = 0


@dataclass(slots=True)
class _Seen:
    """What is kept of a log: a few figures a request, whatever its length."""

    requests: int = 0
    empty: Counter[str] = field(default_factory=Counter)
    with_outliers: int = 0
    truncated: int = 0
    floor: int = 0
    chunks: dict[str, _Chunk] = field(default_factory=dict)
    floor_chunks: Counter[str] = field(default_factory=Counter)
    packed: set[str] = field(default_factory=set)
    answered: list[tuple[float, float]] = field(default_factory=list)


Described = Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]
"""From chunk ids to what a ledger knows of them, by id."""


def diagnosis(
    reading: Reading, thresholds: Thresholds | None = None, *, top: int = 10, described: Described | None = None
) -> Diagnosis:
    """What the log says about slot, K and chunking.

    Args:
        reading: the log; lines without the packer's fields are counted in `reading.left_out`.
        thresholds: None is the default ones.
        top: how many chunks to name in a finding.
        described: looks chunks up in a ledger; None names their ids only.

    Raises:
        SettingsError: no line is a record of packing.
    """
    limits = thresholds or Thresholds()
    seen = _Seen()
    for number, record in reading:
        if (missing := _missing(record)) is not None:
            reading.left_out.add(number, f"it has no {missing}")
        else:
            _note(seen, record, limits)
    if not seen.requests:
        first = f" ({reading.left_out.first})" if reading.left_out.lines else ""
        raise SettingsError(f"the log holds no record of packing{first}; the logger chunkledger.packer writes them")
    found = (
        *(_empty(seen, limits, reason) for reason in _EMPTY),
        _outliers(seen, limits, top, described),
        _truncated(seen, limits),
        _floor(seen, limits, top, described),
        _drift(seen, limits),
    )
    return Diagnosis(seen.requests, found)


def _missing(record: Record) -> str | None:
    lacking = next((name for name in _FIGURES if number_of(record, name) is None), None)
    if lacking is None and not number_of(record, "slot"):
        return "slot of at least 1"
    if lacking is None and not isinstance(record.get("space_left_because"), str):
        return "space_left_because"
    return lacking


def _note(seen: _Seen, record: Record, limits: Thresholds) -> None:
    slot, used = record["slot"], record["used"]
    seen.requests += 1
    if used <= limits.empty * slot:
        seen.empty[record["space_left_because"]] += 1
    seen.with_outliers += record["skipped_with_room"] > 0
    seen.truncated += record["truncated"] > 0
    if record.get("floor_over_slot"):
        seen.floor += 1
        seen.floor_chunks[str(record.get("floor_chunk_id"))] += 1
    seen.packed.update(_strings(record, "packed_ids"))
    sizes = record.get("skipped_with_room_tokens")
    for place, chunk_id in enumerate(_strings(record, "skipped_with_room_ids")):
        chunk = seen.chunks.setdefault(chunk_id, _Chunk())
        tokens = sizes[place] if isinstance(sizes, list) and place < len(sizes) else 0
        chunk.skipped += 1
        if isinstance(tokens, int):
            chunk.tokens = tokens
            chunk.over_slot += tokens > slot
    right, tokens = right_of(record), number_of(record, "prompt_tokens")
    if right is not None:
        seen.answered.append((used if tokens is None else tokens, right))


def _strings(record: Record, name: str) -> Iterable[str]:
    values = record.get(name)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


_EMPTY = {
    "max_chunks": (
        "slot_empty_because_of_max_chunks",
        "max_chunks ended the packing",
        "raise max_chunks if `chunkledger curve` says that more chunks still help; else lower the slot (its cap), and "
        "give the tokens to something else",
    ),
    "no_more_candidates": (
        "slot_empty_for_want_of_candidates",
        "there were no more candidates",
        "retrieve more than are packed (a multiple of `chunkledger slot`'s ceiling), or let the reranker's cutoff pass "
        "more; or lower the slot",
    ),
    "nothing_fits": (
        "slot_empty_because_nothing_fits",
        "nothing that was left fitted",
        'make chunks smaller (--max-tokens, --slot-chunks tells which are too large), or pack with truncate="any" and '
        'on_miss="skip"',
    ),
}
"""Why a slot is mostly empty -> name of the finding, how it is said, what to do."""


def _empty(seen: _Seen, limits: Thresholds, reason: str) -> Finding:
    name, because, advice = _EMPTY[reason]
    share = seen.empty[reason] / seen.requests
    says = (
        f"{_of(seen.empty[reason], seen.requests)} used {limits.empty:.0%} of their slot or less because {because}; "
        f"threshold {limits.mostly_empty:.0%}"
    )
    return _finding(
        name,
        share > limits.mostly_empty,
        says,
        advice,
        {"requests": seen.empty[reason], "share": share},
        {"mostly_empty": limits.mostly_empty, "empty": limits.empty},
    )


def _outliers(seen: _Seen, limits: Thresholds, top: int, described: Described | None) -> Finding:
    never = {chunk_id: chunk for chunk_id, chunk in seen.chunks.items() if chunk_id not in seen.packed}
    share = seen.with_outliers / seen.requests
    says = (
        f"in {_of(seen.with_outliers, seen.requests)} a chunk was skipped though an average one would have fitted; "
        f"threshold {limits.outliers:.0%}; {len(never):,} of the {len(seen.chunks):,} chunks were never packed, "
        f"{sum(chunk.over_slot == chunk.skipped for chunk in never.values()):,} are larger than every slot they met"
    )
    worst = sorted(never, key=lambda chunk_id: (-never[chunk_id].skipped, chunk_id))[:top]
    known = described(worst) if described and worst else {}
    chunks = [
        {
            "chunk_id": chunk_id,
            "skipped": never[chunk_id].skipped,
            "rendered_tokens": never[chunk_id].tokens,
            "over_every_slot": never[chunk_id].over_slot == never[chunk_id].skipped,
            **known.get(chunk_id, {}),
        }
        for chunk_id in worst
    ]
    return _finding(
        "outliers_never_fit",
        share > limits.outliers,
        says,
        "`chunkledger report LEDGER` tells which structure makes them and where; lower --max-tokens, or mend the "
        "documents that it names",
        {"requests": seen.with_outliers, "share": share, "chunks": len(seen.chunks), "never_packed": len(never)},
        {"outliers": limits.outliers},
        chunks,
    )


def _truncated(seen: _Seen, limits: Thresholds) -> Finding:
    share = seen.truncated / seen.requests
    return _finding(
        "truncation_is_a_habit",
        share > limits.truncated,
        f"{_of(seen.truncated, seen.requests)} had a chunk that was cut; threshold {limits.truncated:.0%}",
        "make chunks smaller (--max-tokens) or the slot larger; a cut is meant for the odd case",
        {"requests": seen.truncated, "share": share},
        {"truncated": limits.truncated},
    )


def _floor(seen: _Seen, limits: Thresholds, top: int, described: Described | None) -> Finding:
    share = seen.floor / seen.requests
    worst = [chunk_id for chunk_id, _ in seen.floor_chunks.most_common(top)]
    known = described(worst) if described and worst else {}
    chunks = [
        {"chunk_id": chunk_id, "requests": seen.floor_chunks[chunk_id], **known.get(chunk_id, {})} for chunk_id in worst
    ]
    return _finding(
        "floor_over_slot",
        share > limits.floor,
        f"in {_of(seen.floor, seen.requests)} the best chunk alone was over the slot; threshold {limits.floor:.0%}",
        "ingest with --slot-tokens at the size of the smallest slot, so that such chunks are flagged over_slot, and "
        "lower --max-tokens; or take less of the window for something else",
        {"requests": seen.floor, "share": share},
        {"floor": limits.floor},
        chunks,
    )


def _drift(seen: _Seen, limits: Thresholds) -> Finding:
    third = len(seen.answered) // 3
    threshold = {"drift": limits.drift, "gain": limits.gain, "answered": limits.answered}
    if third < limits.answered:
        says = (
            f"{len(seen.answered):,} requests have answered_correctly; at least {3 * limits.answered:,} are needed to "
            "compare the first third with the last"
        )
        return _finding("tokens_drift", None, says, "", {"answered": len(seen.answered)}, threshold)
    first, last = seen.answered[:third], seen.answered[-third:]
    before, after = (sum(tokens for tokens, _ in part) / third for part in (first, last))
    right_before, right_after = (sum(right for _, right in part) / third for part in (first, last))
    rise = round(after / before - 1, 9) if before else 0.0  # rounded, so that two points are two points
    points = round(100 * (right_after - right_before), 9)
    says = (
        f"from the first third of {len(seen.answered):,} answered questions to the last, tokens per question went from "
        f"{before:,.0f} to {after:,.0f} ({rise:+.0%}; threshold {limits.drift:+.0%}) and right answers from "
        f"{right_before:.1%} to {right_after:.1%} ({points:+.1f} points; {limits.gain:g} would make up for it)"
    )
    return _finding(
        "tokens_drift",
        rise > limits.drift and points < limits.gain,
        says,
        "find what grew (history, K, chunk sizes) and measure with `chunkledger curve` whether it is worth its tokens",
        {"before": before, "after": after, "rise": rise, "right_before": right_before, "right_after": right_after},
        threshold,
    )


def _finding(
    name: str,
    holds: bool | None,
    says: str,
    advice: str,
    figures: Mapping[str, float | int | None],
    threshold: Mapping[str, float | int],
    chunks: Sequence[Mapping[str, Any]] = (),
) -> Finding:
    return Finding(name, holds, says, advice if holds else "", figures, threshold, tuple(chunks))


def _of(count: int, requests: int) -> str:
    return f"{count:,} of {requests:,} requests ({count / requests:.0%})"
