"""Folders of packages, caches and builds are told from folders that only have such a name."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.proposals.clutter import Clutter, clutter

NAMES = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1, max_size=8)
NPM = ("node_modules/*", "*/node_modules/*")
PATHS = st.lists(NAMES | st.sampled_from(["node_modules", "[a]*"]), min_size=1, max_size=4).map("/".join)


@given(PATHS, st.sets(PATHS), st.sampled_from(["", "docs/"]))
def test_globs_shut_out_the_folder_and_nothing_else(folder: str, others: set[str], prefix: str) -> None:
    """Whatever a virtual environment is called, its globs match what is in it and no other document."""
    inside = f"{prefix}{folder}/lib/a.md"
    outside = {f"{prefix}{each}.md" for each in others if not f"{each}.md".startswith(f"{folder}/")}
    outside = {each for each in outside if "node_modules" not in each}
    found = clutter([inside, *outside], [f"{prefix}{folder}/pyvenv.cfg"], prefix)
    globs = [pattern for each in found for pattern in each.globs]
    assert any(fnmatchcase(inside, pattern) for pattern in globs)
    assert {each for each in outside if any(fnmatchcase(each, pattern) for pattern in globs)} == set()


@pytest.mark.parametrize(
    ("doc_ids", "others", "found"),
    [
        (["a.md", "b/c.md"], ["d.py"], []),
        (["vendor/contract.md"], [], [Clutter(("vendor/*",), "packages of others", 1, False)]),
        (["vendor/x/README.md"], ["go.mod"], [Clutter(("vendor/*",), "packages of others, beside go.mod", 1, True)]),
        (["a/build/x.md", "build/x.md"], ["a/Makefile"], [
            Clutter(("a/build/*",), "build output, beside Makefile", 1, True),
            Clutter(("build/*",), "build output", 1, False),
        ]),
        (["build/node_modules/x.md"], [], [Clutter(NPM, "packages of npm", 1, True)]),
        (["my [env]/x.md"], ["my [env]/pyvenv.cfg"], [Clutter(("my [[]env]/*",), "a virtual environment", 1, True)]),
        (["a.md"], ["node_modules/x.js"], []),
        (["node_modules.md", "docs/node_modules"], [], []),
    ],
)  # fmt: skip
def test_clutter(doc_ids: list[str], others: list[str], found: list[Clutter]) -> None:
    """A name that people use too is clutter only beside a file that says so; folders without documents are none."""
    assert clutter(doc_ids, others) == found
