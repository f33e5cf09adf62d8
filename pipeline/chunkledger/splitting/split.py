"""Batch + blocks + token ends -> chunks, as spans with their exact counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, Blocks, Cuts, IntArray, Spans, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting.active import Active
from chunkledger.splitting.atoms import Atoms
from chunkledger.splitting.bans import banned_cuts, cut_prices, forced_cuts, held_cuts, make_room
from chunkledger.splitting.cut_points import structural_cuts
from chunkledger.splitting.fitting import fitted_pieces
from chunkledger.splitting.headings import Headings, headings_of
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.leaves import leaves_of
from chunkledger.splitting.measure import Measure, Measured
from chunkledger.splitting.parents import with_parents
from chunkledger.splitting.points import Point
from chunkledger.splitting.prefixes import Prefixes, repeated_of
from chunkledger.splitting.reopened import reopened
from chunkledger.splitting.repair import repaired


@dataclass(frozen=True, slots=True)
class Split:
    """The chunks of a batch, and what records need to describe them.

    Attributes:
        measured: the chunks, with their counts.
        cuts: every cut point of structure.
        sentences: bytes where sentences start inside blocks that had to be cut, ascending.
        headings, prefixes, ladder: see there.
        parents: the parents of the chunks, where there are any.
        parent: of each chunk the index of its parent.
    """

    measured: Measured
    cuts: Cuts
    sentences: IntArray
    headings: Headings
    prefixes: Prefixes
    ladder: Ladder
    parents: Measured | None = None
    parent: IntArray | None = None

    @property
    def spans(self) -> Spans:
        """The chunks as spans."""
        return self.measured.spans


def split(batch: Batch, blocks: Blocks, ends: TokenEnds, counter: Counter, settings: Settings) -> Split:
    """Cut every document of the batch.

    Every chunk's embed text has at most `settings.max_tokens` tokens, but for a single grapheme that has more.
    """
    cuts = structural_cuts(batch, blocks)
    headings = headings_of(blocks)
    prefixes = Prefixes(batch, headings, repeated_of(batch, blocks), counter, settings)
    make_room(batch, blocks, cuts, ends, prefixes)
    held = held_cuts(batch, blocks, cuts, ends, prefixes, settings)
    leaves = leaves_of(blocks)
    ladder = Ladder(batch, leaves, cuts, held, ends, prefixes, Atoms(batch, leaves))
    active = _active(batch, ladder, settings)
    pieces = reopened(blocks, active, fitted_pieces(active, ladder, settings), ladder, settings)
    measure = Measure(batch, ends, counter, prefixes)
    found = repaired(pieces, measure, ladder, settings)
    parents = parent = None
    if settings.parent_tokens:
        found, parents, parent = with_parents(found, measure, ladder, settings)
    sentences = np.unique(np.array(ladder.sentences, np.int64))
    return Split(found, cuts, sentences, headings, prefixes, ladder, parents, parent)


def _active(batch: Batch, ladder: Ladder, settings: Settings) -> Active:
    """The cut points that compete: those of structure that are not banned, and finer ones where a piece is too big."""
    cuts, ends, prefixes = ladder.cuts, ladder.ends, ladder.prefixes
    open_cuts = np.flatnonzero(~banned_cuts(batch, cuts, ladder.held, ends, prefixes, settings))
    active = Active.of_points(
        ladder,
        cuts.position[open_cuts],
        cuts.strength[open_cuts].astype(np.int64),
        cuts.document[open_cuts],
        price=cut_prices(cuts)[open_cuts],
        forced=forced_cuts(cuts, settings)[open_cuts],
    )
    piece_end = active.piece_ends(batch)
    sizes = active.end_tokens(piece_end, ends) - active.tokens
    over = np.flatnonzero(sizes > settings.max_tokens - active.prefix)
    points: list[Point] = []
    owners: list[int] = []
    for index in over.tolist():
        document = int(active.document[index])
        found = ladder.finer(int(active.position[index]), int(piece_end[index]), document, settings.max_tokens)
        points += found
        owners += [document] * len(found)
    place, strength = np.array(points, np.int64).reshape(-1, 2).T
    return active.with_points(ladder, place, strength, np.array(owners, np.int64))
