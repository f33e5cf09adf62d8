"""`pack` follows its rules: checked against a slow and obvious model of them."""

from __future__ import annotations

import json
import logging
import statistics

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkledger.packer import BOUNDARY_KINDS, pack
from packer.builders import Row, cuttable, row, rows, untimed

CUT_KINDS = BOUNDARY_KINDS[:-1]


def _number_cost(number: int) -> int:
    """A number costs one token for each three digits; the first is in rendered_tokens."""
    return -(-len(str(number)) // 3) - 1


def _floor(hit: Row, slot: int, truncate: str, kinds: tuple[str, ...]) -> tuple[int, int | None]:
    """(cost, shown_chars) of the hit at rank 1."""
    whole = hit["rendered_tokens"]
    cuts = zip(hit["boundary_chars"], hit["boundary_kinds"], hit["boundary_rendered_tokens"], strict=True)
    fitting = [(tokens, chars) for chars, kind, tokens in cuts if kind in kinds and tokens <= slot]
    if whole > slot and truncate == "floor" and fitting:
        return fitting[-1]
    return whole, None


def _model(
    hits: list[Row], slot: int, on_miss: str, truncate: str, max_chunks: int | None, kinds: tuple[str, ...]
) -> dict[str, object]:
    """The rules of packing, one hit at a time, everything computed anew for each."""
    fates: list[str] = []
    costs: list[int] = []
    shown: list[int | None] = []
    room: list[int] = []
    counts = [hit["rendered_tokens"] for hit in hits]
    for place, hit in enumerate(hits):
        left, extra = slot - sum(costs), _number_cost(len(costs) + 1)
        if place == 0:
            cost, chars = _floor(hit, slot, truncate, kinds)
            fates.append("packed")
            costs.append(cost)
            shown.append(chars)
        elif left < 0 or len(costs) == max_chunks or (on_miss == "stop" and "skipped" in fates):
            fates.extend(["not reached"] * (len(hits) - place))
            break
        elif hit["chunk_id"] in [earlier["chunk_id"] for earlier in hits[:place]]:
            fates.append("duplicate")
        elif hit["rendered_tokens"] + extra <= left:
            fates.append("packed")
            costs.append(hit["rendered_tokens"] + extra)
            shown.append(None)
        else:
            fates.append("skipped")
            room.append(left)
    packed_places = [place for place, fate in enumerate(fates) if fate == "packed"]
    left = slot - sum(costs)
    if "skipped" not in fates and "not reached" not in fates:
        because = "no_more_candidates"
    elif left * 50 <= slot:
        because = "full"
    elif "not reached" in fates and len(costs) == max_chunks:
        because = "max_chunks"
    else:
        because = "nothing_fits"
    return {
        "blocks": [(place + 1, cost, chars) for place, cost, chars in zip(packed_places, costs, shown, strict=True)],
        "slot": slot,
        "used": sum(costs),
        "offered": len(hits),
        "packed": len(costs),
        "skipped_for_size": fates.count("skipped"),
        "truncated": len([chars for chars in shown if chars is not None]),
        "duplicates": fates.count("duplicate"),
        "not_reached": fates.count("not reached"),
        "skipped_with_room": len([left for left in room if left >= statistics.median_low(counts)]),
        "passed_over": fates[: packed_places[-1]].count("skipped") if packed_places else 0,
        "floor_over_slot": bool(hits) and counts[0] > slot,
        "space_left_because": because,
    }


def _some_row(chunk_id: str, tokens: int, cuts: list[tuple[int, str, int]]) -> Row:
    return cuttable(tokens, *((10 * place + chars, kind, cost) for place, (chars, kind, cost) in enumerate(cuts)),
                    chunk_id=chunk_id)  # fmt: skip


cut_lists = st.lists(st.tuples(st.integers(1, 9), st.sampled_from(BOUNDARY_KINDS), st.integers(1, 60)), max_size=4)
hit_lists = st.lists(
    st.builds(_some_row, st.sampled_from([f"c{n}" for n in range(12)]), st.integers(1, 60), cut_lists), max_size=15
)
slots = st.integers(min_value=1, max_value=250)
on_misses = st.sampled_from(["skip", "stop"])
truncates = st.sampled_from(["floor", "never"])
limits = st.none() | st.integers(min_value=1, max_value=6)
kind_sets = st.sets(st.sampled_from(BOUNDARY_KINDS)).map(tuple)


@untimed
@given(hit_lists, slots, on_misses, truncates, limits, kind_sets)
@example(rows(*[1] * 999, 2, 1, 1), 1_003, "skip", "floor", None, CUT_KINDS)
@example(rows(*[1] * 1_005), 1_006, "skip", "floor", None, CUT_KINDS)
@example(rows(*[1] * 1_005), 1_007, "stop", "floor", None, CUT_KINDS)
def test_pack_is_what_the_rules_say(
    hits: list[Row], slot: int, on_miss: str, truncate: str, max_chunks: int | None, kinds: tuple[str, ...]
) -> None:
    """Blocks, costs, cuts and every figure of the log are those of the model."""
    hits = [cuttable(0) | hit for hit in hits]
    packed = pack(
        hits, slot, encoding="o200k_base", max_chunks=max_chunks, on_miss=on_miss, truncate=truncate,
        boundary_kinds=kinds,
    )  # fmt: skip
    expected = _model(hits, slot, on_miss, truncate, max_chunks, kinds)
    blocks = [(block.rank, block.tokens, block.shown_chars) for block in packed.blocks]
    assert {"blocks": blocks} | {name: packed.log.as_dict()[name] for name in expected if name != "blocks"} == expected


@untimed
@given(hit_lists, slots, on_misses, truncates, limits)
def test_slot_is_never_exceeded_but_by_the_floor(
    hits: list[Row], slot: int, on_miss: str, truncate: str, max_chunks: int | None
) -> None:
    """More than the slot is used only by rank 1, whole and alone."""
    packed = pack(hits, slot, encoding="o200k_base", max_chunks=max_chunks, on_miss=on_miss, truncate=truncate)
    alone = packed.log.floor_over_slot and [block.rank for block in packed.blocks] == [1]
    assert packed.used_tokens <= slot or (alone and packed.blocks[0].shown_chars is None)


@untimed
@given(hit_lists, slots, on_misses, truncates, limits)
def test_every_hit_is_accounted_for(
    hits: list[Row], slot: int, on_miss: str, truncate: str, max_chunks: int | None
) -> None:
    """Offered hits are packed, skipped, duplicates or not reached; the sums of the log are those of the blocks."""
    packed = pack(hits, slot, encoding="o200k_base", max_chunks=max_chunks, on_miss=on_miss, truncate=truncate)
    log = packed.log
    assert log.packed + log.skipped_for_size + log.duplicates + log.not_reached == log.offered == len(hits)
    assert (log.blocks, log.used) == (len(packed.blocks), sum(block.tokens for block in packed.blocks))
    assert len({block.chunk_id for block in packed.blocks}) == len(packed.blocks)


@untimed
@given(hit_lists, slots)
def test_packing_what_was_packed_changes_nothing(hits: list[Row], slot: int) -> None:
    """The packed hits alone, offered again, are packed again."""
    packed = pack(hits, slot, encoding="o200k_base")
    again = pack([block.row for block in packed.blocks], slot, encoding="o200k_base")
    assert [block.tokens for block in again.blocks] == [block.tokens for block in packed.blocks]


def _names(tokens: list[int], slot: int, **options: object) -> list[str]:
    packed = pack(rows(*tokens), slot, encoding="o200k_base", **options)  # type: ignore[arg-type]
    return [block.chunk_id for block in packed.blocks]


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


def test_duplicates_are_not_paid_again() -> None:
    """A chunk_id that was seen before is counted as a duplicate, also where the first one was skipped."""
    hits = [row("c1", 50), row("c1", 50), row("c2", 60), row("c2", 60), row("c3", 10)]
    log = pack(hits, 100, encoding="o200k_base").log
    assert (log.used, log.packed, log.duplicates, log.skipped_for_size) == (60, 2, 2, 1)


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
    assert packed.blocks[0].shown_chars == 10


def test_rank_1_over_the_slot_is_cut_and_filling_goes_on() -> None:
    """The floor is cut at the last boundary that fits, of a kind that may be cut, and what is left is filled."""
    first = cuttable(500, (10, "section", 40), (20, "paragraph", 70), (25, "sentence", 80), (30, "paragraph", 120))
    packed = pack([first, row("c2", 60), row("c3", 30)], 100, encoding="o200k_base")
    assert [(block.chunk_id, block.tokens, block.shown_chars) for block in packed.blocks] == [
        ("c1", 70, 20),
        ("c3", 30, None),
    ]
    assert (packed.log.truncated, packed.log.floor_over_slot) == (1, True)


def test_boundary_kinds_say_where_to_cut() -> None:
    """Only boundaries of the kinds that were asked for are used."""
    first = cuttable(500, (10, "section", 40), (25, "sentence", 80))
    packed = pack([first], 100, encoding="o200k_base", boundary_kinds=["section", "sentence"])
    assert packed.blocks[0].shown_chars == 25


@pytest.mark.parametrize(
    ("cut", "options"),
    [((10, "section", 40), {"truncate": "never"}), ((10, "sentence", 40), {}), ((10, "section", 101), {})],
)
def test_rank_1_that_cannot_be_cut_goes_in_whole_and_alone(cut: tuple[int, str, int], options: dict[str, str]) -> None:
    """Without a cut that is allowed and fits, rank 1 is sent whole, and nothing else."""
    packed = pack([cuttable(500, cut), row("c2", 1)], 100, encoding="o200k_base", **options)  # type: ignore[arg-type]
    assert [(block.tokens, block.shown_chars) for block in packed.blocks] == [(500, None)]
    assert (packed.log.not_reached, packed.log.truncated, packed.log.space_left_because) == (1, 0, "full")


def test_rank_1_over_the_slot_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """The warning says that the chunking or the budget is at fault."""
    with caplog.at_level(logging.WARNING, logger="chunkledger.packer"):
        pack([cuttable(500, (10, "section", 40))], 100, encoding="o200k_base")
    assert [(record.name, record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "chunkledger.packer",
            "WARNING",
            "the chunk at rank 1 (chunk_id 'c1') takes 500 tokens, more than the whole slot of 100: a fault of the "
            "chunking or the budget; it goes in cut to 40 tokens",
        )
    ]


def test_rank_1_that_fills_the_slot_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """A chunk as large as the slot fits."""
    with caplog.at_level(logging.WARNING, logger="chunkledger.packer"):
        log = pack(rows(100), 100, encoding="o200k_base").log
    assert (log.floor_over_slot, caplog.records) == (False, [])


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
    ],
)
def test_option_that_cannot_be_is_named(options: dict[str, object], message: str) -> None:
    """A faulty option is refused, with its name, itself and what would work."""
    with pytest.raises(ValueError, match=message):
        pack([row()], **({"slot_tokens": 100, "encoding": "o200k_base"} | options))  # type: ignore[arg-type]


