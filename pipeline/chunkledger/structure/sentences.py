"""Sentences inside a block; computed only where a block must be cut, or has no other boundary.

The only module that knows sentencex, Wikimedia's rule-based splitter.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sentencex import get_sentence_boundaries

from chunkledger.structure.abbreviations import is_abbreviated, is_reference
from chunkledger.structure.escaped import escaped_breaks
from chunkledger.structure.languages import language_of

_OPENING = "\"'\u201c\u2018\u00ab([*_~<"
_GOES_ON = frozenset(",;:)]}\u00a7")
_STOP = re.compile("[.?!][^\\s.?!\u3002\uff01\uff1f]{0,4}$")
"""A stop of Latin scripts, perhaps with closing marks behind it: a blank must follow, else it is none."""
_UNFINISHED = re.compile(r"[.?!]`+$|^\(?(?:\d{1,3}|[A-Za-z])[.)]$|^(?:[^\s.]{1,8}\.\s*)+$|\\n\s*\(?\d{1,3}[.)]$")
"""Ends that are none: a mark inside of code; a numeral, a letter, or short words with a stop each, as in "J. Biol.",
that are all there is."""
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`]+\1(?!`)")
"""Code inside a text. sentencex takes a mark behind which no blank follows for an opening quote."""
_ENUMERATED = re.compile(r"(?<!\S)\(?\w{1,4}\.?\)(?=\s)")
"""What counts the parts of a sentence or a list: (a), 2). Between two of them sentencex finds no end."""
_MARK = re.compile(r"[(\[]?\w{1,4}[)\]]\s+")
"""The same where a sentence starts."""
_QUOTE = re.compile("(?<!\\w)[\"'\u201c\u2018\u00ab]|[\"'\u201d\u2019\u00bb](?!\\w)|[()\\[\\]{}]")
_OPENED = re.compile("(?<=\\s)[\"'\u201c\u2018\u00ab(\\[{]+\\s*\\Z")
_LONG_QUOTATION = 200
"""Characters of a sentence from which the ends in its quotations and brackets count as well: sentencex finds none."""
_NUMERAL_BEHIND = re.compile(r"[.?!][\"'\u201d\u2019)\]]*(\s+)\(?\d{1,3}[.)]$")
"""What may be an end, with a numeral behind it."""
_SAID = re.compile("(?:と|って|など|という)")
"""What goes on behind a quotation in Japanese: "…", he said."""
_DASH = re.compile(r"[\u2013\u2014]\s*[^\W\d_]")
_TAIL = 40  # characters on both sides of an end that say whether it is one
_WINDOW, _LARGEST_WINDOW = 4_096, 8_192
"""Characters that are split into sentences at once, and at the most where no sentence ends before."""


def sentence_spans(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Start and end of each sentence, in code points, blanks around it left out.

    Args:
        text: a paragraph.
        language: an ISO 639 code; None chooses by the text.

    What sentencex takes for an end is none where no blank follows `.`, `?` or `!`, where a comma or a lower-case letter
    follows (unless every sentence starts with one), where the mark stands in code ("the dot `.` matches"), behind a
    lone numeral, and between a short word and a figure ("Eq. 4"): a cut there would be mid-sentence, while a missed end
    only means that the next one is taken.

    Behind escaped line ends that end a sentence or a paragraph, sentences start in any case.

    A long text is split window by window, each from the start of the last sentence of the one before, because
    sentencex takes time that grows with the square of the length: 15 s for 200,000 Chinese characters in one line.

    >>> sentence_spans("Dr. Ito left. It rained.")
    [(0, 13), (14, 24)]
    >>> sentence_spans("The dot `.` matches all. See Eq. 4 for it.")
    [(0, 24), (25, 42)]
    """
    rules = language or language_of(text)
    breaks = escaped_breaks(text)
    if not breaks:
        return _spans(text, rules)
    spans: list[tuple[int, int]] = []
    first = 0
    for end, place, _ in breaks:
        found = [(first + start, first + last) for start, last in _spans(text[first:end], rules)]
        if found:
            spans += [*found[:-1], (found[-1][0], place)]
        first = place
    return spans + [(first + start, first + last) for start, last in _spans(text[first:], rules)]


