"""Strategies for structured Markdown: every construct that a station knows, and texts that look like our own marks."""

from __future__ import annotations

import base64
from itertools import cycle

from hypothesis import strategies as st

from chunkledger.model import Document
from chunkledger.settings import Settings

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
WORDS = (
    "rate",
    "The",
    "a",
    "chunk",
    "don't",
    "WE'LL",
    "Dr.",
    "e.g.",
    "3.14",
    "12,345,678",
    "naïve",
    "Größe",
    "e\u0301te\u0301",
    "Привет",
    "мир.",
    "Γειά",
    "שלום",
    "مرحبا",
    "؟",
    "नमस्ते",
    "स्वागतम्।",
    "สวัสดีชาวโลกที่รัก",
    "分词器把文本切成词元。",
    "トークンの数は、正確です。",
    "한국어",
    "🙂🙃",
    FAMILY,
    "👍🏽",
    "🇳🇴🇯🇵",
    "☕\ufe0f",
    "a\u0300\u0301\u0302\u0303",
    "\u200b",
    "\ufffd",
    "\ufeff",
    "<|endoftext|>",
    "<|im_start|>",
    "</chunk>",
    "<chunk",
    "</CHUNK",
    "* * *",
    "### [1]",
    "/",
    "//",
    "/usr/bin",
    "`code span`",
    "`` a ` b ``",
    "[a link](https://example.org/a/b?c=d&e=%20f#g)",
    "![image](x.png)",
    "https://docs.example.org/v1.2.3/a.b?c=d",
    "user@example.org",
    "$x_1 + y$",
    "[^1]",
    "<b>bold</b>",
    "<br/>",
    "&amp;",
    "&nbsp;",
    "**strong**",
    "~~gone~~",
    "\\*",
    "|",
    "Note:",
    "次の通り：",
    "x" * 90,
    "ab" * 60,
    "漢字" * 30,
    "=" * 40,
    base64.b64encode(bytes(range(120))).decode(),
    "   ",
    "\t",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
)
"""Words in many scripts, markup, and whatever tokenizers, splitters or templates may trip over."""

BLANK_LINES = ("\n\n", "\n\n", "\n\n", "\n\n", "\n", "\n\n\n\n", "\n \n", "\n\t\n", "\n\u00a0\n", "\n\u3000\n\n")
ODD_BLANK_LINES = (
    "\n\x0c\n",
    "\n\x0b\n\n",
    "\n\n  \n\n",
    "\n\u2028\n",
    "\n\x85\n",
    "\n\x1c\n",
    "\n" * 40,
    "\n" + " " * 30,
)

words = st.sampled_from(WORDS)
short_lines = st.lists(words, min_size=1, max_size=4).map(" ".join)
lines = st.lists(words, min_size=1, max_size=9).map(" ".join)
runs = st.lists(words, min_size=1, max_size=6).map("".join)
sentences = st.builds(lambda line, end: line + end, lines, st.sampled_from([".", "!", "?", "。", "", ":", " ."]))
paragraphs = (
    st.lists(sentences, min_size=1, max_size=4).map(" ".join) | st.lists(lines, min_size=1, max_size=4).map("\n".join)
) | runs
headings = st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 6), short_lines)
setext_headings = st.builds(lambda title, mark: f"{title}\n{mark}", short_lines, st.sampled_from(["===", "---", "="]))


def _indented(text: str, first: str, rest: str) -> str:
    return first + text.replace("\n", f"\n{rest}")


def _item_list(items: list[str], mark: str, gap: str) -> str:
    return gap.join(_indented(item, f"{mark} ", " " * (len(mark) + 1)) for item in items)