def test_text_is_not_needed() -> None:
    """Packing reads counts only."""
    hits = [row()]
    assert ("text" in hits[0], pack(hits, 100, encoding="o200k_base").used_tokens) == (False, 20)


def test_log_is_one_line_of_json(caplog: pytest.LogCaptureFixture) -> None:
    """Each packing is logged at INFO as its own record."""
    with caplog.at_level(logging.INFO, logger="chunkledger.packer"):
        log = pack(rows(50, 60, 40), 100, encoding="o200k_base").log
    (record,) = caplog.records
    assert (record.name, record.levelname, json.loads(record.getMessage())) == (
        "chunkledger.packer",
        "INFO",
        log.as_dict(),
    )
    assert "\n" not in record.getMessage()


def test_no_json_is_made_where_info_is_off(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that does not log packings does not pay for their lines."""
    monkeypatch.delattr(json, "dumps")
    with caplog.at_level(logging.WARNING, logger="chunkledger.packer"):
        pack(rows(50), 100, encoding="o200k_base")
    assert caplog.records == []


def test_log_is_plain_values() -> None:
    """The mapping holds ints, bools and strings only, also where the slot came from numpy."""
    log = pack([row(tokens=np.int32(20))], np.int64(100), encoding="o200k_base").log  # type: ignore[arg-type]
    assert {type(value) for value in log.as_dict().values()} == {int, bool, str}


def test_log_takes_fields_of_the_caller() -> None:
    """The caller's fields are put into the same mapping, after the log's own."""
    log = pack(rows(50), 100, encoding="o200k_base").log
    expected = [*log.as_dict().items(), ("query", "rates"), ("chunks_retrieved", 50)]
    assert list(log.as_dict(query="rates", chunks_retrieved=50).items()) == expected


def test_log_refuses_a_field_of_its_own_name() -> None:
    """A field of the caller never hides one of the log."""
    with pytest.raises(ValueError, match="the log has its own used, slot; give these fields other names"):
        pack(rows(50), 100, encoding="o200k_base").log.as_dict(used=3, slot=4, query="rates")


class _CountingRow(dict[str, object]):
    """A row that counts how often its columns are read."""

    reads = 0

    def get(self, name: str, default: object = None) -> object:
        """The value, and one more read."""
        type(self).reads += 1
        return super().get(name, default)


def test_work_is_linear_in_the_hits() -> None:
    """Twice the hits are twice the reads of columns."""
    reads = []
    for count in (500, 1_000):
        _CountingRow.reads = 0
        pack([_CountingRow(one) for one in rows(*[20] * count)], 10**9, encoding="o200k_base")
        reads.append(_CountingRow.reads)
    assert abs(reads[1] - 2 * reads[0]) <= 2
