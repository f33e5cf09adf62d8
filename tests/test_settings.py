"""Settings are checked when they are made."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from chunkledger import Settings, SettingsError
from chunkledger.errors import ChunkledgerError

OTHER = {
    "encoding": "cl100k_base",
    "max_tokens": 400,
    "target_tokens": 300,
    "min_tokens": 10,
    "slot_tokens": 5000,
    "slot_chunks": 4,
    "overlap_tokens": 20,
    "parent_tokens": 1500,
    "split_headings": 2,
    "heading_context": False,
    "template": "markdown/1",
    "format": "plain",
    "language": "de",
    "source_encoding": "cp1252",
    "chunks": True,
    "id_column": "key",
    "text_column": "body",
}


def test_the_defaults_are_those_of_the_contract() -> None:
    """The defaults stand in the contract."""
    expected = {
        "encoding": "o200k_base",
        "further_encodings": [],
        "max_tokens": 512,
        "target_tokens": None,
        "min_tokens": 50,
        "slot_tokens": 6000,
        "slot_chunks": 8,
        "overlap_tokens": 0,
        "parent_tokens": 0,
        "split_headings": 0,
        "heading_context": True,
        "template": "xml/1",
        "format": "auto",
        "language": None,
        "source_encoding": None,
        "chunks": False,
        "id_column": "id",
        "text_column": "text",
    }
    assert Settings().as_dict() == expected
    assert (Settings().target, Settings().share_tokens) == (486, 750)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "encoding",
            "p50k_base",
            "encoding 'p50k_base' is not known; valid are: o200k_base, cl100k_base, o200k_harmony",
        ),
        ("encoding", None, "encoding None is not known"),
        ("template", "xml", "template 'xml' is not known; valid are: xml/1, markdown/1"),
        ("language", "german", "language 'german' is no code of a language; valid are: en, de, ja and the like"),
        ("language", 3, "language 3 is no code of a language; valid are: en, de, ja and the like"),
        ("format", "html", "format 'html' is not known; valid are: auto, markdown, plain, rst"),
        ("source_encoding", "zip", "source_encoding 'zip' is no encoding of text that Python knows"),
        (
            "source_encoding",
            "unicode_escape",
            "source_encoding 'unicode_escape' is no encoding of text that Python knows",
        ),
        ("source_encoding", "Punycode", "source_encoding 'Punycode' is no encoding of text that Python knows"),
        ("source_encoding", "undefined", "source_encoding 'undefined' is no encoding of text that Python knows"),
        ("source_encoding", "nope", "source_encoding 'nope' is no encoding of text that Python knows"),
        ("source_encoding", 7, "source_encoding 7 is no encoding of text that Python knows"),
        ("chunks", 1, "chunks must be true or false, not 1"),
        ("id_column", "", "id_column must be the name of a column, not ''"),
        ("text_column", 1, "text_column must be the name of a column, not 1"),
        ("text_column", "id", "text_column is 'id', as id_column is; they must be two columns"),
        ("max_tokens", 1, "max_tokens must be from 2 to 10000000, not 1"),
        ("max_tokens", "512", "max_tokens must be a whole number, not '512'"),
        ("max_tokens", 512.0, "max_tokens must be a whole number, not 512.0"),
        ("max_tokens", True, "max_tokens must be a whole number, not True"),
        ("max_tokens", None, "max_tokens must be a whole number, not None"),
        ("target_tokens", 0, "target_tokens must be from 1 to 512, not 0"),
        ("target_tokens", 513, "target_tokens must be from 1 to 512, not 513"),
        ("min_tokens", -1, "min_tokens must be from 0 to 10000000, not -1"),
        ("slot_tokens", 0, "slot_tokens must be from 1 to 1000000000, not 0"),
        ("slot_chunks", 0, "slot_chunks must be from 1 to 1000000, not 0"),
        ("overlap_tokens", -1, "overlap_tokens must be from 0 to 10000000, not -1"),
        ("overlap_tokens", 512, "overlap_tokens is 512, which leaves nothing of max_tokens (512) for new text"),
        ("parent_tokens", -1, "parent_tokens must be from 0 to 10000000, not -1"),
        ("parent_tokens", 511, "parent_tokens is 511, and a parent is made of whole chunks; it must be 0 (no parents)"),
        ("further_encodings", "cl100k_base", "further_encodings must be a tuple of names, not 'cl100k_base'"),
        ("further_encodings", ("gpt2",), "further_encodings 'gpt2' is not known; valid are: o200k_base, cl100k_base"),
        (
            "further_encodings",
            ("o200k_base",),
            "encoding 'o200k_base' with further_encodings ('o200k_base',): name each only once",
        ),
        ("split_headings", 7, "split_headings must be from 0 to 6, not 7"),
        ("split_headings", True, "split_headings must be a whole number, not True"),
        ("heading_context", 1, "heading_context must be true or false, not 1"),
    ],
)
def test_a_bad_value_is_refused(name: str, value: object, message: str) -> None:
    """The message names the setting, what it was, and what would work."""
    changed: dict[str, Any] = {name: value}
    with pytest.raises(SettingsError, match=re.escape(message)):
        Settings(**changed)


def test_the_error_is_a_value_error_and_ours() -> None:
    """A caller may catch `ValueError` or the root of our errors."""
    assert (issubclass(SettingsError, ValueError), issubclass(SettingsError, ChunkledgerError)) == (True, True)


def test_settings_are_given_by_name_and_do_not_change() -> None:
    """Settings take no positional values, and can't be changed once made."""
    with pytest.raises(TypeError):
        Settings("o200k_base")  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Settings().max_tokens = 3  # type: ignore[misc]


def test_every_setting_is_in_the_fingerprint() -> None:
    """Changing any one setting changes the fingerprint, and no two changes give the same.

    Further encodings change no column that there would be without them, so they are no part of it.
    """
    assert sorted([*OTHER, "further_encodings"]) == sorted(field.name for field in fields(Settings))
    assert Settings(further_encodings=("cl100k_base",)).sha256() == Settings().sha256()
    changes: list[dict[str, Any]] = [{}, *({name: value} for name, value in OTHER.items())]
    assert len({Settings(**change).sha256() for change in changes}) == len(changes)


def test_the_default_target_is_the_target_that_it_stands_for() -> None:
    """A target that is given as what the default comes to has the same fingerprint."""
    assert Settings(max_tokens=400, target_tokens=380).sha256() == Settings(max_tokens=400).sha256()


def test_the_smallest_maximum_has_a_target() -> None:
    """The target is never below one token."""
    assert [Settings(max_tokens=most).target for most in (2, 3, 100)] == [1, 2, 95]
