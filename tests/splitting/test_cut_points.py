"""Where structure allows a cut, how strong it is, and what is never parted."""

from __future__ import annotations

import pytest
from hypothesis import given

from chunkledger.documents.batch import joined
from chunkledger.model import Cuts
from chunkledger.splitting import strengths
from chunkledger.splitting.cut_points import structural_cuts
from chunkledger.structure.blocks import blocks_of
from markdown_texts import document, texts


def cuts_of(*several: str) -> Cuts:
    """The cuts of these documents."""
    batch = joined([document(text, f"{number}.md") for number, text in enumerate(several)])
    return structural_cuts(batch, blocks_of(batch))


def described(text: str) -> list[tuple[str, int]]:
    """The line at which each cut lies, and its strength."""
    found = cuts_of(text)
    data = text.encode()
    lines = [data[place:].decode().splitlines()[0] for place in found.position.tolist()]
    return list(zip(lines, found.strength.tolist(), strict=True))


def never_lines(text: str) -> list[str]:
    """The lines before which no cut is allowed."""
    found = cuts_of(text)
    return [text.encode()[place:].decode().splitlines()[0] for place in found.position[found.never].tolist()]


@given(texts, texts)
def test_cuts_lie_at_lines_with_text(first: str, second: str) -> None:
    """Every cut lies at the start of a line that is not blank; the first one of a document at its first such line."""
    found = cuts_of(first, second)
    data, base = (first + second).encode(), len(first.encode())
    position = found.position.tolist()
    assert position == sorted(set(position))
    for place, owner in zip(position, found.document.tolist(), strict=True):
        assert owner == (0 if place < base else 1) or not second
        before, line = data[:place].decode(), data[place:].decode()
        assert place in (0, base) or before.endswith(("\n", "\r"))
        assert not (place != base and before.endswith("\r") and line.startswith("\n"))
        assert line.replace("\r", "\n").split("\n")[0].strip() != ""
    firsts = [place for place, strength in zip(position, found.strength.tolist(), strict=True) if not strength]
    blanks = [data[begin:end].decode() for begin, end in zip([0, base], firsts, strict=False) if first.strip()]
    assert [blank for blank in blanks if blank.strip()] == []
    assert len(firsts) == sum(bool(text.strip()) for text in (first, second))


def test_headings_are_as_strong_as_their_level() -> None:
    """A heading of level n is a cut of strength n; the text below it and a deeper heading below it are never parted."""
    text = "# A\n\nintro\n\n## B\n\n### C\n\npara\n\n## D\n## E\n\nSet\n---\n\nlast\n\nlast two\n"
    expected = [("# A", 0), ("intro", 9), ("## B", 2), ("### C", 3), ("para", 9), ("## D", 2), ("## E", 2)]
    assert described(text) == [*expected, ("Set", 2), ("last", 9), ("last two", 9)]
    assert never_lines(text) == ["intro", "### C", "para", "last"]


def test_headings_inside_quotes_and_items_are_no_sections() -> None:
    """A heading inside a quote or an item is as weak as other blocks there."""
    assert described("a\n\n> # Q\n>\n> b\n\n- # I\n\n  c\n") == [
        ("a", strengths.DOCUMENT),
        ("> # Q", strengths.PARAGRAPH),
        ("> b", strengths.INNER),
        ("- # I", strengths.BLOCK),
        ("  c", strengths.INNER),
    ]


def test_ends_of_whole_blocks_are_stronger_than_paragraphs() -> None:
    """A cut behind front matter, a rule, a table, code, HTML, a quote, a footnote or a list is stronger than others."""
    for source, strength in {
        "---\na: 1\n---\n": strengths.RULE,
        "***\n": strengths.RULE,
        "| a |\n|---|\n| 1 |\n": strengths.BLOCK,
        "```\na\n```\n": strengths.BLOCK,
        "    code\n": strengths.BLOCK,
        "<div>\na\n</div>\n": strengths.BLOCK,
        "> a\n": strengths.BLOCK,
        "[^1]: a\n": strengths.BLOCK,
        "- a\n- b\n": strengths.BLOCK,
        "a\n": strengths.PARAGRAPH,
    }.items():
        assert described(f"{source}\nend\n")[-1] == ("end", strength)


def test_items_are_weaker_the_deeper_they_are() -> None:
    """Items of a nested list have the strength of items and a depth; what follows an item's first block is weaker."""
    text = "- a\n  - b\n    - c\n\n      more\n- d\n"
    found = cuts_of(text)
    assert described(text) == [("- a", 0), ("  - b", 10), ("    - c", 10), ("      more", 11), ("- d", 10)]
    assert found.depth.tolist() == [0, 1, 2, 3, 0]


def test_table_header_delimiter_and_first_row_are_not_parted() -> None:
    """A table has no cut before its delimiter line nor before its first row; before later rows it has."""
    text = "a\n\n| h |\n|---|\n| 1 |\n| 2 |\n| 3 |\n"
    assert described(text) == [("a", 0), ("| h |", 9), ("| 2 |", strengths.ROW), ("| 3 |", strengths.ROW)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_in_code_part_groups(end: str) -> None:
    """Code has a cut behind each run of blank lines, at none of its other lines, and none before its closing fence."""
    text = end.join(["```", "a", "b", "", "c", "", " ", "d", "", "```", ""])
    assert described(text) == [("```", 0), ("c", strengths.CODE_GROUP), ("d", strengths.CODE_GROUP)]


def test_blank_lines_of_odd_blanks_are_no_cuts() -> None:
    """A line of no-break or ideographic spaces, which Markdown takes for text, is no cut: the line with text is."""
    assert described("\u3000\nfoo\n\n# H\n\n\u00a0\n\nbar\n") == [("foo", 0), ("# H", 1), ("bar", 9)]
    assert described("```\na\n\n\x1c\n") == [("```", 0)]
    assert described("```\na\n\n\u3000\n\nb\n```\n") == [("```", 0), ("b", strengths.CODE_GROUP)]


def test_long_runs_of_blank_lines_in_code_are_read_once() -> None:
    """Code that is nearly all blank lines, with every line end, is read in linear time."""
    for end in ("\n", "\r\n", "\r", " \r\n"):
        text = f"```{end}a{end * 50_000}b{end * 50_000}```{end}"
        assert [strength for _, strength in described(text)] == [0, strengths.CODE_GROUP]


@pytest.mark.parametrize("colon", [":", ":  ", "\uff1a"])
@pytest.mark.parametrize(
    "block", ["a\n", "- a\n", "1. a\n", "```\na\n```\n", "| a |\n|---|\n", "> a\n", "<div>\n</div>\n"]
)
def test_a_line_that_ends_in_a_colon_introduces(colon: str, block: str) -> None:
    """The cut between a paragraph that ends in a colon and the block behind it is found, in every script."""
    for text, expected in ((f"see{colon}\n\n{block}", [1]), (f"see\n\n{block}", []), (f"see{colon}\n\n# more\n", [])):
        batch = joined([document(text)])
        blocks = blocks_of(batch)
        assert structural_cuts(batch, blocks).introducing.tolist() == expected


def test_the_shortest_texts_have_cuts() -> None:
    """Texts of one or two bytes, and none, are read without an error."""
    assert [described(text) for text in ("", "a", ":", "a:", "\n")] == [[], [("a", 0)], [(":", 0)], [("a:", 0)], []]