def _lists_of(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    marks = st.sampled_from(["-", "*", "+", "1.", "10)", "- [ ]"])
    return st.builds(_item_list, st.lists(inner, min_size=1, max_size=4), marks, st.sampled_from(["\n", "\n\n"]))


def _table(cells: list[str], rows: int) -> str:
    body = [f"| {' | '.join(cells)} |" for _ in range(rows)]
    return "\n".join([f"| {' | '.join(cells)} |", f"|{'---|' * len(cells)}", *body])


def _fence(body: list[str], mark: str, info: str, *, closed: bool) -> str:
    return "\n".join([mark + info, *body, *([mark] if closed else [])])


tables = st.builds(
    _table, st.lists(st.sampled_from(WORDS[:30]), min_size=1, max_size=4), st.integers(min_value=0, max_value=6)
)
code_lines = st.sampled_from(
    ["", "", "def f(x):", "    return x // 2", "# not a heading", "| a | b |", "```", "/* </chunk> */", "x" * 70, "\t"]
)
fences = st.builds(
    _fence,
    st.lists(code_lines, max_size=9),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "python", " sh title=x"]),
    closed=st.sampled_from([True, True, True, False]),
)
indented_code = st.lists(code_lines, min_size=1, max_size=4).map(lambda body: "\n".join(f"    {line}" for line in body))
html_blocks = st.builds(
    lambda line, tag: f"<{tag}>\n{line}\n</{tag}>", lines, st.sampled_from(["div", "table", "p class='a'"])
) | st.builds(lambda line: f"<!-- {line}\n\n{line} -->", lines)
quotes = paragraphs.map(lambda text: _indented(text, "> ", "> "))
footnotes = paragraphs.map(lambda text: _indented(text, "[^1]: ", "    "))
math_blocks = st.just("$$\na &= b \\\\\n\nd &= e\n$$")
definitions = st.sampled_from(["[a]: https://example.org 'title'", "[b]: <x y>\n[c]: /z"])
rules = st.sampled_from(["---", "***", "_ _ _", "* * *"])
leaves = st.one_of(
    paragraphs, paragraphs, paragraphs, headings, fences, indented_code, tables, html_blocks, math_blocks, definitions
)
lists = _lists_of(short_lines) | _lists_of(st.one_of(paragraphs, fences, tables, quotes, _lists_of(short_lines)))
blocks = st.one_of(leaves, headings, setext_headings, lists, quotes, footnotes, rules)
front_matters = st.sampled_from(
    ["", "", "---\ntitle: Rates\ntags: [a, b]\n---\n", "---\nbad: [\n---\n", "+++\na = 1\n+++\n"]
)
line_ends = st.sampled_from([("\n",)] * 5 + [("\r\n",), ("\r",), ("\n", "\r\n", "\r"), ("\r", "\n", "\n")])
ends = st.sampled_from(["\n", "\n", "", "\n\n\n", "  \n", "\n\u3000", "\r"])


def _assembled(front: str, parts: list[tuple[str, str]], lead: str, end: str, marks: tuple[str, ...]) -> str:
    text = front + lead + "".join(block + gap for block, gap in parts).rstrip("\n") + end
    if marks == ("\n",):
        return text
    following = cycle(marks)
    return "".join(next(following) if char == "\n" else char for char in text)


markdown_texts = st.builds(
    _assembled,
    front_matters,
    st.lists(st.tuples(blocks, st.sampled_from(BLANK_LINES * 3 + ODD_BLANK_LINES)), min_size=1, max_size=14),
    st.sampled_from(["", "", "", "\n\n", "   ", "\u3000\n", "\t\n\n"]),
    ends,
    line_ends,
)
"""Markdown with every construct, in any order, with every line end; may be blank."""

odd_texts = st.text(
    st.sampled_from("ab /#*-|>`~_=[]()<&$\\\n\n\n\r\t \u00a0\u3000\x0c漢🙂\u0301\u200d.:1"), max_size=120
)
"""Texts that are mostly syntax, in no order."""

texts = st.one_of(markdown_texts, markdown_texts, markdown_texts, odd_texts)
"""Either of the two."""


def document(text: str, doc_id: str = "docs/a.md", *, plain: bool = False) -> Document:
    """A document of that text."""
    return Document(doc_id, text, "0" * 64, "plain" if plain else "markdown")


@st.composite
def all_settings(draw: st.DrawFn, *, max_tokens: st.SearchStrategy[int] | None = None) -> Settings:
    """Settings of every size, from absurdly small ones to the default."""
    most = draw(max_tokens if max_tokens is not None else st.integers(2, 20) | st.integers(20, 512))
    return Settings(
        encoding=draw(st.sampled_from(["cl100k_base", "o200k_base"])),
        template=draw(st.sampled_from(["xml/1", "markdown/1"])),
        max_tokens=most,
        target_tokens=draw(st.none() | st.integers(1, most)),
        min_tokens=draw(st.sampled_from([0, 1, 5, 50])),
        overlap_tokens=draw(st.just(0) | st.integers(0, most - 1)),
        split_headings=draw(st.sampled_from([0, 0, 1, 2, 6])),
        heading_context=draw(st.booleans()),
        slot_tokens=draw(st.sampled_from([40, 400, 6000])),
        slot_chunks=draw(st.sampled_from([1, 8])),
    )
