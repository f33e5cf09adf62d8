"""Exact token counts of spans of a batch, from the ends of the tokens of its documents.

A document is encoded once, whole. Where its tokens end tells the count of any span whose two ends are safe: no
token of the span alone would differ from the tokens that the span has in its document. For the split patterns of
cl100k_base, o200k_base and o200k_harmony these places are safe:

- after the last newline of a run of blanks that is followed by text (under o200k not where that text begins with
  `/`): a pattern that takes newlines ends with them;
- before a single space between two characters that are no blanks: no pattern goes on over a space, and none looks
  back.

The trimmed end of a chunk is neither, so its last word is counted as a string of its own. Everything else (a start
within a line, a text without a safe place) is counted as one whole string.
"""

from __future__ import annotations

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, BoolArray, IntArray, TokenEnds

_BLANKS = frozenset(b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f")
_SLASH = ord("/")
_IS_LINE_END = np.isin(np.arange(256), (10, 13))
_IS_WORD = np.isin(np.arange(256), list(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
_MOST_BYTES = 4_000_000
"""Bytes of strings that are made at once."""
_MOST_LINE_ENDS = 4
"""Newlines and returns that are looked back over; behind more of them a `/` is taken for unsafe."""


def unsafe_places(
    batch: Batch, ends: TokenEnds, counter: Counter, position: IntArray, before: IntArray | None = None
) -> BoolArray:
    """Places at which the counts of both sides may not add up to the count of the whole.

    Safe is the start of a line, unless a `/` there may be joined to the newline before. That a token ends there is
    checked as well: it costs nothing, and no count can be wrong because structure was.

    Args:
        batch: the documents.
        ends: where their tokens end.
        counter: of the same encoding.
        position: bytes; where they are starts of lines, of lines that are not blank.
        before: tokens before each, where that is known.
    """
    if not len(position):
        return np.zeros(0, np.bool_)
    line = batch.line_starts[np.searchsorted(batch.line_starts, position, side="right") - 1]
    are_ends = ends.are_ends(position) if before is None else ends.reach(before, position)
    unsafe: BoolArray = (line != position) | ~are_ends
    if counter.slash_joins:
        unsafe |= np.frombuffer(batch.data, np.uint8)[position] == _SLASH
    return unsafe


def unsafe_ends(batch: Batch, ends: TokenEnds, counter: Counter, position: IntArray, before: IntArray) -> BoolArray:
    """The same for places where texts end that start at a safe place.

    There a `/` behind a newline is safe as well, where that newline stands behind an ASCII letter or digit: no
    pattern that takes newlines goes on from one.
    """
    unsafe = unsafe_places(batch, ends, counter, position, before)
    if counter.slash_joins and len(position):
        values = np.frombuffer(batch.data, np.uint8)
        slashed = np.flatnonzero((values[position] == _SLASH) & ends.reach(before, position))
        last = position[slashed] - 1
        for _ in range(_MOST_LINE_ENDS):
            last = np.where(_IS_LINE_END[values[np.maximum(last, 0)]], last - 1, last)
        unsafe[slashed[_IS_WORD[values[np.maximum(last, 0)]]]] = False
    return unsafe


def span_tokens(
    batch: Batch, ends: TokenEnds, counter: Counter, start: IntArray, end: IntArray, unsafe: BoolArray
) -> tuple[IntArray, IntArray]:
    """Tokens of each span's text, and of its text with a newline added.

    Args:
        batch: the documents.
        ends: where their tokens end, in the same encoding as `counter`.
        counter: counts the strings that differences can't.
        start: bytes; where a span is not `unsafe`, the start of a line.
        end: bytes, behind the start.
        unsafe: spans that are counted whole; see `unsafe_places`.
    """
    spans = zip(start.tolist(), end.tolist(), unsafe.tolist(), strict=True)
    found = [first if whole else _last_safe_place(batch, first, last) for first, last, whole in spans]
    rest = np.array(found, np.int64)
    rest = np.where(ends.are_ends(rest), rest, start)
    before = ends.before(rest) - ends.before(start)
    data = batch.data
    places = list(zip(rest.tolist(), end.tolist(), strict=True))
    if int((end - rest).sum()) <= _MOST_BYTES:
        tails = [data[first:last].decode() for first, last in places]
        counts = counter.count([*tails, *(f"{tail}\n" for tail in tails)])
        return before + counts[: len(tails)], before + counts[len(tails) :]
    alone = counter.count_each(data[first:last].decode() for first, last in places)
    lines = counter.count_each(f"{data[first:last].decode()}\n" for first, last in places)
    return before + alone, before + lines


def _last_safe_place(batch: Batch, start: int, end: int) -> int:
    """The last place in the span before which tokens can be counted by difference; `start` if there is no other."""
    data = batch.data
    while end > start and data[end - 1] in _BLANKS:  # only chunks of other splitters end in blanks
        end -= 1
    place = data.rfind(b" ", start + 1, end)
    while place > start:
        if _is_text(batch, data[place - 1]) and _is_text(batch, data[place + 1]):
            return place
        place = data.rfind(b" ", start + 1, place)
    place = data.rfind(b"\n", start, end) + 1
    if place > start and data[place] != _SLASH and _is_text(batch, data[place]):
        return place
    return start


def _is_text(batch: Batch, byte: int) -> bool:
    """Whether the byte surely belongs to a character that is no blank."""
    return byte not in _BLANKS and (byte < 0x80 or not len(batch.exotic_blanks))
