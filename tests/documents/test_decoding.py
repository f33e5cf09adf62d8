"""Bytes become text once, and what was repaired or could not be read is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger.documents.decoding import REPLACEMENT, UndecodableError, decoded, repaired

UNSTORABLE = {"\x00", *map(chr, range(0xD800, 0xE000))}


@pytest.mark.parametrize(
    ("raw", "text", "replaced"),
    [
        (b"", "", 0),
        (b"\xef\xbb\xbf", "", 0),
        (b"\xef\xbb\xbfa", "a", 0),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa", 0),
        (b"a\xef\xbb\xbfb", "a\ufeffb", 0),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n", 0),
        (b"a\x00b\x00", "a\ufffdb\ufffd", 2),
        (b"a\xed\xa0\x80b", "a\ufffdb", 1),
        (b"\xed\xa0\xbd\xed\xb8\x80", "\ufffd\ufffd", 2),
        ("\ufffd é 漢 🙂".encode(), "\ufffd é 漢 🙂", 0),
    ],
)
def test_text_and_repairs(raw: bytes, text: str, replaced: int) -> None:
    """One mark at the start is dropped, NUL and surrogates are replaced one for one, all else stays."""
    assert decoded(raw) == (text, replaced)


@pytest.mark.parametrize(
    ("raw", "offset", "byte"),
    [
        (b"\xff", 0, 0xFF),
        (b"ab\xe5c", 2, 0xE5),
        (b"\xef\xbb\xbfa\xe5", 4, 0xE5),
        ("é".encode() + b"\xc3", 2, 0xC3),
        (b"a\xc0\x80", 1, 0xC0),
        (b"\xff\xfea\x00", 0, 0xFF),
        (b"\xf4\x90\x80\x80", 0, 0xF4),
    ],
)
def test_offset_of_the_first_bad_byte(raw: bytes, offset: int, byte: int) -> None:
    """The message names the first byte that is not UTF-8, counted from the start of the file."""
    with pytest.raises(UndecodableError) as raised:
        decoded(raw)
    assert str(raised.value) == f"byte {offset} (0x{byte:02x}) is not UTF-8; save the file as UTF-8"


@settings(deadline=None)
@given(st.text())
def test_utf8_comes_back_but_for_what_cannot_be_stored(text: str) -> None:
    """Every character that can be stored is where it was."""
    expected = "".join(REPLACEMENT if char in UNSTORABLE else char for char in text)
    assert decoded(b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass"))[0] == expected


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_are_text_or_undecodable(raw: bytes) -> None:
    """There is no third outcome, and the text is always storable."""
    try:
        text, replaced = decoded(raw)
    except UndecodableError:
        return
    assert text.encode().decode() == text
    assert replaced <= text.count(REPLACEMENT)


@settings(deadline=None)
@given(st.text(st.characters(codec=None) | st.sampled_from(sorted(UNSTORABLE))))
def test_repair_keeps_every_offset(text: str) -> None:
    """Repairing changes no length, and counts what it changed."""
    clean, replaced = repaired(text)
    assert (len(clean), replaced) == (len(text), sum(char in UNSTORABLE for char in text))
