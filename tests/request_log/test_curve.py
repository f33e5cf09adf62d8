"""The marginal-recall table and the stop rule."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from chunkledger.errors import SettingsError
from chunkledger.request_log.curve import ALL, Curve, Step, curves
from chunkledger.request_log.lines import Reading


def _asked(k: int, right: int, queries: int = 100, **fields: object) -> list[str]:
    """Records of so many queries with this K, of which so many were answered correctly."""
    return [json.dumps({"k": k, "answered_correctly": number < right, **fields}) for number in range(queries)]


def _curve(lines: list[str], least_gain: float = 1.0) -> Curve:
    return curves(Reading(lines), least_gain)[0]


def test_table_is_computed_by_hand() -> None:
    """Right answers, gain in points, gain a chunk, tokens a query, extra tokens for each extra right answer."""
    lines = [
        *_asked(2, 50, prompt_tokens=1_000),
        *_asked(4, 60, prompt_tokens=1_800),
        *_asked(5, 60, prompt_tokens=2_200),
    ]
    curve = _curve(lines)
    chance = 200 * ((0.5 * 0.5 + 0.6 * 0.4) / 100) ** 0.5 / 2
    same = 200 * (2 * 0.6 * 0.4 / 100) ** 0.5
    assert curve.steps == (
        Step(2, 100, 0.5, 1_000, None, None, None, None),
        Step(4, 100, 0.6, 1_800, *map(pytest.approx, (10, 5, chance, 8_000))),
        Step(5, 100, 0.6, 2_200, 0, 0, pytest.approx(same), None),
    )
    assert (curve.intent, curve.stop_k) == (ALL, 4)


@pytest.mark.parametrize(
    ("right", "stop_k"),
    [
        ({1: 50, 2: 60, 3: 60}, 2),
        ({1: 50, 2: 60, 3: 61, 4: 61}, 3),
        ({1: 50, 2: 50, 3: 90}, 1),
        ({1: 50, 2: 40, 3: 90}, 1),
        ({1: 50, 3: 51}, 1),
        ({1: 50, 3: 52}, None),
        ({1: 50, 2: 51}, None),
        ({1: 50}, None),
    ],
)
def test_stop_rule(right: Mapping[int, int], stop_k: int | None) -> None:
    """The smallest K after which the next chunk adds less than a point; a step of several Ks is shared out."""
    assert _curve([line for k, count in right.items() for line in _asked(k, count)]).stop_k == stop_k


def test_a_point_is_a_point() -> None:
    """Shares are no exact decimals, and a gain of exactly one point is not less than one."""
    for base in range(99):
        assert _curve([*_asked(1, base), *_asked(2, base + 1)]).stop_k is None


def test_least_gain_can_be_set() -> None:
    """Who pays little for tokens may ask for less."""
    lines = [*_asked(1, 100, 400), *_asked(2, 102, 400)]
    assert (_curve(lines, 0.5).stop_k, _curve(lines, 0.6).stop_k) == (None, 1)


def test_intents_have_curves_of_their_own() -> None:
    """First all records, then each intent by name; a record without one is only in the first."""
    lines = [
        *_asked(1, 50, intent="faq"),
        *_asked(2, 90, intent="faq"),
        *_asked(1, 50, intent="api"),
        *_asked(2, 50, intent="api"),
        *_asked(1, 10),
        *_asked(2, 10, intent=[7]),
    ]
    made = curves(Reading(lines))
    assert [(curve.intent, curve.stop_k, curve.steps[0].queries) for curve in made] == [
        (ALL, None, 300),
        ("api", 1, 100),
        ("faq", None, 100),
    ]


def test_partly_right_answers_count_in_part() -> None:
    """A judge that gives shares is taken at its word."""
    lines = [json.dumps({"k": 3, "answered_correctly": share}) for share in (0.5, 1, False, True)]
    assert _curve(lines).steps[0].right == 0.625


def test_tokens_are_of_those_that_have_them() -> None:
    """Records without prompt_tokens count for the answers only."""
    lines = [*_asked(3, 1, 2, prompt_tokens=500), *_asked(3, 1, 2)]
    assert _curve(lines).steps == (Step(3, 4, 0.5, 500, None, None, None, None),)


def test_records_without_a_judgement_are_left_out() -> None:
    """What can't be used is counted, and the first is named with its line."""
    reading = Reading([*_asked(3, 1, 2), '{"k": 3}', '{"answered_correctly": true}', '{"k": 2.5}', "-"])
    curves(reading)
    assert (reading.left_out.lines, reading.left_out.first) == (
        4,
        "line 3: it has no answered_correctly, true or false",
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the log holds no record with k and answered_correctly; log an evaluation"),
        (['{"k": 3}'], r"answered_correctly \(1 lines are none; line 1: it has no answered_correctly, true or false\)"),
    ],
)
def test_log_without_an_evaluation_is_refused(lines: list[str], message: str) -> None:
    """The error says what is missing."""
    with pytest.raises(SettingsError, match=message):
        curves(Reading(lines))


