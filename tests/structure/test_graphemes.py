"""Grapheme clusters are those of Unicode, wherever most characters need no look."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from chunkledger.structure import graphemes
from chunkledger.structure.graphemes import grapheme_starts, is_grapheme, text_graphemes
from markdown_texts import FAMILY

LETTERS = "a \r\n\u0301\u200d👩👍🏽🇳🇴कि\u094dัท漢가\u1100\u1161\u11a8\u0600\u3000é"
"""Characters of every way to join, and some that never do."""


def clusters(text: str) -> list[str]:
    r"""What `\X` matches, one behind the other."""
    return regex.findall(r"\X", text)


@given(st.text(st.sampled_from(LETTERS), max_size=30) | st.text())
@example("")
@example("\u0301")
@example("\u0600\r\n")
def test_graphemes_are_those_of_unicode(text: str) -> None:
    r"""Starts are those of the clusters that `\X` matches, one behind the other."""
    starts = [0]
    while starts[-1] < len(text):
        found = regex.compile(r"\X").match(text, starts[-1])
        assert found is not None
        starts.append(found.end())
    assert list(grapheme_starts(text)) == starts[:-1]


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 127, 128, 129, 1000])
@pytest.mark.parametrize("behind", ["", "\u0301", "\u200d🇴", "a", "🇴\ufe0f"])
def test_flags_are_pairs_from_the_start_of_their_run(count: int, behind: str) -> None:
    """Looking at a long run of flags in parts leaves every pair whole."""
    text = f"a{'🇳' * count}{behind}b{'🇴' * count}"
    assert list(grapheme_starts(text)) == [match.start() for match in regex.finditer(r"\X", text)]


def test_clusters_that_people_see_as_one_stay_one() -> None:
    """An emoji family, a flag, a skin tone, CRLF and a letter with marks are one cluster each."""
    text = f"{FAMILY}🇳🇴👍🏽\r\na\u0300\u0301"
    clusters = [FAMILY, "🇳🇴", "👍🏽", "\r\n", "a\u0300\u0301"]
    assert list(grapheme_starts(text)) == [sum(map(len, clusters[:number])) for number in range(len(clusters))]


@given(st.text(st.sampled_from(LETTERS), max_size=30) | st.text())
def test_graphemes_that_are_not_blank(text: str) -> None:
    """Those of which a character is not blank, at their places; and a text is one grapheme where there is one."""
    found = clusters(text)
    starts = [sum(map(len, found[:number])) for number in range(len(found))]
    assert text_graphemes(text).tolist() == [
        start for start, cluster in zip(starts, found, strict=True) if not cluster.isspace()
    ]
    assert is_grapheme(text) == (len(found) == 1)


def test_only_what_can_join_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of Chinese took eight seconds of ten; now the pattern sees what is beside a mark alone."""
    seen: list[str] = []
    right = graphemes._GRAPHEME

    class Counting:
        def finditer(self, part: str) -> Iterator[regex.Match[str]]:
            seen.append(part)
            return right.finditer(part)

    monkeypatch.setattr(graphemes, "_GRAPHEME", Counting())
    text = "漢字" * 1000 + "e\u0301" + "漢字" * 1000 + "\r\n" + "字"
    assert len(grapheme_starts(text)) == len(text) - 2
    assert seen == ["e\u0301漢", "字\r\n字"]
