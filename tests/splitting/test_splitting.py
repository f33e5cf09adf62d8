"""What ends up in one chunk, and what is parted."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from chunkledger import Chunk, Settings, chunk_text
from chunkledger.counting.counter import Counter, counter_for
from chunkledger.documents.batch import joined
from chunkledger.model import Format, IntArray
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.splitting.split import split
from chunkledger.structure.blocks import blocks_of
from ledgers import prose
from markdown_texts import FAMILY, all_settings, document, markdown_texts
from recounting import tokens


def chunks(text: str, max_tokens: int, **options: Any) -> list[Chunk]:  # noqa: ANN401 (settings by name)
    """The chunks of a Markdown text; no chunk is tiny."""
    return chunk_text(text, Settings(encoding="cl100k_base", max_tokens=max_tokens, min_tokens=0, **options))


def parts(text: str, max_tokens: int, **options: Any) -> list[str]:  # noqa: ANN401 (settings by name)
    """Their texts."""
    return [chunk.text for chunk in chunks(text, max_tokens, **options)]


def words(count: int) -> str:
    """That many one-token words."""
    return " ".join(["word"] * count)


# Headings


def test_a_heading_stays_with_its_first_block() -> None:
    """A heading goes to the chunk of the text below it, even where it would fill the chunk above."""
    text = f"{words(10)}\n\n# Title of it\n\n{words(8)}\n"
    assert parts(text, 16, heading_context=False) == [words(10), f"# Title of it\n\n{words(8)}"]


def test_headings_in_a_row_stay_with_the_first_block_of_the_deepest() -> None:
    """A heading, the deeper heading right below it, and that one's first block are one chunk."""
    text = f"{words(10)}\n\n# One\n\n## Two\n\n{words(5)}\n\n{words(9)}\n"
    expected = [words(10), f"# One\n\n## Two\n\n{words(5)}", words(9)]
    assert parts(text, 16, heading_context=False) == expected


def test_a_heading_is_parted_from_a_block_that_does_not_fit() -> None:
    """Where heading and first block together are over the limit, the block is not cut at words to keep the two."""
    text = f"## {words(12)}\n\n{words(25)}. {words(24)}.\n"
    assert parts(text, 32, heading_context=False) == [f"## {words(12)}", f"{words(25)}.", f"{words(24)}."]


@pytest.mark.parametrize(("level", "starts"), [(0, 1), (1, 2), (2, 3), (3, 4), (6, 4)])
def test_split_headings_starts_a_chunk_at_each(level: int, starts: int) -> None:
    """Every heading of that level or a higher one starts a chunk, however small; 0 starts none."""
    text = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n# D\n\nd\n"
    assert len(parts(text, 100, split_headings=level)) == starts


def test_heading_paths_skip_levels_that_are_not_there() -> None:
    """After a jump from level 1 to 3, siblings stay siblings, and a document may start below level 1."""
    text = "text\n\n### Deep\n\na\n\n# Top\n\nb\n\n### Three\n\nc\n\n### Four\n\nd\n\n## Two\n\ne\n\n#\n\nf\n"
    paths = [chunk.heading_path for chunk in chunks(text, 100, split_headings=6)]
    expected = [[], ["Deep"], ["Top"], ["Top", "Three"], ["Top", "Four"], ["Top", "Two"], []]
    assert paths == expected


def test_headings_inside_quotes_items_and_code_are_in_no_path() -> None:
    """Only headings outside of quotes, items and code open a section."""
    text = "# Real\n\n> # Quoted\n\n- # Item\n\n```\n# code\n```\n\n<!--\n# html\n-->\n\nend\n"
    assert {tuple(chunk.heading_path) for chunk in chunks(text, 9)} == {("Real",)}


def test_the_path_is_that_of_the_first_character() -> None:
    """A chunk that holds the end of one section and all of the next has the path of the first."""
    [chunk] = chunks("# A\n\na\n\n# B\n\nb\n", 100)
    assert (chunk.heading_path, chunk.embed_prefix) == (["A"], "A\n")


