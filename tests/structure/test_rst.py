"""reStructuredText blocks cover the document, and are those that docutils says."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import HealthCheck, assume, example, given
from hypothesis import settings as hypothesis_settings

import docutils_oracle as oracle
from chunkledger import Settings, chunk_text
from chunkledger.structure import kinds
from chunkledger.structure.ranges import Ranges
from chunkledger.structure.rst import rst_blocks
from chunkledger.structure.rst_inline import rst_title
from rst_texts import odd_rst, rst_documents, rst_texts

many = hypothesis_settings(max_examples=150, suppress_health_check=list(HealthCheck))
NAMES = {value: name for name, value in vars(kinds).items() if isinstance(value, int)}


def blocks_of(text: str) -> Ranges:
    """The blocks of a text."""
    return rst_blocks(text, text.encode())


def shown(text: str, *only: int) -> list[tuple[str, str]]:
    """Kind and source of each block, or of the blocks of these kinds."""
    data = text.encode()
    found = rst_blocks(text, data)
    return [
        (NAMES[kind], data[start:end].decode())
        for start, end, kind in zip(found.start, found.end, found.kind, strict=True)
        if not only or kind in only
    ]


def titles_of(text: str) -> list[tuple[int, str]]:
    """Level and plain text of each section title."""
    data = text.encode()
    found = rst_blocks(text, data)
    return [
        (level, rst_title(data[start:end].decode()))
        for start, end, kind, level in zip(*found, strict=True)
        if kind == kinds.HEADING
    ]


def code_of(text: str) -> list[list[str]]:
    """The lines of each block of code, without an opening line of its own."""
    data = text.encode()
    found = rst_blocks(text, data)
    return [
        oracle.text_lines(data[start:end].decode())[level:]
        for start, end, kind, level in zip(*found, strict=True)
        if kind == kinds.CODE
    ]


@many
@given(rst_texts)
@example("\u3000\n- a\n\x0c\n")
def test_blocks_cover_all_that_is_not_blank(text: str) -> None:
    """Every character that is not blank lies in a block, starts ascend, and blocks nest or lie apart."""
    data = text.encode()
    found = rst_blocks(text, data)
    covered = bytearray(len(data))
    open_ends = [len(data)]
    for start, end, _, _ in zip(*found, strict=True):
        assert 0 <= start < end <= len(data)
        while open_ends[-1] <= start:
            open_ends.pop()
        assert end <= open_ends[-1]
        open_ends.append(end)
        covered[start:end] = b"\1" * (end - start)
    assert found.start == sorted(found.start)
    assert bytes(byte for byte, seen in zip(data, covered, strict=True) if not seen).decode().strip() == ""


@many
@given(rst_texts)
def test_blocks_start_and_end_at_text(text: str) -> None:
    """No block starts or ends with an ASCII blank, and none starts or ends within a character."""
    data = text.encode()
    for start, end, _, _ in zip(*rst_blocks(text, data), strict=True):
        source = data[start:end]
        assert source.decode() == source.decode().strip(" \t\r\n")


@many
@given(rst_documents())
def test_structured_documents_are_read_as_docutils_reads_them(drawn: tuple[str, list[tuple[int, str]]]) -> None:
    """Sections with their levels, code, list items, footnotes, rules and table rows are those of docutils."""
    text, sections = drawn
    document = oracle.parsed(text)
    assert titles_of(text) == sections == oracle.section_titles(document)
    assert code_of(text) == oracle.code_lines(document)
    found = blocks_of(text)
    counts = [found.kind.count(kind) for kind in (kinds.ITEM, kinds.FOOTNOTE, kinds.RULE, kinds.TABLE)]
    classes = oracle.docutils.nodes
    expected = [sum(1 for _ in oracle.nodes(document, kind)) for kind in (classes.footnote, classes.transition)]
    assert counts == [oracle.list_items(document), *expected, len(oracle.table_rows(document))]


@hypothesis_settings(many, max_examples=300)
@given(odd_rst)
def test_odd_documents_are_read_as_docutils_reads_them(text: str) -> None:
    """Where docutils finds no error, sections and code are the same whatever the order of the lines is."""
    text = re.sub(
        "[\u3000\x0c\u00a0\t]|--long.*|PEP: 3|Title: x|[+]--.*|.. (list|csv)-table.*", "", f"first\n\n{text}\n"
    )
    document = oracle.parsed(text)
    assume(oracle.is_clean(document))
    assert titles_of(text) == oracle.section_titles(document)
    assert code_of(text) == oracle.code_lines(document)


@many
@given(rst_documents())
def test_line_ends_make_no_difference(drawn: tuple[str, list[tuple[int, str]]]) -> None:
    """CRLF and lone CR give the blocks of LF, each as wide as its line ends are."""
    text = drawn[0]
    expected = shown(text)
    for end in ("\r\n", "\r"):
        moved = [(kind, source.replace(end, "\n")) for kind, source in shown(text.replace("\n", end))]
        assert moved == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\nText.\n", [(1, "Title")]),
        ("===\nTop\n===\n\nA\n-\n\nDeep\n~~~~\n\nB\n-\n", [(1, "Top"), (2, "A"), (3, "Deep"), (2, "B")]),
        ("Under\n=====\n\n=====\n Over\n=====\n", [(1, "Under"), (2, "Over")]),
        ("Title here\n==\n\nText.\n\nReal\n====\n", [(1, "Real")]),
        ("Title here\n====\n", [(1, "Title here")]),
        ("漢字\n===\n", []),
        ("漢字\n====\n", [(1, "漢字")]),
        ("ab\n==\n", [(1, "ab")]),
        ("==\nab\n==\n", [(1, "ab")]),
        ("==\nabc\n==\n", []),
        ("====\n\nText\n", []),
        ("- item\n\n  Title\n  =====\n", []),
        ("=====\nTitle\n-----\n", []),
        ("====\nTitle\n", []),
        ("=====\n=====\n", []),
        ("Two\nlines\n=====\n", []),
    ],
)  # fmt: skip
def test_titles(text: str, expected: list[tuple[int, str]]) -> None:
    """A title has an underline as long as it is, or of four marks; levels go by the first appearance of a style."""
    assert titles_of(text) == expected == oracle.section_titles(oracle.parsed(text))


def test_levels_go_deeper_than_six() -> None:
    """A seventh style is a level of its own in the heading path, and cuts like the sixth."""
    marks = "=-~^\"'*+"
    text = "".join(f"T{number}\n{mark * 4}\n\nText {number}.\n\n" for number, mark in enumerate(marks, 1))
    assert [level for level, _ in titles_of(text)] == list(range(1, 9))
    chunks = chunk_text(text, Settings(split_headings=6, min_tokens=0), format="rst")
    assert [chunk.heading_path for chunk in chunks] == [
        [f"T{above}" for above in range(1, number + 1)] for number in range(1, 9)
    ]


def test_a_deep_heading_stays_with_the_deeper_one_below_it() -> None:
    """No chunk ends with a heading whose first block is a heading of the next level, below level six too."""
    head = "".join(f"T{number}\n{mark * 4}\n\n" for number, mark in enumerate("=-~^\"'*+", 1))
    text = head + "word " * 20 + "\n\nU7\n****\n\nU8\n++++\n\n" + "more " * 20
    chunks = chunk_text(text, Settings(max_tokens=60, min_tokens=0, heading_context=False), format="rst")
    assert [chunk.text for chunk in chunks if re.search(r"(\*\*\*\*|\+\+\+\+)\Z", chunk.text)] == []


def test_labels_belong_to_the_title_below_them() -> None:
    """What a section is referred to by is in the block of its title; other targets, and labels of text, are not."""
    text = "Text.\n\n.. _url: https://x\n.. _a:\n\n.. _b:\n\nTitle\n=====\n\n.. _c:\n\nText.\n"
    assert shown(text)[1:5] == [
        ("DEFINITION", ".. _url: https://x"),
        ("HEADING", ".. _a:\n\n.. _b:\n\nTitle\n====="),
        ("DEFINITION", ".. _a:\n\n.. _b:"),
        ("DEFINITION", ".. _c:"),
    ]
    assert titles_of(text) == [(1, "Title")]
    chunks = chunk_text(text, Settings(split_headings=1), format="rst")
    assert [chunk.text[:4] for chunk in chunks] == ["Text", ".. _"]
    assert [chunk.heading_path for chunk in chunks] == [[], ["Title"]]


def test_a_paragraph_announces_its_literal_block() -> None:
    """`::` makes code of what is indented, or quoted, behind it; alone it opens the code as its first line."""
    assert shown("Look::\n\n  a\n\n    b\n\nc\n") == [
        ("PARAGRAPH", "Look::"),
        ("CODE", "a\n\n    b"),
        ("PARAGRAPH", "c"),
    ]
    assert shown("Look::\n\n> a\n> b\nc\n")[1:] == [("CODE", "> a\n> b"), ("PARAGRAPH", "c")]
    assert shown("Look:\n\n::\n\n  a\n") == [("PARAGRAPH", "Look:"), ("CODE", "::\n\n  a")]
    assert shown("No\\::\n\n  a\n")[1][0] == "QUOTE"
    assert shown("Nothing::\n\nb\n") == [("PARAGRAPH", "Nothing::"), ("PARAGRAPH", "b")]


def test_lists_of_every_sort() -> None:
    """Bullets, numbers, terms, fields and options are items; the text before an item's own is in its paragraph."""
    text = "- a\n- b\n\n1. c\n2. d\n\nterm\n  e\n\n:name: f\n\n-o  g\n"
    assert shown(text, kinds.LIST) == [
        ("LIST", "- a\n- b"),
        ("LIST", "1. c\n2. d"),
        ("LIST", "term\n  e"),
        ("LIST", ":name: f"),
        ("LIST", "-o  g"),
    ]
    assert shown(text, kinds.PARAGRAPH) == [
        ("PARAGRAPH", part) for part in ("a", "b", "c", "d", "term\n  e", ":name: f", "-o  g")
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1. a\n2. b\n", 1),
        ("1. a\n3. b\n", 0),
        ("1. a\n\n3. b\n", 2),
        ("i. a\nii. b\n", 1),
        ("a. a\n#. b\n", 1),
        ("#. a\n#. b\n", 1),
        ("(z) a\n", 1),
        ("iiv. a\n", 0),
        ("A. Ito wrote\nthis.\n", 0),
        ("h. a\ni. b\nj. c\n", 1),
        ("- a\n* b\n", 2),
        ("9999999999999999999999. a\n", 0),
    ],
)
def test_which_items_are_of_one_list(text: str, count: int) -> None:
    """A list goes on with the next number of its form, and a sentence that begins with an initial is none."""
    assert blocks_of(text).kind.count(kinds.LIST) == count


