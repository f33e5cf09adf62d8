"""Enumerators of reStructuredText lists: `1.`, `(b)`, `iv)`, `#.`, and whether one goes on from another."""

from __future__ import annotations

import re
from typing import NamedTuple

_SEQUENCES = (
    ("arabic", re.compile(rb"[0-9]+")),
    ("loweralpha", re.compile(rb"[a-z]")),
    ("upperalpha", re.compile(rb"[A-Z]")),
    ("lowerroman", re.compile(rb"[ivxlcdm]+")),
    ("upperroman", re.compile(rb"[IVXLCDM]+")),
)
"""In the order in which docutils tries them."""
_ROMAN = re.compile(r"m{0,4}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_ROMAN = 4999
_MOST_DIGITS = 9
"""A longer number numbers no list (Python refuses to read very long ones)."""


class Enumerator(NamedTuple):
    """One enumerator: what stands around it, how it counts, where it is in its sequence, whether it is a `#`."""

    prefix: bytes
    suffix: bytes
    sequence: str
    ordinal: int
    auto: bool

    def marks_after(self) -> tuple[bytes, ...]:
        """How the next item of the list may begin."""
        automatic = self.prefix + b"#" + self.suffix + b" "
        text = "#" if self.auto else _text(self.sequence, self.ordinal + 1)
        return (self.prefix + text.encode() + self.suffix + b" ", automatic) if text else ()


def enumerator(mark: bytes, before: Enumerator | None = None) -> Enumerator | None:
    """What an enumerator says, or None where it is no number (`iiv.`).

    Args:
        mark: without blanks, such as `(b)`.
        before: the item before it in an open list: a letter that is a Roman numeral, too, is read as that one was.

    >>> enumerator(b"ii)")
    Enumerator(prefix=b'', suffix=b')', sequence='lowerroman', ordinal=2, auto=False)
    """
    prefix, suffix = (b"(", b")") if mark[:1] == b"(" else (b"", mark[-1:])
    text = mark[len(prefix) : -1]
    if text == b"#":
        return Enumerator(prefix, suffix, before.sequence if before else "arabic", 1, True)
    sequence = _sequence(text, before.sequence if before else "")
    ordinal = _ordinal(text.decode(), sequence)
    return None if ordinal is None else Enumerator(prefix, suffix, sequence, ordinal, False)


def goes_on(before: Enumerator, after: Enumerator) -> bool:
    """Whether the second is the next item of the first one's list."""
    if (before.prefix, before.suffix) != (after.prefix, after.suffix):
        return False
    if after.auto:
        return True
    return not before.auto and before.sequence == after.sequence and after.ordinal == before.ordinal + 1


def _sequence(text: bytes, expected: str) -> str:
    names = [name for name, pattern in _SEQUENCES if pattern.fullmatch(text)]
    if expected in names:
        return expected
    if text in (b"i", b"I"):
        return "lowerroman" if text == b"i" else "upperroman"
    return names[0]


def _ordinal(text: str, sequence: str) -> int | None:
    if sequence == "arabic":
        return int(text) if len(text) <= _MOST_DIGITS else None
    lower = text.lower()
    if sequence.endswith("alpha"):
        return ord(lower) - ord("a") + 1
    if not _ROMAN.fullmatch(lower):
        return None
    total = 0
    for value, mark in _ROMAN_VALUES:
        while lower.startswith(mark):
            total += value
            lower = lower[len(mark) :]
    return total


def _text(sequence: str, ordinal: int) -> str:
    """How the sequence writes a number; "" where it can't."""
    if sequence == "arabic":
        return str(ordinal)
    if sequence.endswith("alpha"):
        text = chr(ord("a") + ordinal - 1) if ordinal <= 26 else ""
    else:
        text = _roman(ordinal) if 0 < ordinal <= _MOST_ROMAN else ""
    return text.upper() if sequence.startswith("upper") else text


def _roman(ordinal: int) -> str:
    text = ""
    for value, mark in _ROMAN_VALUES:
        text += mark * (ordinal // value)
        ordinal %= value
    return text
