"""Every packing is one line of the service's log."""

from __future__ import annotations

import json
import logging
from datetime import date

import numpy as np
import pytest

from chunkledger.packer import order, pack
from packer.builders import cuttable, row, rows

LOGGER = "chunkledger.packer"


def test_log_is_one_line_of_json(caplog: pytest.LogCaptureFixture) -> None:
    """Each packing is logged at INFO as its own record."""
    with caplog.at_level(logging.INFO, logger=LOGGER):
        log = pack(rows(50, 60, 40), 100, encoding="o200k_base").log
    (record,) = caplog.records
    assert (record.name, record.levelname, json.loads(record.getMessage())) == (
        LOGGER,
        "INFO",
        log.as_dict(),
    )
    assert "\n" not in record.getMessage()


def test_no_json_is_made_where_info_is_off(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that does not log packings does not pay for their lines."""
    monkeypatch.delattr(json, "dumps")
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        pack(rows(50), 100, encoding="o200k_base")
    assert caplog.records == []


def test_log_is_plain_values() -> None:
    """The mapping is ready for JSON, also where the slot came from numpy."""
    log = pack([row(tokens=np.int32(20))], np.int64(100), encoding="o200k_base").log  # type: ignore[arg-type]
    assert {type(value) for value in log.as_dict().values()} == {int, bool, str, list, type(None)}
    assert json.loads(json.dumps(log.as_dict())) == log.as_dict()


def test_log_takes_fields_of_the_caller() -> None:
    """The caller's fields are put into the same mapping, after the log's own."""
    log = pack(rows(50), 100, encoding="o200k_base").log
    expected = [*log.as_dict().items(), ("query", "rates"), ("chunks_retrieved", 50)]
    assert list(log.as_dict(query="rates", chunks_retrieved=50).items()) == expected


def test_log_refuses_a_field_of_its_own_name() -> None:
    """A field of the caller never hides one of the log."""
    with pytest.raises(ValueError, match="the log has its own used, slot; give these fields other names"):
        pack(rows(50), 100, encoding="o200k_base").log.as_dict(used=3, slot=4, query="rates")


def test_rank_1_over_the_slot_is_logged_as_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The one line of such a packing is a WARNING and names the chunk, so that nobody has to look for it."""
    with caplog.at_level(logging.WARNING, logger=LOGGER):
        pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base")
        pack(rows(100), 100, encoding="o200k_base")
    (record,) = caplog.records
    line = json.loads(record.getMessage())
    assert (record.levelname, line["floor_over_slot"], line["floor_chunk_id"]) == ("WARNING", True, "c1")


def test_fields_of_the_caller_are_in_the_same_line(caplog: pytest.LogCaptureFixture) -> None:
    """What is known when packing is handed to pack, and stands in the line and in the record's attribute."""
    with caplog.at_level(logging.INFO, logger=LOGGER):
        pack(rows(50), 100, encoding="o200k_base", log_fields={"query": "rates", "chunks_retrieved": 40})
    (record,) = caplog.records
    line = json.loads(record.getMessage())
    assert (line["used"], line["query"], line["chunks_retrieved"]) == (50, "rates", 40)
    assert record.packing == line  # type: ignore[attr-defined]


def test_line_can_wait_for_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    """With emit=False nothing is logged until the caller does, with what only the answer tells."""
    with caplog.at_level(logging.INFO, logger=LOGGER):
        packed = pack(rows(50), 100, encoding="o200k_base", emit=False)
        assert caplog.records == []
        packed.log.emit(prompt_tokens=812, ttft_ms=240, answered_correctly=True)
    (line,) = [json.loads(record.getMessage()) for record in caplog.records]
    assert (line["slot"], line["prompt_tokens"], line["ttft_ms"], line["answered_correctly"]) == (100, 812, 240, True)


def test_fields_of_pack_are_in_the_line_of_later(caplog: pytest.LogCaptureFixture) -> None:
    """What pack was given stands beside what only the answer tells; the later value of a field holds."""
    with caplog.at_level(logging.INFO, logger=LOGGER):
        packed = pack(rows(50), 100, encoding="o200k_base", log_fields={"query": "rates", "intent": "?"}, emit=False)
        packed.log.emit(intent="faq", ttft_ms=240)
    line = json.loads(caplog.records[0].getMessage())
    assert (line["query"], line["intent"], line["ttft_ms"]) == ("rates", "faq", 240)
    assert packed.log.as_dict()["query"] == "rates"


@pytest.mark.parametrize("emit", [True, False])
def test_line_is_not_written_twice(emit: bool) -> None:
    """A request would count double, so the second line is refused, whatever the level, in every order of the pack."""
    packed = pack(rows(50), 100, encoding="o200k_base", emit=emit)
    if not emit:
        packed.log.emit()
    with pytest.raises(ValueError, match=r"this record has been logged; where pack did, call it with emit=False"):
        order(packed, "edges").log.emit(ttft_ms=240)


def test_field_that_is_no_json_does_not_fail_the_request(caplog: pytest.LogCaptureFixture) -> None:
    """Numbers of numpy are numbers, dates and whatever else are text."""
    fields = {"day": date(2026, 3, 1), "right": np.bool_(True), "tokens": np.int64(5), "scores": np.array([0.5])}
    with caplog.at_level(logging.INFO, logger=LOGGER):
        pack(rows(50), 100, encoding="o200k_base", log_fields=fields)
    line = json.loads(caplog.records[0].getMessage())
    assert [line[name] for name in fields] == ["2026-03-01", True, 5, [0.5]]
    assert caplog.records[0].packing == line  # type: ignore[attr-defined]


class _Unprintable:
    def __str__(self) -> str:
        raise RuntimeError

    def tolist(self) -> list[object]:
        raise RuntimeError


def test_field_that_cannot_be_shown_does_not_fail_the_request(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a caller's class does, the line is written."""
    with caplog.at_level(logging.INFO, logger=LOGGER):
        pack(rows(50), 100, encoding="o200k_base", log_fields={"odd": _Unprintable(), "query": "rates"})
    line = json.loads(caplog.records[0].getMessage())
    assert (line["query"], "_Unprintable object at" in line["odd"]) == ("rates", True)


def _loop() -> list[object]:
    made: list[object] = []
    made.append(made)
    return made


@pytest.mark.parametrize("value", [float("nan"), {(1, 2): 3}, _loop(), {"deep": [float("inf")]}], ids=str)
def test_line_is_json_whatever_the_caller_puts_in(value: object, caplog: pytest.LogCaptureFixture) -> None:
    """What JSON can't hold is text in the line; the record's own figures stay numbers."""
    fields = {"odd": value, "query": "rates", "k": np.int64(5), "share": 0.5, "more": {"a": 1}, "right": np.bool_(True)}
    with caplog.at_level(logging.INFO, logger=LOGGER):
        pack(rows(50), 100, encoding="o200k_base", log_fields=fields)
    line = json.loads(caplog.records[0].getMessage(), parse_constant=pytest.fail)
    others = {name: line[name] for name in ("used", "query", "k", "share", "more", "right")}
    assert others == {"used": 50, "query": "rates", "k": 5, "share": 0.5, "more": {"a": 1}, "right": True}
    assert line["odd"] == str(value)


@pytest.mark.parametrize("emit", [True, False])
def test_field_with_a_name_of_the_log_is_refused_before_packing(emit: bool) -> None:
    """A clash of names is told at once, whether or not the line is written."""
    with pytest.raises(ValueError, match="the log has its own used; give these fields other names"):
        pack(rows(50), 100, encoding="o200k_base", log_fields={"used": 3}, emit=emit)


def test_clash_is_told_where_logging_is_off() -> None:
    """A service that turns the log on later does not start to fail then."""
    with pytest.raises(ValueError, match="the log has its own slot"):
        pack(rows(50), 100, encoding="o200k_base", emit=False).log.emit(slot=3)


def test_line_is_as_long_as_twenty_chunks() -> None:
    """However many hits are outliers, the line names the best-ranked twenty, with their sizes."""
    log = pack(rows(10, *[200] * 50, *[10] * 60), 100, encoding="o200k_base").log
    assert (log.skipped_with_room, len(log.skipped_with_room_ids)) == (50, 20)
    assert (log.skipped_with_room_ids[:2], log.skipped_with_room_tokens[:2]) == (("c2", "c3"), (200, 200))


def test_log_names_encoding_and_template() -> None:
    """A figure in the log says what it is a count of."""
    log = pack([row(template="markdown/1")], 100, encoding="o200k_base").log
    assert (log.encoding, log.template, log.used_is_estimate) == ("o200k_base", "markdown/1", False)
