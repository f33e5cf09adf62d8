"""Chunks of one text, without a ledger."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, fields

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

import chunkledger
from chunkledger import Chunk, Settings, chunk_text
from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.schema import COLUMNS
from markdown_texts import all_settings, texts


@hypothesis_settings(max_examples=30)
@given(texts, all_settings())
def test_chunk_text_gives_the_records_of_a_ledger(text: str, settings: Settings) -> None:
    """The chunks of a text are the records that `chunk_batch` makes of it."""
    clean = text.removeprefix("\ufeff")
    document = Document("a/b.md", clean, hashlib.sha256(clean.encode()).hexdigest(), "markdown")
    expected = chunk_batch([document], settings).to_pylist()
    assert [asdict(chunk) for chunk in chunk_text(text, settings, doc_id="a/b.md")] == expected


def test_a_chunk_has_the_columns_of_a_record() -> None:
    """The fields of `Chunk` are the columns of the schema, in order."""
    assert tuple(field.name for field in fields(Chunk)) == COLUMNS


def test_blank_texts_have_no_chunks() -> None:
    """Nothing, blanks of every kind, and a lone byte order mark give no chunk."""
    assert [chunk_text(text) for text in ("", " \n\t\r\n", "\u3000\u00a0\n", "\ufeff", "\ufeff \n")] == [[]] * 5


def test_what_no_column_can_hold_is_replaced_before_offsets() -> None:
    """A byte order mark is dropped; NUL and lone surrogates become U+FFFD one for one."""
    [chunk] = chunk_text("\ufeffa\x00b \ud83d c")
    assert (chunk.text, chunk.char_start, chunk.char_end) == ("a\ufffdb \ufffd c", 0, 7)


def test_escaped_surrogates_in_front_matter_are_replaced() -> None:
    """A lone surrogate that YAML's escapes make is U+FFFD in the metadata, not an error."""
    [chunk] = chunk_text('---\na: "\\ud83d"\n---\n\ntext\n')
    assert chunk.metadata == '{"a": "\ufffd"}'


def test_plain_text_has_no_markup() -> None:
    """As plain text a heading is a paragraph."""
    text = "# Rates\n\nTen a day.\n"
    assert [[chunk.heading_path for chunk in chunk_text(text, format=name)] for name in ("markdown", "plain")] == [
        [["Rates"]],
        [[]],
    ]


def test_an_unknown_format_is_refused() -> None:
    """The message names the format and those that there are."""
    with pytest.raises(ValueError, match="format must be 'markdown', 'rst' or 'plain', not 'html'"):
        chunk_text("a", format="html")  # type: ignore[arg-type]


def test_public_names_resolve() -> None:
    """Every public name can be had from the package, and an unknown one is an AttributeError."""
    assert [name for name in chunkledger.__all__ if getattr(chunkledger, name, None) is None] == []
    assert dir(chunkledger) == sorted(chunkledger.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = chunkledger.nothing


def test_text_that_is_no_string_is_refused() -> None:
    """Bytes are not decoded by a guess."""
    with pytest.raises(TypeError, match="text must be a str, not bytes; decode bytes first"):
        chunk_text(b"One.")  # type: ignore[arg-type]
