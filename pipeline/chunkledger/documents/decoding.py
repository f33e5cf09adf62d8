"""Bytes -> document text."""

from __future__ import annotations

import codecs
import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
REPLACEMENT = "\ufffd"
"""Takes the place of what no UTF-8 column and no tokenizer can hold, one for one, before offsets are taken."""
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SEVEN_BIT = re.compile(r"iso2022|hz|utf-7")
"""Encodings whose bytes are ASCII, so that any such file would pass for UTF-8."""
_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_SAMPLE = 4096
_LEAST_SAMPLE = 16


class UndecodableError(ValueError):
    """The bytes are not text in the encoding; the message says where."""


def decoded(raw: bytes, source_encoding: str | None = None) -> tuple[str, int]:
    r"""The text of a file's bytes as it can be stored, and how many characters of it were replaced.

    NUL and lone surrogates become U+FFFD, one for one; line ends stay as they are. Arguments and errors are those of
    `text_in`.

    >>> decoded(b"\xef\xbb\xbfa\x00b")
    ('a�b', 1)
    """
    if source_encoding is None and b"\0" not in raw and raw[:2] not in _UTF16:
        # Nearly every file: what is UTF-8 without NUL needs no second look at its characters.
        try:
            return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8"), 0
        except UnicodeDecodeError:
            pass
    return repaired(text_in(raw, source_encoding))


def text_in(raw: bytes, source_encoding: str | None = None) -> str:
    r"""The text of UTF-8 bytes, or of UTF-16 with its byte order mark; without the mark.

    Args:
        raw: the bytes of the file.
        source_encoding: what bytes are in that are neither; None where nothing is known of them.

    Raises:
        UndecodableError: with the offset of the first byte that does not fit.

    >>> text_in("\ufeffé".encode("utf-16-le")), text_in(b"\xe9", "latin-1")
    ('é', 'é')
    """
    chosen = codecs.lookup(source_encoding).name if source_encoding else ""
    if chosen and _SEVEN_BIT.match(chosen) and raw.isascii():
        return _strictly(raw, chosen)
    if raw.startswith(_UTF32_MARKS):
        return _strictly(raw, _utf32(chosen))
    mark = raw[:2]
    if mark in _UTF16:
        return _strictly(raw, _UTF16[mark], 2)
    try:
        return _utf8(raw)
    except UndecodableError:
        if not chosen:
            raise
    return _strictly(raw, chosen)


def repaired(text: str) -> tuple[str, int]:
    """The text with NUL and lone surrogates replaced by U+FFFD, one for one, and how many there were."""
    if "\0" not in text and _is_utf8(text):  # nearly always; the pattern takes twenty times as long
        return text, 0
    return _UNSTORABLE.subn(REPLACEMENT, text)


def _is_utf8(text: str) -> bool:
    """Whether UTF-8 can hold the text: whether it is without lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def wide_encoding(raw: bytes) -> str:
    """What text seems to be in whose characters take two or four bytes each; "" for other bytes.

    Args:
        raw: the bytes, or the first of them.
    """
    if raw.startswith(_UTF32_MARKS):
        return "utf-32"
    return "utf-16" if raw.startswith(tuple(_UTF16)) else _unmarked_utf16(raw)


def _utf8(raw: bytes) -> str:
    body = raw.removeprefix(codecs.BOM_UTF8)
    if kind := _unmarked_utf16(body):
        place = body.index(0) + len(raw) - len(body)
        raise UndecodableError(
            f"byte {place} (0x00) and every other one is NUL, as in UTF-16, but there is no byte order mark; "
            f"save the file as UTF-8, or give --source-encoding {kind}"
        )
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        offset = error.start + len(raw) - len(body)
        raise UndecodableError(
            f"byte {offset} (0x{raw[offset]:02x}) is not UTF-8{_nature(raw)}; "
            "save the file as UTF-8, or give --source-encoding"
        ) from None


def _utf32(chosen: str) -> str:
    if chosen.startswith("utf-32"):
        return chosen
    raise UndecodableError(
        "byte 0 starts a UTF-32 byte order mark; save the file as UTF-8, or give --source-encoding utf-32"
    )


def _strictly(raw: bytes, encoding: str, start: int = 0) -> str:
    # Surrogates pass in UTF-16 alone: other codecs do not know that handler, or have no surrogates.
    handler = "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "strict"
    try:
        text = raw[start:].decode(encoding, handler)
        return text if start else text.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        offset = error.start + start
        there = f" (0x{raw[offset]:02x})" if offset < len(raw) else ""
        raise UndecodableError(f"byte {offset}{there} is not {encoding}: {error.reason}") from None
    except UnicodeError as error:
        raise UndecodableError(f"is not {encoding}: {error}") from None


def _unmarked_utf16(body: bytes) -> str:
    """The kind of UTF-16 that bytes of mostly Latin text without a mark seem to be in; "" for none."""
    sample = body[: _SAMPLE - _SAMPLE % 2]
    if len(sample) < _LEAST_SAMPLE or b"\0" not in sample:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    for high, low, kind in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if high > 0.7 * len(sample) / 2 and low < 0.05 * len(sample) / 2:
            return kind
    return ""


def _nature(raw: bytes) -> str:
    return " (binary data, it seems)" if b"\0" in raw[:_SAMPLE] else ""
