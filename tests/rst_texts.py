"""Strategies for reStructuredText: documents of every construct, and lines of markup in no order."""

from __future__ import annotations

from itertools import cycle

from hypothesis import strategies as st

from markdown_texts import ends, line_ends

words = st.sampled_from(
    ["rate", "The", "chunk", "naïve", "мир", "漢字", "``code span``", "`a link <https://example.org>`_", "*late*",
     ":ref:`rates <r>`", "|name|", "paid.", "e.g.", "3.14", "Dr.", "**now**", "/usr/bin", "<chunk", "x" * 60]
)  # fmt: skip
plain_words = st.sampled_from(["rate", "Chunk", "naïve", "мир", "paid", "late", "table", "row"])
lines = st.lists(words, min_size=1, max_size=9).map(lambda parts: "w " + " ".join(parts))
phrases = st.lists(plain_words, min_size=1, max_size=4).map(" ".join)
paragraphs = st.lists(lines, min_size=1, max_size=4).map("\n".join)
code = st.lists(
    st.sampled_from(
        ["def f(x):", "    return x // 2", "", "# no title", "=====", "- no item", ".. no::", "`", "y = 1"]
    ),
    min_size=1,
    max_size=7,
).map(lambda body: "\n".join(["start", *body, "stop"]))


def indented(text: str, first: str, rest: str) -> str:
    """The text behind `first`, its other lines behind `rest`; blank lines stay blank."""
    return first + "\n".join(rest + line if line and index else line for index, line in enumerate(text.split("\n")))


def _list(items: list[str], marks: list[str], gap: str) -> str:
    return gap.join(indented(item, mark, " " * len(mark)) for item, mark in zip(items, cycle(marks), strict=False))


def _enumerated(items: list[str], start: int) -> str:
    marks = [f"{start + index}. " for index in range(len(items))]
    return _list(items, marks, "\n")


def _named(items: list[tuple[str, str]], form: str, gap: str) -> str:
    return gap.join(indented(f"{form.format(name)}\n{body}", "", "    ") for name, body in items)


def _grid(rows: list[list[str]], *, head: bool) -> str:
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]))]
    edge = "+".join(["", *("-" * width for width in widths), ""])
    parts = [edge]
    for number, row in enumerate(rows):
        cells = "|".join(f" {cell}".ljust(width) for cell, width in zip(row, widths, strict=True))
        parts += [f"|{cells}|", edge.replace("-", "=") if head and number == 0 and len(rows) > 1 else edge]
    return "\n".join(parts)


def _simple(rows: list[list[str]], *, head: bool) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    border = "  ".join("=" * width for width in widths)
    body = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([border, body[0], *([border] if head and len(rows) > 1 else []), *body[1:], border])


ascii_cells = st.sampled_from(["rate", "a b", "3.14", "late.", "x"])
rows_of_cells = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(ascii_cells, min_size=width, max_size=width), min_size=1, max_size=6)
)
grids = st.builds(_grid, rows_of_cells, head=st.booleans())
simples = st.builds(_simple, rows_of_cells, head=st.booleans())
literals = st.builds(
    lambda text, body, mark: f"{text}{mark}\n\n{indented(body, '    ', '    ')}",
    phrases,
    code,
    st.sampled_from(["::", " ::", "\n\n::"]),
)
quoted_literals = phrases.map(lambda text: f"{text}::\n\n> {text}\n>     more\n> end")
doctests = phrases.map(lambda text: f">>> print('{text}')\n{text}")
directives = st.builds(
    lambda name, body: f".. {name}\n\n{indented(body, '   ', '   ')}", st.sampled_from(["code-block:: python"]), code
)
comments = paragraphs.map(lambda text: indented(text, ".. ", "   "))
targets = st.sampled_from([".. _a: https://example.org", ".. _here:", "__ https://example.org", ".. |p| replace:: q"])
line_blocks = st.lists(lines, min_size=1, max_size=4).map(lambda text: "\n".join(f"| {line}" for line in text))
rules = st.just("-----")
leaves = st.one_of(paragraphs, paragraphs, literals, quoted_literals, doctests, directives, grids, simples, line_blocks)


