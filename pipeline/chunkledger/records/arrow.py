"""Arrow arrays made from bytes and numpy, where making them from Python strings would take most of the time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from chunkledger.model import IntArray

_HEX = np.frombuffer(b"".join(b"%02x" % value for value in range(256)), np.uint8).reshape(256, 2)
_UUID_DIGITS = np.array([place for place in range(36) if place not in (8, 13, 18, 23)])


def strings(values: Sequence[bytes]) -> pa.StringArray:
    """UTF-8 strings as an array."""
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(value) for value in values], out=offsets[1:])
    return _string_array(offsets, b"".join(values))


def repeated(value: str, count: int) -> pa.StringArray:
    """One string, `count` times."""
    encoded = value.encode()
    return _string_array(np.arange(count + 1, dtype=np.int32) * len(encoded), encoded * count)


def uuid_strings(digests: Sequence[bytes]) -> pa.StringArray:
    """Canonical UUIDs (RFC 9562 version 8) made of the first 16 bytes of each digest."""
    values = np.frombuffer(b"".join(digest[:16] for digest in digests), np.uint8).reshape(-1, 16).copy()
    values[:, 6] = 0x80 | (values[:, 6] & 0x0F)
    values[:, 8] = 0x80 | (values[:, 8] & 0x3F)
    text = np.full((len(values), 36), ord("-"), np.uint8)
    text[:, _UUID_DIGITS] = _HEX[values].reshape(-1, 32)
    return _string_array(np.arange(len(values) + 1, dtype=np.int32) * 36, text.tobytes())


def lists(offsets: IntArray, values: pa.Array) -> pa.ListArray:
    """Lists that lie one behind the other in `values`."""
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def _string_array(offsets: NDArray[np.int32], data: bytes) -> pa.StringArray:
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
