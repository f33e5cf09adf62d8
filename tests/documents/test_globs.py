"""Globs match what a shell would match, and in no more time than the pattern is long."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.documents.globs import Glob, may_begin
from ledgers import write

NAMES = ["a.md", "b.txt", "x/a.md", "x/y/a.md", "x/y/z/b.md", "xy/a.md", "x/b.rst", "y/x/a.md"]


@pytest.mark.parametrize(
    "pattern",
    ["*", "*.md", "**", "**/*.md", "x/**", "x/**/a.md", "**/x/*", "?/*.md", "[xy]/*", "*/**/*.md", "**/**/a.*", "*/**"],
)
def test_same_files_as_pathlib(tmp_path: Path, pattern: str) -> None:
    """What the standard library's glob finds in a folder is what matches."""
    write(tmp_path, dict.fromkeys(NAMES, "x"))
    # pathlib's own `**` at the end gives folders only.
    asked = f"{pattern}/*" if pattern.endswith("**") else pattern
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob(asked) if path.is_file()}
    assert {name for name in NAMES if Glob(pattern).matches(name)} == found


@given(st.lists(st.sampled_from(["**", "*", "x", "?", "a*"]), min_size=1, max_size=6), st.sampled_from(NAMES))
def test_folder_of_a_match_may_hold_it(parts: list[str], name: str) -> None:
    """No folder that leads to a file that matches is passed over."""
    glob = Glob("/".join(parts))
    folders = ["/".join(name.split("/")[:count]) for count in range(name.count("/") + 1)]
    if glob.matches(name):
        assert all(glob.may_hold(folder) for folder in folders)


def test_many_wildcards_are_no_work() -> None:
    """A pattern that sends a backtracking matcher astray for hours."""
    assert not Glob("/".join(["**", "a"] * 30) + "/b").matches("/".join(["a"] * 200))


globs = st.lists(st.sampled_from(["*", "?", "[ab]", "[!a]", "[]a]", "[", "a", "b", "/", "]"]), max_size=6).map("".join)
paths = st.text("ab/]", max_size=6)


@given(globs, paths, paths)
def test_what_matches_may_begin(glob: str, prefix: str, rest: str) -> None:
    """No beginning of a match is refused."""
    if fnmatch.fnmatchcase(prefix + rest, glob):
        assert may_begin(glob, prefix)


@pytest.mark.parametrize(
    ("glob", "prefix", "expected"),
    [
        ("*.md", "any/", True),
        ("docs/*.md", "docs/", True),
        ("docs/*.md", "docs/a/b/", True),
        ("docs/*.md", "src/", False),
        ("docs/?.md", "docs/a/", False),
        ("[ab]/x", "a/", True),
        ("[!ab]/x", "a/", False),
        ("[]x]/x", "]/", True),
        ("[/x", "[/", True),
        ("a.md", "a.md/", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_beginnings(glob: str, prefix: str, expected: bool) -> None:
    """A folder is asked for with its slash; a match may end with it."""
    assert may_begin(glob, prefix) == expected


def test_many_stars_take_no_time() -> None:
    """A glob of stars is tried in steps: its length times that of the path."""
    assert may_begin("*a" * 100 + "b", "ab" * 400)
    assert not may_begin("?" + "[!a]*" * 100, "a" * 800)
