"""The objects below a folder of a store, though some of their names can't be addressed.

object_store fails with the whole page where one name in it has an empty segment, `.` or `..` between slashes, or a
control character. Anybody who may write to a bucket could end a run with such a name, so the listing then goes on
folder by folder. Of the folder that holds the name it says that it is not whole, and goes on behind the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from chunkledger.remote.failures import reason


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object: its name below the store's URL, size in bytes, time of change in ns, and what tells its versions."""

    name: str
    size: int
    modified_ns: int
    etag: str


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A folder, by its name below the store's URL, of which not all could be listed, and why."""

    name: str
    reason: str


_RESUMED = 100
"""Names in one folder behind which the listing goes on: each costs a request."""
_NAMED = re.compile(r'Path "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
Flat = Callable[[str, str | None], Iterable[ObjectInfo]]
Level = Callable[[str], tuple[Sequence[ObjectInfo], Sequence[str]]]


def listed(
    folder: str, root: str, flat: Flat, level: Level, unaddressable: type[Exception]
) -> Iterator[ObjectInfo | Unlisted]:
    """Every object below the folder once, in the store's order, and the folders of which some may be missing.

    Args:
        folder: name below the store's URL; "" for all.
        root: what the store puts before all names.
        flat: all objects below a folder, in the order of their names, and of these only those after a name.
        level: the objects in a folder, and the names of the folders in it.
        unaddressable: what both raise where a name can't be addressed.
    """
    waiting = [(folder, b"")]
    while waiting:
        here, last = waiting.pop()
        given, in_order = last, True
        try:
            for info in flat(here, None):
                name = info.name.encode()
                if name <= given:
                    continue
                in_order = in_order and name > last
                last = max(last, name)
                yield info
            continue
        except unaddressable as error:
            failure = error
        # What came before the bad page is known by the order of names, and need not be kept to be left out now.
        try:
            found, folders = level(here) if in_order else ((), ())
        except unaddressable:
            yield Unlisted(here, reason(failure))
            if in_order:
                yield from _rest(here, root, flat, last, failure)
            continue
        # A name that begins with a slash is in a folder without a name, which is taken for the one it is in.
        if not in_order or not all(_is_below(name, here) for name in folders):
            yield Unlisted(here, reason(failure))
        yield from (info for info in found if info.name.encode() > last)
        # All names in a folder come before the folder's own with a 0, the character after the slash.
        waiting += [(name, last) for name in reversed(folders) if _is_below(name, here) and f"{name}0".encode() > last]


def _rest(here: str, root: str, flat: Flat, last: bytes, failure: Exception) -> Iterator[ObjectInfo]:
    """What comes behind the names of which one is in the failure, and those that fail after it."""
    for _ in range(_RESUMED):
        behind = behind_name(str(failure), root)
        if behind is None or behind.encode() <= last:
            return
        last = behind.encode()
        try:
            for info in flat(here, behind):
                last = info.name.encode()
                yield info
        except type(failure) as error:
            failure = error
        else:
            return


def behind_name(said: str, root: str = "") -> str | None:
    """A name after all that can't be addressed for the same reason as the one in the failure; None where it has none.

    >>> behind_name('Error parsing Path "docs/a/../b": Encountered illegal character sequence')
    'docs/a/..0'
    >>> behind_name('Path "docs//b" contained empty path segment', "docs")
    '0'
    """
    found = _NAMED.search(said)
    if found is None:
        return None
    # As Rust writes a string: nothing but the character itself, its number, or a letter for it.
    letters = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
    name = _ESCAPED.sub(lambda it: chr(int(it[1], 16)) if it[1] else letters.get(it[2], it[2]), found[1])
    if root:
        if not name.startswith(f"{root}/"):
            return None
        name = name.removeprefix(f"{root}/")
    segments = name.split("/")
    for number, segment in enumerate(segments):
        above = "/".join(segments[:number]) + "/" if number else ""
        if segment in ("", ".", ".."):
            # After all that goes on with a slash comes what goes on with a 0.
            return f"{above}{segment}0"
        if bad := _CONTROL.search(segment):
            return f"{above}{segment[: bad.start()]}" + (" " if bad[0] < " " else "\x80")
    return None


def _is_below(name: str, folder: str) -> bool:
    return bool(name) if not folder else name.startswith(f"{folder}/") and name != f"{folder}/"
