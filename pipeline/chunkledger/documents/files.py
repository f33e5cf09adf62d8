"""Opening a file of a corpus, which may have become something else since it was listed, or an object of a store."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

from chunkledger.errors import SourceError
from chunkledger.remote.opened import object_at
from chunkledger.remote.urls import is_url

_MORE = 1 << 20
_AHEAD, _AHEAD_BYTES = 16, 8 * 1024 * 1024
"""Objects that are asked for together, and what they may hold together: a small one takes as long as its request."""
_MOST_FAILED = 2 * _AHEAD
_OF_THE_OBJECT = (errno.ENOENT, errno.EACCES, errno.ESTALE, errno.EINVAL)
"""What an error has in `errno` that says nothing about the store as a whole."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def opened(path: str) -> IO[bytes]:
    """The file for reading; a link that has taken its place is not followed, a pipe is not waited for.

    An object is read by requests for ranges of it, which fail once it is another one.

    Raises:
        OSError: it can't be opened.
    """
    if is_url(path):
        store, name = object_at(path)
        return store.open(name)
    return os.fdopen(os.open(path, _FLAGS), "rb")


def content(path: str, most: int) -> bytes:
    """The bytes of the file, opened in the same way; of one with more than `most`, that many and one.

    Thousands of tiny files are read in half the time that a file object takes.

    Raises:
        OSError: it can't be read.
    """
    if is_url(path):
        store, name = object_at(path)
        return store.read_at_most(name, most)
    number = os.open(path, _FLAGS)
    try:
        # Not most + 1 at once: a buffer of that size would be made for every file, whatever it holds.
        parts = [os.read(number, min(most, os.fstat(number).st_size) + 1)]
        left = most + 1 - len(parts[0])
        while parts[-1] and left:  # on to the end of the file: it may have grown, or not say its size
            parts.append(os.read(number, min(left, _MORE)))
            left -= len(parts[-1])
    finally:
        os.close(number)
    return b"".join(parts)


def contents(files: Iterable[tuple[str, int]], most: int) -> Iterator[bytes | OSError]:
    """What `content` gives for each of some files, in their order, or the error that it raises.

    Objects are asked for some at a time, so that a store that is far away is not waited for once for each. Files are
    not: they are read one by one.

    Args:
        files: path or URL of each, and how large it is said to be.
        most: as for `content`.

    Raises:
        SourceError: one object after the other can't be read, so that it is the store that does not work.
    """
    waiting: deque[tuple[Future[bytes | OSError], int]] = deque()
    ahead = failed = 0
    with ThreadPoolExecutor(_AHEAD, "objects") as threads:  # which starts none until it is asked to

        def taken() -> bytes | OSError:
            nonlocal ahead, failed
            future, size = waiting.popleft()
            ahead -= size
            found = future.result()
            if not isinstance(found, OSError) or found.errno in _OF_THE_OBJECT:
                failed = 0
                return found
            failed += 1
            if failed >= _MOST_FAILED:
                for each, _ in waiting:
                    each.cancel()
                raise SourceError(f"the last {failed} objects that were asked for can't be read; the last one: {found}")
            return found

        for path, size in files:
            if not is_url(path):
                while waiting:
                    yield taken()
                yield _content_or_error(path, most)
                continue
            while waiting and (len(waiting) >= _AHEAD or ahead + size > _AHEAD_BYTES):
                yield taken()
            waiting.append((threads.submit(_content_or_error, path, most), size))
            ahead += size
        while waiting:
            yield taken()


def _content_or_error(path: str, most: int) -> bytes | OSError:
    try:
        return content(path, most)
    except OSError as error:
        return error
