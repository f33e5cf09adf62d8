"""Counts of spans by difference are the counts of the spans as strings."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.counting.counter import counter_for
from chunkledger.counting.spans import span_tokens, unsafe_places
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.documents.batch import joined
from markdown_texts import document, odd_texts, texts
from recounting import tokens

many = hypothesis_settings(max_examples=150)
encodings = st.sampled_from(sorted(VOCABULARIES))
line_texts = st.text(st.sampled_from("ab.):=/ \n\n\r\t\u00a0\u3000\x0c\x1c漢é'1"), max_size=80)


@st.composite
def spans_of(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    """Some spans, in code points: from a line with text, or from anywhere, to the end of a word; never blank."""
    starts = [match.start() for match in re.finditer(r"(?:(?<=\n)|(?<=\r)(?!\n)|\A)(?=[^\S\r\n]*\S)", text)]
    found = []
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.sampled_from(starts) | st.integers(0, len(text)) if starts else st.integers(0, len(text)))
        end = start + len(text[start : draw(st.integers(start, len(text)))].rstrip())
        if text[start:end].strip():
            found.append((start, end))
    return found


@many
@given(texts | odd_texts | line_texts, encodings, st.data())
def test_span_tokens_are_those_of_the_string(text: str, encoding: str, data: st.DataObject) -> None:
    """The tokens of a span, and of the span with a newline, are those of the string alone."""
    spans = data.draw(spans_of(text))
    batch, counter = joined([document(text)]), counter_for(encoding)
    ends = counter.token_ends([text])
    start = np.array([len(text[:first].encode()) for first, _ in spans], np.int64)
    end = np.array([len(text[:last].encode()) for _, last in spans], np.int64)
    unsafe = unsafe_places(batch, ends, counter, start)
    counts, line_counts = span_tokens(batch, ends, counter, start, end, unsafe)
    assert counts.tolist() == [tokens(text[first:last], encoding) for first, last in spans]
    assert line_counts.tolist() == [tokens(text[first:last] + "\n", encoding) for first, last in spans]


@many
@given(texts | line_texts, encodings)
@example("a.\n/b", "o200k_base")
@example("a\r\rb", "cl100k_base")
@example("a \n \x0c\n b", "o200k_base")
def test_counts_add_up_at_safe_places(text: str, encoding: str) -> None:
    """At a line with text that is not said to be unsafe, the counts of both sides add up to the whole."""
    batch, counter = joined([document(text)]), counter_for(encoding)
    ends = counter.token_ends([text])
    lines = [place for place in batch.line_starts.tolist() if re.match(rb"[^\S\r\n]*\S", batch.data[place:])]
    unsafe = unsafe_places(batch, ends, counter, np.array(lines, np.int64)).tolist()
    for place, bad in zip(lines, unsafe, strict=True):
        left, right = batch.data[:place].decode(), batch.data[place:].decode()
        if not bad and right.split("\n")[0].split("\r")[0].strip():
            assert tokens(left, encoding) + tokens(right, encoding) == tokens(text, encoding)


def test_a_slash_behind_a_newline_is_unsafe_under_o200k_alone() -> None:
    """The start of a line that begins with `/` is unsafe under o200k, and within a line every place is."""
    text = "a.\n/b c\nd"
    batch = joined([document(text)])
    for encoding in VOCABULARIES:
        counter = counter_for(encoding)
        unsafe = unsafe_places(batch, counter.token_ends([text]), counter, np.array([0, 3, 6, 8], np.int64)).tolist()
        assert unsafe == [False, encoding != "cl100k_base", True, False]


def test_no_spans_have_no_counts() -> None:
    """No spans are counted without an error."""
    batch, counter, none = joined([document("a")]), counter_for("cl100k_base"), np.zeros(0, np.int64)
    ends = counter.token_ends(["a"])
    unsafe = unsafe_places(batch, ends, counter, none)
    assert [part.tolist() for part in span_tokens(batch, ends, counter, none, none, unsafe)] == [[], []]
