"""Lines of a service's log -> records of requests.

The logger `chunkledger.packer` writes a line of JSON for each request. Services wrap such lines: a prefix with time and
level, or a JSON formatter that puts the line into a field. Both are undone here; what then is no record is counted and
never stops anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]

WRAPPING_FIELDS = (
    "packing", "message", "msg", "event", "log", "body", "text", "jsonPayload", "textPayload", "@message", "MESSAGE",
)  # fmt: skip
"""Fields in which formatters and collectors keep the record, as an object or as text: the log record's attribute, the
message of JSON formatters, container runtimes, OpenTelemetry, cloud logs and journald."""

Marks = tuple[frozenset[str], ...]
"""Fields of which all of one set tell a record from its wrapping."""

_OURS: Marks = (frozenset(("slot", "used")), frozenset(("k", "answered_correctly")))
"""Of a packing, of an evaluation."""

_NAMED = 6
_LARGEST = 10**15  # tokens that no model ever had; larger figures are faults of whatever wrote them
_MOST_TRIES = 20  # a line with more braces before its record is no log line
_decode = json.JSONDecoder().raw_decode


@dataclass(slots=True)
class LeftOut:
    """Lines that are no record for the question at hand.

    Attributes:
        lines: how many there are.
        first: the first one's 1-based number and why; "" where there is none.
    """

    lines: int = 0
    first: str = ""

    def add(self, number: int, why: str) -> None:
        """Count one line."""
        self.lines += 1
        self.first = self.first or f"line {number}: {why}"


@dataclass(slots=True)
class Reading:
    """Records with the numbers of their lines, read once.

    Attributes:
        lines: of the log.
        left_out: what was no record; complete when all records have been taken.
    """

    lines: Iterable[str]
    left_out: LeftOut = field(default_factory=LeftOut)

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            record = record_of(line)
            if record is None:
                self.left_out.add(number, "it holds no JSON object")
            else:
                yield number, record


def record_of(line: str, marks: Marks = _OURS) -> Record | None:
    r"""The record in one line of a log, whatever stands before or behind it; None where there is none.

    Args:
        line: of the log.
        marks: what tells the record that is looked for.

    >>> record_of('2026-03-01 12:00:01 INFO {"slot": 6000, "used": 5800} (pack.py:12)')
    {'slot': 6000, 'used': 5800}
    >>> record_of('{"level": "info", "message": "{\\"slot\\": 6000, \\"used\\": 5800}"}')["used"]
    5800
    """
    first = None
    for found in _objects(line):
        record = _unwrapped(found, marks)
        if _has_marks(record, marks):
            return record
        first = first or record
    return first


def _objects(line: str) -> Iterator[dict[str, Any]]:
    at = line.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        try:
            found, end = _decode(line, at)
            yield found
        except (ValueError, RecursionError):
            end = at + 1
        at = line.find("{", end)


def _unwrapped(found: dict[str, Any], marks: Marks) -> Record:
    if _has_marks(found, marks):
        return found
    for name in WRAPPING_FIELDS:
        inner = found.get(name)
        if isinstance(inner, dict):
            inner = inner.get("stringValue", inner)  # OpenTelemetry's way to write a body
        if isinstance(inner, str):
            inner = record_of(inner, marks)
        if isinstance(inner, dict) and _has_marks(inner, marks):
            return {**found, **inner}
    return found


def _has_marks(record: Record, marks: Marks) -> bool:
    return any(names <= record.keys() for names in marks)


def fields_of(record: Record) -> str:
    """The first names of a record's fields, to say what it is where it is not what was looked for."""
    names = [str(name) for name in record]
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def number_of(record: Record, name: str) -> float | None:
    """A field that is a finite number of at least 0; None where it is missing or something else.

    >>> [number_of(record, "k") for record in ({"k": 5}, {"k": "5"}, {"k": True}, {})]
    [5, None, None, None]
    """
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value <= _LARGEST else None


def right_of(record: Record) -> float | None:
    """How right the answer was, from 0 to 1, by `answered_correctly`; None where it was not judged.

    >>> [right_of({"answered_correctly": value}) for value in (True, 0, 0.5, None, "yes")]
    [1.0, 0.0, 0.5, None, None]
    """
    value = record.get("answered_correctly")
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return float(value)
    return None
