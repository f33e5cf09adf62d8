"""`pack` follows its rules: checked against a slow and obvious model of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger.packer import BOUNDARY_KINDS, Packed, Slot, pack
from packer.builders import CountingRow, Row, cuttable, row, rows, shown
from packer.model import Model, Options
from packer.rankings import rankings

options_made = st.builds(
    Options,
    on_miss=st.sampled_from(["skip", "skip", "stop"]),
    truncate=st.sampled_from(["floor", "never", "any"]),
    max_chunks=st.none() | st.integers(min_value=1, max_value=6),
    kinds=st.sets(st.sampled_from(BOUNDARY_KINDS)).map(tuple),
    merge=st.booleans(),
    duplicates=st.sampled_from(["text", "chunk"]),
)
slots = st.integers(min_value=1, max_value=250)


def _packed(hits: list[Row], slot: int, options: Options) -> Packed:
    return pack(
        hits,
        slot,
        encoding="o200k_base",
        max_chunks=options.max_chunks,
        on_miss=options.on_miss,
        truncate=options.truncate,
        boundary_kinds=options.kinds,
        merge=options.merge,
        duplicates=options.duplicates,
    )


@settings(max_examples=2_000)
@given(rankings, slots, options_made)
def test_pack_is_what_the_rules_say(hits: list[Row], slot: int, options: Options) -> None:
    """Blocks, costs, cuts and every figure of the log are those of the model."""
    packed = _packed(hits, slot, options)
    expected = Model(hits, slot, options).outcome()
    blocks = [
        (block.rank, block.tokens, [(chunk.rank, chunk.shown_chars) for chunk in block.chunks])
        for block in packed.blocks
    ]
    found = packed.log.as_dict()
    assert {name: found[name] for name in expected if name != "block_list"} | {"block_list": blocks} == expected


@settings(max_examples=500)
@given(rankings, slots, options_made)
def test_slot_is_never_exceeded_but_by_the_floor(hits: list[Row], slot: int, options: Options) -> None:
    """More than the slot is used only by rank 1, whole and alone."""
    packed = _packed(hits, slot, options)
    alone = packed.log.floor_over_slot and [block.rank for block in packed.blocks] == [1]
    assert packed.used_tokens <= slot or (alone and not packed.blocks[0].truncated)


@settings(max_examples=500)
@given(rankings, slots, options_made)
def test_every_hit_is_accounted_for(hits: list[Row], slot: int, options: Options) -> None:
    """Offered hits are packed, skipped, duplicates or not reached; the sums of the log are those of the blocks."""
    packed = _packed(hits, slot, options)
    log = packed.log
    assert log.packed + log.skipped_for_size + log.duplicates + log.not_reached == log.offered == len(hits)
    assert (log.blocks, log.used) == (len(packed.blocks), sum(block.tokens for block in packed.blocks))
    assert len(set(packed.chunk_ids)) == len(packed.chunk_ids) == log.packed


@settings(max_examples=500)
@given(rankings, slots, options_made)
def test_rank_1_is_always_shown(hits: list[Row], slot: int, options: Options) -> None:
    """The best block shows the hit at rank 1, itself or within a chunk that holds it."""
    if hits:
        best = _packed(hits, slot, options).blocks[0]
        starts = [chunk.row["char_start"] for chunk in best.chunks]
        assert (best.rank, best.doc_id, min(starts) <= hits[0]["char_start"]) == (1, hits[0]["doc_id"], True)


@pytest.mark.parametrize(
    ("tokens", "slot", "blocks", "used"),
    [
        ([*[1] * 999, 2, 1, 1], 1_003, 1_000, 1_002),
        ([1] * 1_005, 1_006, 1_002, 1_005),
        ([1] * 1_005, 1_007, 1_003, 1_007),
    ],
)
def test_number_beyond_999_costs_a_token(tokens: list[int], slot: int, blocks: int, used: int) -> None:
    """From the thousandth block on each costs one token more, also in the decision whether it fits."""
    packed = pack(rows(*tokens), slot, encoding="o200k_base")
    assert (len(packed.blocks), packed.used_tokens) == (blocks, used)


def _names(tokens: list[int], slot: int, **options: object) -> list[str]:
    packed = pack(rows(*tokens), slot, encoding="o200k_base", **options)  # type: ignore[arg-type]
    return packed.chunk_ids


def test_smaller_hits_further_down_are_tried() -> None:
    """A hit that does not fit is skipped, and a smaller one after it goes in."""
    assert _names([50, 60, 40, 10], 100) == ["c1", "c3", "c4"]


def test_stop_ends_at_the_first_miss() -> None:
    """With "stop" the pass ends where a hit does not fit."""
    assert _names([50, 60, 40, 10], 100, on_miss="stop") == ["c1"]


def test_max_chunks_caps_the_packed() -> None:
    """No more hits are packed than allowed, whatever space is left."""
    assert _names([10, 10, 10], 100, max_chunks=2) == ["c1", "c2"]


@pytest.mark.parametrize(
    ("tokens", "slot", "options", "expected"),
    [
        ([], 100, {}, "no_more_candidates"),
        ([50, 50], 100, {}, "no_more_candidates"),
        ([50, 50, 1], 100, {}, "full"),
        ([50, 48, 10], 100, {}, "full"),
        ([50, 47, 10], 100, {}, "nothing_fits"),
        ([50, 60], 100, {}, "nothing_fits"),
        ([40, 70], 100, {}, "nothing_fits"),
        ([40, 70, 10], 100, {"on_miss": "stop"}, "nothing_fits"),
        ([40, 10, 10], 100, {"max_chunks": 2}, "max_chunks"),
        ([40, 10], 100, {"max_chunks": 2}, "no_more_candidates"),
        ([40, 70, 10], 100, {"max_chunks": 2}, "nothing_fits"),
        ([40, 58, 10], 100, {"max_chunks": 2}, "full"),
        ([400, 10], 100, {}, "full"),
        ([400], 100, {}, "no_more_candidates"),
    ],
)
def test_why_space_is_left(tokens: list[int], slot: int, options: dict[str, object], expected: str) -> None:
    """Each reason is given where its definition says so."""
    packed = pack(rows(*tokens), slot, encoding="o200k_base", **options)  # type: ignore[arg-type]
    assert packed.log.space_left_because == expected


def test_skipped_with_room_and_passed_over() -> None:
    """An outlier that is skipped while a median chunk would fit is told apart from the end of the slot."""
    log = pack(rows(30, 90, 30, 30, 15, 5), 100, encoding="o200k_base").log
    assert (log.skipped_for_size, log.skipped_with_room, log.passed_over, log.not_reached) == (2, 1, 2, 0)


@pytest.mark.parametrize(
    ("tokens", "expected"), [([50, 60, 50], 1), ([40, 70], 1), ([60, 50, 40], 0)], ids=["equal", "lower", "below"]
)
def test_room_is_the_lower_median(tokens: list[int], expected: int) -> None:
    """There is room where as much is left as the lower of the middle two counts."""
    assert pack(rows(*tokens), 100, encoding="o200k_base").log.skipped_with_room == expected


def test_cut_that_fills_the_slot_is_taken() -> None:
    """A cut as large as the slot fits."""
    packed = pack([cuttable(500, (10, "section", 100), (20, "section", 101))], 100, encoding="o200k_base")
    assert shown(packed) == [("c1", 100, 10)]


def test_rank_1_over_the_slot_is_cut_and_filling_goes_on() -> None:
    """The floor is cut at the last boundary that fits, of a kind that may be cut, and what is left is filled."""
    first = cuttable(500, (10, "section", 40), (20, "paragraph", 70), (25, "sentence", 80), (30, "paragraph", 120))
    packed = pack([first, row("c2", 60), row("c3", 30)], 100, encoding="o200k_base")
    assert shown(packed) == [("c1", 70, 20), ("c3", 30, None)]
    assert (packed.log.truncated, packed.log.floor_over_slot) == (1, True)


def test_boundary_kinds_say_where_to_cut() -> None:
    """Only boundaries of the kinds that were asked for are used."""
    first = cuttable(500, (10, "section", 40), (25, "sentence", 80))
    packed = pack([first], 100, encoding="o200k_base", boundary_kinds=["section", "sentence"])
    assert shown(packed) == [("c1", 80, 25)]


@pytest.mark.parametrize(
    ("cut", "options"),
    [((10, "section", 40), {"truncate": "never"}), ((10, "sentence", 40), {}), ((10, "section", 101), {})],
)
def test_rank_1_that_cannot_be_cut_goes_in_whole_and_alone(cut: tuple[int, str, int], options: dict[str, str]) -> None:
    """Without a cut that is allowed and fits, rank 1 is sent whole, and nothing else."""
    packed = pack([cuttable(500, cut), row("c2", 1)], 100, encoding="o200k_base", **options)  # type: ignore[arg-type]
    assert shown(packed) == [("c1", 500, None)]
    assert (packed.log.not_reached, packed.log.truncated, packed.log.space_left_because) == (1, 0, "full")


def test_number_is_part_of_the_fit() -> None:
    """The 1,000th block costs a token more, and does not go in where that token is missing."""
    hits = rows(*[20] * 1_000)
    assert [pack(hits, slot, encoding="o200k_base").log.packed for slot in (20_000, 20_001)] == [999, 1_000]


def test_empty_ranking_packs_nothing() -> None:
    """No hits, no blocks, nothing used."""
    packed = pack([], 100, encoding="o200k_base")
    assert (packed.blocks, packed.used_tokens, packed.template, packed.citations()) == ((), 0, "", {})


def test_template_is_that_of_the_rows() -> None:
    """The pack knows how its blocks are rendered."""
    assert pack([row(template="markdown/1")], 100, encoding="o200k_base").template == "markdown/1"


def test_citations_are_the_spans_that_are_shown() -> None:
    """A cut block ends where it is cut, and an offset that is unknown stays so."""
    cut = cuttable(500, (10, "section", 40)) | {"char_start": 1_000, "char_end": 3_000}
    whole = row("c2", 20, doc_id="b.md", char_start=np.int64(5), char_end=np.int64(90))
    packed = pack([cut, whole, row("c3", 20, doc_id="c.md")], 100, encoding="o200k_base")
    assert packed.citations() == {
        1: [("c1", "a.md", 1_000, 1_010)],
        2: [("c2", "b.md", 5, 90)],
        3: [("c3", "c.md", None, None)],
    }


def test_citation_of_a_cut_block_without_offsets_stays_unknown() -> None:
    """Without a start there is no end either."""
    packed = pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base")
    assert packed.citations() == {1: [("c1", "a.md", None, None)]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slot_tokens": 0}, "slot_tokens is 0: it must be a whole number of at least 1"),
        ({"slot_tokens": -5}, "slot_tokens is -5"),
        ({"slot_tokens": 10.0}, "slot_tokens is 10.0"),
        ({"slot_tokens": True}, "slot_tokens is True"),
        ({"max_chunks": 0}, "max_chunks is 0: it must be a whole number of at least 1"),
        ({"on_miss": "jump"}, "on_miss is 'jump'; it must be one of: skip, stop"),
        ({"truncate": "all"}, "truncate is 'all'; it must be one of: floor, never"),
        ({"boundary_kinds": ["paragraphs"]}, "boundary_kinds is .*; it must be a list of: section, paragraph"),
        ({"boundary_kinds": "section"}, "boundary_kinds is 'section'; it must be a list of"),
        ({"boundary_kinds": None}, "boundary_kinds is None; it must be a list of"),
        ({"boundary_kinds": [["section"]]}, r"boundary_kinds is \[\['section'\]\]; it must be a list of"),
        ({"slot_tokens": Slot(window=9)}, r"slot_tokens is Slot\(.*\): it must be a whole number .*; give its .tokens"),
        ({"encoding": None}, "encoding is None; it must be the name of an encoding"),
        ({"encoding": ""}, "encoding is ''; it must be the name of an encoding"),
        ({"merge": "no"}, "merge is 'no'; it must be True or False"),
        ({"emit": 1}, "emit is 1; it must be True or False"),
        ({"duplicates": "none"}, "duplicates is 'none'; it must be one of: text, chunk"),
        ({"log_fields": ["q"]}, r"log_fields is \['q'\]; it must be a mapping"),
        ({"log_fields": {1: 2}}, "a field of the log is named 1; names must be strings"),
    ],
)
def test_option_that_cannot_be_is_named(options: dict[str, object], message: str) -> None:
    """A faulty option is refused, with its name, itself and what would work."""
    with pytest.raises(ValueError, match=message):
        pack([row()], **({"slot_tokens": 100, "encoding": "o200k_base"} | options))  # type: ignore[arg-type]


def test_boundary_kinds_may_be_an_iterator() -> None:
    """They are read once, before they are checked."""
    packed = pack([cuttable(500, (10, "section", 40))], 50, encoding="o200k_base", boundary_kinds=iter(["section"]))  # type: ignore[arg-type]
    assert shown(packed) == [("c1", 40, 10)]


def test_text_is_not_needed() -> None:
    """Packing reads counts only."""
    hits = [row()]
    assert ("text" in hits[0], pack(hits, 100, encoding="o200k_base").used_tokens) == (False, 20)


def test_work_is_linear_in_the_hits() -> None:
    """Twice the hits are twice the reads of columns."""
    reads = []
    for count in (500, 1_000):
        CountingRow.reads = 0
        pack([CountingRow(one) for one in rows(*[20] * count)], 10**9, encoding="o200k_base")
        reads.append(CountingRow.reads)
    assert abs(reads[1] - 2 * reads[0]) <= reads[0] // 100
