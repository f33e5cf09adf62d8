"""The laws of every document, for reStructuredText, recounted with tiktoken."""

from __future__ import annotations

from typing import Any

import regex
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings
from laws import mismatches
from markdown_texts import all_settings
from recounting import block_by_hand, tokens
from rst_texts import rst_texts

Row = dict[str, Any]

many = hypothesis_settings(max_examples=100)


def rows_of(text: str, settings: Settings) -> list[Row]:
    """The records of one document."""
    rows: list[Row] = chunk_batch([Document("docs/a.rst", text, "0" * 64, "rst")], settings).to_pylist()
    return rows


@many
@given(rst_texts, all_settings())
def test_chunks_are_slices_that_give_the_document_back(text: str, settings: Settings) -> None:
    """Every text is the slice at its offsets, and leading blanks, texts without overlap and gaps are the document."""
    rows = rows_of(text, settings)
    assert [text[row["char_start"] : row["char_end"]] for row in rows] == [row["text"] for row in rows]
    lead = text[: rows[0]["char_start"]] if rows else text
    assert lead + "".join(row["text"][row["overlap_chars"] :] + row["gap_after"] for row in rows) == text
    assert [blank for blank in [lead, *(row["gap_after"] for row in rows)] if blank.strip()] == []


@many
@given(rst_texts, all_settings())
def test_every_count_is_that_of_its_string(text: str, settings: Settings) -> None:
    """Every count column is what tiktoken counts, and the recount that `verify` runs finds nothing."""
    rows = rows_of(text, settings)
    for row in rows:
        strings = (row["text"], row["embed_prefix"] + row["text"], block_by_hand(row, row["text"]))
        counts = [row[name] for name in ("token_count", "embed_tokens", "rendered_tokens")]
        assert counts == [tokens(string, settings.encoding) for string in strings]
    assert mismatches(rows) == []


@many
@given(rst_texts, all_settings(max_tokens=st.integers(2, 12) | st.integers(12, 200)))
def test_the_limit_holds_but_for_single_graphemes(text: str, settings: Settings) -> None:
    """An embed text is over the maximum only where it is one grapheme cluster and nothing else."""
    for row in rows_of(text, settings):
        if tokens(row["embed_prefix"] + row["text"], settings.encoding) > settings.max_tokens:
            assert regex.findall(r"\X", row["text"]) == [row["text"]]


@many
@given(rst_texts, rst_texts, all_settings(max_tokens=st.integers(20, 200)))
def test_records_do_not_depend_on_company(first: str, second: str, settings: Settings) -> None:
    """Documents of several formats give the same records together as alone."""
    documents = [
        Document("a.rst", first, "0" * 64, "rst"),
        Document("b.md", second, "0" * 64, "markdown"),
        Document("c.rst", second, "0" * 64, "rst"),
    ]
    alone = [row for document in documents for row in chunk_batch([document], settings).to_pylist()]
    assert chunk_batch(documents, settings).to_pylist() == alone
