"""Chunks of one document that follow each other make one block, and what that saves is used."""

from __future__ import annotations

import pytest

from chunkledger.packer import order, pack, render
from packer.builders import CountingRow, Row, cuttable, row, rows


def line(*texts: str, doc_id: str = "a.md", joined: int | None = 10) -> list[Row]:
    """Rows of a document that is these texts, a blank line between them; each text costs 10 and its frame 30."""
    made, start = [], 0
    for index, text in enumerate(texts):
        made.append(
            row(
                f"{doc_id}-{index}",
                40,
                doc_id=doc_id,
                chunk_index=index,
                char_start=start,
                char_end=start + len(text),
                text=text,
                gap_after="\n\n",
                overlap_chars=0,
                body_tokens=10,
                token_count=9,
                joined_tokens=joined,
                heading_path=[f"Section {index}"],
                context="",
            )
        )
        start += len(text) + 2
    return made


def _runs(hits: list[Row], slot: int = 1_000, **options: object) -> list[list[str]]:
    packed = pack(hits, slot, encoding="o200k_base", **options)  # type: ignore[arg-type]
    return [[chunk.chunk_id for chunk in block.chunks] for block in packed.blocks]


def test_neighbours_make_one_block() -> None:
    """The first one's header, the texts with the gap between them, one closing; whichever ranks better."""
    one, two, three = line("One.", "Two.", "Three.")
    packed = pack([three, one, two], 1_000, encoding="o200k_base")
    assert render(packed) == '<chunk n="1" source="a.md" section="Section 0">\nOne.\n\nTwo.\n\nThree.\n</chunk>\n'
    assert (packed.used_tokens, packed.log.merged, packed.log.blocks) == (30 + 10 + 10 + 10, 2, 1)
    assert packed.citations() == {1: [("a.md-0", "a.md", 0, 4), ("a.md-1", "a.md", 6, 10), ("a.md-2", "a.md", 12, 18)]}


def test_shared_text_is_shown_once() -> None:
    """Where the second chunk repeats the end of the first, its overlap is left out."""
    one, two = line("One. Two.", "Two. Three.")
    two |= {"char_start": 5, "char_end": 16, "overlap_chars": 4 + 2}
    two["text"] = "Two.\n\nThree."
    two["char_end"] = 5 + len(two["text"])
    assert render(pack([one, two], 1_000, encoding="o200k_base")) == (
        '<chunk n="1" source="a.md" section="Section 0">\nOne. Two.\n\nThree.\n</chunk>\n'
    )


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"joined_tokens": None}),
        (0, {"joined_tokens": float("nan")}),
        (0, {"body_tokens": None}),
        (1, {"body_tokens": None}),
        (0, {"char_end": None}),
        (1, {"char_start": None}),
        (0, {"gap_after": "\n"}),
        (0, {"gap_after": None}),
        (1, {"overlap_chars": 1}),
        (1, {"chunk_index": 2}),
        (1, {"chunk_index": None}),
        (1, {"doc_id": "b.md"}),
        (1, {"role": "parent"}),
        (1, {"context": "| a |"}),
        (0, {"context": None}),
        (1, {"doc_sha256": "other version"}),
        (1, {"settings_sha256": "other limits"}),
    ],
)
def test_chunks_whose_seam_is_not_proven_stay_apart(place: int, change: Row) -> None:
    """Without every count and offset that proves the seam, each chunk is a block of its own, at its own cost."""
    hits = line("One.", "Two.")
    hits[place] |= change
    packed = pack(hits, 1_000, encoding="o200k_base")
    assert (len(packed.blocks), packed.used_tokens, packed.log.merged) == (2, 80, 0)


def test_equal_contexts_are_merged() -> None:
    """Two pieces of one table have the same header lines as context, which the block shows once."""
    hits = line("| 1 |", "| 2 |")
    for hit in hits:
        hit["context"] = "| a |\n|---|"
    assert render(pack(hits, 1_000, encoding="o200k_base")) == (
        '<chunk n="1" source="a.md" section="Section 0">\n| a |\n|---|\n| 1 |\n\n| 2 |\n</chunk>\n'
    )


def test_cut_chunk_is_not_merged() -> None:
    """What is cut ends in the marker, so nothing can follow in its block."""
    hits = line("One.", "Two.")
    hits[0] |= {"boundary_chars": [2], "boundary_kinds": ["section"], "boundary_rendered_tokens": [35]}
    hits[0]["rendered_tokens"] = 100
    assert _runs(hits, 80) == [["a.md-0"], ["a.md-1"]]


def test_merging_can_be_turned_off() -> None:
    """With merge=False each chunk is a block."""
    assert _runs(line("One.", "Two."), merge=False) == [["a.md-0"], ["a.md-1"]]


