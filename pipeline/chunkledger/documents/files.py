"""Opening a file of a corpus, which may have become something else since it was listed."""

from __future__ import annotations

import os
from typing import IO


def opened(path: str) -> IO[bytes]:
    """The file for reading; a link that has taken its place is not followed, a pipe is not waited for.

    Raises:
        OSError: it can't be opened.
    """
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    return os.fdopen(number, "rb")
