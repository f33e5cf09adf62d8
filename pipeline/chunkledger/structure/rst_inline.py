"""Inline markup of reStructuredText: the plain text of titles, and the spans that must not be cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from chunkledger.structure.markdown import MOST_TITLE
from chunkledger.structure.ranges import in_bytes

_MARK = re.compile(r"``|`|\*\*|\*|\||_`(?!`)|\]_|\n[ \t\r]*(?=\n)|\r[ \t]*(?=\r)")
_OPENS = {"_`": "`", "``": "``", "`": "`", "**": "**", "*": "*", "|": "|"}
"""Start-string -> end-string."""
_BEFORE = re.compile(r"[\s\-:/'\"<(\[{\u2018\u201c\u00ab\u2019\u2010-\u2014\u00a1\u00bf]")
"""What may stand before a start-string (with the start of the text)."""
_BEHIND = re.compile(r"[\s'\")\]}>\-/:.,;!?\\\u2019\u201d\u00bb\u2010-\u2014\u2026]")
"""What may stand behind an end-string (with the end of the text)."""
_ROLE_BEFORE = re.compile(r":[A-Za-z0-9](?:[A-Za-z0-9]|[-._+:](?=[A-Za-z0-9]))*+:\Z")
_BEHIND_PHRASE = re.compile(r"__?|:[A-Za-z0-9](?:[A-Za-z0-9]|[-._+:](?=[A-Za-z0-9]))*+:")
_BEHIND_SUBSTITUTION = re.compile(r"__?")
_FOOTNOTE = re.compile(r"\[(?:[0-9]+|#[\w.+:-]*|\*|\w[\w.+:-]*)\]_\Z")
_LONGEST_ROLE = 80
_EMBEDDED = re.compile(r"\s*<[^<>]+>\Z")
_REFERENCE = re.compile(r"\b([A-Za-z0-9](?:[A-Za-z0-9]|[-._+:](?=[A-Za-z0-9]))*+)__?(?=[\s'\")\]}>\-/:.,;!?]|\Z)")
_ESCAPED = re.compile(r"\\(\s?)(.?)", re.DOTALL)
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")
_LABEL = re.compile(r"\.\.[ \t]+_")
_LINE_END = re.compile(r"\r\n|\n|\r")


class _Span(NamedTuple):
    """One piece of inline markup, in code points: all of it, what is inside its marks, its start-string, its role."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    mark: str
    role: str


def rst_inline_atoms(text: str) -> tuple[list[int], list[int]]:
    """Spans inside paragraphs that must not be cut: literals, roles, links, substitution and footnote references.

    Returns:
        Starts and ends, bytes of the text's UTF-8, by start.
    """
    spans = [(span.start, span.end) for span in _spans(text) if span.mark not in ("*", "**")]
    if not text.isascii():
        spans = in_bytes(text, spans)
    return [start for start, _ in spans], [end for _, end in spans]


def rst_title(source: str) -> str:
    r"""The plain text of a section title, from its source: no label, adornment or markup, one line.

    One of more than `MOST_TITLE` characters is cut there, as in Markdown.

    >>> rst_title("The ``pack`` call, `in short <x.html>`_\n=======================================")
    'The pack call, in short'
    >>> rst_title("======\n |p| *2*\n======")
    'p 2'
    """
    lines = [line for line in _LINE_END.split(source) if line.strip() and not _LABEL.match(line)]
    title = lines[1] if len(lines) > 2 and _ADORNMENT.fullmatch(lines[0]) else lines[0]
    whole = " ".join(_plain(title).split())
    return whole if len(whole) <= MOST_TITLE else f"{whole[: MOST_TITLE - 1].rstrip()}…"


def _plain(title: str) -> str:
    parts: list[str] = []
    at = 0
    for span in _spans(title):
        parts.append(_unescaped(_REFERENCE.sub(r"\1", title[at : span.start])))
        parts.append(_shown(title[span.inner_start : span.inner_end], span))
        at = span.end
    parts.append(_unescaped(_REFERENCE.sub(r"\1", title[at:])))
    return "".join(parts)


