"""Front matter becomes plain metadata, and nothing in it can hurt."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.structure.front_matter import MOST_CHARACTERS, MOST_DEPTH, FrontMatterError, front_matter
from markdown_texts import document

SMALL = Settings(encoding="cl100k_base", max_tokens=64)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=8,
)


def block(yaml: str) -> str:
    """A front matter block of that YAML."""
    return f"---\n{yaml}\n---"


@given(st.text(max_size=60))
def test_any_text_gives_json_values(source: str) -> None:
    """Whatever stands between the delimiters, the metadata is a dict that JSON can hold, or it is told why not."""
    try:
        found = front_matter(block(source))
    except FrontMatterError:
        return
    assert json.loads(json.dumps(found)) == found


@given(st.dictionaries(st.text("abc", min_size=1), json_values, min_size=1, max_size=4))
def test_json_is_read_back(values: dict[str, object]) -> None:
    """JSON, which is YAML, comes back as it was."""
    assert front_matter(block(json.dumps(values))) == values


@pytest.mark.parametrize(
    ("yaml", "values"),
    [
        ("title: Rates\ntags: [a, b]", {"title": "Rates", "tags": ["a", "b"]}),
        ("day: 2026-03-01", {"day": "2026-03-01"}),
        ("at: 2026-03-01T12:30:00Z", {"at": "2026-03-01T12:30:00+00:00"}),
        ("a: 1.5\nb: .inf\nc: -.inf\nd: .nan", {"a": 1.5, "b": "inf", "c": "-inf", "d": "nan"}),
        ("2: one\ntrue: two\nnull: three", {"2": "one", "True": "two", "None": "three"}),
        ("s: !!set {y, x, z, 1}", {"s": ["x", "y", "z", 1]}),
        (r'a: "\ud83d\ude42 \ud83d"', {"a": "🙂 \ufffd"}),
        ("b: !!binary aGk=", {"b": "(2 bytes)"}),
        ("day: 2026-02-30\nn: 0b_\nt: 1", {"day": "2026-02-30", "n": "0b_", "t": 1}),
        (
            "b: !!bool maybe\nt: !!timestamp foo\ni: !!int ''\nf: !!float ''",
            {"b": "maybe", "t": "foo", "i": "", "f": ""},
        ),
        ("2026-13-45: [2026-02-30]", {"2026-13-45": ["2026-02-30"]}),
        ("", {}),
        ("# comment", {}),
        ("empty:\n# comment", {"empty": None}),
        ("a: 'one\u2028two'", {"a": "one\u2028two"}),
    ],
)
def test_values_become_json(yaml: str, values: dict[str, object]) -> None:
    """Dates, odd floats, sets, bytes and keys that are no strings become what JSON can hold."""
    assert front_matter(block(yaml)) == values


@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        ("just words", "it has no keys with values"),
        ("- a\n- list", "it has no keys with values"),
        ("42", "it has no keys with values"),
        ("a: [1, 2", "it is not YAML: expected ',' or ']', but got '<stream end>' on line 2"),
        ("a: 1\na: b: c", "it is not YAML: mapping values are not allowed here on line 3"),
        ("a: 1\n\tbad: tab", "it is not YAML: found character '\\t' that cannot start any token on line 3"),
        ("a: &x 1\nb: *x", "it has an alias on line 3, and none are taken"),
        ("a: &x [*x]", "it has an alias on line 2, and none are taken"),
        (
            "!!python/object/apply:os.system ['true']",
            "it is not YAML: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object/apply:os.system' on line 2",
        ),
        ("a: !custom 1", "it is not YAML: could not determine a constructor for the tag '!custom' on line 2"),
        ("a: 1\n--- \nb: 2", "it is not YAML: but found another document on line 3"),
        ("a: \x07", "it is not YAML: unacceptable character #x0007: special characters are not allowed"),
        ("[1]: 2\n{}: 3", "it is not YAML: found unhashable key on line 2"),
        ("a: " + "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "it is nested deeper than 20 on line 2"),
        ("a: " + "[" * 5000, "it is nested deeper than 20 on line 2"),
    ],
)
def test_what_is_no_plain_mapping_is_told(yaml: str, reason: str) -> None:
    """No mapping, bad YAML, aliases, tags of Python or deep nesting: the reason and the line of the document."""
    with pytest.raises(FrontMatterError) as raised:
        front_matter(block(yaml))
    assert str(raised.value) == reason


def test_nesting_up_to_the_limit_is_read() -> None:
    """The mapping and the lists in it may be as deep as the limit."""
    lists = MOST_DEPTH - 1
    assert json.dumps(front_matter(block("a: " + "[" * lists + "]" * lists))["a"]) == "[" * lists + "]" * lists


def test_size_is_limited() -> None:
    """Front matter over the limit of size gives no metadata."""
    assert len(front_matter(block("a: " + "x" * (MOST_CHARACTERS - 11)))) == 1
    with pytest.raises(FrontMatterError, match="it has 16,385 characters; up to 16,384 are taken"):
        front_matter(block("a: " + "x" * (MOST_CHARACTERS - 10)))


def test_line_ends_of_every_system_are_read() -> None:
    """CRLF and lone CR part the lines of front matter too; dots may close it."""
    assert [front_matter(f"---{end}a: 1{end}b: 2{end}...") for end in ("\n", "\r\n", "\r")] == [{"a": 1, "b": 2}] * 3


def test_toml_becomes_json() -> None:
    """Between lines of plus signs stands TOML, with its tables, dates and numbers."""
    source = (
        '+++\n# page\ntitle = "a"\nday = 2026-03-01\nat = 12:30:00\nn = inf\n\n'
        '[extra]\ntags = ["x", "y"]\n[[authors]]\nname = "b"\n+++'
    )
    expected = {
        "title": "a", "day": "2026-03-01", "at": "12:30:00", "n": "inf",
        "extra": {"tags": ["x", "y"]}, "authors": [{"name": "b"}],
    }  # fmt: skip
    for text in (source, source.replace("\n", "\r\n"), source.replace("+++", "+++ ")):
        assert front_matter(text) == expected
    assert front_matter("+++\n+++") == {}


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("title = ", "it is not TOML: Invalid value on line 2"),
        ("a = 1\na = 2", "it is not TOML: Cannot overwrite a value on line 3"),
        (f"a = {'[' * 30}{']' * 30}", "nested deeper than 20"),
        (f"a = {'[' * 5000}{']' * 5000}", "not TOML that is taken"),
        (f"a = {'9' * 6000}", "not TOML that is taken"),
    ],
)
def test_what_is_no_toml_is_told(toml: str, reason: str) -> None:
    """A fault is named with its line in the document; what would take a stack or a minute to read is refused."""
    with pytest.raises(FrontMatterError, match=re.escape(reason)):
        front_matter(f"+++\n{toml}\n+++")


def test_front_matter_of_toml_stays_whole_and_is_no_section() -> None:
    """Its comment is no heading, and what is in it is metadata; plus signs further down are text."""
    source = '+++\n# page settings\ntitle = "a"\n\n[extra]\nx = 1\n\n[more]\ny = "+++"\n+++\n'
    [matter, *rest] = chunk_batch([document(f"{source}\n# Head\n\n{'Some text. ' * 40}")], SMALL).to_pylist()
    assert matter["text"].startswith(source.rstrip())
    assert {row["metadata"] for row in rest} == {'{"extra": {"x": 1}, "more": {"y": "+++"}, "title": "a"}'}
    assert {tuple(row["heading_path"]) for row in rest} == {("Head",)}
    [row] = chunk_batch([document("Text.\n\n+++\na = 1\n+++\n")], SMALL).to_pylist()
    assert row["metadata"] == "{}"
