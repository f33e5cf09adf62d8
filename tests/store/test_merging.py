"""Parts that overlap are read in document order, a little at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.store.merging import PartRange, in_document_order

Rows = list[tuple[str, int]]


def _read(rows: Rows, width: int) -> Iterator[pa.Table]:
    for start in range(0, len(rows), width):
        yield _table(rows[start : start + width])


def _table(rows: Rows) -> pa.Table:
    return pa.table({"doc_id": [doc_id for doc_id, _ in rows], "place": [place for _, place in rows]})


def _all(parts: list[Rows], width: int = 3) -> Rows:
    contents = {Path(f"p{number}"): rows for number, rows in enumerate(parts) if rows}
    ranges = [PartRange(path, rows[0][0], rows[-1][0]) for path, rows in contents.items()]
    tables = in_document_order(ranges, lambda path: _read(contents[path], width))
    return [(row["doc_id"], row["place"]) for table in tables for row in table.to_pylist()]


@given(
    st.dictionaries(st.text("abé漢", min_size=1, max_size=3), st.tuples(st.integers(1, 9), st.integers(0, 4))),
    st.integers(1, 4),
)
def test_order_is_that_of_documents(documents: dict[str, tuple[int, int]], width: int) -> None:
    """Documents lie in any of five parts, each part in order; every record comes once, in order of code points."""
    parts: list[Rows] = [[] for _ in range(5)]
    expected: Rows = []
    for doc_id in sorted(documents):
        count, part = documents[doc_id]
        rows = [(doc_id, place) for place in range(count)]
        parts[part] += rows
        expected += rows
    assert _all(parts, width) == expected


def test_parts_of_their_own_ranges_are_passed_on() -> None:
    """What needs no merging is not copied, and the next part is not opened before this one is read."""
    opened: list[str] = []
    contents = {"a": [("a", 0), ("b", 0)], "b": [("c", 0)]}

    def read(path: Path) -> Iterator[pa.Table]:
        opened.append(path.name)
        yield from _read(contents[path.name], 1)

    tables = in_document_order([PartRange(Path("b"), "c", "c"), PartRange(Path("a"), "a", "b")], read)
    assert [next(tables).to_pylist(), opened] == [[{"doc_id": "a", "place": 0}], ["a"]]
    assert [len(table) for table in tables] == [1, 1]


def test_only_a_little_of_each_part_is_held() -> None:
    """Two long parts that alternate are read side by side: neither runs ahead of what was passed on."""
    passed: Rows = []
    ahead: list[int] = []

    def read(path: Path) -> Iterator[pa.Table]:
        own = int(path.name)
        for number in range(200):
            ahead.append(number * 10 - len(passed) // 2)
            yield _table([(f"{number * 20 + place * 2 + own:05}", 0) for place in range(10)])

    ranges = [PartRange(Path("0"), "00000", "03998"), PartRange(Path("1"), "00001", "03999")]
    for table in in_document_order(ranges, read):
        passed += [(row["doc_id"], row["place"]) for row in table.to_pylist()]
    assert passed == [(f"{number:05}", 0) for number in range(4000)]
    assert max(ahead) <= 20


def test_long_document_at_a_border_stays_together() -> None:
    """A document with more records than are read at once, in the middle of parts that overlap."""
    long = [("m", place) for place in range(50)]
    assert _all([[("a", 0), *long, ("z", 0)], [("b", 0), ("y", 0)]], 4) == [
        ("a", 0), ("b", 0), *long, ("y", 0), ("z", 0),
    ]  # fmt: skip
