"""Paragraphs that fit are cut at sentence ends only where that saves a chunk, each stretch by itself."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from chunkledger.documents.batch import joined
from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings
from chunkledger.splitting import reopened
from chunkledger.splitting.pieces import Piece, Pieces
from ledgers import prose
from markdown_texts import all_settings, document, texts
from recounting import tokens

many = hypothesis_settings(max_examples=60)
SETTINGS = Settings(encoding="cl100k_base", max_tokens=200, heading_context=False)


def chunk_texts(text: str, settings: Settings = SETTINGS) -> list[str]:
    """The chunks of one document."""
    found: list[str] = chunk_batch([document(text)], settings).column("text").to_pylist()
    return found


def without_reopening(text: str, settings: Settings = SETTINGS) -> list[str]:
    """The same where only structure is cut."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reopened, "LEAST_LIMIT", 10**9)
        return chunk_texts(text, settings)


def test_long_paragraphs_are_cut_where_that_saves_chunks() -> None:
    """Of nine paragraphs of two thirds of a chunk each, two chunks at least are saved; every cut ends a sentence."""
    text = "\n\n".join(prose(10, f"w{number}") for number in range(9))
    assert 110 < tokens(prose(10, "w1"), "cl100k_base") < 160
    before, after = without_reopening(text), chunk_texts(text)
    assert len(before) == 9
    assert len(after) <= 7
    assert all(chunk.endswith(".") for chunk in after)
    assert " ".join(" ".join(after).split()) == " ".join(text.split())


def test_full_chunks_are_left_alone() -> None:
    """Where structure alone wastes little, no paragraph is cut."""
    text = "\n\n".join(prose(3, f"w{number}") for number in range(40))
    assert chunk_texts(text) == without_reopening(text)


def test_lists_code_and_short_paragraphs_stay_whole() -> None:
    """Only long paragraphs outside of lists and quotes are cut."""
    item = f"- {prose(10, 'item')}\n"
    code = "```\n" + "".join(f"line_{number} = {number}\n" for number in range(18)) + "```\n"
    text = "\n\n".join([item, code, f"> {prose(10, 'quoted')}"] * 4)
    assert chunk_texts(text) == without_reopening(text)


@many
@given(texts, all_settings())
def test_never_more_chunks_and_the_same_in_company(text: str, settings: Settings) -> None:
    """Reopening only ever saves chunks, and what it does to a document depends on that document alone."""
    wide = replace(settings, max_tokens=max(64, settings.max_tokens), target_tokens=None)
    alone = chunk_texts(text, wide)
    assert len(alone) <= len(without_reopening(text, wide))
    other = "\n\n".join(prose(20, f"w{number}") for number in range(9))
    named = [replace(document(body), doc_id=f"{number}.md") for number, body in enumerate((other, text, other))]
    rows = chunk_batch(named, wide).to_pylist()
    assert [row["text"] for row in rows if row["doc_id"] == "1.md"] == alone


def long_prose(seed: int) -> str:
    """Sixty paragraphs of random words, most of them over a limit of a hundred tokens."""
    choose = random.Random(seed)  # noqa: S311 (the same each time)
    words = ["time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school"]

    def sentence() -> str:
        return " ".join(choose.choice(words) for _ in range(choose.randint(5, 30))).capitalize() + "."

    return "\n\n".join(" ".join(sentence() for _ in range(choose.choice([3, 5, 8, 12, 20, 26, 34]))) for _ in range(60))


@pytest.mark.parametrize("limit", [100, 128])
def test_stretches_that_meet_in_a_paragraph_lose_nothing(limit: int) -> None:
    """Regression: where a paragraph over the limit reached into a stretch that is not looked at, sentences were lost.

    Then some documents were also cut otherwise in company than alone.
    """
    settings = replace(SETTINGS, max_tokens=limit)
    named = [Document(f"{seed:02}.txt", long_prose(seed), "0" * 64, "plain") for seed in range(24)]
    rows = chunk_batch(named, settings).to_pylist()
    assert [row["gap_after"] for row in rows if row["gap_after"].strip()] == []
    for each in named:
        of_each = [row for row in rows if row["doc_id"] == each.doc_id]
        assert "".join(row["text"] + row["gap_after"] for row in of_each) == each.text
        assert of_each == chunk_batch([each], settings).to_pylist()


def test_an_edit_moves_the_cuts_of_its_stretch_alone() -> None:
    """Regression: one more sentence could move every cut of a document of plain paragraphs."""
    paragraphs = [prose(6 + number * 7 % 6, f"w{number}") for number in range(120)]
    before = chunk_texts("\n\n".join(paragraphs))
    assert len(before) < len(without_reopening("\n\n".join(paragraphs)))
    for place in range(0, 120, 10):
        edited = list(paragraphs)
        edited[place] += " One more sentence was put here."
        after = chunk_texts("\n\n".join(edited))
        assert len(set(after) - set(before)) <= len(before) // 3


def test_borders_are_chosen_by_the_text_of_their_document_alone() -> None:
    """Regression: near the end of a document, the text of the one behind it took part in the choice."""
    bodies = [f"First {number}.\n\nLast {number}." for number in range(400)]

    def borders(several: Sequence[str], first: int) -> list[tuple[int, int]]:
        batch = joined([document(body) for body in several])
        cuts = [
            Piece(int(start) + own, int(start) + end, int(start) + own, False, number)
            for number, (start, body) in enumerate(zip(batch.starts, several, strict=False))
            for own, end in ((0, body.index("Last")), (body.index("Last"), len(body)))
        ]
        chosen = reopened._borders(batch, Pieces.of(cuts))
        number = np.searchsorted(batch.starts, chosen, side="right") - 1
        return list(zip((number + first).tolist(), (chosen - batch.starts[number]).tolist(), strict=True))

    together = borders(bodies, 0)
    assert 400 < len(together) < 480
    assert together == [each for number, body in enumerate(bodies) for each in borders([body], number)]


def test_overlap_goes_on_over_the_border_of_a_stretch() -> None:
    """Borders are a matter of the search: where one lies, a chunk repeats what it repeated before."""
    pieces = Pieces.of([Piece(0, 50, 0, False, 0), Piece(50, 90, 40, True, 0), Piece(90, 120, 90, False, 0)])
    best = Pieces.of([Piece(0, 30, 0, False, 0), Piece(30, 50, 30, True, 0), Piece(50, 120, 50, False, 0)])
    found = reopened._with_overlaps_of(pieces, best, np.array([0, 50]))
    assert (found.start.tolist(), found.loose.tolist()) == ([0, 30, 40], [False, True, True])
    assert found.own_start.tolist() == best.own_start.tolist()


@pytest.mark.parametrize("blank", ["\u3000\n", "\u3000" * 200 + "\n"])
def test_blank_paragraphs_belong_to_no_stretch(blank: str) -> None:
    """Regression: a line of wide blanks at the top lies before the first stretch, or in that of the document before."""
    named = [
        Document(f"{number}.md", body, "0" * 64, "markdown")
        for number, body in enumerate((f"{blank}        code\n\n# rate\n\ntext\n", blank, long_prose(1), blank))
    ]
    for limit in (64, 200):
        settings = replace(SETTINGS, max_tokens=limit)
        rows = chunk_batch(named, settings).to_pylist()
        assert rows == [row for each in named for row in chunk_batch([each], settings).to_pylist()]
