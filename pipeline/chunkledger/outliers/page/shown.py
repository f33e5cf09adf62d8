"""Text from a corpus as a page may have it: in JSON inside of a script element, and where people read it."""

from __future__ import annotations

import json
import unicodedata

_ESCAPED = "<>&\u2028\u2029"
"""What could end the element, or begin a comment or an entity in it."""
_UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
"""Invisible, but letters of some scripts and many emoji are made with them."""


def script_json(value: object) -> str:
    r"""A value as JSON that can't leave the script element that it stands in, and in which nothing is invisible.

    >>> script_json(["</script>", "a\u202eb"])
    '["\\u003c/script\\u003e","a\\u202eb"]'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escaped = {char for char in set(text) if char in _ESCAPED or not char.isprintable()}
    return text.translate({ord(char): _escape(char) for char in escaped})


def _escape(char: str) -> str:
    """The character as JSON escapes it, in ASCII alone."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def visible(text: str) -> str:
    r"""The text with a mark in the place of each character that does not show, or that turns others around.

    >>> visible("a\u202eb")
    'a‹U+202E›b'
    """
    if text.isprintable():
        return text
    unseen = {char for char in set(text) if unicodedata.category(char) in _UNSEEN and char not in _JOINERS}
    return text.translate({ord(char): f"‹U+{ord(char):04X}›" for char in unseen})


def short(text: str, most: int = 120) -> str:
    """The text, its middle left out where it is long.

    >>> short("a/very/long/path/to/a/document.md", 21)
    'a/very/…a/document.md'
    """
    head = most // 3
    return text if len(text) <= most else f"{text[:head]}…{text[head + 1 - most :]}"
