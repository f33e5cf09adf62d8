"""Spans and counts of small documents do not change by accident."""

from __future__ import annotations

import json

from chunkledger import chunk_text
from golden.spans import DOCUMENTS, HERE, SETTINGS, STORED, content, spans
from recounting import tokens


def test_spans_and_counts_are_those_of_the_golden_file() -> None:
    """Chunks of the golden documents are cut and counted as `tests/golden/spans.json` says.

    After a change that is meant, `python tests/golden/spans.py` writes the file anew.
    """
    assert spans() == json.loads(STORED.read_text("utf-8"))
    assert content() == STORED.read_text("utf-8")


def test_golden_counts_are_those_of_tiktoken() -> None:
    """The golden file can't hold a count that tiktoken does not give."""
    for name, form in DOCUMENTS:
        text = (HERE / name).read_bytes().decode()
        for settings in SETTINGS.values():
            for chunk in chunk_text(text, settings, format=form, doc_id=name):
                assert text[chunk.char_start : chunk.char_end] == chunk.text
                strings = (chunk.text, chunk.embed_prefix + chunk.text)
                expected = tuple(tokens(string, settings.encoding) for string in strings)
                assert (chunk.token_count, chunk.embed_tokens) == expected
