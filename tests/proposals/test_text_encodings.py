"""Bytes that ingest takes as UTF-8 or UTF-16 call for no encoding; of others it is said what they may be in."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.proposals.text_encodings import BINARY, FIRST_BYTES, UNKNOWN, proposed_encoding

WESTERN = "Die Grüße aus Köln kamen spät – „nämlich“ gestern.\n"


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_nothing_is_proposed_for_what_ingest_takes(raw: bytes) -> None:
    """A proposal is made for the texts that ingest refuses, and for no others."""
    try:
        decoded(raw)
    except UndecodableError:
        assert proposed_encoding(raw) is not None or raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    else:
        assert proposed_encoding(raw) is None


@given(st.integers(0, 3), st.sampled_from("é€😀"))
def test_character_at_the_end_of_what_is_read_does_no_harm(start: int, char: str) -> None:
    """Where the last character of the first bytes is cut, the file is still UTF-8."""
    text = "x" * start + char * FIRST_BYTES
    assert proposed_encoding(text.encode()[: FIRST_BYTES + 1]) is None


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (WESTERN.encode("cp1252"), "cp1252"),
        (WESTERN.encode("utf-16-le"), "utf-16-le"),
        (WESTERN.encode("utf-16-be"), "utf-16-be"),
        (WESTERN.encode("utf-16"), None),
        (WESTERN.encode("utf-32"), "utf-32"),
        ("Привет, как дела? Хорошо, спасибо.\n".encode("cp1251"), UNKNOWN),
        ("日本語の文章です。\n".encode("shift_jis"), UNKNOWN),
        (b"\x7fELF\x02\x01\x00\xff\xfe\x00", BINARY),
        (b"", None),
    ],
)
def test_what_bytes_tell(raw: bytes, encoding: str | None) -> None:
    """Western texts and UTF-16 are seen, other scripts are not guessed."""
    assert proposed_encoding(raw) == encoding
