"""Parts, each in document order -> all of their records in document order, with only a little of each in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

Batches = Callable[[str], Iterator[pa.Table]]
"""The records of a part, some at a time."""


@dataclass(frozen=True, slots=True)
class PartRange:
    """A part, and the first and the last document id in it."""

    path: str
    first: str
    last: str


def in_document_order(parts: Sequence[PartRange], read: Batches) -> Iterator[pa.Table]:
    """The records of all parts by document id, those of one document in the order in which its part has them.

    Parts that hold ids of a range of their own are passed on as they are. Where ranges overlap (rows of a table whose
    ids are in no order, documents that kept their chunks), their records are merged. No document is in two parts.

    Args:
        parts: in any order.
        read: gives the records of a part in its order.
    """
    for group in _overlapping(parts):
        if len(group) == 1:
            yield from read(group[0].path)
        else:
            yield from _merged([_Reader(read(part.path)) for part in group])


def _overlapping(parts: Sequence[PartRange]) -> Iterator[list[PartRange]]:
    """The parts by first id, together those whose ranges overlap."""
    group: list[PartRange] = []
    last = ""
    for part in sorted(parts, key=lambda part: (part.first, part.last, part.path)):
        if group and part.first > last:
            yield group
            group = []
        last = max(last, part.last) if group else part.last
        group.append(part)
    if group:
        yield group


class _Reader:
    """What has been read of one part and not been passed on."""

    def __init__(self, batches: Iterator[pa.Table]) -> None:
        self._batches = batches
        self.rows: pa.Table | None = None
        self.more()

    def more(self) -> bool:
        """Read on; whether there was something."""
        following = next((batch for batch in self._batches if len(batch)), None)
        if following is not None:
            self.rows = following if self.rows is None else pa.concat_tables([self.rows, following])
        return following is not None

    @property
    def last(self) -> str:
        """The last document id that was read; its document may go on."""
        assert self.rows is not None  # noqa: S101 (asked only of readers that hold rows)
        return str(self.rows.column("doc_id")[-1].as_py())

    def taken(self, bound: str | None) -> pa.Table | None:
        """Take off the rows of documents before this id, or all of them; None where there are none."""
        if self.rows is None:
            return None
        count = len(self.rows)
        if bound is not None:
            count = int(pc.sum(pc.less(self.rows.column("doc_id"), bound)).as_py())
        rows, left = self.rows.slice(0, count), self.rows.slice(count)
        self.rows = left if len(left) else None
        return rows if len(rows) else None


def _merged(readers: list[_Reader]) -> Iterator[pa.Table]:
    for taken in _abreast(readers):
        rows = [table for table in taken if table is not None]
        table = pa.concat_tables(rows)
        yield table.take(pc.sort_indices(table, [("doc_id", "ascending")])) if len(rows) > 1 else table


def side_by_side(
    left: Iterator[pa.Table], right: Iterator[pa.Table]
) -> Iterator[tuple[pa.Table | None, pa.Table | None]]:
    """Two streams of records, each in document order -> pieces of both that hold the same documents, whole.

    Args:
        left: tables of any size.
        right: likewise.

    Returns:
        Pairs; None takes the place of a piece without rows.
    """
    return ((first, second) for first, second in _abreast([_Reader(left), _Reader(right)]))


def _abreast(readers: list[_Reader]) -> Iterator[list[pa.Table | None]]:
    """What each reader holds of the next documents, all of it; at least one of them holds something."""
    ended: set[int] = set()
    while holding := [reader for reader in readers if reader.rows is not None]:
        going_on = [reader for reader in holding if id(reader) not in ended]
        bound = min((reader.last for reader in going_on), default=None)
        taken = [reader.taken(bound) for reader in readers]
        if any(table is not None for table in taken):
            yield taken
        for reader in going_on:
            # One whose document ends the bound, or that holds nothing now, has to say what comes next.
            if (reader.rows is None or reader.last == bound) and not reader.more():
                ended.add(id(reader))
