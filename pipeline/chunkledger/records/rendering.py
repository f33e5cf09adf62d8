"""Rendered counts: what a chunk costs in the prompt, whole and cut at each of its boundaries.

The block is never built where its parts add up: header, context, body and closing meet only at seams that
`packer.render` describes. Where they may not (a `/` behind a newline under o200k, a defused mark) the very string
that the packer would send is built and counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.counting.spans import span_tokens, unsafe_ends
from chunkledger.model import BoolArray, IntArray, TokenEnds
from chunkledger.packer.render import (
    SECTION_SEPARATOR,
    TRUNCATION_MARKER,
    Template,
    defused,
    render_block,
    template_named,
)
from chunkledger.records.boundaries import Boundaries
from chunkledger.records.described import Described
from chunkledger.settings import Settings
from chunkledger.splitting.measure import Measured

_LINE_END = np.isin(np.arange(256), list(b"\r\n"))
_MAY_BE_BLANK = (np.arange(256) <= ord(" ")) | (np.arange(256) >= 0x80)
_ENDS_LINE = frozenset("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_LONGEST_MARK = 64
"""Bytes; the marks that need the end of a line are the whole line, and shorter than this."""


@dataclass(frozen=True, slots=True)
class RenderedCounts:
    """Counts of one batch's chunks in one template.

    Attributes:
        rendered: of each chunk's block.
        body: of each chunk's text and the newline behind it.
        joined: of the slice up to the next chunk's start; -1 where it does not add up exactly.
        boundary_tokens: of the text before each boundary, over all chunks.
        boundary_rendered: of each chunk's block cut at each boundary, marker included.
    """

    rendered: IntArray
    body: IntArray
    joined: IntArray
    boundary_tokens: IntArray
    boundary_rendered: IntArray


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the counts of one batch are made from."""

    shown: Described
    ends: TokenEnds
    counter: Counter
    found: Measured
    template: Template


def rendered_counts(
    shown: Described,
    ends: TokenEnds,
    counter: Counter,
    found: Measured,
    boundaries: Boundaries,
    settings: Settings,
) -> RenderedCounts:
    """Every count that depends on the template.

    Args:
        shown: the chunks.
        ends: where the documents' tokens end.
        counter: counts what differences can't, in the same encoding.
        found: counts of the chunks' texts, in the same encoding.
        boundaries: of all chunks.
        settings: for the template.
    """
    template = template_named(settings.template)
    parts = _Parts(shown, ends, counter, found, template)
    marked = _marked(parts)
    around = _around(parts)
    body = found.line_tokens.copy()
    for index in np.flatnonzero(marked).tolist():
        body[index] = int(counter.count([f"{defused(parts.shown.text(index), template)}\n"])[0])
    rendered = around + body
    whole = marked | _slashed(parts) | _behind_blank_line(parts)
    _count_blocks(parts, np.flatnonzero(whole), rendered)
    tokens, boundary_rendered = _boundary_counts(parts, boundaries, around, whole)
    return RenderedCounts(rendered, body, _joined(parts, marked), tokens, boundary_rendered)


def _marked(parts: _Parts) -> BoolArray:
    """Chunks whose text or context holds a mark of the template, which rendering defuses."""
    pattern = re.compile(parts.template.own_marks.encode())
    spans = parts.shown.spans
    at = np.array([match.start() for match in pattern.finditer(parts.shown.batch.data)], np.int64)
    found = np.searchsorted(at, spans.end, side="left") > np.searchsorted(at, spans.start, side="left")
    for index in np.flatnonzero(spans.loose | _behind_open_line(parts) | _end_within_line(parts)).tolist():
        text = parts.shown.text(index)
        found[index] = found[index] or defused(text, parts.template) != text
    contexts = parts.shown.contexts
    marked = [row for row, context in enumerate(contexts) if context and defused(context, parts.template) != context]
    result: BoolArray = found | np.isin(parts.shown.prefix, marked)
    return result


def _behind_open_line(parts: _Parts) -> BoolArray:
    """Chunks that open a document which stands behind one that ends in no line end."""
    start, batch = parts.shown.spans.start, parts.shown.batch
    values = np.frombuffer(batch.data, np.uint8)
    opens = np.flatnonzero((start == batch.starts[parts.shown.spans.document]) & (start > 0))
    result = np.zeros(len(start), np.bool_)
    result[opens] = ~_LINE_END[values[start[opens] - 1]]
    return result


def _end_within_line(parts: _Parts) -> BoolArray:
    """Chunks that end within a line, so that what was no mark of the template in the batch may be one now."""
    spans, lines = parts.shown.spans, parts.shown.batch.line_starts
    result = np.zeros(len(spans.start), np.bool_)
    end_line = np.searchsorted(lines, spans.end, side="right")
    result[:-1] = end_line[:-1] == np.searchsorted(lines, spans.own_start[1:], side="right")
    return result


def _slashed(parts: _Parts) -> BoolArray:
    """Chunks whose text or context begins with a `/` that the encoding may join to the newline before it."""
    spans = parts.shown.spans
    if not parts.counter.slash_joins or not len(spans.start):
        return np.zeros(len(spans.start), np.bool_)
    values = np.frombuffer(parts.shown.batch.data, np.uint8)
    slashed: BoolArray = values[spans.start] == ord("/")
    contexts = [row for row, context in enumerate(parts.shown.contexts) if context.startswith("/")]
    return slashed | np.isin(parts.shown.prefix, contexts) if contexts else slashed


