"""`used_tokens` is what tiktoken counts in the rendered prompt, for chunks that ingest made of texts of every kind."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.packer import BOUNDARY_KINDS, ORDERS, block_text, order, pack, render
from chunkledger.records.chunk_batch import chunk_batch
from laws import hostile_texts
from markdown_texts import document, markdown_texts, odd_texts
from packer.builders import SAMPLES
from recounting import tokens

Row = dict[str, Any]

ENCODINGS = ("cl100k_base", "o200k_base", "o200k_harmony")

texts = st.one_of(
    markdown_texts,
    markdown_texts,
    hostile_texts,
    odd_texts,
    st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=8).map("\n\n".join),
    st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=8).map("\n".join),
)
settings_made = st.builds(
    Settings,
    encoding=st.sampled_from(ENCODINGS),
    max_tokens=st.sampled_from([16, 24, 40, 80, 200]),
    min_tokens=st.just(1),
    overlap_tokens=st.sampled_from([0, 0, 0, 7]),
    template=st.sampled_from(["xml/1", "markdown/1"]),
    split_headings=st.sampled_from([0, 6]),
)


def _rows(documents: list[str], made: Settings) -> list[Row]:
    named = [replace(document(text), doc_id=f"d{number}/página.md") for number, text in enumerate(documents)]
    rows: list[Row] = chunk_batch(named, made).to_pylist()
    return rows


@settings(max_examples=400)
@given(st.lists(texts, min_size=1, max_size=3), settings_made, st.randoms(use_true_random=False), st.data())
def test_used_tokens_are_those_of_the_prompt(
    documents: list[str], made: Settings, choose: random.Random, data: st.DataObject
) -> None:
    """However hits rank, whatever is skipped, cut, merged and reordered, the cached counts are those of the prompt."""
    hits = _rows(documents, made)
    near = data.draw(st.booleans())
    if not near:
        choose.shuffle(hits)
    slot = data.draw(st.integers(1, max(1, sum(hit["rendered_tokens"] for hit in hits))))
    packed = pack(
        hits,
        slot,
        encoding=made.encoding,
        truncate=data.draw(st.sampled_from(["floor", "any", "never"])),
        boundary_kinds=BOUNDARY_KINDS,
        merge=data.draw(st.sampled_from([True, True, True, False])),
        max_chunks=data.draw(st.none() | st.integers(1, 8)),
    )
    for how in ORDERS:
        ordered = order(packed, how)
        assert (ordered.used_tokens, sorted(ordered.chunk_ids)) == (packed.used_tokens, sorted(packed.chunk_ids))
        assert ordered.used_tokens == tokens(render(ordered), made.encoding)
    assert packed.used_tokens <= slot or (len(packed.chunk_ids) == 1 and not packed.blocks[0].truncated)


@settings(max_examples=150)
@given(texts, settings_made)
def test_neighbours_give_the_document_back(text: str, made: Settings) -> None:
    """A block of neighbours shows the slice of the document, what they share once, and costs what the formula says."""
    named = replace(document(text), doc_id="a.md")
    hits: list[Row] = chunk_batch([named], made).to_pylist()
    packed = pack(hits, 10**6, encoding=made.encoding, duplicates="chunk")
    by_id = {hit["chunk_id"]: hit for hit in hits}
    for block in packed.blocks:
        rows = [by_id[chunk.chunk_id] for chunk in block.chunks]
        assert block_text(block) == text[rows[0]["char_start"] : rows[-1]["char_end"]]
        joined = sum(row["joined_tokens"] for row in rows[:-1])
        first, last = rows[0], rows[-1]
        assert block.tokens == first["rendered_tokens"] - first["body_tokens"] + joined + last["body_tokens"]
    assert packed.citations() == {
        number: [
            (chunk.chunk_id, "a.md", by_id[chunk.chunk_id]["char_start"], by_id[chunk.chunk_id]["char_end"])
            for chunk in block.chunks
        ]
        for number, block in enumerate(packed.blocks, 1)
    }
