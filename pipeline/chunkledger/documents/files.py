"""Opening a file of a corpus, which may have become something else since it was listed."""

from __future__ import annotations

import os
from typing import IO

_MORE = 1 << 20
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def opened(path: str) -> IO[bytes]:
    """The file for reading; a link that has taken its place is not followed, a pipe is not waited for.

    Raises:
        OSError: it can't be opened.
    """
    return os.fdopen(os.open(path, _FLAGS), "rb")


def content(path: str, most: int) -> bytes:
    """The bytes of the file, opened in the same way; of one with more than `most`, that many and one.

    Thousands of tiny files are read in half the time that a file object takes.

    Raises:
        OSError: it can't be read.
    """
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