def test_saved_tokens_are_used_for_further_chunks() -> None:
    """Two neighbours cost 50 instead of 80, so a third chunk fits that would not have."""
    hits = [*line("One.", "Two."), row("c", 40, doc_id="b.md")]
    assert _runs(hits, 90) == [["a.md-0", "a.md-1"], ["c"]]
    assert _runs(hits, 90, merge=False) == [["a.md-0"], ["a.md-1"]]


def test_neighbour_that_fits_only_merged_goes_in() -> None:
    """What a hit costs is what the prompt grows by: 10 tokens here, not 40."""
    assert _runs(line("One.", "Two."), 50) == [["a.md-0", "a.md-1"]]


def test_skipped_hit_goes_in_when_its_neighbour_has() -> None:
    """A hit that was too large on its own is tried again where a neighbour makes it cheaper."""
    one, two, three = line("One.", "Two.", "Three.")
    two |= {"body_tokens": 25, "rendered_tokens": 55, "joined_tokens": 25}
    hits = [row("c", 50, doc_id="b.md"), two, three]
    packed = pack(hits, 100, encoding="o200k_base")
    assert [[chunk.chunk_id for chunk in block.chunks] for block in packed.blocks] == [["c"], ["a.md-2"]]
    packed = pack(hits, 115, encoding="o200k_base")
    assert _runs(hits, 115) == [["c"], ["a.md-1", "a.md-2"]]
    assert (packed.log.skipped_for_size, packed.used_tokens) == (0, 115)
    assert one["chunk_id"] not in packed.chunk_ids


def test_joining_two_blocks_makes_room_for_what_was_skipped() -> None:
    """A small chunk between two packed ones saves a header; what did not fit before it is tried again, best first."""
    hits = line("One.", "Two.", "Three.")
    hits[1] |= {"body_tokens": 1, "rendered_tokens": 31, "joined_tokens": 1}
    ranked = [hits[0], hits[2], row("c", 25, doc_id="b.md"), row("d", 24, doc_id="c.md"), hits[1]]
    packed = pack(ranked, 100, encoding="o200k_base")
    assert packed.chunk_ids == ["a.md-0", "a.md-1", "a.md-2", "c", "d"]
    assert (packed.used_tokens, packed.log.merged) == (30 + 10 + 1 + 10 + 25 + 24, 2)


def test_block_has_the_best_rank_of_its_chunks() -> None:
    """A block stands where its best-ranked chunk does."""
    one, two = line("One.", "Two.")
    hits = [row("c", 40, doc_id="b.md"), two, row("d", 40, doc_id="c.md"), one]
    packed = pack(hits, 1_000, encoding="o200k_base")
    assert [(block.rank, block.tokens) for block in packed.blocks] == [(1, 40), (2, 50), (3, 40)]
    assert [block.rank for block in order(packed, "edges").blocks] == [1, 3, 2]


def test_two_rows_at_one_place_do_not_merge_twice() -> None:
    """Rows of two versions of a document share a place; only the better-ranked one has neighbours."""
    one, two = line("One.", "Two.")
    other = two | {"chunk_id": "old", "char_end": two["char_end"] + 1}
    packed = pack([one, two, other], 1_000, encoding="o200k_base", duplicates="chunk")
    assert packed.used_tokens == sum(block.tokens for block in packed.blocks)
    assert packed.log.packed + packed.log.duplicates == 3


def test_limit_that_keeps_a_skipped_hit_out_is_the_reason() -> None:
    """What was skipped would fit now that its neighbours are one block, but no more chunks are allowed."""
    one, two, three = line("One.", "Two.", "Three.")
    two |= {"body_tokens": 1, "rendered_tokens": 31, "joined_tokens": 1}
    log = pack([one, three, row("c", 40, doc_id="b.md"), two], 90, encoding="o200k_base", max_chunks=3).log
    assert (log.packed, log.skipped_for_size, log.not_reached, log.used) == (3, 1, 0, 51)
    assert log.space_left_because == "nothing_fits"
    log = pack([one, three, row("c", 39, doc_id="b.md"), two], 90, encoding="o200k_base", max_chunks=3).log
    assert log.space_left_because == "max_chunks"


def test_joined_tokens_that_cannot_be_are_named() -> None:
    """A text does not take half of its tokens where another one follows."""
    one, two = line("One.", "Two.")
    one["joined_tokens"] = 4
    with pytest.raises(ValueError, match=r"rank 1 .*joined_tokens is 4 and body_tokens, of the same text, 10; they co"):
        pack([one, two], 1_000, encoding="o200k_base")


def test_max_chunks_counts_chunks_not_blocks() -> None:
    """The K that evaluation chose is a number of chunks."""
    assert _runs(line("One.", "Two.", "Three."), max_chunks=2) == [["a.md-0", "a.md-1"]]


def test_merged_blocks_need_no_text() -> None:
    """Membership and cost are decided without a text."""
    hits = line("One.", "Two.")
    for hit in hits:
        del hit["text"]
    assert pack(hits, 1_000, encoding="o200k_base").used_tokens == 50