def _shown(inner: str, span: _Span) -> str:
    """What a reader sees of a span: a link's text, the last part of a `~` reference, no footnote mark."""
    if span.mark == "``":
        return inner
    if span.mark == "[":
        return ""
    if span.mark == "`":
        inner = _EMBEDDED.sub("", inner) or inner.strip("<> ")
        if span.role and inner.startswith("~"):
            inner = inner.rpartition(".")[2].removeprefix("~")
    return _unescaped(inner)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\2", text)


def _spans(text: str) -> list[_Span]:
    """The inline markup of a text, by start; no span goes over a blank line, and none is inside another.

    The end of a span is the next end-string of its kind, found by bisection, so a text full of start-strings takes
    no longer.
    """
    marks = [(found.start(), found[0]) for found in _MARK.finditer(text)]
    closers = _closers(text, marks)
    limits = [place for place, mark in marks if mark[0] in "\r\n"]
    found: list[_Span] = []
    behind = 0
    for place, mark in marks:
        if place < behind:
            continue
        span = _footnote(text, place) if mark == "]_" else _opened(text, place, mark, closers, limits)
        if span and span.start >= behind:
            found.append(span)
            behind = span.end
    return found


def _closers(text: str, marks: list[tuple[int, str]]) -> dict[str, list[int]]:
    """Where an end-string of each kind stands."""
    found: dict[str, list[int]] = {"``": [], "`": [], "**": [], "*": [], "|": []}
    for place, mark in marks:
        place, mark = (place + 1, "`") if mark == "_`" else (place, mark)
        if mark in found and place and not text[place - 1].isspace() and (mark == "``" or not _escaped(text, place)):
            end = place + len(mark)
            if mark == "`":
                suffix = _BEHIND_PHRASE.match(text, end)
                end = suffix.end() if suffix else end
            elif mark == "|":
                suffix = _BEHIND_SUBSTITUTION.match(text, end)
                end = suffix.end() if suffix else end
            if end == len(text) or _BEHIND.match(text, end):
                found[mark].append(place)
    return found


def _opened(text: str, place: int, mark: str, closers: dict[str, list[int]], limits: list[int]) -> _Span | None:
    """The span that a start-string opens, if it is one."""
    closing = _OPENS.get(mark)
    inner = place + len(mark)
    if closing is None or inner >= len(text) or text[inner].isspace() or _escaped(text, place):
        return None
    role = ""
    start = place
    if mark == "`":
        role_before = _ROLE_BEFORE.search(text, max(0, place - _LONGEST_ROLE), place)
        if role_before:
            role, start = role_before[0].strip(":"), role_before.start()
    if start and not _BEFORE.match(text[start - 1]):
        return None
    index = bisect_right(closers[closing], inner)
    if index == len(closers[closing]):
        return None
    inner_end = closers[closing][index]
    limit = bisect_right(limits, place)
    if limit < len(limits) and limits[limit] < inner_end:
        return None
    end = inner_end + len(closing)
    if closing in ("`", "|"):
        suffix = (_BEHIND_PHRASE if closing == "`" else _BEHIND_SUBSTITUTION).match(text, end)
        if suffix:
            end = suffix.end()
            role = role or suffix[0].strip(":_")
    return _Span(start, end, inner, inner_end, "`" if mark == "_`" else mark, role)


def _escaped(text: str, place: int) -> bool:
    """Whether an odd number of backslashes stands before."""
    at = place
    while at and text[at - 1] == "\\":
        at -= 1
    return (place - at) % 2 == 1


def _footnote(text: str, place: int) -> _Span | None:
    found = _FOOTNOTE.search(text, max(0, text.rfind("[", max(0, place - _LONGEST_ROLE), place)), place + 2)
    return _Span(found.start(), found.end(), found.start(), found.end(), "[", "") if found else None
