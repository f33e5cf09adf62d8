"""Finer cut points for pieces that are too big: blocks, sentences and code lines, lines, clauses, words, graphemes.

A rung is taken only inside a piece that the rung above left too big, so most documents never see one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from chunkledger.model import Batch, Blocks, CodeArray, Cuts, IntArray, TokenEnds
from chunkledger.splitting import strengths
from chunkledger.splitting.prefixes import Prefixes
from chunkledger.splitting.total_fit import loose_slack
from chunkledger.structure import kinds
from chunkledger.structure.markdown import inline_atoms
from chunkledger.structure.sentences import grapheme_starts, sentence_spans

_CLAUSE_END = re.compile(r"[,;:\u2013\u2014][\"'\u201d\u2019)\]]*\s+|[，、；：。！？…]+[”’」』】）]*\s*")
_WORD_END = re.compile(r"\s+")
_LINE_KINDS = (kinds.CODE, kinds.HTML, kinds.TABLE, kinds.FRONT_MATTER, kinds.MATH, kinds.DEFINITION)
_COARSE, _FINE = 64, 32
"""Most cut points kept in a limit's worth of tokens: of lines and sentences, and of words and graphemes."""

Point = tuple[int, int]
"""A cut point: byte, strength."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """The blocks that hold text themselves; they do not overlap, so both ends ascend."""

    start: IntArray
    end: IntArray
    kind: CodeArray


def leaves_of(blocks: Blocks) -> Leaves:
    """Paragraphs, and the blocks whose lines are units."""
    chosen = np.isin(blocks.kind, (kinds.PARAGRAPH, *_LINE_KINDS))
    return Leaves(blocks.start[chosen], blocks.end[chosen], blocks.kind[chosen])


@dataclass(frozen=True, slots=True)
class Ladder:
    """What the rungs look at, and what they have met.

    Attributes:
        batch, leaves, cuts: the documents and their structure.
        ends: where their tokens end.
        prefixes: for the room that a chunk has at each place.
        atoms: inline atoms of the documents that were cut within their blocks: starts, and how far any reaches.
        sentences: where sentences start in the pieces that were too big.
    """

    batch: Batch
    leaves: Leaves
    cuts: Cuts
    ends: TokenEnds
    prefixes: Prefixes
    atoms: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)
    sentences: list[int] = field(default_factory=list)

    def finer(self, start: int, end: int, document: int, limit: int) -> list[Point]:
        """Cut points strictly inside the piece, enough of them that nothing between two is over the limit.

        Where a single grapheme is over it, there is no finer point.
        """
        found: list[Point] = []
        pieces = [(start, end)]
        for rung, per_limit in _RUNGS:
            waiting: list[tuple[int, int]] = []
            for first, last in pieces:
                points = self._thinned(first, rung(self, first, last, document), max(1, limit // per_limit))
                found += points
                edges = [first, *(place for place, _ in points), last]
                waiting += self._too_big(edges, document, limit)
            pieces = waiting
            if not pieces:
                break
        self.sentences.extend(place for place, strength in found if strength == strengths.SENTENCE)
        return sorted(found)

    def _too_big(self, edges: list[int], document: int, limit: int) -> list[tuple[int, int]]:
        at = np.array(edges, np.int64)
        room = limit - self.prefixes.token_count(at[:-1], np.full(len(at) - 1, document, np.int64))
        over = np.diff(self.ends.before(at)) + loose_slack(limit) > room
        return [(edges[index], edges[index + 1]) for index in np.flatnonzero(over).tolist()]

    def _thinned(self, start: int, points: list[Point], bucket: int) -> list[Point]:
        """The last point of each `bucket` tokens from `start`: more choice would cost time and gain nothing."""
        if len(points) < 2:
            return points
        before = self.ends.before(np.array([start, *(place for place, _ in points)], np.int64))
        tokens = (before[1:] - before[0]) // bucket
        kept = np.append(np.flatnonzero(np.diff(tokens)), len(points) - 1)
        return [points[index] for index in kept.tolist()]

    def point(self, place: int, start: int, strength: int) -> Point:
        """The cut point for a unit whose text starts at `place`: the start of its line, where nothing else is on it."""
        lines = self.batch.line_starts
        line = int(lines[np.searchsorted(lines, place, side="right") - 1])
        on_line = line > start and not self.batch.data[line:place].decode().strip()
        return (line if on_line else place), strength

    def outside_atoms(self, points: list[Point], document: int) -> list[Point]:
        """Those points that are not inside code, a link, math, an HTML tag or an entity."""
        if not points or self.batch.documents[document].format != "markdown":
            return points
        if document not in self.atoms:
            self.atoms[document] = self._atoms_of(document)
        starts, reach = self.atoms[document]
        at = np.array([place for place, _ in points], np.int64)
        index = np.searchsorted(starts, at, side="left") - 1
        inside = (index >= 0) & (reach[index] > at) if len(starts) else np.zeros(len(at), np.bool_)
        return [point for point, bad in zip(points, inside.tolist(), strict=True) if not bad]

    def _atoms_of(self, document: int) -> tuple[IntArray, IntArray]:
        starts, ends = inline_atoms(self.batch.documents[document].text)
        base = int(self.batch.starts[document])
        reach = np.maximum.accumulate(np.array(ends, np.int64)) if ends else np.zeros(0, np.int64)
        return np.array(starts, np.int64) + base, reach + base


Rung = Callable[[Ladder, int, int, int], list[Point]]


def _structure(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    """Cuts that were not considered because their container, or container and heading, seemed to fit."""
    return _structural(ladder, start, end, never=False)


def _all_structure(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    """Even cuts that part a heading from its section: better than to cut a word."""
    return _structural(ladder, start, end, never=True) + _lines(ladder, start, end, document)


def _structural(ladder: Ladder, start: int, end: int, *, never: bool) -> list[Point]:
    cuts = ladder.cuts
    first = np.searchsorted(cuts.position, start, side="right")
    last = np.searchsorted(cuts.position, end, side="left")
    return [
        (int(cuts.position[index]), int(cuts.strength[index]))
        for index in range(int(first), int(last))
        if bool(cuts.never[index]) == never
    ]


def _sentences_and_code_lines(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    leaves = ladder.leaves
    found: list[Point] = []
    first = int(np.searchsorted(leaves.end, start, side="right"))
    last = int(np.searchsorted(leaves.start, end, side="left"))
    for index in range(first, last):
        inner_start, inner_end = max(start, int(leaves.start[index])), min(end, int(leaves.end[index]))
        if leaves.kind[index] == kinds.PARAGRAPH:
            found += _sentences(ladder, inner_start, inner_end, document)
        else:
            found += _line_points(ladder, inner_start, inner_end)
    return sorted(point for point in set(found) if start < point[0] < end)


def sentence_places(ladder: Ladder, start: int, end: int, document: int) -> list[int]:
    """Where sentences start strictly inside the span, in its paragraphs, ascending."""
    points = _sentences_and_code_lines(ladder, start, end, document)
    return [place for place, strength in points if strength == strengths.SENTENCE]


def _sentences(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    text = ladder.batch.data[start:end].decode()
    starts = [first for first, _ in sentence_spans(text)]
    points = [ladder.point(place, start, strengths.SENTENCE) for place in inner_bytes(text, starts, start)]
    return ladder.outside_atoms(points, document)


def _lines(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    return ladder.outside_atoms(_line_points(ladder, start, end), document)


def _line_points(ladder: Ladder, start: int, end: int) -> list[Point]:
    lines = ladder.batch.line_starts
    first = int(np.searchsorted(lines, start, side="right"))
    last = int(np.searchsorted(lines, end, side="left"))
    edges = [*lines[first:last].tolist(), end]
    data = ladder.batch.data
    return [(line, strengths.LINE) for line, following in pairwise(edges) if data[line:following].decode().strip()]


def _clauses(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    return ladder.outside_atoms(_after_matches(ladder, _CLAUSE_END, start, end, strengths.CLAUSE), document)


def _words(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    return ladder.outside_atoms(_after_matches(ladder, _WORD_END, start, end, strengths.WORD), document)


def _words_anywhere(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    return _after_matches(ladder, _WORD_END, start, end, strengths.WORD)


def _graphemes(ladder: Ladder, start: int, end: int, document: int) -> list[Point]:
    text = ladder.batch.data[start:end].decode()
    return [(place, strengths.GRAPHEME) for place in inner_bytes(text, text_graphemes(text), start)]


def text_graphemes(text: str) -> list[int]:
    r"""Where each grapheme that is not blank starts, in code points.

    >>> text_graphemes("a e\u0301")
    [0, 2]
    """
    if text.isascii():
        return [place for place, char in enumerate(text) if not char.isspace()]
    edges = [*grapheme_starts(text), len(text)]
    return [first for first, last in pairwise(edges) if not text[first:last].isspace()]


def _after_matches(ladder: Ladder, pattern: re.Pattern[str], start: int, end: int, strength: int) -> list[Point]:
    text = ladder.batch.data[start:end].decode()
    places = inner_bytes(text, [match.end() for match in pattern.finditer(text)], start)
    return [ladder.point(place, start, strength) for place in places]


def inner_bytes(text: str, places: list[int], base: int) -> list[int]:
    """Code point offsets into `text` as bytes, from `base`: those that have text on both sides."""
    least, most = len(text) - len(text.lstrip()), len(text.rstrip())
    places = [place for place in places if least < place < most]
    if text.isascii():
        return [base + place for place in places]
    values = np.frombuffer(text.encode(), np.uint8)
    first_bytes = np.append(np.flatnonzero((values & 0xC0) != 0x80), len(values))
    return (first_bytes[np.array(places, np.int64)] + base).tolist() if places else []


_RUNGS: tuple[tuple[Rung, int], ...] = (
    (_structure, 10**9),
    (_sentences_and_code_lines, _COARSE),
    (_all_structure, _COARSE),
    (_clauses, _COARSE),
    (_words, _FINE),
    (_words_anywhere, _FINE),
    (_graphemes, _FINE),
)
