"""Paragraphs that are cut at sentence ends although they fit, because that saves a chunk.

Bans keep whole what belongs together, so a document of long paragraphs, or one in a script that takes many tokens, may
leave a fifth of every chunk empty. To look for sentences everywhere would cost more than to cut: so cuts anywhere
inside long paragraphs are tried first, and sentences are looked for only where the best of these ways cuts.

It is done stretch by stretch, each about a dozen chunks long, and only where a stretch has fewer chunks by it. Where
stretches begin is told by the text that stands there, so an edit changes the cuts of its own stretch and no others:
over whole documents one more sentence was seen to move every cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunkledger.model import Batch, Blocks, BoolArray, IntArray, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting import strengths
from chunkledger.splitting.active import Active
from chunkledger.splitting.fitting import fitted_pieces
from chunkledger.splitting.hashing import text_hashes
from chunkledger.splitting.ladder import Ladder, sentence_places
from chunkledger.splitting.pieces import Pieces
from chunkledger.structure import kinds

LEAST_LIMIT = 64
"""Below it a sentence is most of a chunk, and paragraphs that fit are too short to be worth a cut."""
_FULL, _FULLEST = 0.86, 0.96
"""How full the chunks of a stretch may be for it to be looked at, and how full they may have to be with one less of
them. Measured: where they are fuller, hardly ever is one saved."""
_CHUNKS = 3
"""Of so many chunks of a stretch one must have a paragraph that is long, else there is nothing to fill them with."""
_LONG = 8
"""Of the limit, the part that a paragraph must have to be cut."""
_PROBES = 12
"""Cuts that are tried in a limit's worth of tokens: about one for each sentence."""
_ROUNDS = 2
STRETCH = 12
"""One cut in so many is the border of a stretch that is looked at by itself, so that an edit changes only its own."""
OLD_CUT_DISCOUNT = 0.3
"""What a cut that was taken before costs less, so that a chunk is saved by changing few of its neighbours, and an edit
elsewhere does not change where paragraphs are cut."""


def reopened(blocks: Blocks, active: Active, pieces: Pieces, ladder: Ladder, settings: Settings) -> Pieces:
    """The pieces, those of stretches that can do with fewer replaced.

    Args:
        blocks: their structure.
        active: the cut points that competed.
        pieces: the best of them.
        ladder: for documents, sentences, tokens and prefixes; it learns of sentences in paragraphs that are cut.
        settings: sizes and overlap.
    """
    batch, ends = ladder.batch, ladder.ends
    if settings.max_tokens < LEAST_LIMIT or not len(pieces):
        return pieces
    borders = _borders(batch, pieces)
    stretch = _stretch_of(borders, pieces.own_start)
    counts = np.bincount(stretch, minlength=len(borders))
    most = settings.max_tokens * np.minimum(_FULL * counts, _FULLEST * (counts - 1))
    wasteful = _tokens(stretch, pieces, ladder) <= most
    long, owner = _long_paragraphs(batch, blocks, borders, wasteful, ends, settings)
    enough = (np.bincount(owner, minlength=len(counts)) * _CHUNKS >= counts)[owner]
    long, owner = long[enough], owner[enough]
    if not len(long):
        return pieces
    document = blocks.document[long]
    here = np.zeros(len(borders), np.bool_)
    here[owner] = True
    anchored = replace(
        active,
        price=np.where(np.isin(active.position, pieces.own_start), active.price - OLD_CUT_DISCOUNT, active.price),
        forced=active.forced | np.isin(active.position, borders),
    )
    tried = _inside(anchored, borders, here)
    closed = np.ones(len(long), np.bool_)
    found: list[int] = []
    for _ in range(_ROUNDS):
        place, paragraph = _probes(batch, blocks, long, closed, ends, settings)
        probed = tried.with_points(ladder, place, np.full_like(place, strengths.SENTENCE), document[paragraph])
        best = fitted_pieces(_inside(probed, borders, here), ladder, settings, borders=borders)
        fewer = _fewer(best, borders, counts)
        tried = _inside(tried, borders, fewer)
        cut = np.unique(paragraph[np.isin(place, best.own_start)])
        cut = cut[fewer[owner[cut]]]
        if not len(cut):
            break
        closed &= fewer[owner]
        closed[cut] = False
        each = [_sentences(blocks, int(index), ladder) for index in long[cut].tolist()]
        sentences = np.array([place for places in each for place in places], np.int64)
        found += sentences.tolist()
        of = np.repeat(document[cut], [len(places) for places in each])
        tried = tried.with_points(ladder, sentences, np.full_like(sentences, strengths.SENTENCE), of)
        # A paragraph that had to be cut may reach into a stretch that is not looked at.
        tried, here = _inside(tried, borders, fewer), fewer
    best = fitted_pieces(tried, ladder, settings, borders=borders)
    fewer = _fewer(best, borders, counts)
    places = np.array(found, np.int64)
    ladder.sentences.extend(places[fewer[_stretch_of(borders, places)]].tolist())
    best = _with_overlaps_of(pieces, best, borders)
    return Pieces.together([pieces.rows(~fewer[stretch]), best.rows(fewer[_stretch_of(borders, best.own_start)])])


