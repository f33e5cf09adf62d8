"""Pieces whose exact count is over the limit, cut again."""

from __future__ import annotations

from itertools import count

from chunkledger.model import Batch
from chunkledger.settings import Settings
from chunkledger.splitting.fitting import Active, fitted_pieces
from chunkledger.splitting.ladder import Ladder, inner_bytes
from chunkledger.splitting.measure import Measure
from chunkledger.splitting.pieces import Piece, is_loose, spans_of
from chunkledger.splitting.total_fit import loose_slack
from chunkledger.structure.graphemes import is_grapheme, text_graphemes


def repaired(pieces: list[Piece], measure: Measure, ladder: Ladder, settings: Settings) -> list[Piece]:
    """The same pieces, those whose exact count is over the limit cut again.

    The dynamic programme works with differences of token positions, which are a few tokens off where an end lies
    within a line. Each round leaves such a piece less room; when there is none left, it is cut by counting.
    """
    done: list[Piece] = []
    for attempt in count():
        if not pieces:
            break
        spans = spans_of(measure.batch, pieces)
        over = measure.embed_tokens(spans, measure.counts(spans)[1]) - settings.max_tokens
        again: list[Piece] = []
        for piece, excess in zip(pieces, over.tolist(), strict=True):
            limit = settings.max_tokens - excess - max(1, loose_slack(settings.max_tokens)) * 2**attempt
            if excess <= 0:
                done.append(piece)
            elif piece.start < piece.own_start:
                again.append(piece.without_overlap(measure.batch))
            elif _is_one_grapheme(piece, measure.batch):
                done.append(piece)
            elif limit > 0:
                again += _cut_again(piece, limit, measure, ladder, settings)
            else:
                done += _cut_exactly(piece, measure, settings.max_tokens)
        pieces = again
    return _in_order(measure.batch, sorted(done + pieces, key=lambda piece: piece.own_start))


def _in_order(batch: Batch, pieces: list[Piece]) -> list[Piece]:
    """The same pieces, without an overlap that would reach back over a piece that was cut again."""
    ordered: list[Piece] = []
    for piece in pieces:
        before = ordered[-1] if ordered else None
        reaches = before is not None and before.document == piece.document and piece.start <= before.start
        ordered.append(piece.without_overlap(batch) if reaches else piece)
    return ordered


def _is_one_grapheme(piece: Piece, batch: Batch) -> bool:
    """Whether there is nothing in the piece that could be parted, however much room it needs."""
    text = batch.data[piece.own_start : piece.own_end].decode().rstrip()
    return is_grapheme(text)


def _cut_again(piece: Piece, limit: int, measure: Measure, ladder: Ladder, settings: Settings) -> list[Piece]:
    points = ladder.finer(piece.own_start, piece.own_end, piece.document, limit)
    if not points:
        return [piece]
    here = Active.of_piece(piece).with_points(measure.batch, points, [piece.document] * len(points))
    return fitted_pieces(measure.batch, here, ladder.ends, ladder.prefixes, settings, limit=limit, end=piece.own_end)


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
