"""Whether questions have come to cost more tokens without being answered better."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from chunkledger.request_log.lines import Record, number_of, right_of


@dataclass(frozen=True, slots=True)
class Answered:
    """One request whose answer was judged.

    Attributes:
        group: its intent and its k, so that another mix of questions is not taken for a drift.
        tokens: prompt_tokens; None where they were not logged.
        used: tokens of the slot.
        right: 0 to 1.
    """

    group: Hashable
    tokens: float | None
    used: float
    right: float


@dataclass(frozen=True, slots=True)
class Drift:
    """The first third of the answered requests beside the last, as if both had asked the same mix of questions.

    Attributes:
        measure: prompt_tokens, or used where no request has them.
        answered: requests in each third.
        before: tokens a question in the first third.
        after: in the last.
        right_before: share of right answers in the first third.
        right_after: in the last.
        noise: points by which the shares differ by chance alone in 19 of 20 logs of this size (two standard errors).
    """

    measure: str
    answered: int
    before: float
    after: float
    right_before: float
    right_after: float
    noise: float

    @property
    def rise(self) -> float:
        """Of the tokens, as a share; rounded, so that a threshold is not missed by the last bit."""
        return round(self.after / self.before - 1, 9)

    @property
    def points(self) -> float:
        """By which the right answers have changed."""
        return round(100 * (self.right_after - self.right_before), 9)


def answered_of(record: Record) -> Answered | None:
    """What a record says of drift; None where its answer was not judged."""
    right = right_of(record)
    if right is None:
        return None
    intent = record.get("intent")
    group = (intent if isinstance(intent, (str, int)) else None, number_of(record, "k"))
    return Answered(group, number_of(record, "prompt_tokens"), float(record["used"]), right)


def drift(answered: Sequence[Answered], least: int) -> Drift | None:
    """The drift over a log, in its order; None where the thirds hold too little to be compared.

    Groups that one of the thirds lacks are left out; the others are weighted by their requests in both thirds.

    Args:
        answered: in the order of the log.
        least: requests that each third must have.
    """
    measured = [each for each in answered if each.tokens is not None]
    measure = "prompt_tokens" if measured else "used"
    usable = measured or list(answered)
    third = len(usable) // 3
    if third < least:
        return None
    first, last = _by_group(usable[:third]), _by_group(usable[-third:])
    both = [group for group in first if group in last]
    compared = min(sum(len(part[group]) for group in both) for part in (first, last))
    if compared < least:
        return None
    weights = {group: len(first[group]) + len(last[group]) for group in both}
    means = [
        [_weighted({group: _mean(part[group], what) for group in both}, weights) for part in (first, last)]
        for what in (_tokens, _right)
    ]
    (before, after), (right_before, right_after) = means
    if not before:
        return None
    noise = 200 * sum(share * (1 - share) / compared for share in (right_before, right_after)) ** 0.5
    return Drift(measure, compared, before, after, right_before, right_after, noise)


def _by_group(part: Sequence[Answered]) -> dict[Hashable, list[Answered]]:
    groups: dict[Hashable, list[Answered]] = {}
    for each in part:
        groups.setdefault(each.group, []).append(each)
    return groups


def _weighted(values: dict[Hashable, float], weights: dict[Hashable, int]) -> float:
    return sum(values[group] * weights[group] for group in weights) / sum(weights.values())


def _mean(part: Sequence[Answered], what: Callable[[Answered], float]) -> float:
    return sum(map(what, part)) / len(part)


def _tokens(each: Answered) -> float:
    return each.used if each.tokens is None else each.tokens


def _right(each: Answered) -> float:
    return each.right