# The embed prefix


def test_the_embed_prefix_is_path_and_context() -> None:
    """Titles joined by ` > `, a newline, the context, a newline; nothing without headings or with them switched off."""
    text = "# A\n\n## B\n\n" + "| h |\n|---|\n" + "| one two three |\n" * 6
    expected = ["A\n", "A > B\n| h |\n|---|\n"]
    assert sorted({chunk.embed_prefix for chunk in chunks(text, 40)}) == expected
    assert {chunk.embed_prefix for chunk in chunks(text, 40, heading_context=False)} == {"", "| h |\n|---|\n"}


@pytest.mark.parametrize(
    ("most", "prefix"),
    [(30, "One two three four > Five six > Seven\n"), (18, "Five six > Seven\n"), (6, "Seven\n"), (3, "")],
)
def test_titles_are_left_out_from_the_root_on(most: int, prefix: str) -> None:
    """A prefix over half of the maximum loses titles from the root on, so at least half is left for text."""
    text = "# One two three four\n\n## Five six\n\n### Seven\n\n" + words(20)
    last = chunks(text, most, split_headings=6)[-1]
    assert last.embed_prefix == prefix
    assert last.heading_path == ["One two three four", "Five six", "Seven"]


def test_a_context_over_half_of_the_maximum_is_left_out() -> None:
    """A header that alone is over half of the maximum does not travel along, and the titles stay."""
    text = "# A\n\n| " + " | ".join(["column"] * 12) + " |\n" + "|---" * 12 + "|\n" + ("| 1 " * 12 + "|\n") * 3
    found = chunks(text, 50)
    assert {(chunk.context, chunk.embed_prefix) for chunk in found} == {("", "A\n")}


# Tables


TABLE = "| name | qty |\n|---|---|\n" + "".join(f"| item {number} | {number} |\n" for number in range(8))


def test_a_cut_table_carries_its_header() -> None:
    """A cut table is cut between rows; later chunks have header and delimiter as context, not as text."""
    found = chunks(TABLE, 30)
    assert [chunk.context for chunk in found] == ["", *["| name | qty |\n|---|---|"] * (len(found) - 1)]
    assert "\n".join(chunk.text for chunk in found) == TABLE.rstrip()
    assert [line for chunk in found for line in chunk.text.split("\n") if not line.endswith("|")] == []


def test_a_table_that_fits_is_not_cut() -> None:
    """A table that fits whole goes to a chunk of its own rather than fill the one before it."""
    text = f"{words(30)}\n\n{TABLE}"
    assert parts(text, tokens(TABLE, "cl100k_base") + 4) == [words(30), TABLE.rstrip()]


def test_header_and_first_row_stay_together() -> None:
    """Where even one row with its header is near the limit, the header is not left alone."""
    assert parts("| name | qty |\n|---|---|\n| item 1 | 1 |\n| item 2 | 2 |\n", 20)[0].count("\n") == 2


def test_a_row_over_the_limit_is_cut_inside() -> None:
    """A row that is over the limit by itself is cut at words, and within the limit."""
    found = chunks(f"| a |\n|---|\n| {words(60)} |\n", 20)
    assert max(chunk.embed_tokens for chunk in found) <= 20


def test_a_table_in_a_quote_carries_its_header_as_it_stands() -> None:
    """The context of a cut table inside a quote is the lines as they stand in the document."""
    text = "".join(f"> {line}\n" for line in TABLE.splitlines())
    assert {chunk.context for chunk in chunks(text, 40)} == {"", "> | name | qty |\n> |---|---|"}


# Code


def test_a_cut_fence_carries_its_opening_line() -> None:
    """A fence over the limit is cut between lines; later chunks have its opening line as context."""
    lines = "".join(f"print({number})\n" for number in range(12))
    found = chunks(f"```python title=x\n{lines}```\n\nend\n", 24)
    assert [chunk.context for chunk in found] == ["", *["```python title=x"] * (len(found) - 1)]
    assert [
        line for chunk in found for line in chunk.text.split("\n") if line.startswith("print") and line[-1] != ")"
    ] == []


