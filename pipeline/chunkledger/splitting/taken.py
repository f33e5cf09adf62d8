"""Chunks that another splitter has cut -> the same chunks, counted, with the places where they may be cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunkledger.counting.counter import Counter
from chunkledger.model import Batch, Blocks, BoolArray, Cuts, IntArray, Spans, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting import strengths
from chunkledger.splitting.atoms import Atoms
from chunkledger.splitting.bans import held_cuts
from chunkledger.splitting.cut_points import structural_cuts
from chunkledger.splitting.headings import Headings
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.leaves import leaves_of
from chunkledger.splitting.measure import Embedded, Measured, measured
from chunkledger.splitting.prefixes import Prefixes, Repeated
from chunkledger.splitting.split import Split

_NONE: IntArray = np.zeros(0, np.int64)
_NOTHING = Repeated(_NONE, _NONE, _NONE, np.zeros(0, np.bool_))


def taken(batch: Batch, blocks: Blocks, ends: TokenEnds, counter: Counter, settings: Settings) -> Split:
    """Every document of the batch as one chunk, blanks and all, without prefix or headings of its own.

    Args:
        batch: a document for each chunk; none is empty.
        blocks: their structure.
        ends: where their tokens end.
        counter: of the same encoding.
        settings: for what a chunk may hold.
    """
    cuts = _inner(structural_cuts(batch, blocks))
    headings = Headings(_NONE, _NONE, ())
    prefixes = Prefixes(batch, headings, _NOTHING, counter, settings)
    leaves = leaves_of(blocks)
    held = held_cuts(batch, blocks, cuts, ends, prefixes, settings)
    ladder = Ladder(batch, leaves, cuts, held, ends, prefixes, Atoms(batch, leaves))
    return Split(_measured(batch, ends, counter), cuts, _NONE, headings, prefixes, ladder)


def _inner(cuts: Cuts) -> Cuts:
    """The cuts without the first line that holds something: before it there are only blanks."""
    never: BoolArray = cuts.never | (cuts.strength == strengths.DOCUMENT)
    return replace(cuts, never=never)


def _measured(batch: Batch, ends: TokenEnds, counter: Counter) -> Measured:
    """Whole documents as chunks, with their counts."""
    start, end = batch.starts[:-1], batch.starts[1:]
    document = np.arange(len(start), dtype=np.int64)
    spans = Spans(start, end, start, end, document, np.zeros(len(start), np.bool_))
    return measured(Embedded(batch, spans, np.zeros(len(start), np.int64), [""]), ends, counter, np.zeros(1, np.int64))
