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

WRAPPING_FIELDS = ("packing", "message", "msg", "event")
"""Fields in which JSON formatters keep the record: the log record's attribute, or its message as text."""


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


def record_of(line: str) -> Record | None:
    r"""The record in one line of a log; None where there is none.

    >>> record_of('2026-03-01 12:00:01 INFO {"slot": 6000, "used": 5800}')
    {'slot': 6000, 'used': 5800}
    >>> record_of('{"level": "info", "message": "{\\"slot\\": 6000}"}')["slot"]
    6000
    """
    found = _object(line[line.find("{") :]) if "{" in line else None
    if found is None:
        return None
    for name in WRAPPING_FIELDS:
        inner = found.get(name)
        if isinstance(inner, str):
            inner = record_of(inner) if "{" in inner else None
        if isinstance(inner, dict):
            return {**found, **inner}
    return found


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def number_of(record: Record, name: str) -> float | None:
    """A field that is a finite number of at least 0; None where it is missing or something else.

    >>> [number_of(record, "k") for record in ({"k": 5}, {"k": "5"}, {"k": True}, {})]
    [5, None, None, None]
    """
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value < float("inf") else None


def right_of(record: Record) -> float | None:
    """How right the answer was, from 0 to 1, by `answered_correctly`; None where it was not judged.

    >>> [right_of({"answered_correctly": value}) for value in (True, 0, 0.5, None, "yes")]
    [1.0, 0.0, 0.5, None, None]
    """
    value = record.get("answered_correctly")
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return float(value)
    return None
