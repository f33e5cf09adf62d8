"""Hits are read as mappings or objects, and a faulty one is named."""

from __future__ import annotations

import sqlite3
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from chunkledger.packer import pack
from packer.builders import Row, cuttable, row, shown


def _faulty(one: Row) -> str:
    with pytest.raises(ValueError, match="hit at rank 2") as raised:
        pack([row("c1"), one], 1_000, encoding="o200k_base")
    return str(raised.value)


@pytest.mark.parametrize("made", [dict, MappingProxyType, lambda one: SimpleNamespace(**one)])
def test_mappings_and_objects_give_the_same(made: type) -> None:
    """A hit may be any mapping, or an object with the columns as attributes."""
    one = cuttable(90, (5, "section", 30), (9, "paragraph", 60)) | {"char_start": 100, "char_end": 120}
    packed = pack([made(one)], 50, encoding="o200k_base")
    assert (packed.used_tokens, packed.citations()) == (30, {1: [("c1", "a.md", 100, 105)]})


def test_rows_of_sqlite_are_read_by_their_keys() -> None:
    """`sqlite3.Row` is not a Mapping, but has keys, and works."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    one = row()
    marks = ", ".join(f"? AS {name}" for name in one)
    hits = connection.execute(f"SELECT {marks}", list(one.values())).fetchall()
    connection.close()
    assert pack(hits, 100, encoding="o200k_base").used_tokens == 20


def test_hit_is_handed_back_untouched() -> None:
    """The row of a block is the very hit that was given."""
    one = row()
    assert pack([one], 100, encoding="o200k_base").blocks[0].chunks[0].row is one


def test_hits_may_be_an_iterator() -> None:
    """The ranking is read once."""
    assert pack(iter([row("c1"), row("c2")]), 100, encoding="o200k_base").used_tokens == 40


@pytest.mark.parametrize(
    "listed",
    [tuple, np.array, pa.array, lambda values: [np.int32(value) for value in values]],
    ids=["tuple", "numpy", "pyarrow", "numpy scalars"],
)
def test_sequences_of_every_make_are_read(listed: type) -> None:
    """Counts and boundaries may be numpy's or pyarrow's."""
    one = row(
        tokens=np.int32(90),
        boundary_chars=listed([5, 9]),
        boundary_kinds=pa.array(["section", "paragraph"]),
        boundary_rendered_tokens=listed([30, 60]),
    )
    packed = pack([one], 50, encoding="o200k_base")
    assert shown(packed) == [("c-1", 30, 5)]
    assert {type(packed.blocks[0].tokens), type(shown(packed)[0][2]), type(packed.used_tokens)} == {int}


def test_rows_of_an_arrow_table_are_read() -> None:
    """`pyarrow.Table.to_pylist()` gives hits as they are needed."""
    table = pa.Table.from_pylist([cuttable(90, (5, "section", 30))])
    assert pack(table.to_pylist(), 50, encoding="o200k_base").used_tokens == 30


@pytest.mark.parametrize("name", ["chunk_id", "doc_id", "encoding", "template", "rendered_tokens"])
@pytest.mark.parametrize("null", [False, True])
def test_missing_column_is_named(name: str, null: bool) -> None:
    """A column that is missing or null is named with rank and chunk_id."""
    one = row("c2")
    del one[name]
    chunk_id = one.get("chunk_id")
    one |= {"token_count": 5}
    message = _faulty(one | {name: None} if null else one)
    expected = f"hit at rank 2 (chunk_id {chunk_id!r}): column {name} is missing or null; hits must carry it as the"
    assert message == f"{expected} ledger does"


@pytest.mark.parametrize("tokens", [0, -3, 2.5, "9", True])
def test_count_that_cannot_be_is_named(tokens: object) -> None:
    """rendered_tokens is a positive whole number."""
    assert _faulty(row("c2", tokens)) == (
        f"hit at rank 2 (chunk_id 'c2'): rendered_tokens is {tokens!r}: it must be a whole number of at least 1"
    )


def test_id_that_is_no_string_is_named() -> None:
    """Ids are strings, as in the ledger."""
    assert "column doc_id is 7; it must be a string" in _faulty(row("c2", doc_id=7))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"body_tokens": 20}, "body_tokens is 20 and rendered_tokens, which holds it, is 20; they contradict"),
        ({"token_count": 21}, "token_count is 21 and rendered_tokens, which holds it, is 20; they contradict"),
        (
            {"token_count": 19, "body_tokens": 9},
            "token_count is 19 and body_tokens, of the same text and a line end, is 9",
        ),
        (
            {"boundary_chars": [3], "boundary_kinds": ["section"], "boundary_rendered_tokens": [9_000]},
            "boundary_rendered_tokens has 9000 and rendered_tokens, of the whole block, is 20; they contradict",
        ),
        ({"char_start": 9, "char_end": 9}, "char_start is 9 and char_end is 9; they contradict each other"),
        ({"token_count": 0}, "token_count is 0: it must be a whole number of at least 1"),
        ({"joined_tokens": -1}, "joined_tokens is -1: it must be a whole number of at least 1"),
        ({"chunk_index": -1}, "chunk_index is -1: it must be a whole number of at least 0"),
        ({"char_start": "7"}, "char_start is '7': it must be a whole number of at least 0"),
        (
            {"char_start": 0, "char_end": 5, "boundary_chars": [5], "boundary_kinds": ["section"]}
            | {"boundary_rendered_tokens": [9]},
            "boundary_chars has 5, but char_start 0 and char_end 5 are those of a text of 5 characters",
        ),
    ],
)
def test_counts_that_contradict_each_other_are_named(columns: Row, message: str) -> None:
    """Counts that can't belong to one chunk are refused wherever the hit ranks."""
    assert f"hit at rank 2 (chunk_id 'c2'): {message}" in _faulty(row("c2") | columns)


