"""Each question that is asked of a log is answered with figures, and holds just above its threshold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from chunkledger.errors import SettingsError
from chunkledger.packer import pack
from chunkledger.request_log.diagnosis import diagnosis
from chunkledger.request_log.findings import Finding, Thresholds
from chunkledger.request_log.lines import Reading
from packer.builders import cuttable, row, rows

FINE = pack(rows(50, 48, 10), 100, encoding="o200k_base", emit=False).log.as_dict()


def _log(*parts: tuple[int, Mapping[str, Any]]) -> list[str]:
    return [json.dumps(FINE | fields) for count, fields in parts for _ in range(count)]


def _finding(name: str, *parts: tuple[int, Mapping[str, Any]], **thresholds: Any) -> Finding:  # noqa: ANN401
    made = diagnosis(Reading(_log(*parts)), Thresholds(**thresholds))
    (found,) = [finding for finding in made.findings if finding.name == name]
    return found


def test_good_log_has_no_findings() -> None:
    """Where slots are full and nothing is cut, nothing holds."""
    made = diagnosis(Reading(_log((300, {"answered_correctly": True, "prompt_tokens": 900}))))
    assert made.requests == 300
    assert [finding.name for finding in made.findings if finding.holds is not False] == []
    assert [finding.advice for finding in made.findings if finding.advice] == []


@pytest.mark.parametrize(
    ("reason", "name", "advice"),
    [
        ("max_chunks", "slot_empty_because_of_max_chunks", "raise max_chunks"),
        ("no_more_candidates", "slot_empty_for_want_of_candidates", "retrieve more"),
        ("nothing_fits", "slot_empty_because_nothing_fits", "make chunks smaller"),
    ],
)
def test_mostly_empty_slots_are_told_apart_by_reason(reason: str, name: str, advice: str) -> None:
    """More than a fifth of requests, each with half of its slot or less used, for one reason."""
    empty = {"used": 50, "space_left_because": reason}
    assert _finding(name, (20, empty), (80, {})).holds is False
    assert _finding(name, (21, empty | {"used": 51}), (79, {})).holds is False
    found = _finding(name, (21, empty), (79, {}))
    assert (found.holds, found.figures) == (True, {"requests": 21, "share": 0.21})
    assert found.says.startswith("21 of 100 requests (21%) used 50% of their slot or less because ")
    assert found.says.endswith("; threshold 20%")
    assert found.advice.startswith(advice)
    assert _finding(name, (21, empty), (79, {}), mostly_empty=0.3).holds is False
    assert _finding(name, (21, empty), (79, {}), empty=0.4).holds is False


OUTLIER = {
    "skipped_with_room": 1,
    "skipped_for_size": 1,
    "skipped_with_room_ids": ["big"],
    "skipped_with_room_tokens": [150],
}


def test_outliers_that_never_fit_are_named() -> None:
    """Chunks that were skipped with room and never packed, the most frequent first, with their sizes."""
    other = OUTLIER | {"skipped_with_room_ids": ["big", "c1"], "skipped_with_room_tokens": [150, 60]}
    found = _finding("outliers_never_fit", (6, OUTLIER), (3, other), (91, {}))
    assert (found.holds, found.figures) == (True, {"requests": 9, "share": 0.09, "chunks": 2, "never_packed": 1})
    assert found.chunks == ({"chunk_id": "big", "skipped": 9, "rendered_tokens": 150, "over_every_slot": True},)
    assert "1 of the 2 chunks were never packed, 1 are larger than every slot" in found.says
    assert _finding("outliers_never_fit", (5, OUTLIER), (95, {})).holds is False


def test_outliers_are_described_by_the_ledger() -> None:
    """What the ledger knows of a chunk stands beside it; only the chunks that are shown are looked up."""
    asked: list[Sequence[str]] = []

    def described(ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        asked.append(list(ids))
        return {"big": {"doc_id": "a.md", "flag_cause": "table"}}

    many = [(2, OUTLIER)] + [(1, OUTLIER | {"skipped_with_room_ids": [f"x{n}"]}) for n in range(5)]
    made = diagnosis(Reading(_log(*many)), top=2, described=described)
    found = next(finding for finding in made.findings if finding.name == "outliers_never_fit")
    assert asked == [["big", "x0"]]
    assert [chunk.get("flag_cause") for chunk in found.chunks] == ["table", None]


def test_truncation_as_a_habit() -> None:
    """More than a tenth of requests with a cut chunk."""
    name = "truncation_is_a_habit"
    assert _finding(name, (10, {"truncated": 1}), (90, {})).holds is False
    found = _finding(name, (11, {"truncated": 1}), (89, {}))
    assert (found.holds, found.says) == (True, "11 of 100 requests (11%) had a chunk that was cut; threshold 10%")


def test_every_floor_over_the_slot_is_a_fault() -> None:
    """One request is enough, and its chunk is named."""
    log = pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base", emit=False).log.as_dict()
    found = _finding("floor_over_slot", (1, log), (999, {}))
    assert (found.holds, found.chunks) == (True, ({"chunk_id": "c1", "requests": 1},))
    assert _finding("floor_over_slot", (1, log), (999, {}), floor=0.01).holds is False


def _answered(tokens: float, right: float, count: int = 100) -> list[tuple[int, Mapping[str, Any]]]:
    good = round(count * right)
    fields = {"prompt_tokens": tokens}
    return [(good, fields | {"answered_correctly": True}), (count - good, fields | {"answered_correctly": False})]


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
def test_tokens_that_drift_without_better_answers(after: tuple[float, float], holds: bool) -> None:
    """Tokens a question rise by more than 15 % and right answers by less than two points."""
    found = _finding("tokens_drift", *_answered(1_000, 0.8), *_answered(1_050, 0.8), *_answered(*after))
    assert (found.holds, found.figures["before"], found.figures["after"]) == (holds, 1_000, after[0])


def test_drift_needs_enough_answers() -> None:
    """With few judged answers the log can't tell, and says how many it needs."""
    found = _finding("tokens_drift", *_answered(1_000, 0.8, 149), (500, {}))
    assert found.holds is None
    assert found.says == (
        "149 requests have answered_correctly; at least 150 are needed to compare the first third with the last"
    )
    assert _finding("tokens_drift", *_answered(1_000, 0.8, 150)).holds is False


