"""Chunks are cut only at a cached boundary of an allowed kind, at most one a pack, and the marker is paid for."""

from __future__ import annotations

import json

import pytest

from chunkledger.packer import Packed, pack
from packer.builders import Row, cuttable, row, rows, shown

CUTS = ((10, "section", 40), (20, "paragraph", 70), (25, "sentence", 80), (30, "table_row", 120))


def _packed(hits: list[Row], slot: int = 100, **options: object) -> Packed:
    return pack(hits, slot, encoding="o200k_base", **options)  # type: ignore[arg-type]


def test_best_skipped_hit_is_cut_into_what_is_left() -> None:
    """With "any" the space that is left after the pass holds the start of the best-ranked hit that did not fit."""
    hits = [row("c1", 50), cuttable(300, *CUTS, chunk_id="c2"), cuttable(300, *CUTS, chunk_id="c3")]
    packed = _packed(hits, truncate="any")
    assert shown(packed) == [("c1", 50, None), ("c2", 40, 10)]
    assert (packed.log.truncated, packed.log.packed, packed.log.skipped_for_size) == (1, 2, 1)


def test_whole_hits_go_before_a_cut_one() -> None:
    """A hit is cut only into what no whole one further down takes."""
    hits = [row("c1", 50), cuttable(300, *CUTS, chunk_id="c2"), row("c3", 50)]
    assert shown(_packed(hits, truncate="any")) == [("c1", 50, None), ("c3", 50, None)]


def test_next_hit_is_cut_where_the_best_one_can_not() -> None:
    """Where the best-ranked skipped hit has no boundary that fits, the next one is cut."""
    hits = [row("c1", 50), cuttable(300, (10, "section", 60), chunk_id="c2"), cuttable(300, *CUTS, chunk_id="c3")]
    assert shown(_packed(hits, truncate="any")) == [("c1", 50, None), ("c3", 40, 10)]


@pytest.mark.parametrize("truncate", ["floor", "never"])
def test_only_any_cuts_beyond_rank_1(truncate: str) -> None:
    """Otherwise what is skipped stays out."""
    hits = [row("c1", 50), cuttable(300, *CUTS, chunk_id="c2")]
    assert shown(_packed(hits, truncate=truncate)) == [("c1", 50, None)]


def test_nothing_is_cut_where_no_boundary_fits() -> None:
    """Never mid-sentence: without a boundary that fits, the space stays empty."""
    packed = _packed([row("c1", 50), cuttable(300, (10, "section", 51), chunk_id="c2")], truncate="any")
    assert (shown(packed), packed.log.space_left_because) == ([("c1", 50, None)], "nothing_fits")


def test_one_cut_a_pack() -> None:
    """Where rank 1 was cut, nothing else is."""
    packed = _packed([cuttable(500, *CUTS), cuttable(300, (5, "section", 10), chunk_id="c2")], truncate="any")
    assert shown(packed) == [("c1", 70, 20)]


def test_floor_that_could_not_be_cut_is_alone() -> None:
    """Rank 1 whole and over the slot leaves nothing to cut into."""
    packed = _packed([row("c1", 500), cuttable(300, (5, "section", 10), chunk_id="c2")], truncate="any")
    assert shown(packed) == [("c1", 500, None)]


def test_cut_hit_counts_towards_max_chunks() -> None:
    """No more hits are shown than allowed."""
    hits = [row("c1", 30), cuttable(300, *CUTS, chunk_id="c2"), row("c3", 10)]
    assert shown(_packed(hits, truncate="any", max_chunks=2)) == [("c1", 30, None), ("c3", 10, None)]


def test_hit_that_ended_the_pass_may_be_cut() -> None:
    """With on_miss="stop" the one that did not fit is the only candidate."""
    hits = [row("c1", 50), cuttable(300, *CUTS, chunk_id="c2"), row("c3", 10)]
    packed = _packed(hits, truncate="any", on_miss="stop")
    assert shown(packed) == [("c1", 50, None), ("c2", 40, 10)]
    assert packed.log.not_reached == 1


def test_number_of_the_cut_block_is_paid() -> None:
    """The 1,000th block costs a token more, and is not cut into one token too few."""
    hits = [*rows(*[1] * 999), cuttable(300, (5, "section", 10), chunk_id="cut")]
    used = [_packed(hits, slot, truncate="any").used_tokens for slot in (999 + 10, 999 + 11)]
    assert used == [999, 999 + 11]


@pytest.mark.parametrize(
    "said",
    [
        {"metadata": json.dumps({"payload": "end", "title": "Log"})},
        {"metadata": {"payload": "end"}},
        {"payload": "end"},
        {"payload": " End"},
    ],
    ids=["json", "mapping", "flat", "capital"],
)
def test_document_whose_payload_is_at_the_end_is_not_cut(said: Row) -> None:
    """Such documents (a log, a changelog read backwards) would lose what they are for."""
    packed = _packed([cuttable(500, *CUTS) | said, row("c2", 1)])
    assert (shown(packed), packed.log.floor_over_slot) == ([("c1", 500, None)], True)
    assert shown(_packed([row("c0", 50), cuttable(300, *CUTS) | said], truncate="any")) == [("c0", 50, None)]


@pytest.mark.parametrize("metadata", ["", "not json", "[1]", '{"payload": 7}', '{"payload": "start"}', None])
def test_other_metadata_does_not_keep_from_cutting(metadata: object) -> None:
    """Metadata that says something else, or nothing that can be read, changes nothing."""
    assert shown(_packed([cuttable(500, *CUTS) | {"metadata": metadata}])) == [("c1", 70, 20)]


def test_sentences_are_cut_only_where_asked_for() -> None:
    """By default cuts are structural."""
    first = cuttable(500, (25, "sentence", 80))
    assert shown(_packed([first])) == [("c1", 500, None)]
    assert shown(_packed([first], boundary_kinds=["sentence"])) == [("c1", 80, 25)]


def test_what_would_be_shown_twice_is_not_cut_in() -> None:
    """The start of a skipped hit that overlaps what is shown is not paid again."""
    cut = cuttable(300, (10, "section", 20), (30, "paragraph", 60), chunk_id="c2") | {"char_start": 40, "char_end": 140}
    hits = [row("c1", 50, char_start=0, char_end=52), cut]
    assert shown(_packed(hits, truncate="any")) == [("c1", 50, None)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"boundary_chars": [5, 5]}, r"boundary_chars is \[5, 5\]; it must be positive and ascending"),
        ({"boundary_chars": [9, 5]}, r"boundary_chars is \[9, 5\]; it must be positive and ascending"),
        ({"boundary_chars": [0, 5]}, r"boundary_chars is \[0, 5\]; it must be positive and ascending"),
        ({"boundary_chars": [1.5, 5]}, r"boundary_chars is \[1.5, 5\]; it must be whole numbers"),
        ({"boundary_rendered_tokens": [9, 0]}, r"boundary_rendered_tokens is \[9, 0\]; every count must be positive"),
        ({"text": "Nine char"}, "boundary_chars has 9, but its text has 9 characters; hits must carry `text` as the"),
        ({"char_start": 0, "char_end": 9}, "boundary_chars has 9, but char_start 0 and char_end 9 are those of a text"),
    ],
)
def test_boundaries_that_cannot_be_are_named(columns: Row, message: str) -> None:
    """A chunk is never cut by lists that can't be right."""
    one = cuttable(500, (5, "section", 9), (9, "section", 20)) | columns
    with pytest.raises(ValueError, match=rf"hit at rank 1 \(chunk_id 'c1'\): {message}"):
        _packed([one])
