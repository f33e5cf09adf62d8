"""An object as a file that can be read from any place."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER = 1 << 20
"""Bytes that one request brings at least: a request takes as long as a megabyte does."""


class RangeReader(io.RawIOBase):
    """Bytes of an object by requests for ranges of it; `io.BufferedReader` makes it fit for small steps."""

    def __init__(self, size: int, read_range: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._read_range = read_range
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place that is counted from the start, from here, or from the end."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError(f"negative seek position {start + offset}")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer as far as the object goes."""
        view = memoryview(buffer).cast("B")
        end = min(self._at + len(view), self._size)
        if end <= self._at:
            return 0
        found = self._read_range(self._at, end)
        view[: len(found)] = found
        self._at += len(found)
        return len(found)