def test_a_definition_and_a_directive_hold_what_is_indented() -> None:
    """Blocks in a definition, a footnote or an admonition nest, down to the least indentation of the body."""
    text = ".. note:: Mind\n   this.\n\n   - a\n\n     ::\n\n       c\n\n.. [1] See\n   there.\n"
    assert shown(text) == [
        ("QUOTE", text[: text.index("\n\n.. [1]")]),
        ("PARAGRAPH", ".. note:: Mind\n   this."),
        ("LIST", "- a\n\n     ::\n\n       c"),
        ("ITEM", "- a\n\n     ::\n\n       c"),
        ("PARAGRAPH", "a"),
        ("CODE", "::\n\n       c"),
        ("FOOTNOTE", ".. [1] See\n   there."),
        ("PARAGRAPH", ".. [1] See\n   there."),
    ]
    assert [kind for kind, _ in shown("    deep\n  less\nout\n")] == [
        "QUOTE", "QUOTE", "PARAGRAPH", "PARAGRAPH", "PARAGRAPH",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. code-block:: python\n   :linenos:\n\n   a = 1\n", ["CODE"]),
        (".. raw:: html\n\n   <b>\n", ["HTML"]),
        (".. raw:: latex\n\n   x\n", ["CODE"]),
        (".. math::\n\n   x^2\n", ["MATH"]),
        (".. a comment\n   of two lines\n", ["QUOTE", "DEFINITION"]),
        ("..\n\n   quote\n", ["QUOTE", "DEFINITION", "QUOTE", "PARAGRAPH"]),
        (".. |x| image:: y.png\n   :alt: z\n", ["QUOTE", "DEFINITION"]),
        (".. _a: https://x\n.. _b:\n__ https://y\n", ["DEFINITION", "DEFINITION", "DEFINITION"]),
        (".. _a b\n", ["QUOTE", "DEFINITION"]),
        (".. _`a: b`: https://x\n   y\n", ["DEFINITION"]),
        ("| a\n| b\n  c\n|\n", ["QUOTE", "DEFINITION"]),
        (">>> 1\n1\n\ntext\n", ["CODE", "PARAGRAPH"]),
        ("text\n\n----\n\ntext\n", ["PARAGRAPH", "RULE", "PARAGRAPH"]),
        (".. image:: x.png\n   :alt: y\n", ["QUOTE", "PARAGRAPH"]),
        (".. figure:: x.png\n   :alt: y\n\n   Caption.\n", ["QUOTE", "PARAGRAPH"]),
    ],
)
def test_explicit_markup(text: str, expected: list[str]) -> None:
    """Each construct has the blocks of its kind; what is no other explicit markup is a comment."""
    assert [kind for kind, _ in shown(f"first\n\n{text}")][1:] == expected