def test_a_fence_is_cut_at_blank_lines_first() -> None:
    """A fence over the limit is cut at its blank lines where the groups between them fit."""
    groups = [f"def f{number}():\n    a = {number}\n    return a" for number in range(4)]
    found = parts("```\n" + "\n\n".join(groups) + "\n```\n", 36)
    assert [part.split("\n")[0] for part in found[1:]] == [f"def f{number}():" for number in (2,)]


def test_a_fence_that_fits_is_not_cut() -> None:
    """A fence with blank lines that fits whole is not cut to fill the chunk before it."""
    fence = "```\n" + "a = 1\n\n" * 6 + "```"
    assert parts(f"{words(30)}\n\n{fence}\n", 40) == [words(30), fence]


def test_indented_code_carries_no_context() -> None:
    """Indented code has no opening line to carry."""
    assert {chunk.context for chunk in chunks("    a = 1\n" * 30, 20)} == {""}


# Lists, quotes, introductions


def test_an_item_that_fits_is_not_cut() -> None:
    """An item with blocks of its own is not cut where it fits; the list is cut between its items."""
    item = "- first\n\n  second block\n\n  third block\n"
    assert parts(item * 4, 24) == [(item * 2).rstrip(), (item * 2).rstrip()]


def test_a_list_is_cut_at_its_outer_items() -> None:
    """A list over the limit is cut between items of the outer level where those fit."""
    item = "- one\n  - two three\n  - four five\n"
    assert parts(item * 4, tokens(item * 2, "cl100k_base")) == [(item * 2).rstrip()] * 2


def test_an_introduction_stays_with_what_it_introduces() -> None:
    """A line that ends in a colon goes with its list where both fit."""
    text = f"{words(10)}\n\nThe parts are these:\n\n- one two three\n- four five six\n"
    assert parts(text, 22) == [words(10), "The parts are these:\n\n- one two three\n- four five six"]


def test_a_quote_that_fits_is_not_cut() -> None:
    """The paragraphs of a quote that fits stay together."""
    quote = f"> {words(8)}\n>\n> {words(8)}"
    assert parts(f"{words(16)}\n\n{quote}\n", 26) == [words(16), quote]


def test_front_matter_is_not_cut_where_it_fits() -> None:
    """Front matter that fits is one chunk or part of one."""
    front = "---\ntitle: Rates\ntags: [a, b]\n---"
    assert parts(f"{front}\n\n{words(30)}\n", 32) == [front, words(30)]


# The ladder: sentences, clauses, words, graphemes


def test_prose_over_the_limit_is_cut_at_sentences() -> None:
    """A paragraph over the limit is cut between sentences, not inside them."""
    sentences = [f"Sentence {number} has some words in it." for number in range(6)]
    found = parts(" ".join(sentences), 22)
    assert [part[-1] for part in found] == ["."] * len(found)
    assert " ".join(found) == " ".join(sentences)


@pytest.mark.parametrize("format_name", ["markdown", "plain"])
def test_lines_that_are_paragraphs_are_cut_between_rather(format_name: Format) -> None:
    """Where each line holds some sentences, their ends at a line's end are the better places; else they are not."""
    lines = [prose(7, f"w{number}") for number in range(24)]
    settings = Settings(encoding="cl100k_base", max_tokens=200)

    def within_lines(text: str) -> int:
        found = chunk_text(text, settings, format=format_name, doc_id="a")
        return sum(not chunk.text.endswith(tuple(line[-30:] for line in lines)) for chunk in found)

    assert within_lines("\n".join(lines)) == 0
    assert within_lines(" ".join(lines)) > 3
    assert within_lines(" ".join(lines).replace(". ", ".\n")) > 3


