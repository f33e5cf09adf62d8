"""Marginal recall: what each further chunk in the prompt adds in right answers, and what it costs.

From records of an evaluation in which the same questions were asked with several K, the numbers of chunks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise

from chunkledger.errors import SettingsError
from chunkledger.request_log.lines import Reading, Record, number_of, right_of

LEAST_GAIN = 1.0
"""Points of right answers that one more chunk must add to be worth its tokens."""

ALL = "all"
"""The name of the curve over every intent."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was measured with one K.

    Attributes:
        k: chunks in the prompt.
        queries: how many were asked.
        right: share of them that were answered correctly, 0 to 1.
        tokens_per_query: mean prompt_tokens; None where no record has them.
        gain: points over the K before; None at the smallest K.
        gain_per_chunk: the same for each chunk more.
        noise: points by which `gain_per_chunk` is uncertain (two standard errors); None at the smallest K.
        tokens_per_right: extra tokens for each extra right answer; None at the smallest K, and where no more answers
            were right.
    """

    k: int
    queries: int
    right: float
    tokens_per_query: float | None
    gain: float | None
    gain_per_chunk: float | None
    noise: float | None
    tokens_per_right: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """The steps of one intent.

    Attributes:
        intent: its name; `ALL` for all records.
        steps: by K, ascending.
        stop_k: the smallest K after which the next chunk adds less than the least gain; None where every step that was
            measured adds as much.
        notes: what to know before the figures are trusted.
    """

    intent: str
    steps: tuple[Step, ...]
    stop_k: int | None
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """The curve, ready for JSON."""
        return asdict(self)


@dataclass(slots=True)
class _Asked:
    """What was asked with one K: shares of right answers, of each query where it is named, and tokens."""

    right: list[float] = field(default_factory=list)
    by_query: dict[str, float] = field(default_factory=dict)
    with_tokens: int = 0
    tokens: float = 0.0


def curves(reading: Reading, least_gain: float = LEAST_GAIN) -> list[Curve]:
    """The curve over all records, then one for each intent by name.

    Args:
        reading: records with `k` and `answered_correctly`; `prompt_tokens` and `intent` where they are there, and
            `query` (or `query_id`), by which answers to the same question are compared. Others are counted in
            `reading.left_out`.
        least_gain: points that the next chunk must add.

    Raises:
        SettingsError: no record has both, or the least gain is not a positive number.
    """
    if not 0 < least_gain <= 100:
        raise SettingsError(f"the least gain is {least_gain}; it must be more than 0 and at most 100 points")
    asked: dict[str, dict[int, _Asked]] = {ALL: {}}
    for number, record in reading:
        k, right = number_of(record, "k"), right_of(record)
        if k is None or k != int(k) or right is None:
            missing = "k, a whole number" if k is None or k != int(k) else "answered_correctly, true or false"
            reading.left_out.add(number, f"it has no {missing}")
            continue
        tokens, query = number_of(record, "prompt_tokens"), record.get("query", record.get("query_id"))
        for name in _intents(record):
            entry = asked.setdefault(name, {}).setdefault(int(k), _Asked())
            entry.right.append(right)
            if isinstance(query, (str, int)):
                entry.by_query[str(query)] = right
            entry.with_tokens += tokens is not None
            entry.tokens += tokens or 0
    if not asked[ALL]:
        raise SettingsError(_nothing(reading))
    intents = sorted(name for name in asked if name != ALL)
    return [_curve(name, asked[name], least_gain) for name in (ALL, *intents)]


def _intents(record: Record) -> tuple[str, ...]:
    intent = record.get("intent")
    if not isinstance(intent, (str, int)) or intent == ALL:
        return (ALL,)
    return (ALL, str(intent) or '""')


def _nothing(reading: Reading) -> str:
    why = f" ({reading.left_out.lines} lines are none; {reading.left_out.first})" if reading.left_out.lines else ""
    return f"the log holds no record with k and answered_correctly{why}; log an evaluation with both"


def _curve(intent: str, asked: dict[int, _Asked], least_gain: float) -> Curve:
    steps: list[Step] = []
    for k in sorted(asked):
        before = (steps[-1], asked[steps[-1].k]) if steps else None
        steps.append(_step(k, asked[k], before))
    notes = [*_notes(steps, least_gain), *_doubts(steps, least_gain)]
    if 0 < sum(entry.with_tokens for entry in asked.values()) < sum(len(entry.right) for entry in asked.values()):
        notes.append("some records have no prompt_tokens; the tokens are of those that have")
    return Curve(intent, tuple(steps), _stop_k(steps, least_gain), tuple(notes))


def _step(k: int, entry: _Asked, before: tuple[Step, _Asked] | None) -> Step:
    queries = len(entry.right)
    right = sum(entry.right) / queries
    tokens = entry.tokens / entry.with_tokens if entry.with_tokens else None
    if before is None:
        return Step(k, queries, right, tokens, None, None, None, None)
    step, asked = before
    more, chunks = right - step.right, k - step.k
    per_right = None
    if more > 0 and tokens is not None and step.tokens_per_query is not None:
        per_right = (tokens - step.tokens_per_query) / more
    noise = 200 * _standard_error(asked, entry) / chunks
    return Step(k, queries, right, tokens, 100 * more, 100 * more / chunks, noise, per_right)


def _standard_error(before: _Asked, after: _Asked) -> float:
    """Of the difference of two shares: by pairs where both asked the same queries, which says far more."""
    pairs = [after.by_query[query] - right for query, right in before.by_query.items() if query in after.by_query]
    if len(pairs) == len(before.right) == len(after.right):
        return _spread(pairs)
    return math.hypot(_spread(before.right), _spread(after.right))


def _spread(values: Sequence[float]) -> float:
    """The standard error of a mean."""
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values)) / len(values)


def _stop_k(steps: Sequence[Step], least_gain: float) -> int | None:
    for step, after in pairwise(steps):
        if _gain(step, after) < least_gain:
            return step.k
    return None


def _gain(step: Step, after: Step) -> float:
    """Points for each chunk more; rounded, because shares are no exact decimals and a point must be a point."""
    return round(100 * (after.right - step.right) / (after.k - step.k), 9)


def _notes(steps: Sequence[Step], least_gain: float) -> Iterable[str]:
    stop_k = _stop_k(steps, least_gain)
    if len(steps) == 1:
        yield "only one K was measured; measure more to see what a further chunk adds"
    elif stop_k is None:
        yield f"every step adds at least {least_gain:g} points a chunk up to {steps[-1].k}; measure a larger K"
    queries = [step.queries for step in steps]
    if max(queries) > min(queries):
        yield f"the Ks were measured with {min(queries):,} to {max(queries):,} queries; ask the same ones with each"
    at = next((step for step in steps if step.k == stop_k), None)
    later = [step.k for step in steps if at is not None and step.k > at.k and _gain(at, step) >= least_gain]
    if at is not None and later:
        yield f"from {at.k} to {later[0]} a chunk adds {least_gain:g} points or more again; the curve is not smooth"


def _doubts(steps: Sequence[Step], least_gain: float) -> Iterable[str]:
    """Whether the verdict hangs on chance: on a step whose gain can't be told from the least gain."""
    stop_k = _stop_k(steps, least_gain)
    for step, after in pairwise(steps):
        gain, noise = _gain(step, after), after.noise or 0.0
        if abs(gain - least_gain) < noise and (stop_k is None or step.k <= stop_k):
            yield (
                f"from {step.k} to {after.k} a chunk adds {gain:.1f} points, give or take {noise:.1f} by chance "
                f"({after.queries:,} queries): too few to tell it from {least_gain:g}"
            )