def test_whole_floats_are_counts() -> None:
    """Some stores keep every number as a float, and null as NaN."""
    one = cuttable(90, (5, "section", 30)) | {"rendered_tokens": 90.0, "char_start": 100.0, "char_end": 120.0}
    one |= {"boundary_chars": [5.0], "boundary_rendered_tokens": [30.0], "joined_tokens": float("nan")}
    packed = pack([one], 50, encoding="o200k_base")
    assert (packed.used_tokens, packed.citations()) == (30, {1: [("c1", "a.md", 100, 105)]})


def test_lists_may_be_json() -> None:
    """Some stores keep lists only as text."""
    one = row("c1", 90, boundary_chars="[5]", boundary_kinds='["section"]', boundary_rendered_tokens="[30]")
    assert shown(pack([one], 50, encoding="o200k_base")) == [("c1", 30, 5)]


@pytest.mark.parametrize("name", ["boundary_chars", "boundary_kinds", "boundary_rendered_tokens"])
@pytest.mark.parametrize("values", [None, []])
def test_boundaries_that_are_not_parallel_are_named(name: str, values: object) -> None:
    """The three lists are all there or none is."""
    assert "they are parallel" in _faulty(cuttable(20, (5, "section", 9), chunk_id="c2") | {name: values})


def test_boundaries_that_are_no_list_are_named() -> None:
    """A scalar is not taken for a list."""
    assert "boundary_chars is 5; it must be a list" in _faulty(row("c2", boundary_chars=5))


@pytest.mark.parametrize("empty", [None, [], ()])
def test_row_without_boundaries_is_whole(empty: object) -> None:
    """Missing, null and empty boundaries are the same."""
    columns: Row = dict.fromkeys(("boundary_chars", "boundary_kinds", "boundary_rendered_tokens"), empty)
    assert pack([row(tokens=90, **columns)], 50, encoding="o200k_base").blocks[0].truncated is False


def test_other_encoding_is_named() -> None:
    """A row that was counted for another encoding is refused, with both encodings."""
    assert _faulty(row("c2", encoding="cl100k_base")) == (
        "hit at rank 2 (chunk_id 'c2'): its tokens are counts of encoding 'cl100k_base', but 'o200k_base' was asked "
        "for; pack with encoding='cl100k_base', or add the other with `chunkledger recount`"
    )


def test_mixed_templates_are_named() -> None:
    """Rows of two templates are refused, with both templates."""
    message = _faulty(row("c2", template="markdown/1"))
    assert "its tokens are counts of template 'markdown/1', but 'xml/1' is that of rank 1; pack hits of one" in message


def test_other_template_than_asked_for_is_named() -> None:
    """A row of another template than asked for is refused, the first one too."""
    with pytest.raises(ValueError, match=r"rank 1 .*template 'xml/1', but 'markdown/1' was asked for"):
        pack([row()], 100, encoding="o200k_base", template="markdown/1")


def test_hit_that_is_no_row_is_named() -> None:
    """A bare id in place of a row is refused with its rank."""
    with pytest.raises(ValueError, match=r"hit at rank 1 \(chunk_id None\): it has no cached counts \(it is a str\)"):
        pack(["c-1"], 100, encoding="o200k_base")


def test_faulty_row_is_found_wherever_it_ranks() -> None:
    """Whether a ranking is faulty does not depend on how far the slot reaches."""
    with pytest.raises(ValueError, match="hit at rank 3"):
        pack([row("c1"), row("c2"), row("c3", 0)], 20, encoding="o200k_base", max_chunks=1)