def _lists_of(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=4)
    named = st.lists(st.tuples(phrases, inner), min_size=1, max_size=3)
    return st.one_of(
        st.builds(_list, several, st.sampled_from([["- "], ["* "], ["+   "]]), st.just("\n\n")),
        st.builds(lambda items: _enumerated([f"{item}\n" for item in items], 1).rstrip("\n"), several),
        st.builds(_named, named, st.just("{}"), st.just("\n\n")),
        st.builds(_named, named, st.just(":{}:"), st.just("\n\n")),
    )


def _held(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """What holds other blocks, around these."""
    return st.one_of(
        _lists_of(inner),
        inner.map(lambda text: f".. note::\n\n{indented(text, '   ', '   ')}"),
        inner.map(lambda text: f".. [1] foot\n\n{indented(text, '   ', '   ')}"),
        inner.map(lambda text: f"w before\n\n{indented(text, '   ', '   ')}\n\n.."),
    )


blocks = st.recursive(leaves, lambda inner: _held(st.one_of(inner, st.lists(inner, max_size=2).map("\n\n".join))))
TITLE_STYLES = [("=", True), ("=", False), ("-", False), ("~", False), ("^", True), ('"', False), ("'", False)]


@st.composite
def sections(draw: st.DrawFn) -> list[tuple[int, str]]:
    """Levels and titles of a document's sections, no level left out on the way down."""
    level = 0
    found: list[tuple[int, str]] = []
    for title in draw(st.lists(phrases, max_size=6)):
        level = draw(st.integers(1, min(level + 1, len(TITLE_STYLES))))
        found.append((level, title))
    return found


def title(level: int, text: str) -> str:
    """A section title with its adornment; wide characters count twice."""
    mark, over = TITLE_STYLES[level - 1]
    line = mark * (2 * len(text) + 2)
    return f"{line}\n {text}\n{line}" if over else f"{text}\n{line}"


@st.composite
def rst_documents(draw: st.DrawFn) -> tuple[str, list[tuple[int, str]]]:
    """A document without a fault, and its sections."""
    parts = draw(st.lists(blocks | comments | targets, max_size=4))
    found = draw(sections())
    for level, text in found:
        parts.append(title(level, text))
        parts += draw(st.lists(blocks | comments | targets, max_size=3))
        if draw(st.booleans()):
            parts += [draw(rules), draw(paragraphs)]
    return "w first.\n\n" + "\n\n..\n\n".join(parts) + "\n", found


def _with_ends(text: str, end: str, marks: tuple[str, ...]) -> str:
    following = cycle(marks)
    return "".join(next(following) if char == "\n" else char for char in text.rstrip("\n") + end)


SNIPPETS = (
    "", "", "", "word", "Two words.", "Title", "- a", "* b", "+ c", "-", "1. one", "2. two", "(a) p", "(b) q", "i. r",
    "#. auto", "A. Ito", ":field: v", ":n:", "-a  option", "--long=x  text", ">>> x", "| line", "====", "=====", "==",
    "---", "-----", "~~~~", "::", "para::", "a\\::", ".. note::", ".. note:: text", ".. code-block:: python",
    ".. image:: x.png", ".. list-table:: t", "* - a", "  - b", ".. csv-table::", '"a, b', "   :header-rows: 1",
    ".. comment", "..", ".. [1] foot", ".. [#a] foot", ".. _t: http://x", ".. |s| image:: x", "__ y", "> quoted",
    "term", "=== ===", "a   b", "+--+--+", "|a |b |", "+==+==+", "`code <x>`_", "``a", ":role:`b`", "|s|_", "[1]_",
    "\u3000", "\u00a0 x", "\x0c", "漢字漢字", "- - 1. x", ":a: - b", "PEP: 3", "Title: x",
)  # fmt: skip
indents = st.sampled_from(["", "", "", "  ", "   ", "    ", "      ", "\t", " \t"])
odd_rst = st.lists(st.builds(lambda indent, line: indent + line, indents, st.sampled_from(SNIPPETS)), max_size=24).map(
    "\n".join
)
rst_texts = st.builds(
    _with_ends, st.one_of(rst_documents().map(lambda found: found[0]), odd_rst, odd_rst), ends, line_ends
)
"""reStructuredText with every construct, or its lines in no order, with every line end; may be blank."""
