"""Documents are joined into one run of bytes, with documents and lines marked."""

from __future__ import annotations

import itertools
import re
import sys
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chunkledger.documents.batch import EXOTIC_BLANKS, joined
from chunkledger.model import Document

texts = st.lists(st.text(st.sampled_from("ab \n\r\té漢🙂\u00a0\x0b"), min_size=1, max_size=12), max_size=6)


def _documents(bodies: list[str]) -> list[Document]:
    return [Document(f"{number:02}.md", body, "", "markdown") for number, body in enumerate(bodies)]


def _line_starts(bodies: list[str]) -> list[int]:
    r"""Where lines start, found the obvious way: after \r\n, \n and \r."""
    found, base = [], 0
    for body in bodies:
        starts = [0, *(match.end() for match in re.finditer("\r\n|\n|\r", body))]
        found += [base + len(body[:start].encode()) for start in starts if start < len(body)]
        base += len(body.encode())
    return found


@given(texts)
def test_batch_is_the_documents_end_to_end(bodies: list[str]) -> None:
    """The bytes between two starts are one document's text, and nothing lies between documents."""
    batch = joined(_documents(bodies))
    bounds = batch.starts.tolist()
    cut = [batch.data[first:last].decode() for first, last in pairwise(bounds)]
    assert (cut, bounds[-1]) == (bodies, len("".join(bodies).encode()))


@given(texts)
def test_lines_start_behind_every_kind_of_line_end(bodies: list[str]) -> None:
    """Line starts are those that a regular expression finds in each document."""
    assert joined(_documents(bodies)).line_starts.tolist() == _line_starts(bodies)


@given(texts)
def test_exotic_blanks_are_noticed(bodies: list[str]) -> None:
    """Every blank that is neither space, tab, newline nor carriage return is found where it starts."""
    whole = "".join(bodies)
    places = [
        len(whole[:place].encode()) for place, char in enumerate(whole) if char.isspace() and char not in " \t\n\r"
    ]
    assert joined(_documents(bodies)).exotic_blanks.tolist() == places


@given(texts)
def test_bytes_that_go_on_a_character_are_known(bodies: list[str]) -> None:
    """They are those at which the UTF-8 bytes can't be parted."""
    data = "".join(bodies).encode()
    starts = set(itertools.accumulate((len(char.encode()) for char in data.decode()), initial=0))
    assert joined(_documents(bodies)).continuations.tolist() == sorted(set(range(len(data))) - starts)


def test_exotic_blanks_are_those_of_python() -> None:
    """Of all characters, those are found that `str.isspace` calls blank, the four plain ones left out."""
    every = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    expected = [char for char in every if char.isspace() and char not in " \t\n\r"]
    assert sorted(EXOTIC_BLANKS) == expected
    batch = joined(_documents(["".join(every)]))
    places = batch.exotic_blanks.tolist()
    assert [batch.data[place : place + 3].decode(errors="ignore")[0] for place in places] == expected
