"""Ordering moves blocks and changes nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.packer import ORDERS, Packed, order, pack
from packer.builders import Row, row, rows


def _packed(hits: list[Row]) -> Packed:
    return pack(hits, 1_000_000, encoding="o200k_base")


def _names(packed: Packed) -> list[str]:
    return packed.chunk_ids


hit_lists = st.lists(
    st.tuples(st.sampled_from(["a.md", "b.md", "c.md"]), st.none() | st.integers(0, 50), st.integers(0, 50)),
    max_size=12,
).map(
    lambda made: [
        row(f"c{rank}", doc_id=doc_id, char_start=char_start, chunk_index=chunk_index)
        for rank, (doc_id, char_start, chunk_index) in enumerate(made, 1)
    ]
)


@given(hit_lists, st.sampled_from(sorted(ORDERS)), st.sampled_from(sorted(ORDERS)))
def test_order_changes_neither_membership_nor_cost(hits: list[Row], how: str, before: str) -> None:
    """Every order holds the same blocks at the same cost, whatever the order was before."""
    packed = _packed(hits)
    ordered = order(order(packed, before), how)
    assert sorted(_names(ordered)) == sorted(_names(packed))
    assert (ordered.used_tokens, ordered.log) == (packed.used_tokens, packed.log)
    assert ordered == order(packed, how)


@given(hit_lists)
def test_rank_is_the_order_of_packing(hits: list[Row]) -> None:
    """`rank` is the order that pack gives, and undoes every other."""
    packed = _packed(hits)
    assert order(order(packed, "edges"), "rank") == packed


@given(st.integers(min_value=0, max_value=40))
def test_edges_have_the_best_outside(count: int) -> None:
    """Going from the edges inwards, left and right in turn, gives the ranking."""
    inwards = list(order(_packed(rows(*[20] * count)), "edges").blocks)
    ranks = [inwards.pop(0 if turn % 2 == 0 else -1).rank for turn in range(count)]
    assert ranks == list(range(1, count + 1))


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, ["c1"]),
        (2, ["c1", "c2"]),
        (3, ["c1", "c3", "c2"]),
        (4, ["c1", "c3", "c4", "c2"]),
        (5, ["c1", "c3", "c5", "c4", "c2"]),
    ],
)
def test_edges_for_even_and_odd(count: int, expected: list[str]) -> None:
    """The best is first, the second best last, the weakest in the middle."""
    assert _names(order(_packed(rows(*[20] * count)), "edges")) == expected


@given(hit_lists)
def test_documents_follow_their_best_rank(hits: list[Row]) -> None:
    """The blocks of a document stand together, and documents come by their best rank."""
    seen = list(dict.fromkeys(hit["doc_id"] for hit in hits))
    ordered = [block.doc_id for block in order(_packed(hits), "document").blocks]
    assert ordered == sorted(ordered, key=seen.index)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([{"char_start": 9}, {"char_start": 5}, {"char_start": 7}], ["c2", "c3", "c1"]),
        ([{"char_start": 9, "chunk_index": 0}, {"char_start": 5, "chunk_index": 1}], ["c2", "c1"]),
        ([{"char_start": None, "chunk_index": 2}, {"char_start": 5, "chunk_index": 1}], ["c2", "c1"]),
        ([{"chunk_index": 2}, {"chunk_index": 1}], ["c2", "c1"]),
        ([{"char_start": 9}, {}, {"char_start": 7}], ["c1", "c2", "c3"]),
        ([{"char_start": 5}, {"char_start": 5}], ["c1", "c2"]),
    ],
)
def test_document_reads_as_written(places: list[Row], expected: list[str]) -> None:
    """Inside a document char_start decides, else chunk_index, else rank, each only where all its blocks have one."""
    hits = [row(f"c{rank}", **place) for rank, place in enumerate(places, 1)]
    assert _names(order(_packed(hits), "document")) == expected


def test_tokens_of_a_block_follow_its_number() -> None:
    """Beyond 999 blocks the number costs a token more, for the block that bears it."""
    packed = _packed(rows(*[20] * 1_001))
    ordered = order(packed, "edges")
    assert [block.rank for block in packed.blocks if block.tokens == 21] == [1_000, 1_001]
    assert [number for number, block in enumerate(ordered.blocks, 1) if block.tokens == 21] == [1_000, 1_001]
    assert sum(block.tokens for block in ordered.blocks) == ordered.used_tokens


def test_unknown_order_lists_those_there_are() -> None:
    """An unknown name is refused with the valid ones."""
    with pytest.raises(ValueError, match="unknown order 'best'; there are: rank, document, edges"):
        order(_packed([]), "best")


def test_offset_that_cannot_be_is_named() -> None:
    """An offset that is no whole number is named with its chunk."""
    with pytest.raises(ValueError, match=r"rank 1 .*: char_start is 'x': it must be a whole number"):
        order(_packed([row("c1", char_start="x")]), "document")
