"""Chunks of two states of a ledger are added, kept, moved, updated or deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import chunk_text
from chunkledger.records.schema import COLUMNS, SCHEMA
from chunkledger.store.changes import ChangeCounts, change_counts, compared

ROW = {name: getattr(chunk_text("# A\n\nOne.\n")[0], name) for name in COLUMNS}
PLACE = ("chunk_index", "char_start", "char_end", "line_start", "line_end")
UNTOLD = ("doc_sha256", "settings_sha256")


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def _other(value: object) -> object:
    """A value of the same type that is not the same."""
    if isinstance(value, list):
        return [] if value else None
    return f"{value}x" if isinstance(value, str) else 7 if value is None else int(str(value)) + 1


def _compared(change: Callable[[dict[str, Any]], dict[str, Any]]) -> ChangeCounts:
    return change_counts(iter([_table([ROW])]), iter([_table([change(ROW)])]))


def test_equal_states_keep_all() -> None:
    """Nothing changed is everything kept, nulls and lists included."""
    assert _compared(dict) == ChangeCounts(add=0, keep=1, move=0, update=0, delete=0)


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("chunk_id", "doc_id")])
def test_every_column_tells_a_change_of_its_kind(name: str) -> None:
    """A place is a move; the two fingerprints alone are nothing; any other column is an update."""
    value: Any = {"parent_id": "x", "flag_cause": None, "boundary_chars": [1], "boundary_tokens": [1]}.get(name)
    if name not in ("parent_id", "flag_cause", "boundary_chars", "boundary_tokens"):
        value = ["x"] if SCHEMA.field(name).type == pa.list_(pa.field("element", pa.string())) else None
        value = [1] if name == "boundary_rendered_tokens" else value
    if value is None and name != "flag_cause":
        value = _other(ROW[name])
    found = _compared(lambda row: row | {name: value})
    kind = "move" if name in PLACE else "keep" if name in UNTOLD else "update"
    assert found == ChangeCounts(**({"add": 0, "keep": 0, "move": 0, "update": 0, "delete": 0} | {kind: 1}))


def test_move_comes_before_update() -> None:
    """A chunk that moved and changed is moved."""
    changed = _compared(lambda row: row | {"chunk_index": 4, "gap_after": "\n\n"})
    assert changed == ChangeCounts(add=0, keep=0, move=1, update=0, delete=0)


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_ids_alone_decide_what_is_new_and_gone(before: set[int], after: set[int]) -> None:
    """What only one side has is added or deleted, and the rest is kept."""
    states = [_table([ROW | {"chunk_id": str(number)} for number in sorted(ids)]) for ids in (before, after)]
    expected = ChangeCounts(
        add=len(after - before), keep=len(after & before), move=0, update=0, delete=len(before - after)
    )
    assert change_counts(*(iter([state]) for state in states)) == expected


def _pieces(table: pa.Table, sizes: list[int]) -> Iterator[pa.Table]:
    """The table in pieces of these sizes, and the rest."""
    start = 0
    for size in sizes:
        yield table.slice(start, size)
        start += size
    yield table.slice(start)


cuts = st.lists(st.integers(0, 5), max_size=6)
versions = st.dictionaries(st.integers(0, 9), st.integers(1, 4), max_size=6)
"""Number of a document -> its number of chunks."""


@given(versions, versions, cuts, cuts)
def test_states_are_compared_whole_in_any_pieces(
    before: dict[int, int], after: dict[int, int], old_cuts: list[int], new_cuts: list[int]
) -> None:
    """Documents go on from piece to piece, come and go, and the counts are those of the whole states."""
    states = [
        _table(
            [
                ROW | {"doc_id": str(name), "chunk_id": f"{name}:{index}", "chunk_index": index + chunks % 2}
                for name, chunks in sorted(of.items())
                for index in range(chunks)
            ]
        )
        for of in (before, after)
    ]
    pieces = [_pieces(state, sizes) for state, sizes in zip(states, (old_cuts, new_cuts), strict=True)]
    assert change_counts(*pieces) == compared(*states)
