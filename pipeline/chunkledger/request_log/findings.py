"""What a diagnosis says, and from where on it says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from chunkledger.errors import SettingsError

_MOST = {"outlier_size": 1000, "drift": 100, "gain": 100, "answered": 10**9}
"""The largest value of the thresholds that are no shares."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on something is a finding. Shares are of all requests; a finding needs more than its threshold.

    Attributes:
        empty: a slot of which no more than this share is used is mostly empty.
        mostly_empty: share of requests with a mostly empty slot. Some questions are always small; a fifth is a habit.
        outlier_size: an outlier is at least so many times the median of the hits beside which it was skipped.
        outliers: share of requests in which an outlier that never fits was skipped though an average chunk would have
            fitted.
        truncated: share of requests whose best chunk was cut. A cut now and then is what cuts are for.
        floor: share of requests whose best chunk alone is over the slot. 0, because each of these is a fault.
        drift: rise of the tokens per answered question from the first third of the log to the last, as a share.
        gain: points of right answers that make up for more tokens, if they are more than chance.
        answered: least number of answered questions in each third.
    """

    empty: float = 0.5
    mostly_empty: float = 0.2
    outlier_size: float = 2.0
    outliers: float = 0.05
    truncated: float = 0.1
    floor: float = 0.0
    drift: float = 0.15
    gain: float = 2.0
    answered: int = 50

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            most = _MOST.get(each.name, 1)
            if not 0 <= value <= most:
                raise SettingsError(f"the threshold {each.name} is {value}; it must be from 0 to {most}")
        if self.answered < 1:
            raise SettingsError("the threshold answered is 0; it must be at least 1")


@dataclass(frozen=True, slots=True)
class Finding:
    """One question that was asked of the log.

    Attributes:
        name: for programs.
        holds: whether it is so; None where the log can't tell.
        says: what was found, with its figures and the threshold.
        advice: what to do where it holds; else "".
        figures: what was measured, by name.
        threshold: what it was held against, by name.
        chunks: those that it is about, the most frequent first.
    """

    name: str
    holds: bool | None
    says: str
    advice: str
    figures: Mapping[str, float | int | None]
    threshold: Mapping[str, float | int]
    chunks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings.

    Attributes:
        requests: how many were looked at.
        findings: in the order of the questions.
    """

    requests: int
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, object]:
        """The diagnosis, ready for JSON."""
        return asdict(self)