def test_escaped_paragraphs_are_cut_between_rather() -> None:
    """A conversation in one line, as JSON writes it, is cut between its paragraphs and its turns."""
    paragraphs = [prose(count, "fee") for count in (6, 8, 8, 6)]
    text = json.dumps([{"role": "user", "content": "\n\n".join(paragraphs)}, {"role": "user", "content": "Thanks."}])
    settings = Settings(encoding="cl100k_base", max_tokens=200)
    for format_name in ("markdown", "plain"):
        found = chunk_text(text, settings, format=format_name, doc_id="a")
        assert [chunk.text.count(".") for chunk in found] == [14, 15]
        assert found[0].text.endswith("\\n\\n")
    shorter = replace(settings, max_tokens=120)
    ends = [chunk.text[-4:] for chunk in chunk_text(text, shorter, format="plain", doc_id="a")]
    assert ends == ["\\n\\n", "\\n\\n", "\\n\\n", '."}]']


@pytest.mark.parametrize(
    "unit",
    [
        "今日は良い天気です。\ufe00",
        "你好，\ufe01世界。\ufe01",
        "शब्द ।\u200d नया ",
        "word \u0301 ",
        "ก า ่ ",
        "Ends.\u200d Next, ",
    ],
)
@pytest.mark.parametrize("limit", [16, 100])
def test_marks_behind_stops_and_blanks_stay_with_them(unit: str, limit: int) -> None:
    """Regression: a variation selector or joiner behind a stop began the next chunk, and so parted a grapheme."""
    text = unit * 200
    for format_name in ("markdown", "plain"):
        found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=limit), format=format_name, doc_id="a")
        starts = {match.start() for match in regex.finditer(r"\X", text)}
        assert len(found) > 1
        assert {chunk.char_start for chunk in found} <= starts


@pytest.mark.parametrize("text", [r"\n\n", r"\n\n\n", "# Title\n\n" + r"\n\n", r"One.\n\n"])
@pytest.mark.parametrize("format_name", ["markdown", "plain", "rst"])
def test_text_may_be_nothing_but_escaped_line_ends(text: str, format_name: Format) -> None:
    """Regression: there is no sentence behind the last of them."""
    [chunk] = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=64), format=format_name, doc_id="a")
    assert chunk.text == text


def test_a_paragraph_between_plus_signs_keeps_its_atoms() -> None:
    """Regression: a paragraph that is read alone was taken for front matter, so that math in it was cut."""
    math = " ".join(f"See $Foo bar {number} here. Baz qux is it$ and more words go here." for number in range(60))
    text = f"Intro.\n\n+++\n{math}\n+++\n\nEnd.\n"
    found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=64), doc_id="a")
    assert len(found) > 10
    assert [chunk.text for chunk in found if chunk.text.count("$") % 2] == []


FUNCTIONS = "".join(
    f"def f{number}(a, b):\n    x = a + b\n    if x:\n        y = call(x)\n    return [\n        x\n    ]\n"
    for number in range(30)
)


@pytest.mark.parametrize("mark", ["", "> ", "  "])
@pytest.mark.parametrize("limit", [64, 128, 256])
def test_code_is_cut_at_its_least_indented_lines(mark: str, limit: int) -> None:
    """Code without blank lines is cut between its functions, and not before lines that only close something."""
    text = "".join(f"{mark}{line}\n" for line in ["```py", *FUNCTIONS.splitlines(), "```"])
    text = f"- a\n\n{text}" if mark == "  " else text
    found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=limit), doc_id="a")
    assert len(found) > 2
    assert {chunk.text.lstrip(" >")[:5] for chunk in found[1:]} == {"def f"}


def test_code_of_one_block_is_cut_at_the_next_indentation() -> None:
    """Where the least indented lines are too far apart, the next ones between them are taken."""
    body = "".join(f"    for i{number} in x:\n        call({number})\n        stop({number})\n" for number in range(40))
    text = f"```py\ndef f(x):\n{body}```\n"
    found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=100), doc_id="a")
    assert {chunk.text.lstrip()[:4] for chunk in found[1:]} == {"for "}
    lines = "".join(f"{number}: [\n]\n" for number in range(100))
    closed = chunk_text(f"```\n{lines}```\n", Settings(encoding="cl100k_base", max_tokens=64), doc_id="a")
    assert [chunk.text[0] for chunk in closed[1:] if chunk.text[0] == "]"] == []


