"""Bytes -> document text."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
REPLACEMENT = "\ufffd"
"""Takes the place of what no UTF-8 column and no tokenizer can hold, one for one, before offsets are taken."""


class UndecodableError(ValueError):
    """The bytes are not text in the encoding; the message says where."""


def decoded(raw: bytes) -> tuple[str, int]:
    r"""The text of UTF-8 bytes, without a byte order mark, and how many characters of it were replaced.

    NUL and lone surrogates become U+FFFD, one for one; line ends stay as they are.

    Raises:
        UndecodableError: with the offset of the first byte that is not UTF-8.

    >>> decoded(b"\xef\xbb\xbfa\x00b")
    ('a�b', 1)
    """
    body = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        offset = error.start + len(raw) - len(body)
        raise UndecodableError(f"byte {offset} (0x{raw[offset]:02x}) is not UTF-8; save the file as UTF-8") from None
    return repaired(text)


def repaired(text: str) -> tuple[str, int]:
    """The text with NUL and lone surrogates replaced by U+FFFD, one for one, and how many there were."""
    return _UNSTORABLE.subn(REPLACEMENT, text)
