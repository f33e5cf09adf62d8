"""Front matter becomes plain metadata, and nothing in it can hurt."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.structure.front_matter import MOST_BYTES, MOST_DEPTH, front_matter

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=8,
)


def block(yaml: str) -> str:
    """A front matter block of that YAML."""
    return f"---\n{yaml}\n---"


@hypothesis_settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_json_values(source: str) -> None:
    """Whatever stands between the delimiters, the metadata is a dict that JSON can hold, or empty."""
    found = front_matter(block(source))
    assert json.loads(json.dumps(found)) == found


@hypothesis_settings(deadline=None)
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
        ("b: !!binary aGk=", {"b": "b'hi'"}),
        ("empty:\n# comment", {"empty": None}),
        ("a: 'one\u2028two'", {"a": "one\u2028two"}),
    ],
)
def test_values_become_json(yaml: str, values: dict[str, object]) -> None:
    """Dates, odd floats, sets, bytes and keys that are no strings become what JSON can hold."""
    assert front_matter(block(yaml)) == values


@pytest.mark.parametrize(
    "yaml",
    [
        "just words",
        "- a\n- list",
        "42",
        "",
        "a: [1, 2",
        "a: b: c",
        "\tbad: tab",
        "a: &x 1\nb: *x",
        "a: &x [*x]",
        "!!python/object/apply:os.system ['true']",
        "a: !custom 1",
        "a: 1\n--- \nb: 2",
        "day: 2026-13-45",
        "a: " + "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1),
        "a: " + "[" * 5000,
    ],
)
def test_what_is_no_plain_mapping_gives_nothing(yaml: str) -> None:
    """No mapping, bad YAML, aliases, tags of Python, impossible dates or deep nesting: no metadata, no error."""
    assert front_matter(block(yaml)) == {}


def test_nesting_up_to_the_limit_is_read() -> None:
    """The mapping and the lists in it may be as deep as the limit."""
    lists = MOST_DEPTH - 1
    assert json.dumps(front_matter(block("a: " + "[" * lists + "]" * lists))["a"]) == "[" * lists + "]" * lists


def test_size_is_limited() -> None:
    """Front matter over the limit of size gives no metadata."""
    inside, over = (block("a: " + "x" * length) for length in (MOST_BYTES - 20, MOST_BYTES))
    assert [len(front_matter(source)) for source in (inside, over)] == [1, 0]


def test_line_ends_of_every_system_are_read() -> None:
    """CRLF and lone CR part the lines of front matter too; dots may close it."""
    assert [front_matter(f"---{end}a: 1{end}b: 2{end}...") for end in ("\n", "\r\n", "\r")] == [{"a": 1, "b": 2}] * 3