def test_blank_lines_part_code_in_quotes() -> None:
    """A line of quote marks alone is a blank one."""
    text = "> ```py\n" + "".join(f"> a{number} = 1\n> b = 2\n>\n" for number in range(60)) + "> ```\n"
    found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=128), doc_id="a")
    assert {chunk.text[:3] for chunk in found[1:]} == {"> a"}


@pytest.mark.parametrize("limit", [64, 512])
def test_html_on_one_line_is_cut_between_its_tags(limit: int) -> None:
    """No tag, with what is quoted in it, and no comment on one line is cut; other comments are between lines."""
    tags = " ".join(f'<img src="a{number}.png" alt="the text. Here" /> <!-- so. It is -->' for number in range(60))
    text = f'<p align="center"> {tags} </p>\n'
    found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=limit), doc_id="a")
    assert len(found) > 1
    assert [chunk.text for chunk in found if chunk.text.count("<") != chunk.text.count(">")] == []
    comment = "<!--\n" + "A line, it says. Nothing else\n" * 60 + "-->\n"
    parts = chunk_text(comment, Settings(encoding="cl100k_base", max_tokens=limit), doc_id="a")
    assert {chunk.text.partition("\n")[0] for chunk in parts[1:]} <= {"A line, it says. Nothing else", "-->"}


def test_heading_path_makes_room_for_what_fits_with_its_heading() -> None:
    """Regression: a table that fits with its heading was cut, because the same heading stood in its path as well."""
    table = "| a | b |\n|---|---|\n" + "".join(f"| row {number} | {number} |\n" for number in range(61))
    text = f"## Some heading of the section here\n\n{table}"
    assert 500 < tokens(text.rstrip(), "cl100k_base") <= 512
    [chunk] = chunk_text(text, Settings(encoding="cl100k_base"), doc_id="a")
    assert (chunk.embed_prefix, chunk.embed_tokens) == ("", tokens(text.rstrip(), "cl100k_base"))


def test_a_container_that_is_opened_keeps_those_in_it_whole() -> None:
    """Regression: where an item and its heading are over the limit together, a table in the item was cut."""
    rows = "".join(f"  | row {number} value | other {number} text |\n" for number in range(12))
    for count in range(150, 300, 10):
        words = "word " * count
        item = f"- {words.strip()}.\n\n  | a | b |\n  |---|---|\n{rows}\n  {'word ' * 90}.\n"
        text = f"## Some heading of the section here\n\n{item}"
        found = chunk_text(text, Settings(encoding="cl100k_base"), doc_id="a")
        assert [chunk.text for chunk in found if ("| row 0" in chunk.text) != ("| row 11" in chunk.text)] == []


@pytest.mark.parametrize(
    "intro", ["The rates:", "**The rates:**", "*The rates:*", "**The rates**:", "費率：", "**費率：**", "The rates: "]
)
@pytest.mark.parametrize("format_name", ["markdown", "rst"])
def test_intro_stays_with_what_it_introduces(intro: str, format_name: Format) -> None:
    """Emphasis around the colon does not matter, nor whether code, a list, a quote or a paragraph follows."""
    code = ".. code-block:: py\n\n   x = 1" if format_name == "rst" else "```py\nx = 1\n```"
    for introduced in (code, "* one\n* two", "   quoted" if format_name == "rst" else "> quoted", "Next paragraph."):
        for count in range(14):
            text = f"{prose(count, 'fee')}\n\n{intro}\n\n{introduced}\n\n{prose(8)}\n"
            found = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=100), format=format_name, doc_id="a")
            assert [chunk.text for chunk in found if chunk.text.endswith(intro.strip())] == []


