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
    figures = {"requests": 21, "share": 0.21, "share_for_any_reason": 0.21}
    assert (found.holds, found.figures) == (True, figures)
    assert found.says.startswith("21 of 100 requests (21%) used 50% of their slot or less because ")
    assert found.says.endswith("; 21% did for any reason; threshold 20%")
    assert found.advice.startswith(advice)
    assert _finding(name, (21, empty), (79, {}), mostly_empty=0.3).holds is False
    assert _finding(name, (21, empty), (79, {}), empty=0.4).holds is False


def test_mostly_empty_slots_count_together() -> None:
    """Where no reason alone is a habit but all together are, the most frequent one is the finding."""
    parts = [
        (12, {"used": 9, "space_left_because": "max_chunks"}),
        (9, {"used": 9, "space_left_because": "nothing_fits"}),
        (79, {}),
    ]
    assert _finding("slot_empty_because_of_max_chunks", *parts).holds is True
    assert _finding("slot_empty_because_nothing_fits", *parts).holds is False


OUTLIER = {
    "skipped_with_room": 1,
    "skipped_for_size": 1,
    "skipped_with_room_ids": ["big"],
    "skipped_with_room_tokens": [150],
}


def test_outliers_that_never_fit_are_named() -> None:
    """Chunks that were skipped with room and never packed whole, the most frequent first, with their sizes."""
    other = OUTLIER | {"skipped_with_room_ids": ["big", "c1"], "skipped_with_room_tokens": [150, 150]}
    found = _finding("outliers_never_fit", (6, OUTLIER), (3, other), (91, {}))
    assert (found.holds, found.figures) == (True, {"requests": 9, "share": 0.09, "never_packed": 1})
    assert found.chunks == ({"chunk_id": "big", "skipped": 9, "rendered_tokens": 150, "over_every_slot": True},)
    assert "1 chunks are never packed whole and at least 2 times the median, 1 are larger than every slot" in found.says
    assert _finding("outliers_never_fit", (5, OUTLIER), (95, {})).holds is False


@pytest.mark.parametrize("name", ["floor_chunk_id", "truncated_chunk_id"])
def test_outlier_that_was_cut_or_sent_as_the_floor_still_never_fits(name: str) -> None:
    """A popular outlier reaches rank 1 sooner or later; that does not make it fit."""
    sent = {"packed_ids": ["big"], name: "big", "truncated": 1, "floor_over_slot": name == "floor_chunk_id"}
    found = _finding("outliers_never_fit", (9, OUTLIER), (1, sent), (90, {}))
    assert [chunk["chunk_id"] for chunk in found.chunks] == ["big"]
    assert _finding("outliers_never_fit", (9, OUTLIER), (1, {"packed_ids": ["big"]}), (90, {})).chunks == ()


def test_chunks_of_an_average_size_are_no_outliers() -> None:
    """In a healthy log a chunk just above the median is often skipped while just the median was left."""
    usual = OUTLIER | {"skipped_with_room_tokens": [95], "median_tokens": 48}
    assert _finding("outliers_never_fit", (50, usual), (50, {})).holds is False
    assert _finding("outliers_never_fit", (50, usual), (50, {}), outlier_size=1.5).holds is True


def test_requests_that_do_not_name_their_outliers_count() -> None:
    """A log of other code may have the figure without the ids."""
    found = _finding("outliers_never_fit", (10, OUTLIER | {"skipped_with_room_ids": []}), (90, {}))
    assert found.holds is True
    assert found.says.endswith("; 10 requests do not name the chunks that they skipped, and count")


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
    """More than a tenth of requests whose best chunk is cut."""
    name = "truncation_is_a_habit"
    assert _finding(name, (10, {"truncated": 1}), (90, {})).holds is False
    found = _finding(name, (11, {"truncated": 1}), (89, {}))
    assert (found.holds, found.says) == (True, "11 of 100 requests (11%) had their best chunk cut; threshold 10%")


def test_cuts_into_the_rest_are_no_habit() -> None:
    """Who packs with truncate="any" wants them; they are counted, not held against anything."""
    found = _finding("truncation_is_a_habit", (60, {"truncated": 1, "truncated_chunk_id": "c2"}), (40, {}))
    assert (found.holds, found.figures["cut_into_rest"]) == (False, 60)
    assert '60 more had another one cut into the rest of the slot, as truncate="any" is for' in found.says


def test_every_floor_over_the_slot_is_a_fault() -> None:
    """One request is enough, and its chunk is named."""
    log = pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base", emit=False).log.as_dict()
    found = _finding("floor_over_slot", (1, log), (999, {}))
    assert (found.holds, found.chunks) == (True, ({"chunk_id": "c1", "requests": 1, "rendered_tokens": 500},))
    smaller = log | {"floor_chunk_tokens": 400}
    (chunk,) = _finding("floor_over_slot", (1, log), (1, smaller)).chunks
    assert (chunk["requests"], chunk["rendered_tokens"]) == (2, 500)
    assert _finding("floor_over_slot", (1, log), (999, {}), floor=0.01).holds is False
    assert "set it to INFO" not in found.says


def test_log_of_warnings_alone_is_told() -> None:
    """Python's default level lets only the floors through, and then all requests look faulty."""
    log = pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base", emit=False).log.as_dict()
    assert "the level of the logger chunkledger.packer is WARNING" in _finding("floor_over_slot", (4, log)).says


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
    with pytest.raises(
        SettingsError, match=r"no record of packing \(line 1: it has no slot, but: k\); the logger chunkledger"
    ):
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
