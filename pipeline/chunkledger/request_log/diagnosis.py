"""Records of requests -> what is wrong with the slot, with K or with the chunking, with figures and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chunkledger.errors import SettingsError
from chunkledger.request_log.described import Described
from chunkledger.request_log.drift import drift
from chunkledger.request_log.findings import Diagnosis, Finding, Thresholds
from chunkledger.request_log.lines import Reading, Record, fields_of, number_of
from chunkledger.request_log.seen import Seen, note

_FIGURES = ("slot", "used", "skipped_with_room", "truncated")


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
    seen = Seen(thresholds or Thresholds())
    for number, record in reading:
        if (missing := _missing(record)) is not None:
            reading.left_out.add(number, f"it has no {missing}, but: {fields_of(record)}")
        else:
            note(seen, record)
    if not seen.requests:
        first = f" ({reading.left_out.first})" if reading.left_out.lines else ""
        raise SettingsError(f"the log holds no record of packing{first}; the logger chunkledger.packer writes them")
    return diagnosis_of(seen, top=top, described=described)


def diagnosis_of(seen: Seen, *, top: int = 10, described: Described | None = None) -> Diagnosis:
    """What the records that were noted say; there must be at least one.

    Args:
        seen: what was kept of them.
        top: as for `diagnosis`.
        described: as for `diagnosis`.
    """
    found = (
        *(_empty(seen, reason) for reason in _EMPTY),
        _outliers(seen, top, described),
        _truncated(seen),
        _floor(seen, top, described),
        _drift(seen),
    )
    return Diagnosis(seen.requests, found)


def _missing(record: Record) -> str | None:
    lacking = next((name for name in _FIGURES if number_of(record, name) is None), None)
    if lacking is None and not number_of(record, "slot"):
        return "slot of at least 1"
    if lacking is None and not isinstance(record.get("space_left_because"), str):
        return "space_left_because"
    return lacking


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
        "make chunks smaller (--max-tokens; the flag over_share tells which are too large for --slot-chunks), or pack "
        'with truncate="any" and on_miss="skip"',
    ),
}
"""Why a slot is mostly empty -> name of the finding, how it is said, what to do."""


def _empty(seen: Seen, reason: str) -> Finding:
    limits = seen.limits
    name, because, advice = _EMPTY[reason]
    share, total = seen.empty[reason] / seen.requests, sum(seen.empty[each] for each in _EMPTY) / seen.requests
    worst = seen.empty[reason] == max(seen.empty[each] for each in _EMPTY)
    says = (
        f"{_of(seen.empty[reason], seen.requests)} used {limits.empty:.0%} of their slot or less because {because}; "
        f"{total:.0%} did for any reason; threshold {limits.mostly_empty:.0%}"
    )
    return _finding(
        name,
        share > limits.mostly_empty or (worst and total > limits.mostly_empty),
        says,
        advice,
        {"requests": seen.empty[reason], "share": share, "share_for_any_reason": total},
        {"mostly_empty": limits.mostly_empty, "empty": limits.empty},
    )


def _outliers(seen: Seen, top: int, described: Described | None) -> Finding:
    limits = seen.limits
    never = {
        chunk_id: chunk
        for chunk_id, chunk in seen.chunks.items()
        if chunk_id not in seen.whole and chunk.large == chunk.skipped
    }
    hurt = sum(not ids or any(chunk_id in never for chunk_id in ids) for ids in seen.with_room)
    share = hurt / seen.requests
    says = (
        f"in {_of(hurt, seen.requests)} an outlier that never fits was skipped though an average chunk would have "
        f"fitted; threshold {limits.outliers:.0%}; {len(never):,} chunks are never packed whole and at least "
        f"{limits.outlier_size:g} times the median, "
        f"{sum(chunk.over_slot == chunk.skipped for chunk in never.values()):,} are larger than every slot they met"
    )
    if seen.unnamed:
        says += f"; {seen.unnamed:,} requests do not name the chunks that they skipped, and count"
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
        {"requests": hurt, "share": share, "never_packed": len(never)},
        {"outliers": limits.outliers, "outlier_size": limits.outlier_size},
        chunks,
    )


def _truncated(seen: Seen) -> Finding:
    limits = seen.limits
    share = seen.cut_floor / seen.requests
    says = f"{_of(seen.cut_floor, seen.requests)} had their best chunk cut; threshold {limits.truncated:.0%}"
    if seen.cut_into_rest:
        says += f'; {seen.cut_into_rest:,} more had another one cut into the rest of the slot, as truncate="any" is for'
    return _finding(
        "truncation_is_a_habit",
        share > limits.truncated,
        says,
        "make chunks smaller (--max-tokens) or the slot larger; a cut is meant for the odd case",
        {"requests": seen.cut_floor, "share": share, "cut_into_rest": seen.cut_into_rest},
        {"truncated": limits.truncated},
    )


def _floor(seen: Seen, top: int, described: Described | None) -> Finding:
    limits = seen.limits
    share = seen.floor / seen.requests
    says = f"in {_of(seen.floor, seen.requests)} the best chunk alone was over the slot; threshold {limits.floor:.0%}"
    if seen.floor == seen.requests and not seen.is_whole:
        says += (
            "; if other requests were made, the level of the logger chunkledger.packer is WARNING, which keeps them "
            "out of the log: set it to INFO"
        )
    worst = sorted(seen.floor_chunks, key=lambda chunk_id: (-len(seen.floor_chunks[chunk_id]), chunk_id))[:top]
    known = described(worst) if described and worst else {}
    chunks = [
        {
            "chunk_id": chunk_id,
            "requests": len(seen.floor_chunks[chunk_id]),
            "rendered_tokens": max(seen.floor_chunks[chunk_id]),
            **known.get(chunk_id, {}),
        }
        for chunk_id in worst
    ]
    return _finding(
        "floor_over_slot",
        share > limits.floor,
        says,
        "ingest with --slot-tokens at the size of the smallest slot, so that such chunks are flagged over_slot, and "
        "lower --max-tokens; or take less of the window for something else",
        {"requests": seen.floor, "share": share},
        {"floor": limits.floor},
        chunks,
    )


def _drift(seen: Seen) -> Finding:
    limits = seen.limits
    threshold = {"drift": limits.drift, "gain": limits.gain, "answered": limits.answered}
    found = drift(seen.answered, limits.answered)
    if found is None:
        says = (
            f"{len(seen.answered):,} requests have answered_correctly; the first third of the log and the last need "
            f"{limits.answered:,} each that ask the same (by intent and k), with prompt_tokens"
        )
        return _finding("tokens_drift", None, says, "", {"answered": len(seen.answered)}, threshold)
    enough = max(limits.gain, found.noise)
    says = (
        f"from the first third of the log to the last, {found.answered:,} answered questions each, {found.measure} per "
        f"question went from {found.before:,.0f} to {found.after:,.0f} ({found.rise:+.0%}; threshold "
        f"{limits.drift:+.0%}) and right answers from {found.right_before:.1%} to {found.right_after:.1%} "
        f"({found.points:+.1f} points; {enough:.1f} would make up for it, being more than {limits.gain:g} and more "
        "than chance)"
    )
    advice = "find what grew (history, K, chunk sizes); `chunkledger curve` tells whether it is worth its tokens"
    if found.points <= -enough:
        advice = f"answers got worse too, so look for what changed in retrieval, prompt or model first; then {advice}"
    figures = {
        "answered": found.answered,
        "before": found.before,
        "after": found.after,
        "rise": found.rise,
        "right_before": found.right_before,
        "right_after": found.right_after,
        "noise": found.noise,
    }
    return _finding(
        "tokens_drift", found.rise > limits.drift and found.points < enough, says, advice, figures, threshold
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