def test_tabs_are_stops_of_eight_columns() -> None:
    """An item goes on at the column of its text, written with spaces or tabs."""
    assert shown("-\ta\n\tb\n", kinds.ITEM) == [("ITEM", "-\ta\n\tb")]
    assert shown("1.  a\n\n\tb\n", kinds.QUOTE) == [("QUOTE", "b")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PEP: 3\nTitle: Bugs,\n  and more\n\nText: x\ny\n", {"PEP": "3", "Title": "Bugs, and more"}),
        (":Author: Ito\n:Date: 2026-03-01\n\n   :no: field\n:Author: Sato\n\nText\n",
         {"Author": "Ito\nSato", "Date": "2026-03-01 :no: field"}),
        ("=====\nTitle\n=====\n\n.. comment\n\n:Author: Ito\n\nText\n", {"Author": "Ito"}),
        ("Note: a sentence.\n\nText\n", {}),
        ("Text\n\n:Author: Ito\n", {}),
    ],
)  # fmt: skip
def test_what_stands_at_the_top_is_metadata(text: str, expected: dict[str, str]) -> None:
    """Bibliographic fields behind the title, or a header of two fields or more, become metadata and stay text."""
    chunks = chunk_text(text, format="rst")
    assert json.loads(chunks[0].metadata) == expected
    assert "".join(chunk.text + chunk.gap_after for chunk in chunks) == text
    assert (kinds.FRONT_MATTER in blocks_of(text).kind) == bool(expected)


