"""Every law at once, held against the records of one document; and hostile texts at random."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import regex
from hypothesis import strategies as st

from chunkledger.counting.counter import Engine
from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.recount import count_mismatches, document_mismatches
from chunkledger.settings import Settings
from hostile import KINDS
from markdown_texts import document, markdown_texts, odd_texts

Row = dict[str, Any]

hostile_fragments = st.builds(
    lambda name, share: KINDS[name].make(max(2, KINDS[name].small * share // 4000)),
    st.sampled_from(sorted(KINDS)),
    st.integers(1, 200),
)
"""Short pieces of hostile documents: from a few bytes to a twentieth of their small size."""

hostile_texts = st.lists(
    st.tuples(
        st.one_of(hostile_fragments, hostile_fragments, markdown_texts, odd_texts),
        st.sampled_from(["", " ", "\n", "\n\n", "\n> ", "\n- ", "\n    ", "|", "`", "\r\n", "\r", "\u00a0\n"]),
    ),
    min_size=1,
    max_size=4,
).map(lambda parts: "".join(text + gap for text, gap in parts))
"""Hostile fragments, ordinary Markdown and mere syntax, joined in ways that change what each of them is."""

hostile_bytes = st.one_of(
    st.binary(max_size=200),
    st.lists(st.binary(max_size=6) | odd_texts.map(str.encode), max_size=12).map(b"".join),
    hostile_texts.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
    hostile_texts.map(lambda text: text.encode("utf-8")[:-1]),
)
"""File contents: bytes in no order, text with bytes thrown in, text with a byte order mark, text cut short."""


def mismatches(rows: list[Row]) -> list[str]:
    """What `verify` would find wrong with the records of a document, in words."""
    following: dict[str, Row | None] = {row["chunk_id"]: after for row, after in pairwise(rows)}
    if rows:
        following[rows[-1]["chunk_id"]] = None
    found = [*(document_mismatches(rows) if rows else ()), *count_mismatches(rows, following)]
    return [str(mismatch) for mismatch in found]


def checked_rows(text: str, settings: Settings, *, plain: bool = False, engine: Engine = "toktok") -> list[Row]:
    """The records of a document, after every law was held against them; all counts are recounted with tiktoken."""
    rows: list[Row] = chunk_batch([document(text, plain=plain)], settings, engine=engine).to_pylist()
    slices = [text[row["char_start"] : row["char_end"]] for row in rows]
    assert slices == [row["text"] for row in rows]
    lead = text[: rows[0]["char_start"]] if rows else text
    gaps = [row["gap_after"] for row in rows]
    parts = [row["text"][row["overlap_chars"] :] for row in rows]
    assert lead + "".join(part + gap for part, gap in zip(parts, gaps, strict=True)) == text
    assert "".join([lead, *gaps]).strip() == ""
    assert mismatches(rows) == []
    for row in rows:
        over = row["embed_tokens"] > settings.max_tokens
        assert ("over_max" in row["flags"]) == over
        if over:
            assert regex.findall(r"\X", row["text"]) == [row["text"]]
    return rows


def checked_bytes(raw: bytes, settings: Settings, *, plain: bool = False) -> list[Row]:
    """The same for the content of a file; nothing where it is no UTF-8, which the reader says with an offset."""
    try:
        text, _ = decoded(raw)
    except UndecodableError:
        return []
    return checked_rows(text, settings, plain=plain)
