"""Paragraphs that are cut at sentence ends although they fit, because that saves their document a chunk.

Bans keep whole what belongs together, so a document of long paragraphs, or one in a script that takes many tokens, may
leave a fifth of every chunk empty. To look for sentences everywhere would cost more than to cut: so cuts anywhere
inside long paragraphs are tried first, and sentences are looked for only where the best of these ways cuts, and only
in documents that have fewer chunks by it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chunkledger.model import Batch, Blocks, BoolArray, IntArray, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting import strengths
from chunkledger.splitting.active import Active
from chunkledger.splitting.fitting import fitted_pieces
from chunkledger.splitting.ladder import Ladder, sentence_places
from chunkledger.splitting.pieces import Pieces
from chunkledger.structure import kinds

LEAST_LIMIT = 64
"""Below it a sentence is most of a chunk, and paragraphs that fit are too short to be worth a cut."""
_EXCESS = 1.12
"""Chunks of a document against the least possible number from which it is looked at."""
_LONG = 8
"""Of the limit, the part that a paragraph must have to be cut."""
_SHARE = 0.15
"""Of a document, the share that such paragraphs must have: below it, cutting them rarely saves a chunk."""
_PROBES = 12
"""Cuts that are tried in a limit's worth of tokens: about one for each sentence."""
_ROUNDS = 2
OLD_CUT_DISCOUNT = 0.05
"""What a cut that was taken before costs less, so that a chunk is saved by changing few of its neighbours, and an edit
elsewhere does not change where paragraphs are cut."""


def reopened(blocks: Blocks, active: Active, pieces: Pieces, ladder: Ladder, settings: Settings) -> Pieces:
    """The pieces, those of documents that can do with fewer replaced.

    Args:
        blocks: their structure.
        active: the cut points that competed.
        pieces: the best of them.
        ladder: for documents, sentences, tokens and prefixes; it learns of sentences in paragraphs that are cut.
        settings: sizes and overlap.
    """
    batch, ends = ladder.batch, ladder.ends
    if settings.max_tokens < LEAST_LIMIT:
        return pieces
    counts = np.bincount(pieces.document, minlength=len(batch.documents))
    wasteful = counts > _EXCESS * _least_counts(batch, pieces, ladder, settings)
    long = _long_paragraphs(batch, blocks, wasteful, ends, settings)
    if not len(long):
        return pieces
    owner = blocks.document[long]
    here = np.zeros(len(batch.documents), np.bool_)
    here[owner] = True
    price = np.where(np.isin(active.position, pieces.own_start), active.price - OLD_CUT_DISCOUNT, active.price)
    tried = replace(active, price=price).rows(here[active.document])
    closed = np.ones(len(long), np.bool_)
    found: list[int] = []
    for _ in range(_ROUNDS):
        place, paragraph = _probes(batch, blocks, long, closed, ends, settings)
        probed = tried.with_points(ladder, place, np.full_like(place, strengths.SENTENCE), owner[paragraph])
        best = fitted_pieces(probed, ladder, settings)
        fewer = _fewer(best, counts)
        tried = tried.rows(fewer[tried.document])
        cut = np.unique(paragraph[np.isin(place, best.own_start)])
        cut = cut[fewer[owner[cut]]]
        if not len(cut):
            break
        closed &= fewer[owner]
        closed[cut] = False
        each = [_sentences(blocks, int(index), ladder) for index in long[cut].tolist()]
        sentences = np.array([place for places in each for place in places], np.int64)
        found += sentences.tolist()
        of = np.repeat(owner[cut], [len(places) for places in each])
        tried = tried.with_points(ladder, sentences, np.full_like(sentences, strengths.SENTENCE), of)
    best = fitted_pieces(tried, ladder, settings)
    fewer = _fewer(best, counts)
    ladder.sentences.extend(_in_documents(batch, np.array(found, np.int64), fewer))
    return Pieces.together([pieces.rows(~fewer[pieces.document]), best.rows(fewer[best.document])])


def _fewer(pieces: Pieces, counts: IntArray) -> BoolArray:
    """For each document whether it has pieces here, and fewer of them."""
    now = np.bincount(pieces.document, minlength=len(counts))
    result: BoolArray = (now > 0) & (now < counts)
    return result


def _least_counts(batch: Batch, pieces: Pieces, ladder: Ladder, settings: Settings) -> IntArray:
    """For each document the number of chunks that would hold its text and their prefixes if they were all full."""
    ends = ladder.ends
    sizes = ends.before(pieces.own_end) - ends.before(pieces.start)
    sizes += ladder.prefixes.token_count(pieces.start, pieces.document)
    tokens = np.bincount(pieces.document, weights=sizes, minlength=len(batch.documents)).astype(np.int64)
    result: IntArray = -(-tokens // settings.max_tokens)
    return result


def _long_paragraphs(
    batch: Batch, blocks: Blocks, wasteful: BoolArray, ends: TokenEnds, settings: Settings
) -> IntArray:
    """The paragraphs (as indices) of these documents that are long and stand in no list, quote or footnote."""
    found = np.flatnonzero((blocks.kind == kinds.PARAGRAPH) & (blocks.depth == 0) & wasteful[blocks.document])
    size = ends.before(blocks.end[found]) - ends.before(blocks.start[found])
    long = size * _LONG >= settings.max_tokens
    found, size = found[long], size[long]
    held = np.bincount(blocks.document[found], weights=size, minlength=len(batch.documents))
    enough = held >= _SHARE * np.diff(ends.before(batch.starts))
    result: IntArray = found[enough[blocks.document[found]]]
    return result


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


def _in_documents(batch: Batch, places: IntArray, chosen: BoolArray) -> list[int]:
    document = np.searchsorted(batch.starts, places, side="right") - 1
    found: list[int] = places[chosen[document]].tolist()
    return found
