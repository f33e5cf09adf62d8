"""Exact counts of chunks while they are cut: of their texts, and of their embed texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.counting.spans import span_tokens, unsafe_places
from chunkledger.model import Batch, BoolArray, IntArray, Spans, TokenEnds
from chunkledger.splitting.pieces import Piece, Pieces, trimmed_ends
from chunkledger.splitting.prefixes import Prefixes


@dataclass(frozen=True, slots=True)
class Measured:
    """Chunks with their exact counts: parallel arrays.

    Attributes:
        spans: the chunks.
        unsafe: whether counts can't be taken as differences from the chunk's start.
        tokens: of the text.
        line_tokens: of the text with a newline added.
        prefix: row of the embed prefix in `Prefixes`.
        embed_tokens: of prefix and text together.
    """

    spans: Spans
    unsafe: BoolArray
    tokens: IntArray
    line_tokens: IntArray
    prefix: IntArray
    embed_tokens: IntArray

    def rows(self, chosen: IntArray) -> Measured:
        """Some of the chunks, or all in another order."""
        spans = Spans(*(getattr(self.spans, field.name)[chosen] for field in fields(Spans)))
        return Measured(spans, *(getattr(self, field.name)[chosen] for field in fields(self)[1:]))

    def piece(self, index: int) -> Piece:
        """One of the chunks, as it was before its blanks were trimmed."""
        spans = self.spans
        columns = (spans.own_start, spans.own_end, spans.start, spans.loose, spans.document)
        return Piece(*(column[index].item() for column in columns))

    @classmethod
    def together(cls, parts: Sequence[Measured]) -> Measured:
        """The chunks of all parts, part by part."""
        spans = (np.concatenate([getattr(part.spans, field.name) for part in parts]) for field in fields(Spans))
        rest = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)[1:])
        return cls(Spans(*spans), *rest)


@dataclass(frozen=True, slots=True)
class Measure:
    """Exact counts of spans of one batch."""

    batch: Batch
    ends: TokenEnds
    counter: Counter
    prefixes: Prefixes

    def of(self, pieces: Pieces) -> Measured:
        """These pieces without the blanks at their ends, and their counts."""
        end = trimmed_ends(self.batch, pieces.start, pieces.own_end)
        spans = Spans(pieces.own_start, pieces.own_end, pieces.start, end, pieces.document, pieces.loose)
        prefix = self.prefixes.at(spans.start, spans.document)
        embedded = Embedded(self.batch, spans, prefix, self.prefixes.text)
        return measured(embedded, self.ends, self.counter, np.array(self.prefixes.tokens, np.int64))

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


def without_overlap(found: Measured, chosen: Sequence[int], measure: Measure) -> Measured:
    """The same chunks, those chosen (as indices) with what is new in them alone."""
    alone = measure.of(Pieces.of([found.piece(index).without_overlap(measure.batch) for index in chosen]))
    whole = Measured.together([found.rows(np.delete(np.arange(len(found.tokens)), chosen)), alone])
    return whole.rows(np.argsort(whole.spans.own_start, kind="stable"))


@dataclass(frozen=True, slots=True)
class Embedded:
    """Chunks as they are embedded, whatever counts them.

    Attributes:
        batch: the documents.
        spans: the chunks.
        prefix: of each the row of its embed prefix.
        prefix_texts: the embed prefixes.
    """

    batch: Batch
    spans: Spans
    prefix: IntArray
    prefix_texts: Sequence[str]


def measured(embedded: Embedded, ends: TokenEnds, counter: Counter, prefix_tokens: IntArray) -> Measured:
    """The exact counts of these chunks in one encoding.

    Args:
        embedded: the chunks.
        ends: where the documents' tokens end in that encoding.
        counter: of that encoding.
        prefix_tokens: of each prefix.
    """
    batch, spans = embedded.batch, embedded.spans
    unsafe = unsafe_places(batch, ends, counter, spans.start)
    tokens, line_tokens = span_tokens(batch, ends, counter, spans.start, spans.end, unsafe)
    embed_tokens = _embed_tokens(embedded, counter, prefix_tokens, tokens)
    return Measured(spans, unsafe, tokens, line_tokens, embedded.prefix, embed_tokens)


def measured_again(embedded: Embedded, ends: TokenEnds, counter: Counter) -> Measured:
    """The same for an encoding in which the prefixes have not been counted yet."""
    used = np.unique(embedded.prefix)
    prefix_tokens = np.zeros(len(embedded.prefix_texts), np.int64)
    prefix_tokens[used] = counter.count([embedded.prefix_texts[row] for row in used.tolist()])
    return measured(embedded, ends, counter, prefix_tokens)


def _embed_tokens(embedded: Embedded, counter: Counter, prefix_tokens: IntArray, tokens: IntArray) -> IntArray:
    """Exact tokens of each chunk's embed text: prefix and text add up, but where a newline may join a `/`."""
    before = prefix_tokens[embedded.prefix]
    total = before + tokens
    if counter.slash_joins:
        data, spans = embedded.batch.data, embedded.spans
        slashed = [k for k in np.flatnonzero(before > 0).tolist() if data[spans.start[k]] == ord("/")]
        texts = [
            embedded.prefix_texts[embedded.prefix[k]] + data[spans.start[k] : spans.end[k]].decode() for k in slashed
        ]
        total[slashed] = counter.count(texts)
    return total
