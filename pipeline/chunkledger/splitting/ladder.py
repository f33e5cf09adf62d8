"""Finer cut points for pieces that are too big: blocks, sentences and code lines, lines, clauses, words, graphemes.

A rung is taken only inside a piece that the rung above left too big, so most documents never see one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from chunkledger.model import Batch, Cuts, IntArray, TokenEnds
from chunkledger.splitting import strengths
from chunkledger.splitting.atoms import Atoms
from chunkledger.splitting.leaves import Leaves
from chunkledger.splitting.points import Point, Points, inner_bytes
from chunkledger.splitting.prefixes import Prefixes
from chunkledger.splitting.prices import loose_slack
from chunkledger.structure import kinds
from chunkledger.structure.escaped import escaped_breaks
from chunkledger.structure.graphemes import text_graphemes
from chunkledger.structure.sentences import sentence_spans

_CLAUSE_END = re.compile(r"[,;:\u2013\u2014][\"'\u201d\u2019)\]]*\s+|[，、；：。！？…]+[”’」』】）]*\s*")
_INNER_END = re.compile(
    r"[.!?\u2026][\"'\u201d\u2019)\]*_]*\s+(?=[\"'\u201c\u2018(\[*_]*[^\W\d_a-zà-ÿ])"
    r"|[。！？…]+[”’」』】）]*\s*"
)
_WORD_END = re.compile(r"\s+")
_DEEPEST, _DEEPEST_CODE = 8, 2
"""So often containers that fit, and indented lines, are opened one within the other; deeper ones are cut by lines."""
_COARSE, _FINE = 64, 32
"""Most cut points kept in a limit's worth of tokens: of lines and sentences, and of words and graphemes."""

