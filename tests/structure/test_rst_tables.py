"""Rows of reStructuredText tables, and the head that goes with each part of a table that must be cut."""

from __future__ import annotations

import docutils.nodes
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

import docutils_oracle as oracle
from chunkledger import Chunk, Settings, chunk_text
from chunkledger.structure import kinds
from chunkledger.structure.rst import rst_blocks
from rst_texts import grids, simples

many = hypothesis_settings(max_examples=100, suppress_health_check=list(HealthCheck))

GRID = """\
+------+------------+
| City | Rate       |
+======+============+
| Oslo | 12         |
|      |            |
|      | - from May |
+------+------------+
| Rome | 9          |
+------+            |
| Bern | for both   |
+------+------------+
"""
SIMPLE = """\
=====  ========
City   Rate
=====  ========
Oslo   12
       from May
Rome   9

       until May
  all of them
---------------
Bern   11
=====  ========
"""


def parts(text: str, kind: int) -> list[str]:
    """The source of each block of a kind."""
    data = text.encode()
    found = rst_blocks(text, data)
    return [data[start:end].decode() for start, end, its, _ in zip(*found, strict=True) if its == kind]


def cut(text: str, max_tokens: int = 40) -> list[Chunk]:
    """The chunks of a text at a small limit, without headings."""
    return chunk_text(text, Settings(max_tokens=max_tokens, min_tokens=0, encoding="cl100k_base"), format="rst")


def cells_of(rows: list[str], mark: str) -> list[list[str]]:
    """The cells of rows of one line each."""
    lines = [next(line for line in row.split("\n") if not set(line) <= set("+-=| ")) for row in rows]
    split = [line.strip("|").split(mark) for line in lines]
    return [[cell.strip() for cell in line if cell.strip()] for line in split]


@many
@given(grids)
def test_grid_rows_are_those_of_docutils(text: str) -> None:
    """Head and body rows of a grid table hold the cells that docutils finds."""
    [rows] = oracle.table_rows(oracle.parsed(text))
    [head] = parts(text, kinds.TABLE_HEAD)
    heads = [head] if head.count("\n") else []
    assert cells_of(heads + parts(text, kinds.TABLE_ROW), "|") == rows


@many
@given(simples)
def test_simple_rows_are_those_of_docutils(text: str) -> None:
    """Head and body rows of a simple table hold the cells that docutils finds."""
    [rows] = oracle.table_rows(oracle.parsed(text))
    [head] = parts(text, kinds.TABLE_HEAD)
    heads = [head] if head.count("\n") else []
    assert cells_of(heads + parts(text, kinds.TABLE_ROW), "  ") == rows


def test_a_grid_row_ends_at_a_separator_across_the_table() -> None:
    """A cell over two rows keeps them together, and a blank line inside a cell parts nothing."""
    assert parts(GRID, kinds.TABLE_HEAD) == [GRID[: GRID.index("| Oslo") - 1]]
    assert [row.split()[1] for row in parts(GRID, kinds.TABLE_ROW)] == ["Oslo", "Rome"]
    assert [row.split("\n")[-1] for row in parts(GRID, kinds.TABLE_ROW)] == ["+------+------------+"] * 2


def test_a_simple_row_starts_with_text_in_the_first_column() -> None:
    """What has none goes on with the row before; a line of spans ends one."""
    assert parts(SIMPLE, kinds.TABLE_HEAD) == ["=====  ========\nCity   Rate\n=====  ========"]
    assert [row.split()[0] for row in parts(SIMPLE, kinds.TABLE_ROW)] == ["Oslo", "Rome", "all", "Bern"]


@pytest.mark.parametrize(
    "text",
    [
        "=== ===\na   b\n\nText.\n",
        "=== ===\na   b\n=== ====\n\nText.\n",
        "- x\n\n  === ===\n  a   b\n\n=== ===\n",
        "+--+--+\n\nText.\n",
    ],
)
def test_a_table_that_is_never_closed_is_text(text: str) -> None:
    """Its top does not take the rest of the document with it."""
    assert parts(text, kinds.TABLE) == []


