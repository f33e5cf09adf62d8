"""Marginal recall: what each further chunk in the prompt adds in right answers, and what it costs.

From records of an evaluation in which the same questions were asked with several K, the numbers of chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from chunkledger.errors import SettingsError
from chunkledger.request_log.lines import Reading, number_of, right_of

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
        tokens_per_right: extra tokens for each extra right answer; None at the smallest K, and where no more answers
            were right.
    """

    k: int
    queries: int
    right: float
    tokens_per_query: float | None
    gain: float | None
    gain_per_chunk: float | None
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
    queries: int = 0
    right: float = 0.0
    with_tokens: int = 0
    tokens: float = 0.0


def curves(reading: Reading, least_gain: float = LEAST_GAIN) -> list[Curve]:
    """The curve over all records, then one for each intent by name.

    Args:
        reading: records with `k` and `answered_correctly`; `prompt_tokens` and `intent` where they are there. Others
            are counted in `reading.left_out`.
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
        tokens, intent = number_of(record, "prompt_tokens"), record.get("intent")
        for name in (ALL, *([intent] if isinstance(intent, str) and intent != ALL else [])):
            entry = asked.setdefault(name, {}).setdefault(int(k), _Asked())
            entry.queries += 1
            entry.right += right
            entry.with_tokens += tokens is not None
            entry.tokens += tokens or 0
    if not asked[ALL]:
        raise SettingsError(_nothing(reading))
    intents = sorted(name for name in asked if name != ALL)
    return [_curve(name, asked[name], least_gain) for name in (ALL, *intents)]


def _nothing(reading: Reading) -> str:
    why = f" ({reading.left_out.lines} lines are none; {reading.left_out.first})" if reading.left_out.lines else ""
    return f"the log holds no record with k and answered_correctly{why}; log an evaluation with both"


def _curve(intent: str, asked: dict[int, _Asked], least_gain: float) -> Curve:
    steps: list[Step] = []
    for k in sorted(asked):
        steps.append(_step(k, asked[k], steps[-1] if steps else None))
    return Curve(intent, tuple(steps), _stop_k(steps, least_gain), tuple(_notes(steps, least_gain)))


def _step(k: int, entry: _Asked, before: Step | None) -> Step:
    right = entry.right / entry.queries
    tokens = entry.tokens / entry.with_tokens if entry.with_tokens else None
    if before is None:
        return Step(k, entry.queries, right, tokens, None, None, None)
    more = right - before.right
    per_right = None
    if more > 0 and tokens is not None and before.tokens_per_query is not None:
        per_right = (tokens - before.tokens_per_query) / more
    return Step(k, entry.queries, right, tokens, 100 * more, 100 * more / (k - before.k), per_right)


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
    if 100 / min(queries) > least_gain:
        yield (
            f"with {min(queries):,} queries one answer is {100 / min(queries):.1f} points, more than the "
            f"{least_gain:g} that decide; measure more queries"
        )
    at = next((step for step in steps if step.k == stop_k), None)
    later = [step.k for step in steps if at is not None and step.k > at.k and _gain(at, step) >= least_gain]
    if at is not None and later:
        yield f"from {at.k} to {later[0]} a chunk adds {least_gain:g} points or more again; the curve is not smooth"
