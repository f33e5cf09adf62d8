"""Tokens that rise while answers get no better are told apart from chance and from other questions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from chunkledger.packer import pack
from chunkledger.request_log.diagnosis import diagnosis
from chunkledger.request_log.findings import Finding, Thresholds
from chunkledger.request_log.lines import Reading
from packer.builders import rows

FINE = pack(rows(50, 48, 10), 100, encoding="o200k_base", emit=False).log.as_dict()

Part = tuple[int, Mapping[str, Any]]


def _drift(*parts: Part, **thresholds: Any) -> Finding:  # noqa: ANN401
    lines = [json.dumps(FINE | fields) for count, fields in parts for _ in range(count)]
    return diagnosis(Reading(lines), Thresholds(**thresholds)).findings[-1]


def _asked(tokens: float | None, right: float, count: int = 10_000, **fields: object) -> list[Part]:
    good = round(count * right)
    shown = {"prompt_tokens": tokens} | fields
    return [(good, shown | {"answered_correctly": True}), (count - good, shown | {"answered_correctly": False})]


@pytest.mark.parametrize(
    ("after", "holds"),
    [
        ((1_150, 0.80), False),
        ((1_160, 0.80), True),
        ((1_160, 0.81), True),
        ((1_160, 0.82), False),
        ((1_160, 0.60), True),
        ((800, 0.80), False),
    ],
)
def test_tokens_that_rise_without_better_answers(after: tuple[float, float], holds: bool) -> None:
    """Tokens a question rise by more than 15 % and right answers by less than two points."""
    found = _drift(*_asked(1_000, 0.8), *_asked(1_050, 0.8), *_asked(*after))
    assert (found.holds, found.figures["before"], found.figures["after"]) == (holds, 1_000, after[0])


def test_better_answers_must_be_more_than_chance() -> None:
    """With a hundred answers in each third ten points are chance, and do not make up for more tokens."""
    found = _drift(*_asked(1_000, 0.7, 100), *_asked(1_000, 0.7, 100), *_asked(1_400, 0.8, 100))
    assert found.holds is True
    assert "(+10.0 points; 12.2 would make up for it, being more than 2 and more than chance)" in found.says


def test_worse_answers_get_other_advice() -> None:
    """Where answers got worse, tokens are not the first thing to look at."""
    found = _drift(*_asked(1_000, 0.9), *_asked(1_000, 0.9), *_asked(1_400, 0.5))
    assert found.advice.startswith(
        "answers got worse too, so look for what changed in retrieval, prompt or model first"
    )


def test_other_questions_are_no_drift() -> None:
    """More of the questions that always were dear is another mix, not a drift."""
    parts = [
        *_asked(1_000, 0.8, 900, intent="faq"),
        *_asked(6_000, 0.8, 100, intent="api"),
        *_asked(1_000, 0.8, 1_000, intent="faq"),
        *_asked(1_000, 0.8, 100, intent="faq"),
        *_asked(6_000, 0.8, 900, intent="api"),
    ]
    found = _drift(*parts)
    assert (found.holds, found.figures["rise"]) == (False, 0)


def test_evaluation_over_several_k_is_no_drift() -> None:
    """A run that asks with one K after the other has nothing that could be compared."""
    parts = [part for k in (1, 3, 5) for part in _asked(400 * k, 0.8, 100, k=k)]
    assert _drift(*parts).holds is None


def test_requests_without_prompt_tokens_are_left_out() -> None:
    """Where some have prompt_tokens, only those are compared; the slot's tokens are another figure."""
    found = _drift(*_asked(None, 0.8, 300), *_asked(6_500, 0.8, 300))
    assert (found.holds, found.figures["before"], found.figures["after"]) == (False, 6_500, 6_500)


def test_slots_tokens_stand_in_where_prompts_are_not_logged() -> None:
    """Without any prompt_tokens the tokens of the blocks are compared, and the finding says so."""
    found = _drift(*[(100, {"used": used, "answered_correctly": True}) for used in (50, 60, 80)])
    assert (found.figures["rise"], "used per question went from 50 to 80" in found.says) == (pytest.approx(0.6), True)


@pytest.mark.parametrize(
    "parts", [_asked(1_000, 0.8, 149), [(500, {})], _asked(0, 0.8, 300), [(300, {"answered_correctly": "yes"})]]
)
def test_log_that_cannot_tell_says_what_it_needs(parts: list[Part]) -> None:
    """Too few answers, none, or none with tokens: it is not judged."""
    found = _drift(*parts)
    assert (found.holds, found.advice) == (None, "")
    assert "the first third of the log and the last need 50 each that ask the same" in found.says


def test_thresholds_can_be_set() -> None:
    """The rise, the gain and the least number of answers."""
    parts = [*_asked(1_000, 0.8, 20), *_asked(1_000, 0.8, 20), *_asked(1_100, 0.8, 20)]
    assert _drift(*parts, answered=20).holds is False
    assert _drift(*parts, answered=20, drift=0.05).holds is True
