"""Parents: whole chunks put together, each chunk in exactly one of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkledger.model import IntArray
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.recount import count_mismatches, document_mismatches, parent_mismatches
from chunkledger.settings import Settings
from chunkledger.splitting import total_fit
from chunkledger.splitting.prices import Aim
from chunkledger.structure.graphemes import is_grapheme
from ledgers import prose
from markdown_texts import all_settings, document, texts

Row = dict[str, Any]
many = hypothesis_settings(max_examples=100)
OF_A_CHUNK = ("overlap_chars", "parent_id", "settings_sha256")


def by_role(text: str, settings: Settings) -> tuple[list[Row], list[Row]]:
    """The chunks and the parents of one document."""
    rows: list[Row] = chunk_batch([document(text)], settings).to_pylist()
    chunks, parents = ([row for row in rows if row["role"] == role] for role in ("chunk", "parent"))
    return chunks, parents


def _own_starts(rows: list[Row]) -> set[int]:
    return {row["char_start"] + row["overlap_chars"] for row in rows}


@many
@given(texts, all_settings(), st.integers(1, 4))
def test_parents_are_whole_chunks_and_lose_nothing(text: str, settings: Settings, times: int) -> None:
    """Parents tile the document, keep to their limit, and every count of theirs is that of its string."""
    limit = settings.max_tokens * times
    chunks, parents = by_role(text, replace(settings, parent_tokens=limit))
    lead = text[: parents[0]["char_start"]] if parents else text
    assert lead + "".join(row["text"] + row["gap_after"] for row in parents) == text
    assert [*document_mismatches(parents)] == [] if parents else chunks == []
    assert [*count_mismatches([*chunks, *parents], {}), *parent_mismatches(chunks, parents)] == []
    assert [*document_mismatches(chunks)] == [] if chunks else parents == []
    over = [row["text"] for row in chunks if row["embed_tokens"] > settings.max_tokens]
    assert [text for text in over if not is_grapheme(text)] == []
    for row in parents:
        held = [chunk for chunk in chunks if chunk["parent_id"] == row["chunk_id"]]
        assert held[0]["char_start"] == row["char_start"]
        assert held[-1]["char_end"] == row["char_end"]
        assert row["embed_tokens"] <= limit or len(held) == 1
        assert (row["flags"], row["flag_cause"], row["flag_detail"], row["parent_id"]) == ([], None, None, None)


@many
@given(texts, all_settings())
def test_parents_change_nothing_but_the_overlap_across_their_borders(text: str, settings: Settings) -> None:
    """Chunks are those that there are without parents, but for what they would repeat of another parent."""
    alone, _ = by_role(text, settings)
    chunks, _ = by_role(text, replace(settings, parent_tokens=settings.max_tokens * 2))
    if not _own_starts(chunks) <= _own_starts(alone):
        return  # a chunk that repeats less starts under a longer heading path, and may have to be cut for it
    assert len(chunks) == len(alone)
    for before, after in zip(alone, chunks, strict=True):
        assert before["text"].endswith(after["text"])
        if before["text"] == after["text"]:
            same = [name for name in before if name not in OF_A_CHUNK and not name.startswith(("chunk_id", "gap_"))]
            assert [before[name] for name in same if name != "joined_tokens"] == [
                after[name] for name in same if name != "joined_tokens"
            ]
    for _, group in groupby(chunks, key=lambda row: row["parent_id"]):
        assert next(group)["overlap_chars"] == 0


def test_parents_end_where_sections_do() -> None:
    """A parent is cut at a strong heading where that costs no parent more."""
    text = "".join(
        f"# Part {part}\n\n" + "".join(f"## Section {part}.{number}\n\n{prose(8)}\n\n" for number in range(3))
        for part in range(4)
    )
    _, parents = by_role(text, Settings(max_tokens=200, parent_tokens=330, split_headings=6))
    assert [row["heading_path"][0] for row in parents] == [f"Part {part}" for part in range(4)]
    assert all(row["text"].startswith("# Part") for row in parents)


def test_parents_do_not_depend_on_company() -> None:
    """A document's rows are the same alone and among others, chunks before parents."""
    bodies = [f"# {name}\n\n" + "\n\n".join(prose(6, name) for _ in range(9)) for name in "abc"]
    settings = Settings(max_tokens=100, parent_tokens=300, overlap_tokens=20)
    named = [replace(document(body), doc_id=f"{number}.md") for number, body in enumerate(bodies)]
    together = chunk_batch(named, settings).to_pylist()
    assert together == [row for each in named for row in chunk_batch([each], settings).to_pylist()]
    assert [role for role, _ in groupby(row["role"] for row in together)] == ["chunk", "parent"] * 3


@pytest.mark.parametrize(
    ("most", "overlap", "limit"), [(64, 40, 200), (24, 15, 72), (512, 300, 1500), (512, 256, 1500)]
)
def test_long_overlaps_go_forward_and_keep_to_the_limit(most: int, overlap: int, limit: int) -> None:
    """Regression: chunks behind one that lost its overlap reached back over it, and others grew over the limit."""
    settings = Settings(max_tokens=most, overlap_tokens=overlap, parent_tokens=limit)
    code = "".join(f"x{number} = {number}\n" for number in range(700))
    chapters = "".join(
        f"# Chapter {part}\n\nIntro.\n\n## {'A long title ' * 3}{part}\n\n{prose(30, f'c{part}')}\n\n"
        for part in range(9)
    )
    for text in ("漢字" * 400, code, f"```\n{code}```\n", chapters, prose(200)):
        chunks, parents = by_role(text, settings)
        assert [*document_mismatches(chunks), *document_mismatches(parents), *parent_mismatches(chunks, parents)] == []
        assert max(row["embed_tokens"] for row in chunks) <= most


def test_a_whole_document_may_be_the_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large parents may be, what fits whole is not compared pair by pair."""
    looked_at: list[int] = []
    costs = total_fit.chunk_costs

    def counted(size: IntArray, own: IntArray, aim: Aim) -> NDArray[np.float64]:
        looked_at.append(len(size))
        return costs(size, own, aim)

    monkeypatch.setattr(total_fit, "chunk_costs", counted)
    chunks, parents = by_role(prose(2_000), Settings(max_tokens=32, parent_tokens=10_000_000))
    assert (len(parents), parents[0]["text"]) == (1, prose(2_000))
    assert len(chunks) > 500
    assert sum(looked_at) < 1_000_000


@pytest.mark.parametrize("seed", range(12))
def test_parents_keep_their_limit_where_a_chunk_is_cut_again(seed: int) -> None:
    """Regression: a chunk that repeats nothing may start behind a longer prefix, and be cut again."""
    choose = random.Random(seed)  # noqa: S311 (the same each time)
    words = ["alpha", "beta", "|", "cat", "dog,", "v1.2", "x=y", ";", "naïve"]
    rows = "".join(f"| {' '.join(choose.choices(words, k=choose.randint(2, 24)))} |\n" for _ in range(40))
    settings = Settings(encoding="o200k_base", max_tokens=30, overlap_tokens=12, parent_tokens=33)
    chunks, parents = by_role(f"| some header | of the table |\n|---|---|\n{rows}", settings)
    held = Counter(row["parent_id"] for row in chunks)
    assert [row["embed_tokens"] for row in parents if row["embed_tokens"] > 33 and held[row["chunk_id"]] > 1] == []
    assert [*parent_mismatches(chunks, parents)] == []