def test_drift_takes_the_slots_tokens_where_the_prompts_are_not_logged() -> None:
    """Without prompt_tokens the tokens of the blocks stand in."""
    parts = [(100, {"used": used, "answered_correctly": True}) for used in (50, 60, 80)]
    assert _finding("tokens_drift", *parts).figures["rise"] == pytest.approx(0.6)


def test_lines_that_are_no_packing_are_left_out() -> None:
    """A record without the packer's fields is counted, and the first is named."""
    lines = ["started", '{"slot": 0}', *_log((3, {})), json.dumps(FINE | {"used": "x"}), '{"k": 3}']
    reading = Reading(lines)
    assert diagnosis(reading).requests == 3
    assert (reading.left_out.lines, reading.left_out.first) == (4, "line 1: it holds no JSON object")


@pytest.mark.parametrize(
    "fields",
    [
        {"skipped_with_room_ids": None},
        {"skipped_with_room_ids": [7, None]},
        {"skipped_with_room_tokens": "x"},
        {"skipped_with_room_tokens": []},
        {"skipped_with_room_tokens": ["x"]},
        {"packed_ids": 3},
        {"floor_over_slot": True, "floor_chunk_id": None},
    ],
)
def test_odd_fields_stop_nothing(fields: Mapping[str, Any]) -> None:
    """A log that other code has touched is read as far as it goes."""
    assert diagnosis(Reading(_log((3, OUTLIER | fields)))).requests == 3


def test_log_without_packings_is_refused() -> None:
    """The error says who writes the records."""
    with pytest.raises(SettingsError, match=r"no record of packing \(line 1: it has no slot\); the logger chunkledger"):
        diagnosis(Reading(['{"k": 3}']))


@pytest.mark.parametrize(
    ("name", "value"), [("empty", 1.1), ("floor", -0.1), ("gain", 101), ("answered", 0), ("drift", float("nan"))]
)
def test_threshold_that_cannot_be_is_named(name: str, value: float) -> None:
    """A threshold is a share, or a number that makes sense."""
    with pytest.raises(SettingsError, match=f"the threshold {name} is "):
        Thresholds(**{name: value})  # type: ignore[arg-type]


def test_diagnosis_is_ready_for_json() -> None:
    """Every figure and threshold is in it."""
    made = diagnosis(Reading(_log((3, OUTLIER)))).as_dict()
    assert json.loads(json.dumps(made)) == made | {
        "findings": [finding | {"chunks": list(finding["chunks"])} for finding in made["findings"]]  # type: ignore[attr-defined]
    }


def test_real_packings_are_diagnosed() -> None:
    """The fields are those that the packer writes."""
    logs = [
        pack([row("c1", 30), row("big", 200)], 100, encoding="o200k_base", emit=False).log,
        pack(rows(30, 20, 10), 100, encoding="o200k_base", max_chunks=1, emit=False).log,
        pack(rows(30), 100, encoding="o200k_base", emit=False).log,
    ]
    made = diagnosis(Reading([json.dumps(log.as_dict()) for log in logs]))
    assert [finding.name for finding in made.findings if finding.holds] == [
        "slot_empty_because_of_max_chunks",
        "slot_empty_for_want_of_candidates",
        "slot_empty_because_nothing_fits",
        "outliers_never_fit",
    ]
