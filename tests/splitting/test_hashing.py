"""What stands at a place decides, and nothing else does."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from chunkledger import Settings, chunk_text
from chunkledger.documents.batch import joined
from chunkledger.model import Format
from chunkledger.splitting import active, strengths
from chunkledger.splitting.hashing import text_hashes
from markdown_texts import document

WORDS = ["time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school"]


def test_hashes_are_of_the_text_of_their_document_alone() -> None:
    """Equal text has equal hashes wherever it stands, up to the last byte of a document, and other text has others."""
    bodies = [
        "",
        "The first line of all.\n",
        "Xy",
        "The first line of all.\nIt goes on.",
        "é",
        "The first line of all.\n",
    ]
    batch = joined([document(body) for body in bodies])
    alone = [joined([document(body)]) for body in bodies if body]
    numbers = np.array([number for number, body in enumerate(bodies) if body])
    together = text_hashes(batch, batch.starts[numbers], numbers)
    zero = np.zeros(1, np.int64)
    assert together.tolist() == [int(text_hashes(each, zero, zero)[0]) for each in alone]
    assert together[0] == together[-1]
    assert len(set(together.tolist())) == len(numbers) - 1


def test_hashes_are_spread() -> None:
    """Lines that differ in one letter have hashes all over the range."""
    text = "".join(f"- item {number:04} of the list\n" for number in range(4_000))
    batch = joined([document(text)])
    found = text_hashes(batch, batch.line_starts, np.zeros(len(batch.line_starts), np.int64))
    shares = np.bincount((found >> np.uint64(61)).astype(np.int64), minlength=8) / len(found)
    assert (abs(shares - 1 / 8) < 0.03).all()


UNIFORM: tuple[tuple[str, str, Format], ...] = (
    ("", "{} ", "plain"),
    ("", "- {}\n", "markdown"),
    ("| a | b |\n|---|---|\n", "| {} | x |\n", "markdown"),
    ("```\n", "call({})\n", "markdown"),
    ("", "2026-01-01 12:00:00 INFO {}\n", "plain"),
)
"""What stands at the top, one unit, and how it is read: sentences, items, rows and lines that are all alike."""


def test_an_edit_in_uniform_text_moves_few_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all cuts are alike an edit moves every one behind it, unless they cost differently by their text."""
    moved = _moved_cuts()
    monkeypatch.setattr(active, "LOCAL_PRICES", np.zeros_like(strengths.LOCAL_PRICES))
    assert 1.5 * moved < _moved_cuts()


def _moved_cuts() -> int:
    """Chunks that are new after edits in uniform texts, the same edits each time."""
    moved = 0
    for seed, (head, unit, format_name) in product(range(3), UNIFORM):
        choose = random.Random(seed)  # noqa: S311 (the same each time)
        sentences = [" ".join(choose.choices(WORDS, k=choose.randint(5, 30))).capitalize() + "." for _ in range(500)]
        before = _chunk_texts(head, unit, format_name, sentences)
        for place in range(20, 500, 60):
            edited = [*sentences[:place], "A new sentence was put in here.", *sentences[place:]]
            moved += len(_chunk_texts(head, unit, format_name, edited) - before)
    return moved


def _chunk_texts(head: str, unit: str, format_name: Format, sentences: list[str]) -> set[str]:
    settings = Settings(encoding="cl100k_base", max_tokens=256)
    text = head + "".join(map(unit.format, sentences))
    return {chunk.text for chunk in chunk_text(text, settings, format=format_name, doc_id="a")}
