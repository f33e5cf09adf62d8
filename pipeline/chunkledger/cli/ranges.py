"""Ranges of whole numbers, as options take them that try several values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chunkledger.errors import SettingsError

MOST_VALUES = 100
"""Of a range; more are a slip of the keyboard."""

_RANGE = re.compile(r"([0-9]+)\.\.([0-9]+):([0-9]+)")
_NUMBER = re.compile(r"[0-9]+(?:_[0-9]+)*")


def whole_numbers(given: str, what: str) -> tuple[int, ...]:
    """The values of `A..B:STEP` (from A to B at most), of `A,B,C`, or one value; each once, in order.

    Args:
        given: as it was written.
        what: what it was given to, for the message.

    Raises:
        SettingsError: it is none of these, or gives no value, or more than `MOST_VALUES`.

    >>> whole_numbers("256..512:128", "--sweep max_tokens"), whole_numbers("8000,6_000", "--slot-tokens")
    ((256, 384, 512), (8000, 6000))
    """
    ranged = _RANGE.fullmatch(given.replace("_", "").strip())
    parts = [part.strip() for part in given.split(",")]
    if ranged:
        first, last, step = map(int, ranged.groups())
        values: Sequence[int] = range(first, last + 1, step) if step else ()
    elif all(_NUMBER.fullmatch(part) for part in parts):
        values = tuple(dict.fromkeys(map(int, parts)))
    else:
        raise SettingsError(
            f"{what} must be a whole number, several with commas, or FIRST..LAST:STEP as in 256..768:64, not {given!r}"
        )
    if not 0 < len(values) <= MOST_VALUES:
        raise SettingsError(f"{what}: {given} gives {len(values):,} values; there must be 1 to {MOST_VALUES}")
    return tuple(values)