def test_a_header_over_the_limit_gives_no_metadata() -> None:
    """A block of more than 16,384 characters is front matter, but is not read."""
    text = "A: b\nC: d\n" + "  more text\n" * 7000
    assert blocks_of(text).kind[0] == kinds.FRONT_MATTER
    assert {chunk.metadata for chunk in chunk_text(text, format="rst")} == {"{}"}


def steps(work: Callable[[], object]) -> int:
    """How many lines of the rst modules Python runs for this work."""
    count = 0

    def counted(frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        nonlocal count
        if "/structure/rst" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


HOSTILE: dict[str, Callable[[int], str]] = {
    "bullets on one line": lambda n: "- " * n + "x",
    "fields on one line, blank lines": lambda n: ":a: " * n + "x" + "\n" * n + "y",
    "footnotes on one line": lambda n: ".. [1] " * n + "x\n" * n,
    "lists in lists": lambda n: "".join(f"{'  ' * (line % 100)}- x\n" for line in range(n)),
    "stairs": lambda n: "".join(" " * (line % 60) + "x\n" for line in range(n)),
    "stairs down": lambda n: "".join(" " * (60 - line % 60) + "x\n\n" for line in range(n)),
    "tops of simple tables": lambda n: "== ==\n\n" * n,
    "tops of ever wider tables": lambda n: "".join(f"== =={'=' * (line % 50)}\nx\n" for line in range(n)),
    "tops of grid tables": lambda n: "+--+--+\n| x\n\n" * n,
    "openings of literal blocks": lambda n: "a::\n\n" * n,
    "comments": lambda n: "..\n" * n,
    "targets without an end": lambda n: ".. _a\n   b\n" * n,
    "a paragraph": lambda n: "a\n" * n,
    "enumerators": lambda n: "1. " * n + "x\n1. a\n" * n,
    "rows": lambda n: "+--+--+\n" + "|a |b |\n+--+--+\n" * n,
    "header": lambda n: "A: b\n" * n + "c",
    "titles": lambda n: "====\nabcd\n====\n" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_is_linear(name: str) -> None:
    """Twice the text takes at most about twice the steps."""
    once, twice = (HOSTILE[name](size) for size in (400, 800))
    assert steps(lambda: blocks_of(twice)) <= 2.2 * steps(lambda: blocks_of(once)) + 200


def test_depth_takes_no_recursion() -> None:
    """Lists in lists far deeper than Python recurses are read, and a document of 500 levels is cut."""
    found = blocks_of("- " * 100_000 + "x")
    assert found.kind.count(kinds.ITEM) == 100_000
    text = "".join(f"{'  ' * level}- level {level}\n\n" for level in range(500))
    assert blocks_of(text).kind.count(kinds.ITEM) == 500
    chunks = chunk_text(text, Settings(max_tokens=300), format="rst")
    assert "".join(chunk.text + chunk.gap_after for chunk in chunks) == text
