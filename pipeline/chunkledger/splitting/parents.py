"""Parents: whole chunks put together to sections, for a prompt that is to have more than the chunk that was found.

The cheapest way through a document again, with chunks for pieces and their own limit: so a parent ends where a strong
section does, and holds as much as it may.
"""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import BoolArray, IntArray
from chunkledger.settings import Settings
from chunkledger.splitting import strengths
from chunkledger.splitting.ladder import Ladder
from chunkledger.splitting.measure import Measure, Measured, without_overlap
from chunkledger.splitting.pieces import Pieces
from chunkledger.splitting.prices import LOOSE_SLACK, Aim
from chunkledger.splitting.repair import settled
from chunkledger.splitting.total_fit import Candidates, taken_cuts


def with_parents(
    found: Measured, measure: Measure, ladder: Ladder, settings: Settings
) -> tuple[Measured, Measured, IntArray]:
    """The chunks, their parents, and of each chunk the index of its parent.

    What a chunk repeats is not of another parent: one whose overlap would reach into that repeats nothing. A parent's
    embed text has at most `settings.parent_tokens` tokens, but where it is a single chunk that has more.

    Args:
        found: the chunks, in document order.
        measure: counts.
        ladder: for the cut points of structure.
        settings: sizes.
    """
    first = _first_chunks(found, measure, ladder, settings.parent_tokens)
    parents = measure.of(_pieces(found, first, measure))
    parent = np.repeat(np.arange(len(first)), _chunk_counts(first, found))
    reaches = np.flatnonzero(found.spans.start < parents.spans.start[parent])
    if len(reaches):
        apart = settled(without_overlap(found, reaches.tolist(), measure), measure, ladder, settings)
        if len(apart.tokens) != len(found.tokens):
            # Without what it repeated a chunk may start behind a longer prefix, and was cut again.
            return with_parents(apart, measure, ladder, settings)
        found = apart
        parent = np.searchsorted(parents.spans.start, found.spans.own_start, side="right") - 1
    return found, parents, parent


def _first_chunks(found: Measured, measure: Measure, ladder: Ladder, limit: int) -> IntArray:
    """The chunks (as indices) that open a parent.

    Differences of token positions are a few tokens off within a line, so a document with a parent that is over the
    limit after all is tried again with less room; where there is none left, each of its chunks is a parent.
    """
    done: list[IntArray] = []
    left = np.arange(len(found.tokens))
    for attempt in count():
        room = limit if not attempt else limit - LOOSE_SLACK * 2**attempt
        if room < 1:
            done.append(left)
            break
        first = left[_cheapest(found.rows(left), measure, ladder, room)]
        sizes = measure.of(_pieces(found, first, measure)).embed_tokens
        over = first[(sizes > limit) & (_chunk_counts(first, found) > 1)]
        again = np.isin(found.spans.document, found.spans.document[over])
        done.append(first[~again[first]])
        left = np.flatnonzero(again)
        if not len(left):
            break
    return np.sort(np.concatenate(done))


def _cheapest(found: Measured, measure: Measure, ladder: Ladder, limit: int) -> IntArray:
    """Which of the chunks open a parent on the cheapest way through their documents."""
    spans, ends = found.spans, measure.ends
    candidates = Candidates(
        tokens=ends.before(spans.own_start),
        end_tokens=ends.before(spans.own_end),
        start_tokens=ends.before(spans.own_start),
        prefix=measure.prefixes.token_count(spans.own_start, spans.document),
        price=_prices(spans.own_start, ladder),
        loose=_are_loose(spans.own_start, measure),
    )
    first = np.flatnonzero(np.diff(spans.document, prepend=-1))
    last = np.append(first[1:], len(spans.start))[: len(first)]
    return taken_cuts(candidates, first, last, Aim(limit, max(1, limit * 95 // 100), 0))


def _prices(position: IntArray, ladder: Ladder) -> NDArray[np.float64]:
    """What it costs to part two parents at the start of each chunk: what it cost to cut there."""
    cuts = ladder.cuts
    place = np.minimum(np.searchsorted(cuts.position, position), max(0, len(cuts.position) - 1))
    known = cuts.position[place] == position
    prices: NDArray[np.float64] = strengths.PRICES[np.where(known, cuts.strength[place], strengths.SENTENCE)]
    return prices


def _are_loose(position: IntArray, measure: Measure) -> BoolArray:
    lines = measure.batch.line_starts
    result: BoolArray = lines[np.searchsorted(lines, position, side="right") - 1] != position
    return result


def _pieces(found: Measured, first: IntArray, measure: Measure) -> Pieces:
    spans = found.spans
    start = spans.own_start[first]
    own_end = spans.own_end[first + _chunk_counts(first, found) - 1]
    return Pieces(start, own_end, start, _are_loose(start, measure), spans.document[first])


def _chunk_counts(first: IntArray, found: Measured) -> IntArray:
    """How many chunks go from each of these to the next one, or to the end of its document."""
    document = found.spans.document
    following = np.append(first[1:], len(document))[: len(first)]
    document_end = np.searchsorted(document, document[first], side="right")
    result: IntArray = np.minimum(following, document_end) - first
    return result
