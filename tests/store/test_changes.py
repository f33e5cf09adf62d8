"""Chunks of two states of a ledger are added, kept, moved, updated or deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import chunk_text
from chunkledger.records.ids import chunk_ids
from chunkledger.records.schema import COLUMNS, COUNT_COLUMNS, SCHEMA, schema_of
from chunkledger.store.changes import ChangeCounts, Renames, changed, changes_schema, total

ROW = {name: getattr(chunk_text("# A\n\nOne.\n")[0], name) for name in COLUMNS}
PLACE = ("chunk_index", "char_start", "char_end", "line_start", "line_end")
UNTOLD = ("doc_sha256", "settings_sha256")


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, SCHEMA)


def change_counts(before: Iterator[pa.Table], after: Iterator[pa.Table]) -> ChangeCounts:
    """How many chunks are what."""
    return total(counts for _, counts in changed(before, after, SCHEMA))


def _other(value: object) -> object:
    """A value of the same type that is not the same."""
    if isinstance(value, list):
        return [] if value else None
    return f"{value}x" if isinstance(value, str) else 7 if value is None else int(str(value)) + 1


def _compared(change: Callable[[dict[str, Any]], dict[str, Any]]) -> ChangeCounts:
    return change_counts(iter([_table([ROW])]), iter([_table([change(ROW)])]))


def test_equal_states_keep_all() -> None:
    """Nothing changed is everything kept, nulls and lists included."""
    assert _compared(dict) == ChangeCounts(keep=1)


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in ("chunk_id", "doc_id", "role")])
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
    assert found == ChangeCounts(**{kind: 1})


def test_move_comes_before_update() -> None:
    """A chunk that moved and changed is moved."""
    assert _compared(lambda row: row | {"chunk_index": 4, "gap_after": "\n\n"}) == ChangeCounts(move=1)


@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_ids_alone_decide_what_is_new_and_gone(before: set[int], after: set[int]) -> None:
    """What only one side has is added or deleted, and the rest is kept."""
    states = [_table([ROW | {"chunk_id": str(number)} for number in sorted(ids)]) for ids in (before, after)]
    expected = ChangeCounts(add=len(after - before), keep=len(after & before), delete=len(before - after))
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
    assert change_counts(*pieces) == change_counts(*(iter([state]) for state in states))


def _rows(before: list[dict[str, Any]], after: list[dict[str, Any]], renames: Renames | None = None) -> pa.Table:
    found = changed(iter([_table(before)]), iter([_table(after)]), SCHEMA, renames or Renames({}, ()))
    return pa.concat_tables([table for table, _ in found])


def test_row_of_the_feed_has_the_whole_record() -> None:
    """A row says what happened, and has the record of now, or for a delete the last one there was."""
    moved = ROW | {"chunk_id": "m", "chunk_index": 7}
    before = [ROW, ROW | {"chunk_id": "g"}, ROW | {"chunk_id": "m"}, ROW | {"chunk_id": "u"}, ROW | {"chunk_id": "p"}]
    after = [
        ROW,
        moved,
        ROW | {"chunk_id": "u", "gap_after": "x"},
        ROW | {"chunk_id": "p", "embed_prefix": "B\n"},
        ROW | {"chunk_id": "n"},
    ]
    found = _rows(before, after)
    assert found.schema == changes_schema(SCHEMA)
    told = {row["chunk_id"]: (row["operation"], row["embed_needed"]) for row in found.to_pylist()}
    assert told == {
        "g": ("delete", False),
        "m": ("move", False),
        "u": ("update", False),
        "p": ("update", True),
        "n": ("add", True),
    }
    records = {row["chunk_id"]: {name: row[name] for name in COLUMNS} for row in found.to_pylist()}
    assert records == {row["chunk_id"]: row for row in [*after[1:], before[1]]}


def test_parents_are_told_and_not_counted() -> None:
    """The counts of a run are of chunks; its feed has the parents too."""
    parent = ROW | {"chunk_id": "p", "role": "parent"}
    [(rows, counts)] = changed(iter([_table([ROW])]), iter([_table([ROW, parent])]), SCHEMA)
    assert (counts, rows.column("role").to_pylist()) == (ChangeCounts(keep=1), ["parent"])


def test_column_that_was_not_there_is_an_update() -> None:
    """A store has to learn the counts of one more encoding."""
    wider = schema_of(["cl100k_base"])
    more = {f"{name}_cl100k_base": ROW[name] for name in COUNT_COLUMNS}
    states = (iter([_table([ROW])]), iter([pa.Table.from_pylist([ROW | more], wider)]))
    [(rows, counts)] = changed(*states, wider)
    assert (counts, rows.column("embed_needed").to_pylist()) == (ChangeCounts(update=1), [False])


@pytest.mark.parametrize("prefix", [ROW["embed_prefix"], "B\n"])
def test_renamed_document_names_its_chunks_of_before(prefix: str) -> None:
    """A chunk of a renamed document knows what it was called, and whether its vector can stay."""
    text = ROW["text"]
    [old, new] = (chunk_ids(name, "chunk", [text, text]) for name in ("a.md", "b.md"))
    before = [ROW | {"doc_id": "a.md", "chunk_id": name} for name in old]
    after = [ROW | {"doc_id": "b.md", "chunk_id": name, "embed_prefix": prefix} for name in new]
    renames = Renames({"b.md": "a.md"}, [_table(before)])
    added = [row for row in _rows(before, after, renames).to_pylist() if row["operation"] == "add"]
    assert [row["previous_chunk_id"] for row in added] == old
    assert [row["embed_needed"] for row in added] == [prefix != ROW["embed_prefix"]] * 2


def test_chunk_that_the_renamed_document_had_not_is_new() -> None:
    """With other settings a renamed document has other chunks."""
    before = [ROW | {"doc_id": "a.md", "chunk_id": chunk_ids("a.md", "chunk", ["other"])[0]}]
    after = [ROW | {"doc_id": "b.md", "chunk_id": chunk_ids("b.md", "chunk", [ROW["text"]])[0]}]
    rows = _rows(before, after, Renames({"b.md": "a.md"}, [_table(before)])).to_pylist()
    assert [(row["operation"], row["embed_needed"], row["previous_chunk_id"]) for row in rows] == [
        ("delete", False, None),
        ("add", True, None),
    ]