@pytest.mark.parametrize("least_gain", [0, -1, 101, float("nan")])
def test_least_gain_that_cannot_be_is_refused(least_gain: float) -> None:
    """It is a number of points."""
    with pytest.raises(SettingsError, match=r"the least gain is .*; it must be more than 0"):
        curves(Reading(_asked(1, 1)), least_gain)


def _notes(**right: tuple[int, int]) -> str:
    lines = [line for k, (count, queries) in right.items() for line in _asked(int(k[1:]), count, queries)]
    return "\n".join(_curve(lines).notes)


def test_notes_say_what_keeps_the_figures_from_being_trusted() -> None:
    """One K, no end in sight, other queries, a curve that rises again, tokens of some only."""
    assert _notes(k1=(50, 100)) == "only one K was measured; measure more to see what a further chunk adds"
    assert "every step adds at least 1 points a chunk up to 2; measure a larger K" in _notes(k1=(5, 100), k2=(50, 100))
    assert "the Ks were measured with 100 to 200 queries" in _notes(k1=(50, 100), k2=(100, 200))
    rising = _notes(k1=(50, 100), k2=(50, 100), k3=(60, 100))
    assert "from 1 to 3 a chunk adds 1 points or more again; the curve is not smooth" in rising
    some = _curve([*_asked(1, 5, 10, prompt_tokens=9), *_asked(1, 5, 10)]).notes
    assert "some records have no prompt_tokens; the tokens are of those that have" in some


def test_verdict_that_hangs_on_chance_says_so() -> None:
    """With a hundred queries a point can't be seen; with many, or the same ones at each K, it can."""
    few = _notes(k1=(50, 100), k2=(60, 100), k3=(60, 100))
    assert "from 2 to 3 a chunk adds 0.0 points, give or take 13.9 by chance (100 queries): too few to tell it" in few
    assert _notes(k1=(20_000, 40_000), k2=(24_000, 40_000), k3=(24_000, 40_000)) == ""


def test_same_queries_at_each_k_say_more() -> None:
    """Where records name their query, answers to the same one are compared, which takes most of the chance out."""
    lines = [
        json.dumps({"k": k, "query": f"q{number}", "answered_correctly": number < count})
        for k, count in {1: 150, 2: 180, 3: 181}.items()
        for number in range(300)
    ]
    curve = _curve(lines)
    assert (curve.stop_k, curve.notes) == (2, ())
    assert curve.steps[2].noise == pytest.approx(200 * (1 / 300 * 299 / 300 / 300) ** 0.5)


@pytest.mark.parametrize(("intent", "name"), [("", '""'), (7, "7"), ("all", None)])
def test_intents_of_every_kind_have_a_name(intent: object, name: str | None) -> None:
    """An empty one is shown as such, a number is its text, and "all" is the curve over everything."""
    made = curves(Reading(_asked(1, 5, 10, intent=intent)))
    assert [curve.intent for curve in made] == [ALL, *([name] if name else [])]
