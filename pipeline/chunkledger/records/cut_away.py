"""Text whose structure another splitter has cut away: rows of a table without its header, code without its fence."""

from __future__ import annotations

import re
from typing import Literal

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_FENCE = re.compile(r"(?m)^[ \t>]*(?:`{3,}|~{3,})")
_CODE_LINE = re.compile(r"(?: {4}|\t).*|.*[{};,()\[\]]|[ \t]*(?:#|//|/\*|\*|--|<!--).*|[ \t]*[\w.$\"'-]+ ?[:=]+ ?\S*")
_MOSTLY = 0.8
_LEAST_LINES = 4


def looks_like(text: str) -> Literal["table", "code"] | None:
    r"""What the text is for a person that sees it, where a parser that sees it alone takes it for prose.

    >>> looks_like("| 1 | one |\n" * 5), looks_like("    x = f(1);\n}\n" * 3)
    ('table', 'code')
    >>> looks_like("Some words,\nand more.\n" * 4) is None
    True
    """
    lines = [line for line in text.splitlines() if line.strip()]
    whole = lines[1:-1] if len(lines) > _LEAST_LINES else lines  # the ends may be parts of lines
    if len(whole) < _LEAST_LINES - 1:
        return None
    if _share(_ROW, whole) >= _MOSTLY:
        return "table"
    if not _FENCE.search(text) and _share(_CODE_LINE, whole) >= _MOSTLY:
        return "code"
    return None


def _share(pattern: re.Pattern[str], lines: list[str]) -> float:
    """How much of the text, in characters, is in lines that match."""
    return sum(len(line) for line in lines if pattern.fullmatch(line)) / sum(map(len, lines))
