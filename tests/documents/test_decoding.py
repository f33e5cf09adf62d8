"""Bytes become text once, and what was repaired or could not be read is said."""

from __future__ import annotations

import pytest
from hypothesis import given
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
        (b"\xf4\x90\x80\x80", 0, 0xF4),
    ],
)
def test_offset_of_the_first_bad_byte(raw: bytes, offset: int, byte: int) -> None:
    """The message names the first byte that is not UTF-8, counted from the start of the file."""
    with pytest.raises(UndecodableError) as raised:
        decoded(raw)
    told = f"byte {offset} (0x{byte:02x}) is not UTF-8; save the file as UTF-8, or give --source-encoding"
    assert str(raised.value) == told


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_with_a_mark_is_text(codec: str) -> None:
    """The mark says the order of the bytes, and is no part of the text; surrogate pairs are one character."""
    text = "H\r\n\u00e9 \u6f22 \U0001f642\r"
    assert decoded(("\ufeff" + text).encode(codec)) == (text, 0)
    lone = ("\ufeffa".encode(codec)) + "\ud800b\x00".encode(codec, "surrogatepass")
    assert decoded(lone) == ("a\ufffdb\ufffd", 2)


def test_cut_off_utf16_is_undecodable() -> None:
    """Half a character at the end has a place too."""
    with pytest.raises(UndecodableError, match=r"^byte 4 \(0x62\) is not utf-16-le: truncated data$"):
        decoded(b"\xff\xfea\x00b")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_told_from_text_with_nul(codec: str) -> None:
    """It would pass for UTF-8 with a NUL behind every letter; the message says which encoding to give."""
    raw = "Expenses are paid in the month after.\n".encode(codec)
    with pytest.raises(UndecodableError, match=f"there is no byte order mark.*--source-encoding {codec}$"):
        decoded(raw)
    assert decoded(raw, codec) == ("Expenses are paid in the month after.\n", 0)
    assert decoded(b"\0" * 40) == ("\ufffd" * 40, 40)


@pytest.mark.parametrize("codec", ["cp1252", "shift_jis", "gb18030", "koi8-r", "utf-32", "iso2022_jp", "utf-7"])
def test_source_encoding_is_for_what_is_not_utf8(codec: str) -> None:
    """Text in the encoding that was named is read, and so is what is UTF-8 or marked UTF-16 in the same folder."""
    text = {"cp1252": "caf\u00e9 \u201cx\u201d", "koi8-r": "\u0434\u0430", "utf-32": "a\U0001f642"}.get(
        codec, "\u65e5\u672c\u8a9e"
    )
    assert decoded(text.encode(codec), codec) == (text, 0)
    assert decoded("plain".encode("utf-8-sig"), codec)[0].endswith("plain")
    assert decoded("\ufeffmarked".encode("utf-16-be"), codec) == ("marked", 0)


def test_source_encoding_that_does_not_fit_is_undecodable() -> None:
    """The place and the codec's own reason are told."""
    with pytest.raises(UndecodableError, match=r"^byte 3 \(0x81\) is not cp1252: character maps to <undefined>$"):
        decoded(b"abc\x81", "cp1252")
    with pytest.raises(UndecodableError, match="UTF-32 byte order mark"):
        decoded("\ufeffa".encode("utf-32-le"))


@given(st.text())
def test_utf8_comes_back_but_for_what_cannot_be_stored(text: str) -> None:
    """Every character that can be stored is where it was."""
    expected = "".join(REPLACEMENT if char in UNSTORABLE else char for char in text)
    assert decoded(b"\xef\xbb\xbf" + text.encode("utf-8", "surrogatepass"))[0] == expected


@given(st.binary(), st.sampled_from([None, "cp1252", "utf-16-le", "iso2022_jp", "utf-7", "hz", "gb18030", "utf-32"]))
def test_any_bytes_are_text_or_undecodable(raw: bytes, codec: str | None) -> None:
    """There is no third outcome, and the text is always storable."""
    try:
        text, replaced = decoded(raw, codec)
    except UndecodableError:
        return
    assert text.encode().decode() == text
    assert replaced <= text.count(REPLACEMENT)


@given(st.text(st.characters(codec=None) | st.sampled_from(sorted(UNSTORABLE))))
def test_repair_keeps_every_offset(text: str) -> None:
    """Repairing changes no length, and counts what it changed."""
    clean, replaced = repaired(text)
    assert (len(clean), replaced) == (len(text), sum(char in UNSTORABLE for char in text))
