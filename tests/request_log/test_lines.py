"""A service's log is read as it comes, and what is no record is counted."""

from __future__ import annotations

import json
import logging
from io import StringIO

import pytest

from chunkledger.packer import pack
from chunkledger.request_log.lines import Reading, number_of, record_of, right_of
from packer.builders import rows

RECORD = {"slot": 6_000, "used": 5_800}


@pytest.mark.parametrize(
    "line",
    [
        '{"slot": 6000, "used": 5800}',
        '2026-03-01 12:00:01,123 INFO chunkledger.packer {"slot": 6000, "used": 5800}\n',
        'INFO:chunkledger.packer:{"slot": 6000, "used": 5800}',
        'INFO {"request": 7} {worker} {"slot": 6000, "used": 5800} (pack.py:12)',
        '{"slot": 6000, "used": 5800},',
    ],
)
def test_line_may_have_a_prefix(line: str) -> None:
    """Whatever a formatter puts before the record is left out."""
    assert record_of(line) == RECORD


@pytest.mark.parametrize("name", ["message", "msg", "event", "log", "textPayload", "@message", "MESSAGE", "body"])
def test_record_may_be_the_message_of_a_json_line(name: str) -> None:
    """JSON formatters put the line into a field as text; their own fields stay beside it."""
    line = json.dumps({"level": "info", name: json.dumps(RECORD)})
    found = record_of(line)
    assert found is not None
    assert {key: found[key] for key in RECORD} == RECORD
    assert found["level"] == "info"


def test_record_may_be_an_attribute_of_a_json_line() -> None:
    """JSON formatters that write the attributes of log records have it as an object."""
    assert record_of(json.dumps({"packing": RECORD, "message": "…"})) == RECORD | {
        "packing": RECORD,
        "message": "…",
    }


def test_wrapping_may_be_nested() -> None:
    """A container runtime wraps the line of a JSON formatter, which wraps the record."""
    line = json.dumps({"log": json.dumps({"message": f"INFO {json.dumps(RECORD)}"}) + "\n", "stream": "stderr"})
    found = record_of(line)
    assert found is not None
    assert {key: found[key] for key in RECORD} == RECORD


def test_wrapping_may_have_fields_of_the_same_name() -> None:
    """A formatter's own `slot` or `k` does not hide the record; OpenTelemetry's bodies are unwrapped."""
    for line in (
        json.dumps({"slot": "production", "k": 1, "message": json.dumps(RECORD)}),
        json.dumps({"body": {"stringValue": json.dumps(RECORD)}}),
    ):
        found = record_of(line)
        assert found is not None
        assert {key: found[key] for key in RECORD} == RECORD


def test_field_of_the_caller_is_not_taken_for_a_wrapping() -> None:
    """A record that has the packer's fields is itself, whatever its other fields are called."""
    record = RECORD | {"event": {"slot": 1, "used": 1}, "message": '{"slot": 2}'}
    assert record_of(json.dumps(record)) == record


def test_line_of_braces_is_read_in_time() -> None:
    """Only so many braces are tried."""
    assert record_of('{"a":' * 50_000) is None
    assert record_of("{} " * 30 + json.dumps(RECORD)) == {}


@pytest.mark.parametrize("line", ["", "no json", "{", '{"slot": }', "[1, 2]", '"text"', "{" * 100_000, "[" * 100_000])
def test_line_that_is_no_object_is_none(line: str) -> None:
    """Nothing in a log stops the reading."""
    assert record_of(line) is None


def test_lines_that_are_no_records_are_counted() -> None:
    """The first one is named, blank lines are no lines."""
    reading = Reading(["\n", '{"a": 1}\n', "started\n", "\n", "stopped\n"])
    assert list(reading) == [(2, {"a": 1})]
    assert (reading.left_out.lines, reading.left_out.first) == (2, "line 3: it holds no JSON object")


def test_what_the_packer_logs_is_read_back() -> None:
    """The line of a packing, through a handler with a usual format, is its record again."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("chunkledger.packer")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        log = pack(rows(50, 60), 100, encoding="o200k_base", log_fields={"query": 'say "{}"'}).log
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert record_of(stream.getvalue()) == log.as_dict(query='say "{}"')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        (0, 0),
        (2.5, 2.5),
        (-1, None),
        (True, None),
        ("5", None),
        (float("inf"), None),
        (10**400, None),
        (10**16, None),
    ],
)
def test_numbers(value: object, expected: float | None) -> None:
    """A figure is a finite number of at least 0."""
    assert number_of({"k": value}, "k") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, 1.0), (False, 0.0), (1, 1.0), (0.25, 0.25), (2, None), (-1, None), ("yes", None), (None, None)],
)
def test_right_answers(value: object, expected: float | None) -> None:
    """An answer is right, wrong or something between; anything else was not judged."""
    assert right_of({"answered_correctly": value}) == expected
