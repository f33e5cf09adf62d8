"""Batch + blocks + token ends -> chunks, as spans with their exact counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, Blocks, BoolArray, Cuts, IntArray, Spans, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting.active import Active
from chunkledger.splitting.bans import banned_cuts, cut_prices, forced_cuts
from chunkledger.splitting.cut_points import structural_cuts
from chunkledger.splitting.fitting import fitted_pieces
from chunkledger.splitting.headings import Headings, headings_of
from chunkledger.splitting.ladder import Ladder, Point, leaves_of
from chunkledger.splitting.measure import Measure
from chunkledger.splitting.prefixes import Prefixes, repeated_of
from chunkledger.splitting.repair import repaired


@dataclass(frozen=True, slots=True)
class Split:
    """The chunks of a batch, and what records need to describe them.

    Attributes:
        spans: the chunks.
        tokens: exact tokens of each chunk's text.
        line_tokens: the same with a newline added.
        embed_tokens: exact tokens of prefix and text together.
        unsafe: whether counts can't be taken as differences from the chunk's start.
        prefix: row of each chunk's embed prefix in `prefixes`.
        cuts: every cut point of structure.
        sentences: bytes where sentences start inside blocks that had to be cut, ascending.
        headings, prefixes, ladder: see there.
    """

    spans: Spans
    tokens: IntArray
    line_tokens: IntArray
    embed_tokens: IntArray
    unsafe: BoolArray
    prefix: IntArray
    cuts: Cuts
    sentences: IntArray
    headings: Headings
    prefixes: Prefixes
    ladder: Ladder


def split(batch: Batch, blocks: Blocks, ends: TokenEnds, counter: Counter, settings: Settings) -> Split:
    """Cut every document of the batch.

    Every chunk's embed text has at most `settings.max_tokens` tokens, but for a single grapheme that has more.
    """
    cuts = structural_cuts(batch, blocks)
    headings = headings_of(blocks)
    prefixes = Prefixes(batch, headings, repeated_of(batch, blocks), counter, settings)
    ladder = Ladder(batch, leaves_of(blocks), cuts, ends, prefixes)
    active = _active(batch, blocks, ladder, settings)
    pieces = fitted_pieces(batch, active, ends, prefixes, settings)
    found = repaired(pieces, Measure(batch, ends, counter, prefixes), ladder, settings)
    return Split(
        spans=found.spans,
        tokens=found.tokens,
        line_tokens=found.line_tokens,
        embed_tokens=found.embed_tokens,
        unsafe=found.unsafe,
        prefix=found.prefix,
        cuts=cuts,
        sentences=np.unique(np.array(ladder.sentences, np.int64)),
        headings=headings,
        prefixes=prefixes,
        ladder=ladder,
    )


def _active(batch: Batch, blocks: Blocks, ladder: Ladder, settings: Settings) -> Active:
    """The cut points that compete: those of structure that are not banned, and finer ones where a piece is too big."""
    cuts, ends, prefixes = ladder.cuts, ladder.ends, ladder.prefixes
    open_cuts = np.flatnonzero(~banned_cuts(batch, blocks, cuts, ends, prefixes, settings))
    active = Active(
        position=cuts.position[open_cuts],
        strength=cuts.strength[open_cuts].astype(np.int64),
        price=cut_prices(cuts)[open_cuts],
        loose=np.zeros(len(open_cuts), np.bool_),
        document=cuts.document[open_cuts],
        forced=forced_cuts(cuts, settings)[open_cuts],
    )
    piece_end = active.piece_ends(batch)
    room = settings.max_tokens - prefixes.token_count(active.position, active.document)
    over = np.flatnonzero(ends.before(piece_end) - ends.before(active.position) > room)
    points: list[Point] = []
    owners: list[int] = []
    for index in over.tolist():
        document = int(active.document[index])
        found = ladder.finer(int(active.position[index]), int(piece_end[index]), document, settings.max_tokens)
        points += found
        owners += [document] * len(found)
    return active.with_points(batch, points, owners)
