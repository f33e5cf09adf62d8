"""Stops of abbreviations that sentencex takes for the end of a sentence.

A sentence may end with some of these words all the same. Then its end is missed, which only means that the next one is
taken, while a cut behind "Phys." would part what belongs together.
"""

from __future__ import annotations

import re

_WITH_FIGURE = frozenset([
    "abs", "app", "art", "ch", "ed", "eq", "eqs", "fig", "figs", "l", "no", "nos", "nr", "par", "pars", "p", "pp",
    "pt", "ref", "refs", "sec", "secs", "tab", "v", "ver", "vol", "z", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec",
])  # fmt: skip
"""What a numeral belongs to that stands behind it: "sec. 2", "Dec. 5"."""
_WITH_NAME = frozenset([
    "ph.d", "m.d", "b.a", "b.s", "b.sc", "m.a", "m.s", "m.sc", "b.c", "vol", "vols", "chap", "app", "appx", "max",
    "min", "avg", "est", "approx", "temp", "sp", "spp", "subsp", "var", "amb", "q", "acad", "biol", "chem", "lett",
    "natl", "phys", "proc", "sci", "dr", "prof", "pr", "st", "mr", "mrs", "ms", "gen", "gov", "sen", "rev", "capt",
    "lt", "col", "sgt", "av", "lab", "bzw", "hrn", "mio", "mrd", "tzw", "ca", "o.a", "t.ex", "bl.a", "ex",
    "\u0921\u0949", "\u0936\u094d\u0930\u0940", "\u062f",
])  # fmt: skip
"""What a word with a capital letter may follow: "Phys. Rev.", "max. Value"."""
_LAST_WORD = re.compile(r"(?:^|[\s(])([^\s(]+)\.$")
_LONGEST_BEFORE_FIGURE = 6
"""Letters of a word that is taken for an abbreviation where a figure follows, whatever it is."""
_HOUR = re.compile(r"\d\s?[ap]\.m\.$")
_DAY = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|[A-Z][SD]?T\b"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)


def is_reference(before: str) -> bool:
    """Whether a text ends with a word that a numeral behind it belongs to.

    >>> is_reference("See sec."), is_reference("It is done.")
    (True, False)
    """
    return _last_word(before) in _WITH_FIGURE


def is_abbreviated(before: str, after: str) -> bool:
    """Whether the stop that `before` ends with is that of an abbreviation, with what it belongs to behind it.

    >>> is_abbreviated("in Phys.", "Rev. Lett."), is_abbreviated("at 9 a.m.", "Friday"), is_abbreviated("See Eq.", "4")
    (True, True, True)
    >>> is_abbreviated("at 9 a.m.", "They left."), is_abbreviated("It was done.", "We left.")
    (False, False)
    """
    word = _last_word(before)
    if word in _WITH_NAME or (_HOUR.search(before) and _DAY.match(after)):
        return True
    return after[:1].isdigit() and word.isascii() and word.isalpha() and len(word) <= _LONGEST_BEFORE_FIGURE


def _last_word(text: str) -> str:
    found = _LAST_WORD.search(text)
    return found[1].lower() if found else ""
