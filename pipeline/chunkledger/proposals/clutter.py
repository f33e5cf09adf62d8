"""Names of files -> the folders among them that hold no documents of anybody's own, and globs that shut them out."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

_ALWAYS = {
    "node_modules": "packages of npm",
    "bower_components": "packages of Bower",
    "site-packages": "packages of Python",
    "__pycache__": "Python's cache",
    "__pypackages__": "packages of Python",
}
"""Folders that are called so only by the tool that fills them."""
_BUILDS = (
    "package.json", "pyproject.toml", "setup.py", "setup.cfg", "makefile", "cmakelists.txt", "meson.build", "pom.xml",
    "build.gradle", "build.gradle.kts", "cargo.toml", "conf.py", "mkdocs.yml", "_config.yml",
)  # fmt: skip
_VENDORS = ("go.mod", "composer.json", "gemfile", "cargo.toml", "package.json")
_BESIDE = {
    **dict.fromkeys(("build", "dist", "target", "out", "_build", "_site"), ("build output", _BUILDS)),
    **dict.fromkeys(("vendor", "third_party"), ("packages of others", _VENDORS)),
}
"""Folders that people call so too: clutter for certain only beside one of these files, in lower case."""
_INSIDE = {"pyvenv.cfg": "a virtual environment", "CACHEDIR.TAG": "a cache, as its CACHEDIR.TAG says"}
"""Files that say what the folder is that holds them."""


class Clutter(NamedTuple):
    """Folders whose documents are nobody's own.

    Attributes:
        globs: what shuts them out, on document ids.
        reason: what they are.
        documents: how many documents are in them.
        is_sure: whether nothing else is called so, or a file beside or inside says what it is.
    """

    globs: tuple[str, ...]
    reason: str
    documents: int
    is_sure: bool


class _Kind(NamedTuple):
    globs: tuple[str, ...]
    reason: str
    is_sure: bool


def clutter(doc_ids: Iterable[str], others: Iterable[str], prefix: str = "") -> list[Clutter]:
    """The folders of packages, caches and builds, in the order of their globs.

    Args:
        doc_ids: ids of what is read, or fails.
        others: ids of all other files, which tell what a folder is.
        prefix: what every id begins with that is no folder.

    >>> [each.globs for each in clutter(["a.md", "web/node_modules/x/README.md"], [])]
    [('node_modules/*', '*/node_modules/*')]
    """
    wanted = [doc_id.removeprefix(prefix) for doc_id in doc_ids]
    names = _names_by_folder([*wanted, *(doc_id.removeprefix(prefix) for doc_id in others)])
    judged: dict[str, _Kind | None] = {}
    counts: Counter[_Kind] = Counter()
    for doc_id in wanted:
        above = list(accumulate(doc_id.split("/")[:-1], "{}/{}".format))
        for folder in above:
            if folder not in judged:
                judged[folder] = _kind(folder, names, prefix)
        kinds = [kind for folder in above if (kind := judged[folder])]
        if kinds:
            # The outermost, of those that are sure where there are any.
            counts[next((kind for kind in kinds if kind.is_sure), kinds[0])] += 1
    return sorted(Clutter(kind.globs, kind.reason, count, kind.is_sure) for kind, count in counts.items())


def _kind(folder: str, names: Mapping[str, set[str]], prefix: str) -> _Kind | None:
    """What kind of clutter a folder is; None where it is none."""
    above, _, name = folder.rpartition("/")
    this_one = (f"{glob.escape(prefix + folder)}/*",)
    for file, reason in _INSIDE.items():
        if file in names.get(folder, ()):
            return _Kind(this_one, reason, True)
    if name in _ALWAYS:
        return _Kind((f"{name}/*", f"*/{name}/*"), _ALWAYS[name], True)
    if name in _BESIDE:
        reason, files = _BESIDE[name]
        beside = sorted(file for file in names.get(above, ()) if file.lower() in files)
        return _Kind(this_one, f"{reason}, beside {beside[0]}" if beside else reason, bool(beside))
    return None


def _names_by_folder(ids: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in ids:
        folder, _, name = each.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return found