_CLOSES = re.compile(rb"(?:[)\]}]++|</[^>]*+>|`{3,}+|~{3,}+|end|fi|done|esac)[;,)]*+\s*+\Z")
"""What a line holds that only closes what was opened before it."""
_NO_PLACES = np.zeros(0, np.int64)
_OF_SENTENCES = (strengths.TEXT_LINE, strengths.SENTENCE)
_SENTENCES_OF_LINE = 1.5
"""Sentences for each line of a paragraph from which its lines count as paragraphs."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """What the rungs look at, and what they have met.

    Attributes:
        batch, leaves, cuts: the documents and their structure.
        held: for each cut how many containers there are around it that fit whole.
        ends: where their tokens end.
        prefixes: for the room that a chunk has at each place.
        atoms: what must not be cut within their blocks.
        sentences: where sentences start in the pieces that were too big.
    """

    batch: Batch
    leaves: Leaves
    cuts: Cuts
    held: IntArray
    ends: TokenEnds
    prefixes: Prefixes
    atoms: Atoms
    sentences: list[int] = field(default_factory=list)

    def finer(self, start: int, end: int, document: int, limit: int) -> list[Point]:
        """Cut points strictly inside the piece, enough of them that nothing between two is over the limit.

        Where a single grapheme is over it, there is no finer point.
        """
        found: list[Point] = []
        pieces = [(start, end)]
        for rung, per_limit, times in _RUNGS:
            for _ in range(times):
                starts: list[int] = []
                ends: list[int] = []
                for first, last in pieces:
                    points = self._thinned(first, rung(self, first, last, document), max(1, limit // per_limit))
                    places = points.place.tolist()
                    found += zip(places, points.strength.tolist(), strict=True)
                    starts += [first, *places]
                    ends += [*places, last]
                if len(starts) == len(pieces):  # nothing was found
                    break
                pieces = self._too_big(starts, ends, document, limit)
        self.sentences.extend(place for place, strength in found if strength in _OF_SENTENCES)
        return sorted(found)

    def _too_big(self, starts: list[int], ends: list[int], document: int, limit: int) -> list[tuple[int, int]]:
        first, last = np.array(starts, np.int64), np.array(ends, np.int64)
        size = self.ends.before(last) - self.ends.before(first) + loose_slack(limit)
        over = size > limit
        # A prefix takes half of the maximum at most, so most pieces need no look at theirs.
        unclear = np.flatnonzero(~over & (size > limit - self.prefixes.settings.max_tokens // 2))
        if len(unclear):
            prefix = self.prefixes.token_count(first[unclear], np.full(len(unclear), document, np.int64))
            over[unclear] = size[unclear] > limit - prefix
        return [(starts[index], ends[index]) for index in np.flatnonzero(over).tolist()]

    def _thinned(self, start: int, points: Points, bucket: int) -> Points:
        """The strongest point of each `bucket` tokens from `start`, of equal ones the last.

        More choice would cost time and gain nothing.
        """
        if len(points.place) < 2:
            return points
        tokens = self.ends.before(points.place)
        tokens -= self.ends.before(np.array([start], np.int64))
        tokens //= bucket
        order = np.lexsort((points.place, -points.strength, tokens))
        return points.where(np.sort(order[np.append(np.flatnonzero(np.diff(tokens[order])), len(tokens) - 1)]))

    def points(self, places: IntArray, start: int, strength: int) -> Points:
        """A cut point for each unit whose text starts there: the start of its line, where nothing else is on it.

        Only the first of the ascending places on a line can have nothing before it.
        """
        if not len(places):
            return Points.of(places, strength)
        lines, data = self.batch.line_starts, self.batch.data
        line = lines[np.searchsorted(lines, places, side="right") - 1]
        for index in np.flatnonzero((np.diff(line, prepend=-1) > 0) & (line > start)).tolist():
            if not data[int(line[index]) : int(places[index])].decode().strip():
                places[index] = line[index]
        return Points.of(places, strength)


Rung = Callable[[Ladder, int, int, int], Points]


def _structure(ladder: Ladder, start: int, end: int, document: int) -> Points:
    """Cuts that were not considered because their container, or container and heading, seemed to fit.

    Of those, the ones that part the fewest containers that fit.
    """
    first, last = _cuts_inside(ladder, start, end)
    found, held = _structural(ladder, first, last, never=False), ladder.held[first:last][~ladder.cuts.never[first:last]]
    return found.where(held == held.min()) if len(held) else found


def _all_structure(ladder: Ladder, start: int, end: int, document: int) -> Points:
    """Even cuts that part a heading from its section: better than to cut a word."""
    first, last = _cuts_inside(ladder, start, end)
    return Points.together([_structural(ladder, first, last, never=True), _lines(ladder, start, end, document)])


def _cuts_inside(ladder: Ladder, start: int, end: int) -> tuple[int, int]:
    position = ladder.cuts.position
    return int(np.searchsorted(position, start, side="right")), int(np.searchsorted(position, end, side="left"))


def _structural(ladder: Ladder, first: int, last: int, *, never: bool) -> Points:
    cuts = ladder.cuts
    found = Points(cuts.position[first:last], cuts.strength[first:last].astype(np.int64))
    return found.where(cuts.never[first:last] == never)


def _code_lines(ladder: Ladder, start: int, end: int, document: int) -> Points:
    return _inner_points(ladder, start, end, document, paragraphs=False)


def _inner_points(
    ladder: Ladder, start: int, end: int, document: int, *, paragraphs: bool = True, lines: bool = True
) -> Points:
    """Sentences in paragraphs and the least indented lines of what has lines for units, if they are wanted."""
    leaves = ladder.leaves
    found = [Points.of(_NO_PLACES, strengths.SENTENCE)]
    first = int(np.searchsorted(leaves.end, start, side="right"))
    last = int(np.searchsorted(leaves.start, end, side="left"))
    for index in range(first, last):
        inner_start, inner_end = max(start, int(leaves.start[index])), min(end, int(leaves.end[index]))
        if leaves.kind[index] == kinds.PARAGRAPH:
            if paragraphs:
                points = _sentences(ladder, inner_start, inner_end)
                found.append(ladder.atoms.outside_of_leaf(index, points, document))
        elif lines:
            head_end = ladder.prefixes.repeated.head_end(int(leaves.start[index]))
            nested = bool(leaves.depth[index])
            points = _least_indented(ladder, max(inner_start, head_end - 1), inner_end, nested=nested)
            found.append(ladder.atoms.outside_tags(index, points) if leaves.kind[index] == kinds.HTML else points)
    every = Points.together(found)
    # Leaves do not overlap, so the points ascend; a line's start may be there twice.
    new = np.diff(every.place, prepend=-1) > 0
    return every.where(new & (every.place > start) & (every.place < end))


def sentence_places(ladder: Ladder, start: int, end: int, document: int) -> list[int]:
    """Where sentences start strictly inside the span, in its paragraphs, ascending."""
    found: list[int] = _inner_points(ladder, start, end, document, lines=False).place.tolist()
    return found


def _sentences(ladder: Ladder, start: int, end: int) -> Points:
    """Sentences, those at the start of a line stronger where each line seems to be a paragraph, escaped lines too.

    Wrapped text has few sentences that start a line, and text with a line for each sentence has no more than lines.
    """
    text = ladder.batch.data[start:end].decode()
    starts = np.array([first for first, _ in sentence_spans(text, ladder.prefixes.settings.language)], np.int64)
    points = ladder.points(inner_bytes(text, starts, start), start, strengths.SENTENCE)
    if breaks := [place for _, place, is_paragraph in escaped_breaks(text) if is_paragraph]:
        after = np.searchsorted(starts, breaks)
        first = starts[after[after < len(starts)]]
        points.strength[np.isin(points.place, inner_bytes(text, first, start))] = strengths.TEXT_LINE
    lines = ladder.batch.line_starts
    lines = lines[np.searchsorted(lines, start, side="right") : np.searchsorted(lines, end, side="left")]
    at_line = np.isin(points.place, lines)
    if 0 < len(lines) <= 2 * at_line.sum() and len(starts) >= _SENTENCES_OF_LINE * (len(lines) + 1):
        points.strength[at_line] = strengths.TEXT_LINE
    return points


def _lines(ladder: Ladder, start: int, end: int, document: int) -> Points:
    return ladder.atoms.outside(_line_points(ladder, start, end), document)


def _line_points(ladder: Ladder, start: int, end: int) -> Points:
    lines = ladder.batch.line_starts
    first = int(np.searchsorted(lines, start, side="right"))
    last = int(np.searchsorted(lines, end, side="left"))
    edges = [*lines[first:last].tolist(), end]
    data = ladder.batch.data
    found = [line for line, following in pairwise(edges) if data[line:following].decode().strip()]
    return Points.of(np.array(found, np.int64), strengths.LINE)


def _least_indented(ladder: Ladder, start: int, end: int, *, nested: bool) -> Points:
    """The lines of a span of code that are indented least; its first line, which a piece starts with, does not count.

    Lines that only close something come with what they close, unless there are no others.
    """
    lines, data = ladder.batch.line_starts, ladder.batch.data
    first, last = int(np.searchsorted(lines, start, side="right")), int(np.searchsorted(lines, end, side="left"))
    marks = b" \t>" if nested else b" \t"
    by_indent: dict[int, list[tuple[int, bytes]]] = {}
    for line, following in pairwise([*lines[first:last].tolist(), end]):
        text = data[line:following]
        kept = text.lstrip(marks)
        if kept.isspace() or not kept or (not 0x20 <= kept[0] < 0x80 and not kept.decode().strip()):
            continue
        indent = len(text) - len(kept)
        if b"\t" in text:
            indent = len(text[:indent].expandtabs())
        by_indent.setdefault(indent, []).append((line, kept))
    levels = [each for _, each in sorted(by_indent.items())]
    opening = ([line for line, kept in each if not _CLOSES.match(kept)] for each in levels)
    all_of_them = [line for each in levels[:1] for line, _ in each]
    return Points.of(np.array(next(filter(None, opening), all_of_them), np.int64), strengths.LINE)


def _clauses(ladder: Ladder, start: int, end: int, document: int) -> Points:
    return ladder.atoms.outside(_after_matches(ladder, _CLAUSE_END, start, end, strengths.CLAUSE), document)


def _inner_ends(ladder: Ladder, start: int, end: int, document: int) -> Points:
    """Ends inside a long quotation or parenthesis, which is one sentence by the rules."""
    return ladder.atoms.outside(_after_matches(ladder, _INNER_END, start, end, strengths.LINE), document)


def _words(ladder: Ladder, start: int, end: int, document: int) -> Points:
    return ladder.atoms.outside(_after_matches(ladder, _WORD_END, start, end, strengths.WORD), document)


def _words_anywhere(ladder: Ladder, start: int, end: int, document: int) -> Points:
    """Words and lines even inside of what should be whole, because it is over the limit."""
    words = _after_matches(ladder, _WORD_END, start, end, strengths.WORD)
    every = Points.together([_line_points(ladder, start, end), words])
    order = np.lexsort((every.strength, every.place))
    return every.where(order[np.flatnonzero(np.diff(every.place[order], prepend=-1))])


def _graphemes(ladder: Ladder, start: int, end: int, document: int) -> Points:
    text = ladder.batch.data[start:end].decode()
    return Points.of(inner_bytes(text, text_graphemes(text), start), strengths.GRAPHEME)


def _after_matches(ladder: Ladder, pattern: re.Pattern[str], start: int, end: int, strength: int) -> Points:
    text = ladder.batch.data[start:end].decode()
    places = np.fromiter((match.end() for match in pattern.finditer(text)), np.int64)
    return ladder.points(inner_bytes(text, places, start), start, strength)


_RUNGS: tuple[tuple[Rung, int, int], ...] = (
    (_structure, 10**9, _DEEPEST),
    (_inner_points, _COARSE, 1),
    (_code_lines, _COARSE, _DEEPEST_CODE),
    (_all_structure, _COARSE, 1),
    (_inner_ends, _COARSE, 1),
    (_clauses, _COARSE, 1),
    (_words, _FINE, 1),
    (_words_anywhere, _FINE, 1),
    (_graphemes, _FINE, 1),
)
"""Rungs, strongest first; most points of each that are kept in a limit's worth of tokens; how often each is taken
again inside of what is still too big."""
