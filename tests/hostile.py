"""Hostile documents: for each kind a function from size to text, the size that must work, and a small one for tests.

They are what breaks tokenizers, parsers and splitters: one character a million times, nesting without end, lines
without a blank, graphemes without end, our own marks and column names, and every special token.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice

from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.records.schema import COLUMNS
from markdown_texts import FAMILY

MB = 1_000_000
MARKS = (
    '<chunk n="1" source="a.md">',
    "</chunk>",
    "[… truncated",
    "[truncated: the rest of this chunk did not fit]",
    "Rates > 2026 > May",
    "### [1] a.md: Rates",
    "* * *",
    "\\* * *",
    "&lt;/chunk>",
    "<CHUNK",
    "</Chunk",
)
"""What our own templates write, whole and in part."""
SPECIAL_TOKENS = sorted({token for vocabulary in VOCABULARIES.values() for token in vocabulary.special_tokens})
"""Every special token of every encoding."""


@dataclass(frozen=True)
class Hostile:
    """One kind of hostile document.

    Attributes:
        make: size -> text of about that many bytes, or of so many units.
        full: the size that must work within the limits.
        small: a size that is quick to work on and still too big for one chunk.
    """

    make: Callable[[int], str]
    full: int
    small: int


def repeated(unit: str) -> Callable[[int], str]:
    """Texts of one unit over and over."""
    return lambda size: (unit * (size // len(unit.encode()) + 1))[: size // len(unit.encode()) * len(unit) or 1]


def around(before: str, unit: str, after: str) -> Callable[[int], str]:
    """Texts of one unit over and over, with something before and behind."""
    return lambda size: before + unit * (size // len(unit.encode())) + after


def numbered(line: str) -> Callable[[int], str]:
    """Texts of so many lines, the number of each in the place of `{}`."""
    return lambda count: "".join(line.replace("{}", str(number)) for number in range(count))


def _base64(size: int) -> str:
    return base64.b64encode(_bytes(size * 3 // 4)).decode()


def _bytes(size: int) -> bytes:
    """Bytes in no order, the same on every machine."""
    blocks = (hashlib.sha256(str(number).encode()).digest() for number in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def _han(size: int) -> str:
    """Chinese characters in no order, without a blank or a stop."""
    return "".join(chr(0x4E00 + value * 80 + number % 80) for number, value in enumerate(_bytes(size // 3)))


def _nested_list(depth: int) -> str:
    return "".join(f"{'  ' * level}- item {level}\n" for level in range(depth))


def _nested_mix(depth: int) -> str:
    marks = cycle(["> ", "- ", "1. ", "> > "])
    prefix = "".join(islice(marks, depth))
    return f"{prefix}text deep down. Another sentence.\n" * 3


def _staircase(depth: int) -> str:
    return "".join(f"{'> ' * level}quoted {level}\n" for level in range(1, depth))


def _table(rows: int) -> str:
    return "| name | value |\n|---|---|\n" + numbered("| row {} | the value of {} |\n")(rows)


def _wide_table(columns: int) -> str:
    cells = "".join(f" c{number} |" for number in range(columns))
    return f"|{cells}\n|{'---|' * columns}\n|{cells}\n"


def _ragged_table(rows: int) -> str:
    return f"|{' a |' * 100}\n|{'---|' * 100}\n" + "|\n" * rows


def _front_matter(keys: int) -> str:
    return "---\n" + numbered("k{}: the value of {}\n")(keys) + "---\n\nText behind it.\n"


def _alias_bomb(levels: int) -> str:
    lines = ["---", "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)]
    return "\n".join([*lines, "---", "", "Text behind it.", ""])


def _deep_yaml(depth: int) -> str:
    return f"---\na: {'[' * depth}{']' * depth}\n---\n\nText behind it.\n"


def _section_tree(count: int) -> str:
    return "".join(f"{'#' * (number % 6 + 1)} Heading {number}\n\n" for number in range(count))


def _sections_with_text(count: int) -> str:
    return "".join(f"{'#' * (number % 6 + 1)} Heading {number}\n\nText {number}.\n\n" for number in range(count))


def _marks(size: int) -> str:
    unit = "\n".join([*MARKS, " ".join(MARKS), *COLUMNS, ", ".join(COLUMNS), *(f"{mark}\n" for mark in MARKS)]) + "\n"
    return repeated(unit)(size)


def _fences_of_marks(count: int) -> str:
    return "".join(f"```</chunk>\n{mark}\n\n{mark}\n```\n\n" for mark in islice(cycle(MARKS), count))


def _marks_in_titles(count: int) -> str:
    titles = islice(cycle(MARKS), count)
    return "".join(f"## {title} {number}\n\nText {number}.\n\n" for number, title in enumerate(titles))


def _specials(size: int) -> str:
    joined = " ".join(SPECIAL_TOKENS) + "\n" + "".join(SPECIAL_TOKENS) + "\n\n" + "\n\n".join(SPECIAL_TOKENS) + "\n"
    return repeated(joined)(size)


def _mixed_lines(size: int) -> str:
    return repeated("word.\rword.\r\nword.\n\rword.\n\n\r\n\r\rword\u2028word\x85word\n\x0b\n\x0c\n")(size)


KINDS: dict[str, Hostile] = {
    "letter": Hostile(repeated("a"), MB, 6_000),
    "capital": Hostile(repeated("A"), MB, 6_000),
    "digit": Hostile(repeated("7"), MB, 3_000),
    "spaces": Hostile(around("word", " ", "word"), 900_000, 140_000),
    "spaces behind a line": Hostile(around("word\n", " ", "word\n"), 900_000, 140_000),
    "tabs": Hostile(around("word", "\t", "word"), 900_000, 20_000),
    "newlines": Hostile(around("word", "\n", "word"), MB, 20_000),
    "newlines alone in a quote": Hostile(around("> word\n", "\n", "> word"), MB, 20_000),
    "quote marks alone": Hostile(around("> word\n", ">\n", "> word"), MB, 4_000),
    "returns": Hostile(around("word", "\r", "word"), MB, 8_000),
    "blank lines of spaces": Hostile(around("word\n", "  \n", "word"), MB, 8_000),
    "no-break spaces": Hostile(around("word", "\u00a0", "word"), MB, 12_000),
    "lines of no-break spaces": Hostile(around("word\n", "\u00a0\n", "word"), MB, 6_000),
    "form feeds": Hostile(around("word", "\x0c", "word"), MB, 3_000),
    "lines of form feeds": Hostile(around("word\n", "\x0c\n", "word"), MB, 3_000),
    "ideographic spaces": Hostile(around("word", "\u3000", "word"), MB, 30_000),
    "separators": Hostile(around("word", "\u2028\u2029\x85", "word"), MB, 6_000),
    "unit separators": Hostile(around("word", "\x1f\x1c", "word"), MB, 3_000),
    "zero-width spaces": Hostile(repeated("\u200b"), MB, 6_000),
    "replacement characters": Hostile(repeated("\ufffd"), MB, 6_000),
    "mixed line ends": Hostile(_mixed_lines, MB, 3_000),
    "base64": Hostile(_base64, MB, 3_000),
    "han": Hostile(_han, MB, 6_000),
    "han, one character": Hostile(repeated("漢"), MB, 6_000),
    "closing brackets and a word": Hostile(around("```\nfoo\n", ")", "x\n```\n"), MB, 6_000),
    "han in short sentences": Hostile(repeated("今日は。"), MB, 30_000),
    "thai": Hostile(repeated("สวัสดีชาวโลกที่รัก"), MB, 6_000),
    "hangul jamo": Hostile(repeated("\u1100\u1161\u11a8"), MB, 3_000),
    "arabic": Hostile(repeated("مرحبابالعالم"), MB, 4_000),
    "devanagari": Hostile(repeated("क्षत्रिय"), MB, 4_000),
    "emoji": Hostile(repeated("🙂"), MB, 3_000),
    "emoji families": Hostile(repeated(FAMILY), MB, 3_000),
    "emoji joined without end": Hostile(repeated("👩\u200d"), MB, 4_000),
    "flags": Hostile(repeated("🇳🇴"), MB, 3_000),
    "marks on a letter": Hostile(around("a", "\u0301", ""), MB, 3_000),
    "marks on each letter": Hostile(repeated("e\u0301\u0302\u0303\u0304"), MB, 3_000),
    "marks on many letters": Hostile(repeated("a" + "\u0301" * 700), MB, 6_000),
    "enclosing marks on blanks": Hostile(repeated(" \u20dd"), MB, 3_000),
    "joiners": Hostile(around("a", "\u200d", "b"), MB, 3_000),
    "bidi controls": Hostile(repeated("\u202eabc\u202c\u2066x\u2069"), MB, 3_000),
    "bidi overrides": Hostile(repeated("\u202e"), MB, 4_000),
    "tags": Hostile(around("🏴", "\U000e0067\U000e0062", "\U000e007f"), MB, 3_000),
    "private use": Hostile(repeated("\U0010fffd\ue000"), MB, 3_000),
    "letter and blank": Hostile(repeated("a "), MB, 3_000),
    "stop and blank": Hostile(repeated(". "), MB, 3_000),
    "question and blank": Hostile(repeated("a? "), MB, 3_000),
    "abbreviations": Hostile(repeated("e.g. Dr. U.S. "), MB, 3_000),
    "commas": Hostile(repeated("a, "), MB, 3_000),
    "contractions": Hostile(repeated("'s't're"), MB, 3_000),
    "apostrophes": Hostile(repeated("'"), MB, 6_000),
    "brackets never closed in prose": Hostile(repeated('("said he, '), MB, 3_000),
    "slashes": Hostile(repeated("/"), MB, 30_000),
    "paths": Hostile(repeated("word/"), MB, 3_000),
    "lines of slashes": Hostile(repeated("\n/"), MB, 3_000),
    "lines of one slash apart": Hostile(repeated("/\n\n"), MB, 3_000),
    "line of paths": Hostile(repeated("/usr/bin /a "), MB, 3_000),
    "backslashes": Hostile(repeated("\\"), MB, 8_000),
    "^": Hostile(repeated("^"), MB, 6_000),
    "*": Hostile(repeated("*"), MB, 20_000),
    "_": Hostile(repeated("_"), MB, 20_000),
    "`": Hostile(repeated("`"), MB, 20_000),
    "<": Hostile(repeated("<"), MB, 6_000),
    "&": Hostile(repeated("&"), MB, 6_000),
    "|": Hostile(repeated("|"), MB, 6_000),
    "$": Hostile(repeated("$"), MB, 6_000),
    "~": Hostile(repeated("~"), MB, 20_000),
    "=": Hostile(repeated("="), MB, 20_000),
    "-": Hostile(repeated("-"), MB, 40_000),
    "#": Hostile(repeated("#"), MB, 20_000),
    "!": Hostile(repeated("!"), MB, 6_000),
    ":": Hostile(repeated(":"), MB, 6_000),
    "> deep": Hostile(repeated(">"), 100_000, 3_000),
    "[ deep": Hostile(repeated("["), 100_000, 3_000),
    "[ and ] deep": Hostile(lambda depth: "[" * depth + "a" + "]" * depth, 100_000, 3_000),
    "( deep": Hostile(lambda depth: f"[a]({'(' * depth}b{')' * depth})", 100_000, 3_000),
    "]": Hostile(repeated("]"), MB, 6_000),
    "* opened": Hostile(repeated("*a "), MB, 3_000),
    "** opened": Hostile(repeated("a**b"), MB, 3_000),
    "_ opened and closed": Hostile(repeated("*a_ "), MB, 3_000),
    "emphasis nested": Hostile(lambda depth: "*a " * depth + " a*" * depth, 100_000, 700),
    "backticks of all lengths": Hostile(
        lambda size: "".join(f"{'`' * n} " for n in range(1, int((2 * size) ** 0.5))), MB, 6_000
    ),
    "code spans": Hostile(repeated("`a b` "), MB, 3_000),
    "links": Hostile(repeated("[a link](https://example.org/a/b?c=d) "), MB, 3_000),
    "links opened": Hostile(repeated("[a]("), MB, 3_000),
    "links to nothing": Hostile(repeated("[a][b] "), MB, 3_000),
    "images opened": Hostile(repeated("![]("), MB, 3_000),
    "images in images": Hostile(lambda depth: "![" * depth + "a" + "](b)" * depth, 100_000, 700),
    "a link of many words": Hostile(around("[", "word ", "](x)"), MB, 6_000),
    "tags opened": Hostile(repeated("<a>"), MB, 3_000),
    "tags never closed": Hostile(repeated("<a href='"), MB, 3_000),
    "autolinks": Hostile(repeated("<https://example.org/a>"), MB, 3_000),
    "comments opened": Hostile(repeated("a <!-- "), MB, 3_000),
    "instructions opened": Hostile(repeated("a <? "), MB, 3_000),
    "declarations opened": Hostile(repeated("a <!A "), MB, 3_000),
    "CDATA opened": Hostile(repeated("a <![CDATA[ "), MB, 3_000),
    "entities": Hostile(repeated("&amp;"), MB, 3_000),
    "entities never closed": Hostile(repeated("&#"), MB, 3_000),
    "math": Hostile(repeated("$x$ "), MB, 3_000),
    "math opened": Hostile(repeated("$x "), MB, 3_000),
    "math in lines": Hostile(repeated("$$\n"), MB, 3_000),
    "math in blocks": Hostile(repeated("$$\nx\n\ny\n$$\n\n"), MB, 3_000),
    "math opened, then text": Hostile(around("$$\n", "a line\n\n", ""), MB, 3_000),
    "math opened, then headings": Hostile(repeated("$$\na\n# b\n"), MB, 3_000),
    "math in paragraphs": Hostile(repeated("$$ x $$\n\n"), MB, 3_000),
    "math of braces": Hostile(repeated("$${"), MB, 3_000),
    "strikethrough": Hostile(repeated("~~a "), MB, 3_000),
    "a fence": Hostile(around("```py\n", "x = 1\n", "```\n"), MB, 6_000),
    "a fence with blank lines": Hostile(around("```py\n", "x = 1\n\n", "```\n"), MB, 6_000),
    "a fence of one line": Hostile(around("```py\n", "x=1;", "\n```\n"), MB, 6_000),
    "a fence of blank lines": Hostile(around("```\na\n", "\n", "b\n```\n"), MB, 20_000),
    "a fence with a long opening": Hostile(around("```py ", "word ", "\n" + "code\n" * 2000 + "```\n"), MB, 3_000),
    "a fence never closed": Hostile(around("```\n", "word\n", ""), MB, 6_000),
    "fences": Hostile(repeated("```\na\n```\n"), MB, 3_000),
    "fences never closed": Hostile(repeated("~~~a\n\n```\n\n"), MB, 3_000),
    "indented code": Hostile(repeated("    x = 1\n\n"), MB, 3_000),
    "an HTML block": Hostile(around("<div>\n", "word <b>x</b>\n", "</div>\n"), MB, 6_000),
    "an HTML block of one line": Hostile(around("<div>", "word <b>x</b>", "</div>"), MB, 6_000),
    "HTML blocks": Hostile(repeated("<div>\na\n\n"), MB, 3_000),
    "an HTML comment": Hostile(around("<!--\n", "word\n\n", ""), MB, 6_000),
    "a heading": Hostile(around("# ", "word ", "\n\ntext\n"), MB, 6_000),
    "a heading without blanks": Hostile(around("# ", "word", f"\n\n{'A sentence. ' * 500}\n"), MB, 6_000),
    "a setext heading": Hostile(around("", "word\n", "===\n\ntext\n"), MB, 6_000),
    "a heading of marks": Hostile(around("# ", "# ", "\n\ntext\n"), MB, 6_000),
    "a heading of markup": Hostile(around("# ", "[a](b) ", "\n\ntext\n"), MB, 6_000),
    "headings": Hostile(numbered("# Heading {}\n"), 100_000, 150),
    "headings of all levels": Hostile(_section_tree, 100_000, 150),
    "headings with text": Hostile(_sections_with_text, 100_000, 150),
    "headings, empty": Hostile(repeated("#\n"), 200_000, 1_000),
    "headings, equal": Hostile(repeated("## A\n\nx\n\n"), MB, 1_000),
    "setext headings": Hostile(numbered("Heading {}\n===\n\n"), 100_000, 150),
    "rules": Hostile(repeated("---\n\n"), MB, 3_000),
    "rules of blanks": Hostile(lambda size: "- " * (size // 2) + "\n", MB, 8_000),
    "almost a rule": Hostile(lambda size: "[a]: b\n" + " * " * (size // 3) + "x\n", MB, 3_000),
    "table": Hostile(_table, 100_000, 150),
    "table, wide": Hostile(_wide_table, 20_000, 600),
    "table, ragged": Hostile(_ragged_table, 100_000, 200),
    "table of one cell": Hostile(around("| a |\n|---|\n| ", "word ", "|\n"), MB, 6_000),
    "table of empty rows": Hostile(around("| a |\n|---|\n", "| |\n", ""), MB, 3_000),
    "tables": Hostile(repeated("| a |\n|---|\n| b |\n\n"), MB, 3_000),
    "table without bars": Hostile(around("a|b\n-|-\n", "c|d\n", ""), MB, 3_000),
    "items": Hostile(numbered("- item {}\n"), 50_000, 300),
    "items, loose": Hostile(numbered("- item {}\n\n"), 50_000, 300),
    "items, numbered": Hostile(numbered("{}. item\n"), 50_000, 300),
    "items, empty": Hostile(repeated("-\n"), MB, 3_000),
    "items, each with a paragraph": Hostile(numbered("- item {}\n\n  more of {}\n\n"), 30_000, 120),
    "an item": Hostile(around("- ", "word ", "\n"), MB, 6_000),
    "an item of lines": Hostile(around("- a\n", "  word\n", "\n"), MB, 6_000),
    "items on one line": Hostile(lambda depth: "- " * depth + "a\n", 5_000, 500),
    "list 500 deep": Hostile(_nested_list, 500, 60),
    "mix of quotes and lists, deep": Hostile(_nested_mix, 5_000, 100),
    "quotes, a staircase": Hostile(_staircase, 1_000, 60),
    "a quote": Hostile(around("", "> word\n", "\n"), MB, 6_000),
    "a quote of lazy lines": Hostile(around("> a\n", "word\n", "\n"), MB, 6_000),
    "quotes": Hostile(repeated("> a\n\n"), MB, 3_000),
    "paragraphs": Hostile(numbered("Text {}.\n\n"), 100_000, 300),
    "lines": Hostile(numbered("Line {}\n"), 100_000, 300),
    "lines of a colon": Hostile(repeated("Note:\n\n- a\n\n"), MB, 3_000),
    "footnotes": Hostile(numbered("[^{}]: note {}\n\n"), 100_000, 200),
    "footnotes called": Hostile(repeated("[^1] "), MB, 3_000),
    "definitions": Hostile(numbered("[d{}]: https://example.org/{} 'title'\n"), 100_000, 150),
    "definitions used": Hostile(lambda count: numbered("[d{}]: /x\n")(count) + numbered("[d{}] ")(count), 50_000, 150),
    "a definition": Hostile(around("[a]: https://example.org/", "word", "\n"), MB, 3_000),
    "definitions without blanks": Hostile(repeated("[a]: b\n"), MB, 3_000),
    "front matter": Hostile(_front_matter, 50_000, 300),
    "front matter, an alias bomb": Hostile(_alias_bomb, 2_000, 40),
    "front matter, deep": Hostile(_deep_yaml, 30_000, 1_000),
    "front matter never closed": Hostile(around("---\n", "a: b\n", ""), MB, 3_000),
    "special tokens": Hostile(_specials, MB, 40_000),
    "<|endoftext|>": Hostile(repeated("<|endoftext|>"), MB, 3_000),
    "our own marks": Hostile(_marks, MB, 6_000),
    "our own marks in fences": Hostile(_fences_of_marks, 20_000, 60),
    "our own marks as titles": Hostile(_marks_in_titles, 20_000, 60),
    "closings": Hostile(repeated("</chunk>"), MB, 3_000),
    "closings in lines": Hostile(repeated("</chunk>\n"), MB, 3_000),
    "closings of the other template": Hostile(repeated("* * *\n"), MB, 3_000),
    "headers of the other template": Hostile(repeated("### [1] a.md: Rates\n"), MB, 3_000),
    "paths of titles": Hostile(repeated("# A > B > C\n\nD > E\n\n"), MB, 3_000),
}
"""Every kind by name."""

LARGE: dict[str, Hostile] = {
    "spaces, 1,100,000": Hostile(around("word", " ", "word"), 1_100_000, 140_000),
    "spaces behind a line, 1,100,000": Hostile(around("word\n", " ", "word\n"), 1_100_000, 140_000),
    "a line of words, 10 MB": Hostile(repeated("word "), 10 * MB, 6_000),
    "a line of letters, 10 MB": Hostile(repeated("a"), 10 * MB, 6_000),
    "a line of sentences, 10 MB": Hostile(repeated("The rate was paid late. "), 10 * MB, 6_000),
    "a line of base64, 10 MB": Hostile(_base64, 10 * MB, 3_000),
    "a line of han, 10 MB": Hostile(_han, 10 * MB, 6_000),
}
"""More, for which the judge has no count, or which need a raised limit of document size."""
