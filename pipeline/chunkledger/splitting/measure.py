"""Exact counts of chunks while they are cut: of their texts, and of their embed texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.counting.spans import span_tokens, unsafe_places
from chunkledger.model import Batch, BoolArray, IntArray, Spans, TokenEnds
from chunkledger.splitting.prefixes import Prefixes


@dataclass(frozen=True, slots=True)
class Measure:
    """Exact counts of spans of one batch."""

    batch: Batch
    ends: TokenEnds
    counter: Counter
    prefixes: Prefixes

    def counts(self, spans: Spans) -> tuple[BoolArray, IntArray, IntArray]:
        """Whether each span is counted whole; its tokens; its tokens with a newline added."""
        unsafe = unsafe_places(self.batch, self.ends, self.counter, spans.start)
        tokens, line_tokens = span_tokens(self.batch, self.ends, self.counter, spans.start, spans.end, unsafe)
        return unsafe, tokens, line_tokens

    def embed_tokens(self, spans: Spans, tokens: IntArray) -> IntArray:
        """Exact tokens of prefix and text together."""
        rows = self.prefixes.at(spans.start, spans.document)
        return embed_tokens(self.batch, self.counter, self.prefixes, rows, spans, tokens)

    def fitting(self, start: int, edges: list[int], document: int, limit: int) -> int:
        """How many of these places, ascending, lie in the longest part from `start` that fits; 0 where none does.

        A part that ends at a blank, or at the last place, goes before a longer one that ends within a word.
        """
        row = int(self.prefixes.at(np.array([start], np.int64), np.array([document], np.int64))[0])
        tokens = self.ends.before(np.array([start, *edges], np.int64))
        near = edges[: max(1, int(np.searchsorted(tokens[1:] - tokens[0], 2 * limit, side="right")))]
        parts = [self.batch.data[start:edge].decode() for edge in near]
        counts = self.counter.count([self.prefixes.text[row] + part.rstrip() for part in parts])
        fits = np.flatnonzero(counts <= limit).tolist()
        whole = [index for index in fits if parts[index][-1].isspace() or near[index] == edges[-1]]
        return (whole or fits or [-1])[-1] + 1


def embed_tokens(
    batch: Batch, counter: Counter, prefixes: Prefixes, rows: IntArray, spans: Spans, tokens: IntArray
) -> IntArray:
    """Exact tokens of each chunk's embed text: prefix and text add up, but where a newline may join a `/`."""
    prefix_tokens = np.array(prefixes.tokens, np.int64)[rows] if len(rows) else rows
    total = prefix_tokens + tokens
    if counter.slash_joins:
        slashed = [k for k in np.flatnonzero(prefix_tokens > 0).tolist() if batch.data[spans.start[k]] == ord("/")]
        texts = [prefixes.text[rows[k]] + batch.data[spans.start[k] : spans.end[k]].decode() for k in slashed]
        total[slashed] = counter.count(texts)
    return total