def test_a_broken_grid_stays_whole() -> None:
    """A grid table without a bottom is a table without rows, so that it is not cut where it fits."""
    assert parts("+--+--+\n|a |b |\n|c |d |\n", kinds.TABLE) == ["+--+--+\n|a |b |\n|c |d |"]
    assert parts("+--+--+\n|a |b |\n|c |d |\n", kinds.TABLE_ROW) == []


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("".join(f"{line}\n" for line in GRID.split("\n")[:3]) + "| a    | b c d e f  |\n+------+------------+\n" * 20,
         "\n".join(GRID.split("\n")[:3])),
        ("===  =\nA    B\n===  =\n" + "a b  c\n" * 30 + "===  =\n", "===  =\nA    B\n===  ="),
        ("===  =\n" + "a b  c\n" * 30 + "===  =\n", "===  ="),
        ("+---+\n" + "|a  |\n+---+\n" * 30, "+---+"),
        (".. list-table:: T\n   :header-rows: 1\n\n   * - A\n     - B\n" + "   * - a b\n     - c d\n" * 20,
         ".. list-table:: T\n   :header-rows: 1\n\n   * - A\n     - B"),
        ('.. csv-table:: T\n   :header: A, B\n\n' + '   "a\n   b", c\n' * 20, ".. csv-table:: T\n   :header: A, B\n"),
    ],
)  # fmt: skip
def test_the_head_goes_with_every_part(text: str, head: str) -> None:
    """Each chunk but the first has the table's head as context, and starts with a row."""
    rows = parts(text, kinds.TABLE_ROW)
    chunks = cut(text, 60)
    assert len(chunks) > 2
    assert [chunk.context for chunk in chunks] == ["", *[head] * (len(chunks) - 1)]
    assert [chunk.text for chunk in chunks if not chunk.text.lstrip().startswith((head, rows[0].split("\n")[0]))] == []
    assert {chunk.kind for chunk in chunks} == {"table"}


@pytest.mark.parametrize(
    "text",
    [
        ".. csv-table:: T\n   :header: A, B\n\n" + "".join(f"   a b {number}, c\n" for number in range(40)),
        ".. csv-table::\n\n" + "".join(f"   a b {number}, c\n" for number in range(40)),
        ".. list-table:: T\n\n" + "".join(f"   * - a b {number}\n     - c d\n" for number in range(20)),
        "".join(f"{line}\n" for line in GRID.split("\n")[:3]) + "| a    | b c d e f  |\n+------+------------+\n" * 20,
    ],
)
def test_parts_parse_behind_their_context(text: str) -> None:
    """For docutils each part is a table again, with its head where there is one and with every row of it."""
    chunks = cut(text, 60)
    assert len(chunks) > 2
    found = [_rows(f"{chunk.context}\n{chunk.text}\n") for chunk in chunks]
    heads = len(list(oracle.nodes(oracle.parsed(text), docutils.nodes.thead)))
    assert sum(found) == _rows(text) + heads * (len(chunks) - 1)


def _rows(text: str) -> int:
    return len(list(oracle.nodes(oracle.parsed(text), docutils.nodes.row)))


def test_rows_of_directives() -> None:
    """A list-table has a row for each outer item, a csv-table one for each record, quoted line ends included."""
    listed = ".. list-table::\n   :header-rows: 1\n\n   * - A\n     - B\n   * - a\n\n       * x\n   * - b\n"
    assert parts(listed, kinds.TABLE_ROW) == ["* - a\n\n       * x", "* - b"]
    records = '.. csv-table::\n\n   a, "b\n   c"\n   d, e\n'
    assert parts(records, kinds.TABLE_ROW) == ['a, "b\n   c"', "d, e"]


def test_a_table_directive_holds_its_table() -> None:
    """A titled table is a block with the table in it, which is cut with its head like any other."""
    text = ".. table:: Rates\n\n   === ===\n   A   B\n   === ===\n   a   b\n   === ===\n\nText.\n"
    assert parts(text, kinds.QUOTE) == [text[: text.index("\n\nText")]]
    assert parts(text, kinds.TABLE_ROW) == ["a   b\n   === ==="]
