"""Pieces whose exact count is over the limit, cut again."""

from __future__ import annotations

from itertools import count

import numpy as np

from chunkledger.model import Batch
from chunkledger.settings import Settings
from chunkledger.splitting.active import Active
from chunkledger.splitting.fitting import fitted_pieces
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.measure import Measure, Measured, without_overlap
from chunkledger.splitting.pieces import Piece, Pieces, is_loose
from chunkledger.splitting.points import inner_bytes
from chunkledger.splitting.prices import loose_slack
from chunkledger.structure.graphemes import is_grapheme, text_graphemes


def repaired(pieces: Pieces, measure: Measure, ladder: Ladder, settings: Settings) -> Measured:
    """The chunks that these pieces make, in order; those whose exact count is over the limit cut again.

    The dynamic programme works with differences of token positions, which are a few tokens off where an end lies
    within a line. Each round leaves such a piece less room; when there is none left, it is cut by counting.
    """
    return settled(_cut_to_fit(pieces, measure, ladder, settings), measure, ladder, settings)


def settled(found: Measured, measure: Measure, ladder: Ladder, settings: Settings) -> Measured:
    """The same chunks, none with an overlap that reaches back over the one before it, and none over the limit.

    A chunk that loses its overlap starts later, where its embed prefix may be longer.
    """
    while settings.overlap_tokens:
        found = _in_order(measure, found)
        over = [
            index
            for index in np.flatnonzero(found.embed_tokens > settings.max_tokens).tolist()
            if not _is_one_grapheme(found.piece(index), measure.batch)
        ]
        if not over:
            break
        again = _cut_to_fit(Pieces.of([found.piece(index) for index in over]), measure, ladder, settings)
        whole = Measured.together([found.rows(np.delete(np.arange(len(found.tokens)), over)), again])
        found = whole.rows(np.argsort(whole.spans.own_start, kind="stable"))
    return found


def _cut_to_fit(pieces: Pieces, measure: Measure, ladder: Ladder, settings: Settings) -> Measured:
    parts: list[Measured] = []
    for attempt in count():
        measured = measure.of(pieces)
        excess = measured.embed_tokens - settings.max_tokens
        over = np.flatnonzero(excess > 0).tolist()
        parts.append(measured.rows(np.flatnonzero(excess <= 0)) if over else measured)
        again: list[Piece] = []
        final: list[Piece] = []
        for index in over:
            piece = pieces.piece(index)
            limit = settings.max_tokens - int(excess[index]) - max(1, loose_slack(settings.max_tokens)) * 2**attempt
            if piece.start < piece.own_start:
                again.append(piece.without_overlap(measure.batch))
            elif _is_one_grapheme(piece, measure.batch):
                final.append(piece)
            elif limit > 0:
                again += _cut_again(piece, limit, ladder, settings)
            else:
                final += _cut_exactly(piece, measure, settings.max_tokens)
        if final:
            parts.append(measure.of(Pieces.of(final)))
        if not again:
            break
        pieces = Pieces.of(again)
    if len(parts) == 1:
        return parts[0]
    whole = Measured.together(parts)
    return whole.rows(np.argsort(whole.spans.own_start, kind="stable"))


def _in_order(measure: Measure, found: Measured) -> Measured:
    """The same chunks, without an overlap that would reach back over a piece that was cut again."""
    spans = found.spans
    moved: list[int] = []
    previous = document_before = -1
    # One by one, because a chunk that loses its overlap starts later, and the next one is compared with that.
    columns = (spans.document.tolist(), spans.start.tolist(), spans.own_start.tolist())
    for index, (document, start, own_start) in enumerate(zip(*columns, strict=True)):
        reaches = document == document_before and start <= previous
        if reaches:
            moved.append(index)
        previous, document_before = own_start if reaches else start, document
    if not moved:
        return found
    return without_overlap(found, moved, measure)


def _is_one_grapheme(piece: Piece, batch: Batch) -> bool:
    """Whether there is nothing in the piece that could be parted, however much room it needs."""
    text = batch.data[piece.own_start : piece.own_end].decode().rstrip()
    return is_grapheme(text)


def _cut_again(piece: Piece, limit: int, ladder: Ladder, settings: Settings) -> list[Piece]:
    points = ladder.finer(piece.own_start, piece.own_end, piece.document, limit)
    if not points:
        return [piece]
    place, strength = np.array(points, np.int64).T
    here = Active.of_piece(ladder, piece).with_points(ladder, place, strength, np.full_like(place, piece.document))
    found = fitted_pieces(here, ladder, settings, limit=limit, end=piece.own_end)
    return [found.piece(index) for index in range(len(found))]


def _cut_exactly(piece: Piece, measure: Measure, limit: int) -> list[Piece]:
    """The piece in parts as long as fit, every count made; only a single grapheme stays over the limit.

    Where indentation is too much to go with the text behind it, it stays outside, as blanks between chunks do.
    """
    text = measure.batch.data[piece.own_start : piece.own_end].decode()
    edges = [*inner_bytes(text, text_graphemes(text), piece.own_start).tolist(), piece.own_end]
    text_start = piece.own_start + len(text.encode()) - len(text.lstrip().encode())
    parts: list[Piece] = []
    start, index = piece.own_start, 0
    while index < len(edges):
        fitting = measure.fitting(start, edges[index:], piece.document, limit)
        if not fitting and start < text_start:
            start = text_start
            continue
        index += fitting or 1
        end = edges[index - 1]
        parts.append(Piece(start, end, start, is_loose(measure.batch, start), piece.document))
        start = end
    return parts
