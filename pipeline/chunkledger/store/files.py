"""Files below a ledger's root, or objects below its URL: written whole or not at all, read, listed, removed."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from chunkledger.errors import UnwritableError
from chunkledger.remote.listing import ObjectInfo
from chunkledger.remote.opened import object_at, store_at
from chunkledger.remote.urls import is_url

WAITING = ".tmp"
"""How the names of files end that are being written; they begin with a dot."""

_HINTS = {
    errno.EFBIG: "a limit on the size of files is in the way (ulimit -f); parts have up to some 64 MB",
    errno.ENOSPC: "make room, and run it again: what the ledger holds is what it held before",
    errno.EDQUOT: "make room, and run it again: what the ledger holds is what it held before",
    errno.EROFS: "its disk is mounted read-only",
    errno.EACCES: "let the user that runs this write there",
}
_WHOLE_BYTES = 4 * 1024 * 1024
"""An object up to this size is read at once, by one request instead of several."""


def unwritable(root: str, error: OSError) -> UnwritableError:
    """The error that says what can't be written, why, and what helps.

    Args:
        root: of the ledger; or another place.
        error: of the system or a store.
    """
    where = f" ({error.filename})" if error.filename else ""
    hint = _HINTS.get(error.errno or 0, "")
    return UnwritableError(f"{root} can't be written: {error.strerror or error}{where}{hint and f'; {hint}'}")


def write_file(root: str, name: str, content: bytes) -> None:
    """Write a file below the root so that it is there whole or not at all.

    The name holds a hash of the content, so an equal file that another writer put there is the same file.

    Raises:
        OSError: it can't be written; nothing is left of it.
    """
    if is_url(root):
        store_at(root).write(name, content)
        return
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}{WAITING}")
    try:
        with waiting.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        waiting.replace(path)
    except BaseException:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)
        raise


def read_file(root: str, name: str) -> bytes:
    """The bytes of a file below the root.

    Raises:
        OSError: it is not there, or can't be read.
    """
    return store_at(root).read(name) if is_url(root) else Path(root, name).read_bytes()


def is_there(root: str, name: str) -> bool:
    """Whether there is a file of this name below the root."""
    if is_url(root):
        return store_at(root).info(name) is not None
    return os.path.exists(os.path.join(root, name))


def size_of(root: str, name: str) -> int | None:
    """Bytes of the file of this name below the root; None where there is none."""
    if is_url(root):
        info = store_at(root).info(name)
        return None if info is None else info.size
    try:
        return os.path.getsize(os.path.join(root, name))
    except FileNotFoundError:
        return None


def place_of(root: str, name: str) -> str:
    """Where a file below the root is, as `source_at` and people take it: its path, or its URL."""
    return store_at(root).where(name) if is_url(root) else os.path.join(root, name)


def source_at(place: str) -> str | IO[bytes]:
    """What pyarrow reads a file at this place from.

    Raises:
        OSError: an object is not there, or can't be read.
    """
    if not is_url(place):
        return place
    store, name = object_at(place)
    info = store.info(name)
    if info is not None and info.size <= _WHOLE_BYTES:
        return io.BytesIO(store.read(name))
    return store.open(name)


def names_in(root: str, folder: str = "") -> Iterator[str]:
    """Names, below the root, of the files that lie directly in a folder below it; none where there is no such folder.

    Args:
        root: of the ledger.
        folder: below it; "" is the root itself.
    """
    if is_url(root):
        infos = store_at(root).infos(folder)
        names = sorted(info.name for info in infos if isinstance(info, ObjectInfo))
        start = len(folder) + 1 if folder else 0
        yield from (name for name in names if "/" not in name[start:])
        return
    try:
        found = sorted(entry.name for entry in os.scandir(os.path.join(root, folder)) if entry.is_file())
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" if folder else name for name in found)


def remove_files(root: str, names: Iterable[str]) -> None:
    """Remove files below the root; one that is gone already is none to remove.

    Raises:
        OSError: one can't be removed.
    """
    if is_url(root):
        store_at(root).remove(names)
        return
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(root, name))


def settle(root: str, names: Iterable[str]) -> None:
    """Have the system write down that the files in these folders below the root are there.

    `write_file` has the content written down; a name is only when its folder is. What a library wrote is neither, and
    such a file may be named itself. A store has done all of it when it answers.

    Raises:
        OSError: the system can't.
    """
    if is_url(root):
        return
    for name in names:
        path = os.path.join(root, name)
        if os.path.exists(path) and hasattr(os, "O_DIRECTORY"):  # elsewhere folders can't be opened
            number = os.open(path, os.O_RDONLY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
