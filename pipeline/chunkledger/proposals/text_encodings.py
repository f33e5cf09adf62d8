"""The first bytes of a text that is not UTF-8 -> what it may be in."""

from __future__ import annotations

from chunkledger.documents.decoding import UndecodableError, text_in, wide_encoding

FIRST_BYTES = 64 * 1024
"""Of a file, what is looked at."""
UNKNOWN, BINARY = "unknown", "binary"
_WESTERN_SHARE = 0.25
"""Most bytes beyond ASCII in text of Latin letters; in a Western text every tenth letter or fewer has an accent."""


def proposed_encoding(raw: bytes) -> str | None:
    r"""What a text may be in that is neither UTF-8 nor marked UTF-16; None where it is one of them.

    Args:
        raw: the bytes of the file; of those beyond `FIRST_BYTES`, one or none.

    Returns:
        Python's name of the encoding; `UNKNOWN` where the bytes tell none; `BINARY` where it is no text, it seems.

    >>> proposed_encoding("Grüße".encode()), proposed_encoding("Grüße aus Köln".encode("cp1252"))
    (None, 'cp1252')
    """
    wide = wide_encoding(raw)
    if wide:
        return None if wide == "utf-16" else wide
    try:
        text_in(raw if len(raw) <= FIRST_BYTES else _whole_characters(raw[:FIRST_BYTES]))
    except UndecodableError:
        return _single_byte(raw)
    return None


def _single_byte(raw: bytes) -> str:
    if b"\0" in raw:
        return BINARY
    beyond_ascii = sum(byte >= 0x80 for byte in raw)
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:  # five of its bytes stand for nothing
        return UNKNOWN
    return "cp1252" if beyond_ascii <= _WESTERN_SHARE * len(raw) else UNKNOWN


def _whole_characters(raw: bytes) -> bytes:
    """The bytes without a character of UTF-8 that has not come to its end."""
    for back in range(1, min(4, len(raw)) + 1):
        if raw[-back] >= 0xC0:
            return raw[:-back]
        if raw[-back] < 0x80:
            break
    return raw
