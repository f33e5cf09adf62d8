"""Inline markup: titles as plain text, and spans that are not cut."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import docutils_oracle as oracle
from chunkledger import Settings, chunk_text
from chunkledger.structure.rst_inline import rst_inline_atoms, rst_title

many = hypothesis_settings(suppress_health_check=list(HealthCheck))
PIECES = (
    "``a b``", "*late*", "**now**", "`link <https://x.org>`_", "|s|", "`text`_", "rate", "naïve", "``__a__``", "x.",
    "name_", "`a b`__", "``\\``", "2 * 3", "a*b", "``'s", ":code:`y z`", "(``a``)", "\\*c\\*", "_`here`",
)  # fmt: skip


def atoms(text: str) -> list[str]:
    """The source of each atom."""
    data = text.encode()
    return [data[start:end].decode() for start, end in zip(*rst_inline_atoms(text), strict=True)]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("``a`` and *b*, **c**\n====================", "a and b, c"),
        ("`in short <https://x.org>`_\n===", "in short"),
        (":ref:`The rates <rates>` |now|\n=====", "The rates now"),
        (":func:`~a.b.pack`\n=====", "pack"),
        ("Citing [1]_ names_\n=====", "Citing names"),
        ("``__init__`` and ``C:\\``\n=====", "__init__ and C:\\"),
        ("A \\*star\\*, a ``tick\n=====", "A *star*, a ``tick"),
        ("=====\r\n Title\r\n=====", "Title"),
        ("==\r漢字\r==", "漢字"),
    ],
)
def test_titles_are_plain_text(source: str, title: str) -> None:
    """Marks, roles, link targets, footnote marks and escapes are left out."""
    assert rst_title(source) == title


@many
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_titles_are_those_of_docutils(pieces: list[str]) -> None:
    """The text of a title is what docutils shows."""
    title = "T " + " ".join(pieces)
    source = f"{title}\n{'=' * 200}\n"
    document = oracle.parsed(source)
    if oracle.is_clean(document) and not any(
        message["level"] > 1 for message in document.findall(oracle.docutils.nodes.system_message)
    ):
        assert [rst_title(source)] == [text for _, text in oracle.section_titles(document)]


def test_a_long_title_is_cut() -> None:
    """A title of more than a thousand characters ends there, with an ellipsis."""
    assert rst_title("a " * 5_000 + "\n=====") == ("a " * 500)[:-1] + "…"


def test_atoms_are_literals_roles_links_and_references() -> None:
    """Each is one span from its role or first mark to its last; emphasis is none, nor what is not closed."""
    text = "Zürich ``a b`` :ref:`c d`, `e <f>`__ |g h|_ [1]_ [#n]_ *i j* **k** ``l\n\nm`` `n o`:p:"
    assert atoms(text) == ["``a b``", ":ref:`c d`", "`e <f>`__", "|g h|_", "[1]_", "[#n]_", "`n o`:p:"]


def test_a_span_ends_at_a_blank_line() -> None:
    """Marks in two paragraphs do not belong together, whatever the line ends are."""
    for end in ("\n", "\r\n", "\r"):
        assert atoms(f"``a{end}{end}b`` c") == []
        assert atoms(f"``a{end}b`` c") == [f"``a{end}b``"]


def test_no_cut_inside_an_atom() -> None:
    """A paragraph that must be cut is cut between its literals and links, not in them."""
    text = "word ``some code with blanks`` and `a link with text <https://example.org>`_ " * 30
    for chunk in chunk_text(text, Settings(max_tokens=30, min_tokens=0), format="rst"):
        assert chunk.text.count("``") % 2 == 0
        assert chunk.text.count("`a link") == chunk.text.count(">`_")


def test_marks_that_open_nothing_take_no_time() -> None:
    """Start-strings without an end are passed over; a hundred thousand of them are read at once."""
    for mark in ("``a ", "`a ", "|a ", ":r:`a ", "[a ", "\\", "*a "):
        assert atoms(mark * 100_000) == []
