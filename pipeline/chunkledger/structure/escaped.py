r"""Line ends in text that was written as a string of JSON or of a program: there they are the two characters `\n`.

Conversations, logs and exports of tables hold such text, a whole document of it in one line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_STOP, _COLON, _CLOSING = "[.!?\u3002\uff01\uff1f\u0964\u061f]", "[:\uff1a]", "[*_\"'\u201d\u2019\u300d)\\]]"
_BREAK = re.compile(
    rf"""(?<!{_COLON})(?<!{_COLON}{_CLOSING})(?<!{_COLON}{_CLOSING}{{2}})   # no intro is parted
      (?:\\r)?\\n(?:\s*(?:\\r)?\\n)++                                        # an empty line
      (?!\s*["'](?:[\s,;)\]}}]|\Z))                                         # but not where the string ends
    | (?:(?<={_STOP})|(?<={_STOP}{_CLOSING})|(?<={_STOP}{_CLOSING}{{2}}))(?:\\r)?\\n   # the end of a line and sentence
      (?!\s*["'](?:[\s,;)\]}}]|\Z))(?=\s*["'(*-]|\s*[^\Wa-z_])
    | \}}(?:\s*,)?(?=\s*\{{\s*["'])                                          # between two objects
    """,
    re.VERBOSE,
)


class Break(NamedTuple):
    """The end of a line, a paragraph or an object, in code points: from `end` to `place`, where text goes on."""

    end: int
    place: int
    is_paragraph: bool


def escaped_breaks(text: str) -> list[Break]:
    r"""Escaped ends of lines that are ends of sentences, of paragraphs, and the places between two objects.

    >>> escaped_breaks(r"One.\n\nTwo. Three.\nFour")
    [Break(end=4, place=8, is_paragraph=True), Break(end=19, place=21, is_paragraph=False)]
    >>> escaped_breaks("[{'a': 1}, {'a': 2}]"), escaped_breaks(r"the set {1}, {2} and \nu")
    ([Break(end=10, place=10, is_paragraph=True)], [])
    """
    if "\\n" not in text and "}" not in text:
        return []
    return [
        Break(found.end() if found[0][0] == "}" else found.start(), found.end(), found[0] not in ("\\n", "\\r\\n"))
        for found in _BREAK.finditer(text)
    ]