def _inside(active: Active, borders: IntArray, stretches: BoolArray) -> Active:
    """The cut points in these stretches."""
    return active.rows(stretches[_stretch_of(borders, active.position)])


def _with_overlaps_of(pieces: Pieces, best: Pieces, borders: IntArray) -> Pieces:
    """The best pieces, those at a border with the overlap that they had: it was forced for this search alone.

    Where there is no room for it after all, the exact count will tell.
    """
    at_border = np.flatnonzero(np.isin(best.own_start, borders))
    before = np.searchsorted(pieces.own_start, best.own_start[at_border])
    start, loose = best.start.copy(), best.loose.copy()
    start[at_border], loose[at_border] = pieces.start[before], pieces.loose[before]
    return replace(best, start=start, loose=loose)


def _borders(batch: Batch, pieces: Pieces) -> IntArray:
    """Where stretches start: at documents, and at one in so many cuts, chosen by the text that stands there."""
    position = pieces.own_start
    hashed = text_hashes(batch, position, pieces.document)
    first = np.diff(pieces.document, prepend=-1) > 0
    result: IntArray = position[first | (hashed % np.uint64(STRETCH) == 0)]
    return result


def _stretch_of(borders: IntArray, position: IntArray) -> IntArray:
    return np.searchsorted(borders, position, side="right") - 1


def _fewer(pieces: Pieces, borders: IntArray, counts: IntArray) -> BoolArray:
    """For each stretch whether it has pieces here, and fewer of them."""
    now = np.bincount(_stretch_of(borders, pieces.own_start), minlength=len(counts))
    result: BoolArray = (now > 0) & (now < counts)
    return result


def _tokens(stretch: IntArray, pieces: Pieces, ladder: Ladder) -> IntArray:
    """For each stretch the tokens of its text and of the prefixes of its chunks."""
    ends = ladder.ends
    sizes = ends.before(pieces.own_end) - ends.before(pieces.start)
    sizes += ladder.prefixes.token_count(pieces.start, pieces.document)
    return np.bincount(stretch, weights=sizes).astype(np.int64)


def _long_paragraphs(
    batch: Batch, blocks: Blocks, borders: IntArray, wasteful: BoolArray, ends: TokenEnds, settings: Settings
) -> tuple[IntArray, IntArray]:
    """The paragraphs of these stretches that are long and stand in no list, quote or footnote; the stretch of each.

    Both as indices. What the parser takes for a paragraph may be blank, and then it may start before the first piece.
    """
    found = np.flatnonzero((blocks.kind == kinds.PARAGRAPH) & (blocks.depth == 0))
    found = found[(blocks.end[found] - blocks.start[found]) * _LONG >= settings.max_tokens]  # no token is shorter
    document = blocks.document[found]
    first = np.append(borders, len(batch.data))[np.searchsorted(borders, batch.starts[document])]
    owner = _stretch_of(borders, np.maximum(blocks.start[found], first))
    chosen = (first < batch.starts[document + 1]) & wasteful[owner]
    found, owner = found[chosen], owner[chosen]
    long = (ends.before(blocks.end[found]) - ends.before(blocks.start[found])) * _LONG >= settings.max_tokens
    return found[long], owner[long]


def _probes(
    batch: Batch, blocks: Blocks, long: IntArray, closed: BoolArray, ends: TokenEnds, settings: Settings
) -> tuple[IntArray, IntArray]:
    """Ends of tokens all through the paragraphs that are still closed, and in which of them each is."""
    index = np.flatnonzero(closed)
    first, last = ends.before(blocks.start[long[index]]), ends.before(blocks.end[long[index]])
    step = max(1, settings.max_tokens // _PROBES)
    counts = np.maximum(0, (last - first - 1) // step)
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    place, owner = ends.end[np.repeat(first, counts) + number * step - 1], np.repeat(index, counts)
    between = np.frombuffer(batch.data, np.uint8)[place] & 0xC0 != 0x80  # a token may end within a character
    return place[between], owner[between]


def _sentences(blocks: Blocks, index: int, ladder: Ladder) -> list[int]:
    return sentence_places(ladder, int(blocks.start[index]), int(blocks.end[index]), int(blocks.document[index]))
