"""Competing cut points -> pieces: the dynamic programme, with what overlaps and what is forced."""

from __future__ import annotations

import numpy as np

from chunkledger.model import IntArray
from chunkledger.settings import Settings
from chunkledger.splitting.active import Active
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.overlap import overlap_starts, taken_starts
from chunkledger.splitting.pieces import Pieces
from chunkledger.splitting.prices import Aim
from chunkledger.splitting.total_fit import Candidates, taken_cuts


def fitted_pieces(
    active: Active,
    ladder: Ladder,
    settings: Settings,
    *,
    limit: int | None = None,
    end: int | None = None,
    borders: IntArray | None = None,
) -> Pieces:
    """The best pieces, in document order.

    Args:
        active: the cut points that compete; the first of each document is forced.
        ladder: for the documents, their tokens and prefixes.
        settings: sizes and overlap.
        limit: room for a chunk, where it is not `settings.max_tokens`.
        end: where the last piece ends, where it is not the end of its document.
        borders: places, ascending, that no piece goes over, where some cuts are left out.
    """
    batch, prefixes = ladder.batch, ladder.prefixes
    most = limit if limit is not None else settings.max_tokens
    aim = Aim(most, min(settings.target, most), settings.min_tokens)
    piece_end = active.piece_ends(batch, borders) if end is None else np.append(active.position[1:], end)
    overlap = overlap_starts(active, settings.overlap_tokens)
    moved = settings.overlap_tokens > 0
    candidates = Candidates(
        tokens=active.tokens,
        end_tokens=active.end_tokens(piece_end, ladder.ends),
        start_tokens=active.tokens[overlap],
        prefix=prefixes.token_count(active.position[overlap], active.document) if moved else active.prefix,
        price=active.price,
        loose=active.loose | active.loose[overlap],
    )
    first = np.flatnonzero(active.forced)
    last = np.append(first[1:], len(active.forced))[: len(first)]
    taken = taken_cuts(candidates, first, last, aim)
    starts = taken
    if moved:
        starts = taken_starts(batch, active, taken.tolist(), overlap, prefixes.counter, settings.overlap_tokens)
    return Pieces(
        own_start=active.position[taken],
        own_end=piece_end[np.append(taken[1:], len(piece_end))[: len(taken)] - 1],
        start=active.position[starts],
        loose=active.loose[starts],
        document=active.document[taken],
    )
