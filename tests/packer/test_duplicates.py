"""What is shown already is not paid twice."""

from __future__ import annotations

import pytest

from chunkledger.packer import Packed, pack
from packer.builders import Row, row


def _span(chunk_id: str, start: int, end: int, tokens: int = 20, **columns: object) -> Row:
    return row(chunk_id, tokens, char_start=start, char_end=end, **columns)


def _packed(hits: list[Row], slot: int = 1_000, **options: object) -> Packed:
    return pack(hits, slot, encoding="o200k_base", **options)  # type: ignore[arg-type]


def test_same_chunk_is_packed_once() -> None:
    """A chunk_id that was seen before is a duplicate, also where the first one was skipped."""
    log = _packed([row("c1", 50), row("c1", 50), row("c2", 60), row("c2", 60), row("c3", 10)], 100).log
    assert (log.used, log.packed, log.duplicates, log.skipped_for_size) == (60, 2, 2, 1)


def test_chunk_within_a_packed_one_is_a_duplicate() -> None:
    """A child whose parent is packed adds nothing."""
    packed = _packed([_span("parent", 0, 100), _span("child", 40, 60), _span("other", 40, 60, doc_id="b.md")])
    assert (packed.chunk_ids, packed.log.duplicates) == (["parent", "other"], 1)


def test_chunk_that_several_packed_ones_show_is_a_duplicate() -> None:
    """What the packed chunks show together counts, with the blank space between them."""
    hits = [_span("one", 0, 48, gap_after="\n\n"), _span("two", 50, 100), _span("across", 30, 70)]
    assert _packed(hits).chunk_ids == ["one", "two"]


def test_chunk_that_is_shown_in_part_is_packed() -> None:
    """One code point that is not shown yet makes the difference."""
    hits = [_span("one", 0, 48, gap_after="\n"), _span("two", 50, 100), _span("across", 30, 70)]
    assert _packed(hits).chunk_ids == ["one", "two", "across"]


def test_larger_chunk_takes_the_place_of_those_it_holds() -> None:
    """A parent below its child in the ranking replaces it, for the difference of their costs, at the better rank."""
    hits = [_span("child", 40, 60, 30), row("c", 20, doc_id="b.md"), _span("parent", 0, 100, 80)]
    packed = _packed(hits, 100)
    assert (packed.chunk_ids, packed.used_tokens) == (["parent", "c"], 100)
    assert [block.rank for block in packed.blocks] == [1, 2]
    assert (packed.log.packed, packed.log.duplicates) == (2, 1)


def test_larger_chunk_that_does_not_fit_replaces_nothing() -> None:
    """Where the difference is too much, the smaller chunk stays."""
    hits = [_span("child", 40, 60, 30), row("c", 20, doc_id="b.md"), _span("parent", 0, 100, 81)]
    packed = _packed(hits, 100)
    assert (packed.chunk_ids, packed.used_tokens, packed.log.skipped_for_size) == (["child", "c"], 50, 1)


def test_cut_chunk_shows_what_is_before_the_cut() -> None:
    """Of a cut chunk only the part that is shown counts, and no larger chunk takes its place."""
    cut = {"boundary_chars": [30], "boundary_kinds": ["section"], "boundary_rendered_tokens": [40]}
    first = _span("first", 0, 100, 500, **cut)
    hits = [first, _span("before", 10, 20), _span("behind", 40, 60, 30)]
    packed = _packed(hits, 100)
    assert (packed.chunk_ids, packed.log.duplicates) == (["first", "behind"], 1)
    assert _packed([first, _span("over", 0, 70, 30)], 100).chunk_ids == ["first", "over"]


SAME = {"text": "Ten days.", "heading_path": ["Leave"], "context": ""}


def test_equal_text_of_another_document_is_a_duplicate() -> None:
    """A copied document is not paid twice."""
    packed = _packed([row("c1", doc_id="a.md", **SAME), row("c2", doc_id="copy.md", **SAME)])
    assert (packed.chunk_ids, packed.log.duplicates) == (["c1"], 1)


@pytest.mark.parametrize(
    "change", [{"text": "Ten weeks"}, {"heading_path": ["Notice"]}, {"context": "| a |"}, {"text": None}, {"text": ""}]
)
def test_text_that_says_something_else_is_no_duplicate(change: Row) -> None:
    """Equal text under another heading, or below another table header, is another fact."""
    assert _packed([row("c1", **SAME), row("c2", doc_id="b.md", **(SAME | change))]).chunk_ids == ["c1", "c2"]


def test_equal_texts_may_be_kept() -> None:
    """With duplicates="chunk" the same clause of two documents is packed twice."""
    hits = [row("c1", doc_id="a.md", **SAME), row("c2", doc_id="b.md", **SAME)]
    assert _packed(hits, duplicates="chunk").chunk_ids == ["c1", "c2"]


def test_texts_that_differ_in_the_middle_are_not_equal() -> None:
    """Texts are compared as a whole, not by their ends."""
    texts = [f"{'a' * 100}{middle}{'b' * 100}" for middle in "xyx"]
    hits = [row(f"c{n}", doc_id=f"{n}.md", text=text) for n, text in enumerate(texts)]
    assert _packed(hits).chunk_ids == ["c0", "c1"]


def test_equal_text_of_a_cut_chunk_is_no_duplicate() -> None:
    """What was cut away is not shown."""
    cut = {"boundary_chars": [4], "boundary_kinds": ["section"], "boundary_rendered_tokens": [40]}
    assert _packed([row("c1", 500, **SAME, **cut), row("c2", 30, doc_id="b.md", **SAME)], 100).chunk_ids == ["c1", "c2"]


@pytest.mark.parametrize("shas", [("v1", "v2"), (None, "v2"), (["v1"], ["v2"])])
def test_span_of_another_version_is_another_text(shas: tuple[object, object]) -> None:
    """Two ledgers may have a README.md each, and a store half of an older version: their spans say nothing."""
    hits = [_span("c1", 0, 100, doc_sha256=shas[0]), _span("c2", 10, 90, doc_sha256=shas[1])]
    assert _packed(hits).chunk_ids == ["c1", "c2"]


def test_work_is_linear_in_texts_that_are_alike() -> None:
    """Texts of one length that begin and end alike, as records of a catalogue do, are compared once each."""

    class Counting(str):
        __slots__ = ()
        compared = 0

        def __eq__(self, other: object) -> bool:
            Counting.compared += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    compared = []
    for count in (200, 400):
        Counting.compared = 0
        texts = [
            Counting(f"{'Product record of Europe, ' * 3}{n:06d}{', see our terms of sale.' * 3}") for n in range(count)
        ]
        hits = [row(f"c{n}", doc_id=f"{n}.md", text=text) for n, text in enumerate(texts)]
        assert len(_packed(hits, 10**6).chunk_ids) == count
        compared.append(Counting.compared)
    assert compared[1] <= 2 * compared[0] + 10
