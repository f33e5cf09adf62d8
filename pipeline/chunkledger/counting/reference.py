r"""The counts of tiktoken, which are the definition, and the same for texts that tiktoken itself can't encode.

A run of about a million horizontal blanks overflows the stack of its pattern engine (a panic, which is no
`Exception`). Such a run is cut out where the split pattern surely cuts, and encoded as the one piece that it is:

- the run starts behind text or a newline, where a piece ends in any case: no pattern goes on over a horizontal blank,
  or past the last newline before it;
- text follows, so `\s+(?!\S)` takes the run but for its last blank, which goes with the text;
- the end of the text follows: o200k takes the whole run; cl100k has `\s++$` for it, which does not overflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from chunkledger.counting.vocabulary import VOCABULARIES, reference_encoding
from chunkledger.model import IntArray

LONGEST_RUN = 500_000
"""Blanks in a row that tiktoken encodes by itself; it overflows from about 999,900 on."""
_BLANKS = "[\\t\\x0b\\x0c \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
"""What is `\\s` to the pattern engine, newlines and returns apart. Python's own `\\s` holds four characters more."""


def reference_counts(texts: Sequence[str], encoding: str) -> IntArray:
    """Tokens of each text by tiktoken itself."""
    return np.array([len(reference_ids(text, encoding)) for text in texts], np.int64)


def reference_ids(text: str, encoding: str, longest_run: int = LONGEST_RUN) -> list[int]:
    """The ids that tiktoken gives for a text; special tokens in it are plain text.

    Args:
        text: to encode.
        encoding: one of `VOCABULARIES`.
        longest_run: horizontal blanks in a row that are left to its pattern, two at least.
    """
    reference = reference_encoding(encoding)
    if len(text) <= longest_run:
        return reference.encode_ordinary(text)
    ids: list[int] = []
    done = 0
    for first, last in _overlong_runs(text, encoding, longest_run):
        ids += reference.encode_ordinary(text[done:first])
        ids += reference._encode_single_piece(text[first:last])
        done = last
    return ids + reference.encode_ordinary(text[done:])


def _overlong_runs(text: str, encoding: str, longest_run: int) -> Iterator[tuple[int, int]]:
    """Start and end of each piece that is nothing but more blanks than `longest_run`."""
    to_the_end = r"\s++$" in VOCABULARIES[encoding].pattern
    for match in re.finditer(f"{_BLANKS}{{{longest_run},}}", text):
        first, last = match.span()
        if last == len(text):
            if not to_the_end:
                yield first, last
        elif text[last] not in "\r\n":
            yield first, last - 1
