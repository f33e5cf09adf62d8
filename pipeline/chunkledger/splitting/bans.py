"""Cut points that do not compete, because what they would part fits into one chunk.

Structure enters as bans, not as prices: fewer candidates, and nothing that fits is ever cut to fill a chunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chunkledger.model import Batch, Blocks, BoolArray, Cuts, IntArray, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting import strengths
from chunkledger.splitting.prefixes import Prefixes
from chunkledger.structure import kinds

_CONTAINERS = kinds.table_of(*kinds.CONTAINERS)


def forced_cuts(cuts: Cuts, settings: Settings) -> BoolArray:
    """Cuts that are always taken: the starts of documents, and of sections down to `split_headings`."""
    return cuts.strength <= settings.split_headings


def banned_cuts(
    batch: Batch, cuts: Cuts, held: IntArray, ends: TokenEnds, prefixes: Prefixes, settings: Settings
) -> BoolArray:
    """Which cuts do not compete.

    Banned are: inside a list item, table, code, HTML, quote, footnote or front matter that fits whole; between a
    heading and the first block of its section; between a line that ends in a colon and what it introduces, where
    both fit. A piece that turns out too big for all that is opened again by the ladder.
    """
    forced = forced_cuts(cuts, settings)
    banned = (cuts.never | (held > 0)) & ~forced
    banned |= _introducing(batch, cuts, ends, prefixes, settings, banned) & ~forced
    return banned


def make_room(batch: Batch, blocks: Blocks, cuts: Cuts, ends: TokenEnds, prefixes: Prefixes) -> None:
    """Shorten the prefixes of containers that fit into a chunk alone, but not with the whole heading path.

    A fence or a table in one piece is worth more than the first titles of a long path.
    """
    limit = prefixes.settings.max_tokens
    # No prefix takes more than half, and no token is shorter than a byte.
    chosen = np.flatnonzero(_CONTAINERS[blocks.kind] & (2 * (blocks.end - blocks.line_start) > limit))
    document = blocks.document[chosen]
    place = np.minimum(np.searchsorted(cuts.position, blocks.line_start[chosen]), len(cuts.position) - 1)
    is_cut = cuts.position[place] == blocks.line_start[chosen]
    # A chunk starts with the headings before its first block.
    with_headings = np.maximum.accumulate(np.where(cuts.never, 0, np.arange(len(cuts.position))))
    start = cuts.position[with_headings[place]]
    following = np.append(cuts.position, len(batch.data))[np.searchsorted(cuts.position, blocks.end[chosen])]
    size = ends.before(np.minimum(following, batch.starts[document + 1])) - ends.before(start)
    close = (size <= limit) & (2 * size > limit) & is_cut
    start, document, size = start[close], document[close], size[close]
    tight = (size + prefixes.token_count(start, document) > limit) & (prefixes.repeated.at(start) < 0)
    start, document, size = start[tight], document[tight], size[tight]
    order = np.lexsort((-size, start))
    start, document, size = start[order], document[order], size[order]
    first = np.flatnonzero(np.diff(start, prepend=-1))  # the largest one where several start there
    if len(first):
        prefixes.make_room(start[first], document[first], limit - size[first])


def held_cuts(
    batch: Batch, blocks: Blocks, cuts: Cuts, ends: TokenEnds, prefixes: Prefixes, settings: Settings
) -> IntArray:
    """For each cut how many containers there are around it that fit whole."""
    chosen = np.flatnonzero(_CONTAINERS[blocks.kind])
    first = np.searchsorted(cuts.position, blocks.line_start[chosen], side="right")
    cut_inside = np.append(cuts.position, len(batch.data))[first] < blocks.end[chosen]  # most items are one line
    chosen, first = chosen[cut_inside], first[cut_inside]
    start, end, document = blocks.line_start[chosen], blocks.end[chosen], blocks.document[chosen]
    size = ends.before(end) - ends.before(start)
    fits = size + prefixes.token_count(start, document) <= settings.max_tokens
    last = np.searchsorted(cuts.position, end[fits], side="left")
    depth = np.bincount(first[fits], minlength=len(cuts.position) + 1)
    depth -= np.bincount(last, minlength=len(cuts.position) + 1)
    result: IntArray = np.cumsum(depth)[:-1]
    return result


def _introducing(
    batch: Batch,
    cuts: Cuts,
    ends: TokenEnds,
    prefixes: Prefixes,
    settings: Settings,
    banned: BoolArray,
) -> BoolArray:
    result = np.zeros(len(cuts.position), np.bool_)
    open_cuts = np.flatnonzero(~banned)
    found = cuts.introducing[~banned[cuts.introducing]]
    place = np.searchsorted(open_cuts, found)
    previous = cuts.position[open_cuts[np.maximum(place - 1, 0)]]
    following = _position_after(batch, cuts, open_cuts, place)
    size = ends.before(following) - ends.before(previous) + prefixes.token_count(previous, cuts.document[found])
    result[found[size <= settings.max_tokens]] = True
    return result


def _position_after(batch: Batch, cuts: Cuts, open_cuts: IntArray, place: IntArray) -> IntArray:
    """Where the piece ends that starts at each open cut: at the next one, or at the end of the document."""
    document_end = batch.starts[cuts.document[open_cuts[place]] + 1]
    beyond = np.append(cuts.position[open_cuts], len(batch.data))[place + 1]
    result: IntArray = np.minimum(beyond, document_end)
    return result


def cut_prices(cuts: Cuts) -> NDArray[np.float64]:
    """What it costs to cut at each place."""
    prices = strengths.PRICES[cuts.strength] + strengths.DEPTH_PRICE * cuts.depth
    prices[cuts.introducing] += strengths.INTRO_PRICE
    result: NDArray[np.float64] = prices
    return result