def test_a_sentence_over_the_limit_is_cut_at_clauses_then_words() -> None:
    """A sentence over the limit is cut behind commas, and a clause over the limit between words."""
    text = ", ".join([words(8)] * 4)
    assert parts(text, 14) == [f"{words(8)},"] * 3 + [words(8)]
    assert set(" ".join(parts(words(50), 14)).split(" ")) == {"word"}


def test_a_word_over_the_limit_is_cut_at_graphemes() -> None:
    """A word over the limit is cut between clusters; a cluster that is over it stays whole and is flagged."""
    found = chunks(FAMILY * 3 + "x" * 40, 5)
    assert [chunk.text for chunk in found[:3]] == [FAMILY] * 3
    assert [("over_max" in chunk.flags) for chunk in found] == [chunk.text == FAMILY for chunk in found]


def test_words_are_cut_wherever_tokens_lie() -> None:
    """At a limit of two tokens a word is cut within the tokens that it has as a whole, if its parts need it."""
    found = chunks("> Größe.\n", 2)
    assert "".join(chunk.text + chunk.gap_after for chunk in found) == "> Größe.\n"
    assert max(tokens(chunk.text, "cl100k_base") for chunk in found) <= 2


def test_indentation_over_the_limit_is_left_to_the_gap() -> None:
    """Indentation that does not fit with the word behind it becomes part of the gap before it."""
    indentation = "\u3000" * 40
    found = chunks(f"a\n\n{indentation}b\n", 6)
    assert [chunk.text for chunk in found] == ["a", "b"]
    assert found[0].gap_after == f"\n\n{indentation}"


def test_atoms_are_not_cut_where_they_fit() -> None:
    """Code, links, math, tags and entities inside prose stay whole where a cut beside them is possible."""
    atoms = ["`a b c d`", "[a b c](u)", "$a + b + c$", '<a b="c d">', "&amp;"]
    text = " ".join(atoms * 6)
    for part in parts(text, 14):
        assert [
            atom for atom in atoms if text.count(atom) * 0 + part.count(atom.split(" ")[0]) < part.count(atom)
        ] == []
        assert part.count("`") % 2 == 0
        assert part.count("[") == part.count("](u)")
        assert part.count("$") % 2 == 0
        assert part.count("<a") == part.count('d">')


# Overlap


def test_overlap_repeats_whole_units() -> None:
    """Chunks cut between paragraphs repeat whole paragraphs, each neighbour's last, where they fit the overlap."""
    paragraphs = [f"Paragraph number {number} has words." for number in range(6)]
    found = chunks("\n\n".join(paragraphs), 14, overlap_tokens=7)
    assert [chunk.text for chunk in found] == ["\n\n".join(pair) for pair in pairwise(paragraphs)]
    assert [chunk.overlap_chars for chunk in found] == [0, *[len(paragraphs[0])] * 4]


def test_overlap_of_sentences() -> None:
    """Chunks cut between sentences repeat whole sentences."""
    sentences = [f"Sentence number {number} has words." for number in range(8)]
    for chunk in chunks(" ".join(sentences), 30, overlap_tokens=8)[1:]:
        assert chunk.text[: chunk.overlap_chars] in sentences


def test_no_overlap_over_a_forced_start() -> None:
    """A chunk that a heading or a document starts repeats nothing."""
    text = "# A\n\nalpha beta\n\n# B\n\ngamma delta\n"
    assert [chunk.overlap_chars for chunk in chunks(text, 40, split_headings=1, overlap_tokens=20)] == [0, 0]


def test_a_unit_over_the_overlap_is_not_repeated() -> None:
    """Where the last unit of the chunk before is larger than the overlap, nothing is repeated."""
    text = f"{words(10)}\n\n{words(10)}\n\n{words(10)}\n"
    assert {chunk.overlap_chars for chunk in chunks(text, 12, overlap_tokens=9)} == {0}


def test_overlap_applies_to_cuts_within_words() -> None:
    """A text without any place to cut is cut at graphemes, and neighbours overlap all the same."""
    found = chunks("abcdefghij" * 30, 20, overlap_tokens=5)
    assert [chunk.overlap_chars for chunk in found if not chunk.overlap_chars] == [0]


