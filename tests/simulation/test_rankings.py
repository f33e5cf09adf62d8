"""Ranked lists: a seed's are the same everywhere, a log's are taken as it has them."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.errors import SettingsError
from chunkledger.packer import pack
from chunkledger.simulation.rankings import Logged, Seeded


def test_lists_of_a_seed_never_change() -> None:
    """They are these on every machine and in every version of Python; other ones would change every figure."""
    assert list(Seeded(3, 7).lists(1000, 6)) == GOLDEN
    assert list(Seeded(2, 0).lists(4, 40)) == SHORT


GOLDEN = [[218, 12, 147, 929, 21, 388], [896, 310, 799, 440, 218, 76], [724, 281, 271, 287, 963, 778]]
SHORT = [[3, 0, 2, 1], [0, 3, 1, 2]]


@given(st.integers(0, 2**70), st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_list_is_drawn_without_repeats(seed: int, chunks: int, k: int, more: int) -> None:
    """Each chunk at most once, all where there are no more; the list of a smaller K is the beginning."""
    short, long = (list(Seeded(4, seed).lists(chunks, each)) for each in (k, k + more))
    assert [len(set(each)) for each in short] == [min(k, chunks)] * 4
    assert {place for each in long for place in each} <= set(range(chunks))
    assert [each[:k] for each in long] == short
    assert list(Seeded(2, seed).lists(chunks, k)) == short[:2]


def test_every_chunk_is_as_likely_as_any_other() -> None:
    """At the first rank and at a later one; the bounds are five standard deviations."""
    lists = list(Seeded(20_000).lists(10, 3))
    for rank in (0, 2):
        counts = Counter(each[rank] for each in lists)
        assert sorted(counts) == list(range(10))
        assert all(abs(count - 2000) < 5 * 43 for count in counts.values())


@pytest.mark.parametrize(("requests", "seed"), [(0, 0), (1, -1), (True, 0), (1.5, 0)])
def test_numbers_that_cannot_be(requests: int, seed: int) -> None:
    """They are refused by name."""
    with pytest.raises(SettingsError, match=r"^(requests|seed) must be a whole number of at least [01], not "):
        Seeded(requests, seed)


def test_lines_of_a_log() -> None:
    """Bare lists, objects with ranked_ids or ids, prefixed and wrapped ones; ids are canonical, lists may be empty."""
    record = pack([], 100, encoding="o200k_base", emit=False).log.as_dict(ranked_ids=["a", "b"])
    lines = [
        '["A", " b "]',
        "",
        "[]",
        '{"ids": ["a"], "query": "why"}',
        '2026-03-01 INFO {"ranked_ids": ["a"]} (pack.py:12)',
        '[2026-03-01 12:00] {"ranked_ids": ["a", "c"], "ids": ["x"]}',
        json.dumps({"level": "info", "message": json.dumps(record)}),
        json.dumps({"level": "info", "ranked_ids": ["q"], "packing": {"slot": 1, "used": 1}}),
    ]
    log = Logged(lines)
    assert list(log.lists(None)) == [["a", "b"], [], ["a"], ["a"], ["a", "c"], ["a", "b"], ["q"]]
    assert log.left_out.lines == 0
    assert list(Logged(lines[:1]).lists(1)) == [["a"]]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("service started", "it holds neither a list nor an object of JSON"),
        ('{"slot": 1, "used": 1, "packed_ids": ["a"]}', "it has no ranked_ids, but: slot, used, packed_ids"),
        ('{"ranked_ids": "a"}', "its ranked_ids are no list"),
        ('{"ranked_ids": null}', "its ranked_ids are no list"),
        ("[1, 2]", "its ranked_ids are not all text"),
        ("[" * 100_000, "it holds neither a list nor an object of JSON"),
    ],
)
def test_lines_without_a_list(line: str, why: str) -> None:
    """They are counted and the first is named; what was packed is not taken for a ranking."""
    log = Logged([line, '["a"]', line])
    assert list(log.lists(None)) == [["a"]]
    assert (log.left_out.lines, log.left_out.first) == (2, f"line 1: {why}")


def test_log_without_any_list_says_what_to_log() -> None:
    """Whoever replays a log that has no rankings is told which field to log."""
    log = Logged(['{"slot": 1, "used": 1}'])
    with pytest.raises(SettingsError) as told:
        list(log.lists(None))
    assert str(told.value) == (
        "the log holds no ranked list (line 1: it has no ranked_ids, but: slot, used); log the ids of all hits with "
        'each request: pack(hits, …, log_fields={"ranked_ids": [the ids of all hits, in rank order]})'
    )
