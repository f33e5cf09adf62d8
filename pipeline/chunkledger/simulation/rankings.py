"""Where ranked lists come from: a log that names them, or a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chunkledger.errors import SettingsError
from chunkledger.request_log.lines import LeftOut, fields_of, record_of

DEFAULT_K = 40
"""Hits of a list that a seed makes: what is usually retrieved before a reranker."""

_NAMES = ("ranked_ids", "ids")
_MARKS = tuple(frozenset((name,)) for name in _NAMES)
_TO_LOG = 'pack(hits, …, log_fields={"ranked_ids": [the ids of all hits, in rank order]})'


@dataclass(frozen=True, slots=True)
class Seeded:
    """Lists at random: every chunk is as likely as any other, at every rank, and none comes twice in a list.

    That is no retriever. Real lists favour some chunks, and hold more neighbours, which share a header and cost less.
    What it shows is what the sizes of the chunks alone do to a slot.

    The list of a request depends on the seed, its number and how many chunks there are, on nothing else; one for a
    smaller K is the beginning of that for a larger one.

    Attributes:
        requests: how many lists.
        seed: from 0 on; another one makes other lists.

    Raises:
        SettingsError: a number that can't be.
    """

    requests: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (("requests", self.requests, 1), ("seed", self.seed, 0)):
            if type(value) is not int or value < least:
                raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}")

    def lists(self, chunks: int, k: int) -> Iterator[list[int]]:
        """The places of the chunks in document order, in rank order, for each request.

        Args:
            chunks: how many there are.
            k: places in a list; all chunks where there are fewer.
        """
        return (_drawn(self.seed, number, chunks, k) for number in range(self.requests))


def _drawn(seed: int, number: int, chunks: int, k: int) -> list[int]:
    """The first k of a shuffle of all chunks, of which only what is drawn is kept."""
    # Of Python's generator only `random()` from a whole number is promised to stay the same in every version.
    draw = random.Random((seed << 64) + number).random  # noqa: S311 (nothing is kept secret by it)
    moved: dict[int, int] = {}
    found = []
    for rank in range(min(k, chunks)):
        at = rank + int(draw() * (chunks - rank))
        found.append(moved.get(at, at))
        moved[at] = moved.get(rank, rank)
    return found


@dataclass(slots=True)
class Logged:
    """Lists that a log names: each line a list of ids, or an object that has them as `ranked_ids` or `ids`.

    Lines of a service's log are taken as `request_log.lines` takes them, prefixed or wrapped. The packer's own fields
    are no list: they name what was packed, and not what it was chosen from.

    Attributes:
        lines: of the log; read once.
        left_out: lines without a list; complete when all lists have been taken.
    """

    lines: Iterable[str]
    left_out: LeftOut = field(default_factory=LeftOut)

    def lists(self, k: int | None) -> Iterator[list[str]]:
        """The ids of each line, in rank order.

        Args:
            k: most ids of a list; None is no limit.

        Raises:
            SettingsError: there are lines, and none has a list.
        """
        found = 0
        for number, line in enumerate(self.lines, 1):
            if not line.strip():
                continue
            ids = _ids_in(line)
            if isinstance(ids, str):
                self.left_out.add(number, ids)
            else:
                found += 1
                yield ids[:k]
        if not found:
            first = f" ({self.left_out.first})" if self.left_out.lines else ""
            raise SettingsError(
                f"the log holds no ranked list{first}; log the ids of all hits with each request: {_TO_LOG}"
            )


def _ids_in(line: str) -> list[str] | str:
    """The ids of a line; or why it has none."""
    values: object = None
    if line.lstrip().startswith("["):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):  # a prefix in brackets, mostly
            values = None
    if values is None:
        record = record_of(line, _MARKS)
        if record is None:
            return "it holds neither a list nor an object of JSON"
        name = next((name for name in _NAMES if name in record), None)
        if name is None:
            return f"it has no ranked_ids, but: {fields_of(record)}"
        values = record[name]
    return _strings(values)


def _strings(values: object) -> list[str] | str:
    if not isinstance(values, list):
        return "its ranked_ids are no list"
    if not all(isinstance(value, str) for value in values):
        return "its ranked_ids are not all text"
    return [value.strip().lower() for value in values]  # canonical UUIDs are lower case