def _behind_blank_line(parts: _Parts) -> BoolArray:
    """Chunks whose text begins with a line end, which the header's own may join; only other splitters make them."""
    spans = parts.shown.spans
    values = np.frombuffer(parts.shown.batch.data, np.uint8)
    result = np.zeros(len(spans.start), np.bool_)
    for index in np.flatnonzero(_MAY_BE_BLANK[values[spans.start]]).tolist() if len(values) else ():
        text = f"{parts.shown.text(index)}\n"
        result[index] = bool(set(text[: len(text) - len(text.lstrip())]) & _ENDS_LINE)
    return result


def _around(parts: _Parts) -> IntArray:
    """Tokens of header, context and closing of each chunk."""
    shown = parts.shown
    keys = list(zip(shown.spans.document.tolist(), shown.section.tolist(), strict=True))
    unique = list(dict.fromkeys(keys))
    documents, paths = shown.batch.documents, shown.paths
    headers = [
        parts.template.header(1, documents[document].doc_id, SECTION_SEPARATOR.join(paths[section]))
        for document, section in unique
    ]
    rows = [row for row, context in enumerate(shown.contexts) if context]
    contexts = [f"{shown.contexts[row]}\n" for row in rows]
    counts = parts.counter.count([*headers, *contexts, parts.template.closing])
    row_of = {key: row for row, key in enumerate(unique)}
    context_tokens = np.zeros(len(shown.contexts), np.int64)
    context_tokens[rows] = counts[len(headers) : -1]
    header_tokens = counts[[row_of[key] for key in keys]] if keys else counts[:0]
    result: IntArray = header_tokens + context_tokens[shown.prefix] + counts[-1]
    return result


def _block(parts: _Parts, index: int, text: str, *, truncated: bool = False) -> str:
    document = parts.shown.batch.documents[int(parts.shown.spans.document[index])]
    return render_block(
        number=1,
        source=document.doc_id,
        heading_path=parts.shown.path(index),
        context=parts.shown.contexts[int(parts.shown.prefix[index])],
        text=text,
        template=parts.template,
        truncated=truncated,
    )


def _count_blocks(parts: _Parts, chosen: IntArray, rendered: IntArray) -> None:
    blocks = [_block(parts, index, parts.shown.text(index)) for index in chosen.tolist()]
    rendered[chosen] = parts.counter.count(blocks)


def _boundary_counts(
    parts: _Parts, boundaries: Boundaries, around: IntArray, whole: BoolArray
) -> tuple[IntArray, IntArray]:
    """Tokens of the text before each boundary, and of the block cut there."""
    batch, counter, spans = parts.shown.batch, parts.counter, parts.shown.spans
    chunk, position = boundaries.chunk, boundaries.position
    before = parts.ends.before(position)
    unsafe = parts.found.unsafe[chunk] | unsafe_ends(batch, parts.ends, counter, position, before)
    tokens = before - parts.ends.before(spans.start)[chunk]
    with_line = tokens.copy()
    recount = np.flatnonzero(unsafe & ~boundaries.sentence)
    tokens[recount] = counter.count_each(
        batch.data[first:last].decode()
        for first, last in zip(spans.start[chunk[recount]].tolist(), position[recount].tolist(), strict=True)
    )
    with_line[recount] = tokens[recount]
    ends = np.flatnonzero(boundaries.sentence)
    tokens[ends], with_line[ends] = span_tokens(
        batch, parts.ends, counter, spans.start[chunk[ends]], position[ends], parts.found.unsafe[chunk[ends]]
    )
    rendered = around[chunk] + with_line + int(counter.count([f"{TRUNCATION_MARKER}\n"])[0])
    made_marks = np.zeros(len(chunk), np.bool_)
    made_marks[ends] = _ends_in_marks(parts, spans.start[chunk[ends]], position[ends])
    rebuilt = np.flatnonzero(whole[chunk] | made_marks)
    rendered[rebuilt] = counter.count_each(
        _block(parts, index, batch.data[int(spans.start[index]) : place].decode(), truncated=True)
        for index, place in zip(chunk[rebuilt].tolist(), position[rebuilt].tolist(), strict=True)
    )
    return tokens, rendered


def _ends_in_marks(parts: _Parts, start: IntArray, end: IntArray) -> BoolArray:
    """Which texts, cut within a line, end in a line that is a mark of the template only because it ends there."""
    lines = parts.shown.batch.line_starts
    first = np.maximum(start, lines[np.searchsorted(lines, end, side="right") - 1])
    result = np.zeros(len(end), np.bool_)
    for index in np.flatnonzero(end - first <= _LONGEST_MARK).tolist():
        line = parts.shown.batch.data[int(first[index]) : int(end[index])].decode()
        result[index] = defused(line, parts.template) != line
    return result


def _joined(parts: _Parts, marked: BoolArray) -> IntArray:
    """Tokens up to the next chunk's start, where what follows adds to them exactly; else -1."""
    spans, batch = parts.shown.spans, parts.shown.batch
    count = len(spans.start)
    joined = np.full(count, -1, np.int64)
    if count < 2:
        return joined
    following = spans.start[1:]
    slashed = _slashed(parts)
    possible = (spans.document[1:] == spans.document[:-1]) & ~parts.found.unsafe[1:] & ~marked[:-1]
    possible &= ~slashed[:-1]
    chosen = np.flatnonzero(possible)
    joined[chosen] = parts.ends.before(following[chosen]) - parts.ends.before(spans.start[chosen])
    whole = chosen[parts.found.unsafe[chosen]]
    texts = [batch.data[int(spans.start[index]) : int(following[index])].decode() for index in whole.tolist()]
    joined[whole] = parts.counter.count(texts)
    return joined
