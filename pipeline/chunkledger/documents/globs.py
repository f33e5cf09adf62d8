"""Globs over POSIX paths: of sources, whose `*` and `?` stay within a folder, and of `fnmatch`, whose do not."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import cached_property

MAGIC = re.compile(r"[*?[]")
_TOKEN = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)


@dataclass(frozen=True)
class Glob:
    """A pattern below a folder; `**` stands for any folders, or none.

    Attributes:
        pattern: for example `**/*.md`.

    >>> found = Glob("a/**/*.md")
    >>> found.matches("a/x.md"), found.matches("a/b/c/x.md"), found.matches("b/x.md")
    (True, True, False)
    >>> found.may_hold("a/b"), found.may_hold("b")
    (True, False)
    """

    pattern: str

    @cached_property
    def _parts(self) -> list[re.Pattern[str] | None]:
        """One pattern a folder; None for `**`."""
        names = [part for part in self.pattern.split("/") if part not in ("", ".")]
        if names[-1:] == ["**"]:
            # A folder's name is not enough: what is meant is in it.
            names.append("*")
        return [None if part == "**" else re.compile(fnmatch.translate(part)) for part in names]

    def matches(self, path: str) -> bool:
        """Whether a file of this path is meant."""
        return len(self._parts) in self._states(path)

    def may_hold(self, folder: str) -> bool:
        """Whether something below this folder can be meant."""
        return any(state < len(self._parts) for state in self._states(folder))

    def _states(self, path: str) -> set[int]:
        """How many parts of the pattern the path can have used up; a set, so that no pattern takes long."""
        states = self._skipped({0})
        for name in path.split("/") if path else []:
            following: set[int] = set()
            for state in states:
                if state == len(self._parts):
                    continue
                part = self._parts[state]
                if part is None:
                    following.add(state)
                elif part.match(name):
                    following.add(state + 1)
            states = self._skipped(following)
        return states

    def _skipped(self, states: set[int]) -> set[int]:
        """The states, and those that are reached by letting a `**` stand for nothing."""
        reached = set(states)
        for state in sorted(states):
            while state < len(self._parts) and self._parts[state] is None:
                state += 1
                reached.add(state)
        return reached


def may_begin(glob: str, prefix: str) -> bool:
    """Whether a glob of `fnmatch`, whose `*` crosses folders, can match something that begins with this.

    >>> may_begin("docs/*.md", "docs/sub/"), may_begin("docs/*.md", "src/"), may_begin("[ab]?c*", "bx")
    (True, False, True)
    """
    tokens = _TOKEN.findall(glob)
    states = _without_stars({0}, tokens)
    for char in prefix:
        unfinished = {state for state in states if state < len(tokens)}
        stars = {state for state in unfinished if tokens[state] == "*"}
        others = {state + 1 for state in unfinished - stars if fnmatch.fnmatchcase(char, tokens[state])}
        states = _without_stars(stars | others, tokens)
    return bool(states)


def _without_stars(states: set[int], tokens: list[str]) -> set[int]:
    """The states, and those that are reached by letting stars stand for nothing."""
    reached = set(states)
    for state in sorted(states):
        while state < len(tokens) and tokens[state] == "*":
            state += 1
            reached.add(state)
    return reached