def test_work_is_linear_where_everything_is_merged() -> None:
    """Twice the chunks of one document, in reverse, are twice the reads of their gaps."""
    reads = []
    for count in (300, 600):
        hits = [CountingRow(hit) for hit in reversed(line(*["Text."] * count))]
        CountingRow.reads = 0
        packed = pack(hits, 10**6, encoding="o200k_base", duplicates="chunk")
        assert len(packed.blocks) == 1
        reads.append(CountingRow.reads)
    assert reads[1] < 2.1 * reads[0]


def test_work_is_linear_where_blocks_are_joined_again_and_again() -> None:
    """Chunks that join two blocks leave more room each time, and not every skipped hit is looked at for it."""
    reads = []
    for count in (200, 400):
        hits = line(*["Text."] * count)
        for hit in hits[1::2]:
            hit |= {"body_tokens": 1, "token_count": 1, "rendered_tokens": 31, "joined_tokens": 1}
        large = [row(f"large{n}", 1_000_000, doc_id=f"{n}.md") for n in range(count)]
        CountingRow.reads = 0
        ranked = [*map(CountingRow, hits[::2]), *map(CountingRow, large), *map(CountingRow, hits[1::2])]
        packed = pack(ranked, 40 * count, encoding="o200k_base", duplicates="chunk")
        assert (packed.log.merged, packed.log.skipped_for_size) == (count - 1, count)
        reads.append(CountingRow.reads)
    assert reads[1] < 2.2 * reads[0]


def test_numbers_are_counted_anew_where_blocks_are_joined() -> None:
    """A chunk that makes one block of the 1,000th and another one gives the token of its number back."""
    one, two, three = line("One.", "Two.", "Three.")
    two |= {"body_tokens": 1, "rendered_tokens": 31, "joined_tokens": 1}
    others = [row(f"c{n}", 20, doc_id=f"{n}.md") for n in range(999)]
    packed = pack([*others, one, three, two], 10**6, encoding="o200k_base")
    assert (len(packed.blocks), packed.used_tokens) == (1_000, 999 * 20 + 30 + 10 + 1 + 10 + 1)
    assert packed.used_tokens == sum(block.tokens for block in packed.blocks)


def test_skipped_hit_fits_when_numbers_get_shorter() -> None:
    """Where joining brings the next block's number back to three digits, what lacked that one token goes in."""
    chain = line(*["Text."] * 7)
    for joint in chain[1::2]:
        joint |= {"body_tokens": 29, "token_count": 29, "rendered_tokens": 59, "joined_tokens": 29}  # saves one token
    others = [row(f"c{n}", 20, doc_id=f"{n}.md") for n in range(997)]
    left = 10
    large = row("large", left + 5, doc_id="z.md")  # two tokens more, two more, one more: exactly so many in the end
    slot = 997 * 20 + 4 * 40 + 2 + left
    packed = pack([*others, *chain[::2], large, *chain[1::2]], slot, encoding="o200k_base", duplicates="chunk")
    assert (packed.log.skipped_for_size, packed.used_tokens, len(packed.blocks)) == (0, slot, 999)


def test_chunk_that_replaces_another_gives_skipped_ones_a_turn() -> None:
    """What the replaced chunk was joined to costs a block now, which a skipped chunk that holds it saves."""

    def chunk(index: int, start: int, end: int, rendered: int, body: int, joined: int | None) -> Row:
        columns = {"chunk_index": index, "char_start": start, "char_end": end, "gap_after": "\n", "context": ""}
        return row(f"{index}", rendered, body_tokens=body, joined_tokens=joined, **columns)

    hits = [chunk(1, 4, 7, 16, 1, 2), chunk(5, 17, 22, 26, 20, 20), chunk(8, 31, 36, 31, 1, 10)]
    hits += [chunk(9, 37, 41, 33, 3, 12)]
    first = chunk(0, 15, 36, 61, 31, None) | {"chunk_id": "first parent", "role": "parent"}
    second = chunk(2, 37, 45, 12, 6, None) | {"chunk_id": "second parent", "role": "parent"}
    packed = pack([*hits, first, second], 93, encoding="o200k_base")
    assert (packed.chunk_ids, packed.used_tokens) == (["1", "first parent", "second parent"], 89)


def test_estimated_and_exact_rows_do_not_share_a_block() -> None:
    """A block is counted for one template."""
    one, two = line("One.", "Two.")
    two["template"] = "markdown/1"
    packed = pack([one, two], 1_000, encoding="o200k_base", template="xml/1", overhead_tokens=5)
    assert (len(packed.blocks), packed.used_tokens) == (2, 40 + 9 + 5)


def test_cut_needs_no_neighbours() -> None:
    """A row without any of the columns of merging is cut as before."""
    packed = pack([cuttable(500, (10, "section", 40)), *rows(20)[:0]], 100, encoding="o200k_base")
    assert packed.blocks[0].truncated