# Work


def counted_strings(counter: Counter, seen: list[int]) -> Counter:
    """The same counter, which also notes how many characters it is asked to count."""

    def count(texts: Sequence[str]) -> IntArray:
        seen.append(sum(map(len, texts)))
        return counter.count(texts)

    return replace(counter, count=count)


@pytest.mark.parametrize(
    "unit",
    [
        "The rate is one a day. It is paid late, as ever.\n\n",
        "A long paragraph has many sentences. ",
        "wordwithoutend",
        "- item\n  - inner item of it\n",
        "| a | b |\n",
        "    code = 1\n",
        "/path/to\n",
        "漢字かな",
        "\r\n\r\n",
        "\u3000\n",
        "# H\n\n",
        "x " + " " * 200,
    ],
)
def test_work_grows_with_the_text(unit: str) -> None:
    """Four times the text needs at most some five times the characters counted, over the text itself."""
    settings = Settings(encoding="o200k_base", max_tokens=64, overlap_tokens=10)
    work = []
    for times in (400, 1600):
        seen: list[int] = []
        text = "Start\n\n" + unit * times
        batch, counter = joined([document(text)]), counted_strings(counter_for("o200k_base"), seen)
        split(batch, blocks_of(batch), counter.token_ends([text]), counter, settings)
        work.append(sum(seen) / len(text))
    assert work[1] <= 1.25 * work[0] + 1


@hypothesis_settings(max_examples=60)
@given(markdown_texts, all_settings())
def test_exact_counts_of_spans(text: str, settings: Settings) -> None:
    """Split gives for each span the tokens of its text, with and without a newline behind it."""
    batch, counter = joined([document(text)]), counter_for(settings.encoding)
    found = split(batch, blocks_of(batch), counter.token_ends([text]), counter, settings)
    spans = zip(found.spans.start.tolist(), found.spans.end.tolist(), strict=True)
    strings = [batch.data[start:end].decode() for start, end in spans]
    assert found.measured.tokens.tolist() == [tokens(string, settings.encoding) for string in strings]
    assert found.measured.line_tokens.tolist() == [tokens(f"{string}\n", settings.encoding) for string in strings]
    assert not any(math.isnan(count) for count in found.measured.tokens.tolist())


def test_heading_path_makes_room_for_a_block_that_fits_alone() -> None:
    """A fence that fits, but not with the whole heading path, stays whole: titles are left out from the root on."""
    code = "```\n" + "".join(f"value_{number} = {number}\n" for number in range(27)) + "```"
    text = f"# {'A long title ' * 5}\n\n## Rates\n\n{'Some words first. ' * 20}\n\n{code}\n\n{'And then more. ' * 9}\n"
    size = tokens(code, "cl100k_base")
    settings = Settings(encoding="cl100k_base", max_tokens=size + 6)
    rows = chunk_batch([document(text)], settings).to_pylist()
    [held] = [row for row in rows if code in row["text"]]
    assert held["text"] == code
    assert held["embed_prefix"] == "Rates\n"
    assert held["heading_path"] == ["A long title " * 4 + "A long title", "Rates"]
    assert max(row["embed_tokens"] for row in rows) <= settings.max_tokens


def test_block_that_takes_all_of_the_limit_has_no_prefix() -> None:
    """Where there is no room for one title, the block goes without."""
    code = "```\n" + "".join(f"value_{number} = {number}\n" for number in range(27)) + "```"
    text = f"# Rates\n\n{'Some words first. ' * 20}\n\n{code}\n"
    settings = Settings(encoding="cl100k_base", max_tokens=tokens(f"{code}\n", "cl100k_base"))
    rows = chunk_batch([document(text)], settings).to_pylist()
    [held] = [row for row in rows if code in row["text"]]
    assert (held["text"], held["embed_prefix"], held["heading_path"]) == (code, "", ["Rates"])
