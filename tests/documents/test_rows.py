"""A row is a document with an id, a text and metadata, or the reason why it is none."""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Any

import pytest

from chunkledger import Settings
from chunkledger.documents.rows import MOST_DEPTH, MOST_METADATA_BYTES, TOO_LARGE, RowError, as_json, row_of

SETTINGS = Settings()


def test_further_columns_are_metadata() -> None:
    """The hash is of text and metadata, so that a change of either is seen."""
    row = row_of({"lang": "en", "id": "a", "text": "One.", "tags": ["x"]}, SETTINGS)
    metadata = {"lang": "en", "tags": ["x"]}
    written = json.dumps(metadata, sort_keys=True).encode()
    assert (row.row_id, row.text, row.metadata, row.replaced, row.dropped) == ("a", "One.", metadata, 0, 0)
    assert row.sha256 == hashlib.sha256(b"One.\0" + written).hexdigest()
    assert row_of({"id": "a", "text": "One."}, SETTINGS).sha256 == hashlib.sha256(b"One.").hexdigest()


def test_columns_may_have_other_names() -> None:
    """Columns called id and text are then like any other."""
    values = {"key": 7, "body": "One.", "id": "x", "text": "y"}
    row = row_of(values, Settings(id_column="key", text_column="body"))
    assert (row.row_id, row.text, row.metadata) == ("7", "One.", {"id": "x", "text": "y"})


@pytest.mark.parametrize(
    ("values", "reason", "row_id"),
    [
        ({}, "has no 'id'; it has no columns", None),
        ({"key": 1, "text": "x"}, "has no 'id'; it has key, text", None),
        ({"\ud800a\0": 1, "text": "x"}, "has no 'id'; it has \ufffda\ufffd, text", None),
        ({"id": None, "text": "x"}, "'id' is null, not text or a whole number", None),
        ({"id": True, "text": "x"}, "'id' is true or false, not text or a whole number", None),
        ({"id": 1.5, "text": "x"}, "'id' is a number, not text or a whole number", None),
        ({"id": [], "text": "x"}, "'id' is a list, not text or a whole number", None),
        ({"id": " ", "text": "x"}, "'id' is empty", None),
        ({"id": "a" * 1001, "text": "x"}, "'id' has 1,001 characters; at most 1,000 are taken", None),
        ({"id": "a\0", "text": "x"}, "'id' holds a NUL or a lone surrogate", None),
        ({"id": "a\ud800", "text": "x"}, "'id' holds a NUL or a lone surrogate", None),
        ({"id": "a"}, "has no 'text'; it has id", "a"),
        ({"id": "a", "text": None}, "'text' is null, not text", "a"),
        ({"id": "a", "text": {"x": 1}}, "'text' is an object, not text", "a"),
    ],
)
def test_row_that_is_no_document(values: dict[str, Any], reason: str, row_id: str | None) -> None:
    """The reason says which column, what it is, and what there is instead; the id is told where it is usable."""
    with pytest.raises(RowError) as raised:
        row_of(values, SETTINGS)
    assert (str(raised.value), raised.value.row_id) == (reason, row_id)


def test_what_cannot_be_stored_is_replaced_and_counted() -> None:
    """NUL and lone surrogates in a text, as JSON's escapes make them; a mark at the start is dropped."""
    row = row_of({"id": "a", "text": "\ufeffa\0b\ud800", "k\ud800": "v"}, SETTINGS)
    assert (row.text, row.replaced, list(row.metadata)) == ("a\ufffdb\ufffd", 2, ["k\ufffd"])


@pytest.mark.parametrize("large", ["x" * MOST_METADATA_BYTES, TOO_LARGE])
def test_metadata_beyond_the_limit_is_left_out(large: object) -> None:
    """Every chunk would repeat it. That there was some is in the hash; what it was decides nothing any more."""
    row = row_of({"id": "a", "text": "One.", "vector": large, "lang": "en"}, SETTINGS)
    assert (row.metadata, row.dropped, row.sha256) == ({}, True, hashlib.sha256(b"One.\0").hexdigest())


def test_values_become_json() -> None:
    """What JSON has no type for becomes text that says the same."""
    moment = datetime.datetime(2026, 3, 1, 12, 30, tzinfo=datetime.UTC)
    value = {"d": moment.date(), "t": moment, "f": float("inf"), "n": None, 1: (1, 2.5, True), "c": 1j}
    assert as_json(value) == {
        "d": "2026-03-01",
        "t": "2026-03-01T12:30:00+00:00",
        "f": "inf",
        "n": None,
        "1": [1, 2.5, True],
        "c": "1j",
    }


def test_metadata_that_is_nested_too_deeply_is_refused() -> None:
    """At a depth of its own, and not where Python gives up, which depends on the caller."""
    deep: list[Any] = []
    for _ in range(MOST_DEPTH - 1):
        deep = [deep]
    assert row_of({"id": "a", "text": "x", "deep": deep}, SETTINGS).metadata == {"deep": deep}
    with pytest.raises(RowError, match="is nested deeper than 64") as raised:
        row_of({"id": "a", "text": "x", "deep": [deep]}, SETTINGS)
    assert raised.value.row_id == "a"