def _spans(text: str, rules: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, width, begun = 0, _WINDOW, -1
    while start < len(text):
        found = [(start + first, start + last) for first, last in _window_spans(text[start : start + width], rules)]
        at_end = start + width >= len(text)
        if found and begun >= 0:
            found[0] = (begun, found[0][1])
        if at_end or len(found) > 1:
            spans += found if at_end else found[:-1]
            start, width = (len(text) if at_end else found[-1][0]), _WINDOW
            begun = -1 if found else begun
        elif width < _LARGEST_WINDOW:
            width *= 2
        else:
            begun = found[0][0] if found else begun
            start += width
    return _joined(text, rules, spans if begun < 0 else [*spans, (begun, len(text.rstrip()))])


def _joined(text: str, rules: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined = spans[:1]
    has_capitals = any(_first_letter(text[start : start + _TAIL]).isupper() for start, _ in spans)
    for start, end in spans[1:]:
        before = joined[-1]
        end_of_before, start_of_next = text[max(before[0], before[1] - _TAIL) : before[1]], text[start : start + _TAIL]
        small = has_capitals and _first_letter(start_of_next).islower()
        if small or _goes_on(end_of_before, start_of_next, together=start == before[1]):
            joined[-1] = before[0], end
        elif numeral := _numeral_behind_end(end_of_before, rules):
            base = before[1] - len(end_of_before)
            joined[-1:] = [(before[0], base + numeral[0]), (base + numeral[1], end)]
        else:
            joined.append((start, end))
    return joined


def _numeral_behind_end(before: str, rules: str) -> tuple[int, int] | None:
    """The blank before a numeral that stands at the end but counts what comes next: "The first item. 2. The second".

    In "See sec. 2. The second" and "on Dec. 5. They ate" it does not.
    """
    found = _NUMERAL_BEHIND.search(before)
    if not found or is_reference(before[: found.start(1)]):
        return None
    alone = _window_spans(f"{before[: found.start(1)]} Next", rules)
    return found.span(1) if any(end == found.start(1) for _, end in alone) else None


def _goes_on(before: str, after: str, *, together: bool) -> bool:
    """Whether the sentence that seems to end with `before` goes on with `after`, which may follow without a blank."""
    if (together and _STOP.search(before)) or _first_letter(after) in _GOES_ON:
        return True
    if _UNFINISHED.search(before) or is_abbreviated(before, _behind_marks(after)):
        return True
    if before.endswith("\u300d") and _SAID.match(after):
        return True
    dash = _DASH.match(after)
    return dash is not None and dash[0][-1].islower()


def _first_letter(sentence: str) -> str:
    """The letter or digit that a sentence starts with, behind its marks."""
    return _behind_marks(sentence)[:1]


def _behind_marks(sentence: str) -> str:
    """A sentence without opening marks and the "(a)" of an enumeration."""
    mark = _MARK.match(sentence)
    return (sentence[mark.end() :] if mark else sentence).lstrip(_OPENING)


def _window_spans(text: str, rules: str) -> list[tuple[int, int]]:
    masked = text
    for hidden, sign in ((_CODE, "`"), (_ENUMERATED, ")")):
        if sign in text:
            masked = hidden.sub(lambda found: "X" * len(found[0]), masked)
    spans: list[tuple[int, int]] = []
    for start, end in _boundaries(masked, rules):
        spans.append((start, end))
        if end - start > _LONG_QUOTATION and _QUOTE.search(text, start, end):
            spans[-1:] = _within_quotations(text, masked, start, end, rules)
    return [span for first, last in spans for span in _stripped(text, first, last)]


def _within_quotations(text: str, masked: str, start: int, end: int, rules: str) -> list[tuple[int, int]]:
    """The sentences of a span, its quotation marks and brackets left out; one that opens belongs to what follows."""
    unquoted = _QUOTE.sub(" ", masked[start:end])
    ends = [start + last for _, last in _boundaries(unquoted, rules)]
    opened = [_OPENED.search(text, max(start, last - _TAIL), last) for last in ends[:-1]]
    borders = [start, *(mark.start() if mark else last for mark, last in zip(opened, ends, strict=False)), end]
    return list(pairwise(borders))


def _boundaries(text: str, rules: str) -> list[tuple[int, int]]:
    if rules == "km":  # sentencex does not know its stop, but one of the same use
        text, rules = text.replace("\u17d4", "\u0964"), "hi"
    return [(found["start_index"], found["end_index"]) for found in get_sentence_boundaries(rules, text)]


def _stripped(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The span without the blanks around it, if anything is left."""
    piece = text[start:end]
    kept = piece.strip()
    first = start + len(piece) - len(piece.lstrip())
    return [(first, first + len(kept))] if kept else []
