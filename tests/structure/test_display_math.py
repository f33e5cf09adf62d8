"""Display math is one block, whatever the parser takes its lines for."""

from __future__ import annotations

import pytest

from chunkledger import Settings, chunk_text
from chunkledger.structure import kinds
from chunkledger.structure.markdown import markdown_blocks

SYSTEM = "$$\n\\begin{aligned}\na &= b \\\\\n\nd &= e\n\\end{aligned}\n$$"


def _blocks(text: str) -> list[tuple[int, str]]:
    data = text.encode()
    found = markdown_blocks(text, data)
    return [
        (kind, data[start:end].decode().strip())
        for start, end, kind in zip(found.start, found.end, found.kind, strict=True)
    ]


@pytest.mark.parametrize("formula", [SYSTEM, "$$\nx\n$$", "$$ x = y $$", "$$x\n= y$$", "$$\nx\n\n- y\n\nz\n=\n$$"])
def test_formula_is_one_block(formula: str) -> None:
    """Blank lines, lists and underlined headings inside a formula are part of it."""
    blocks = _blocks(f"Given:\n\n{formula}\n\nwe stop.\n")
    assert blocks == [(kinds.PARAGRAPH, "Given:"), (kinds.MATH, formula), (kinds.PARAGRAPH, "we stop.")]


@pytest.mark.parametrize(
    "text",
    [
        "```\n$$\nx\n\ny\n$$\n```\n",
        "<div>\n$$\nx\n$$\n</div>\n",
        "$$\nx\n\n# Heading\n\n$$\n",
        "$$\n\nPID of the shell.\n",
        "Costs $$ and $$ more.\n",
        "A\n$$\nx\n$$\n",
        "> $$\n> x\n> $$\n",
    ],
    ids=["fence", "html", "heading between", "open", "in a line", "inside a paragraph", "quote"],
)
def test_what_is_no_block_of_math(text: str) -> None:
    """Dollars in code and HTML, around a heading, without an end, or inside other text make no block."""
    assert kinds.MATH not in [kind for kind, _ in _blocks(text)]


def test_text_behind_a_formula_on_the_next_line_belongs_to_it() -> None:
    """What the parser sees as one paragraph with the formula's end stays with it, so nothing falls out."""
    assert _blocks("$$\nx\n\ny\n$$\nwhere y.\n") == [(kinds.MATH, "$$\nx\n\ny\n$$\nwhere y.")]


def test_formula_that_fits_is_not_cut() -> None:
    """No chunk starts inside a formula that fits a chunk, and the packer may not cut there either."""
    text = f"{'Words before it. ' * 6}\n\n{SYSTEM}\n\n{'Words behind it. ' * 6}\n"
    start = text.index("$$")
    end = start + len(SYSTEM)
    for limit in (30, 40, 60):
        chunks = chunk_text(text, Settings(encoding="cl100k_base", max_tokens=limit, min_tokens=0))
        assert [chunk.char_start for chunk in chunks if start < chunk.char_start < end] == []
        boundaries = [chunk.char_start + place for chunk in chunks for place in chunk.boundary_chars]
        assert [place for place in boundaries if start < place < end] == []
