"""Documents -> a batch: their bytes joined once, with the lines marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkledger.model import Batch, CodeArray, Document, IntArray

_EXOTIC = ("\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", range(0x2000, 0x200B))
EXOTIC_BLANKS = tuple([*_EXOTIC[0], *map(chr, _EXOTIC[1])])
"""Every character that `str.isspace` calls blank, apart from space, tab, newline and carriage return."""

_CONTROLS = tuple(char.encode() for char in EXOTIC_BLANKS if char < "\x80")
_WIDE = tuple(char.encode() for char in EXOTIC_BLANKS if char >= "\x80")

_MAY_START = np.zeros(256, np.bool_)
_MAY_START[[char[0] for char in _WIDE]] = True


def joined(documents: Sequence[Document]) -> Batch:
    """One batch of these documents, in the order given."""
    texts = [document.text.encode() for document in documents]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    data = b"".join(texts)
    values = np.frombuffer(data, np.uint8)
    beyond_ascii = np.zeros(0, np.int64) if data.isascii() else np.flatnonzero(values >= 0x80)
    return Batch(
        documents=tuple(documents),
        data=data,
        starts=starts,
        line_starts=_line_starts(data, starts),
        exotic_blanks=_exotic_blanks(data, values, beyond_ascii),
        continuations=beyond_ascii[values[beyond_ascii] & 0xC0 == 0x80],
    )


def _exotic_blanks(data: bytes, values: CodeArray, beyond_ascii: IntArray) -> IntArray:
    """Where each of `EXOTIC_BLANKS` starts, ascending.

    Args:
        data: the UTF-8 bytes.
        values: the same as an array.
        beyond_ascii: which of them are no ASCII, few in most texts.
    """
    found = [np.flatnonzero(values == char[0]) for char in _CONTROLS if char in data]
    places = beyond_ascii[_MAY_START[values[beyond_ascii]]]
    if len(places):
        padded = np.append(values, np.zeros(2, np.uint8))
        code = (padded[places].astype(np.int64) << 16) | (padded[places + 1].astype(np.int64) << 8) | padded[places + 2]
        wide = np.isin(code, [int.from_bytes(char) for char in _WIDE if len(char) == 3])
        wide |= np.isin(code >> 8, [int.from_bytes(char) for char in _WIDE if len(char) == 2])
        found.append(places[wide])
    return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _line_starts(data: bytes, document_starts: IntArray) -> IntArray:
    r"""Lines end at \n, \r\n and \r; a document's start is always the start of a line."""
    values = np.frombuffer(data, np.uint8)
    after_newline = np.flatnonzero(values == ord("\n")) + 1
    found = [document_starts[:-1], after_newline]
    if b"\r" in data:
        returns = np.flatnonzero(values == ord("\r"))
        followed = values[np.minimum(returns + 1, len(values) - 1)] == ord("\n")
        found.append(returns[~followed] + 1)
    lines = np.sort(np.concatenate(found))  # np.unique hashes: measured at several times the cost
    lines = lines[np.flatnonzero(np.diff(lines, prepend=-1))]
    return lines[lines < len(data)].astype(np.int64)
