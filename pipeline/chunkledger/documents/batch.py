"""Documents -> a batch: their bytes joined once, with the lines marked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkledger.model import Batch, Document, IntArray

_EXOTIC = ("\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", range(0x2000, 0x200B))
EXOTIC_BLANKS = tuple([*_EXOTIC[0], *map(chr, _EXOTIC[1])])
"""Every character that `str.isspace` calls blank, apart from space, tab, newline and carriage return."""

_MAY_START = np.zeros(256, np.bool_)
_MAY_START[[char.encode()[0] for char in EXOTIC_BLANKS]] = True


def joined(documents: Sequence[Document]) -> Batch:
    """One batch of these documents, in the order given."""
    texts = [document.text.encode() for document in documents]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    data = b"".join(texts)
    return Batch(
        documents=tuple(documents),
        data=data,
        starts=starts,
        line_starts=_line_starts(data, starts),
        exotic_blanks=exotic_blanks(data),
    )


def exotic_blanks(data: bytes) -> IntArray:
    """Where each of `EXOTIC_BLANKS` starts in the UTF-8 bytes, ascending.

    Few bytes can start one, so a look-up of every byte leaves little to compare (a regular expression took eight
    times as long).
    """
    values = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(_MAY_START[values])
    padded = np.append(values, np.zeros(2, np.uint8))
    first, second, third = padded[places], padded[places + 1], padded[places + 2]
    found = np.zeros(len(places), np.bool_)
    for char in EXOTIC_BLANKS:
        code = char.encode()
        here = first == code[0]
        for following, value in zip((second, third), code[1:], strict=False):
            here &= following == value
        found |= here
    return places[found].astype(np.int64)


def _line_starts(data: bytes, document_starts: IntArray) -> IntArray:
    r"""Lines end at \n, \r\n and \r; a document's start is always the start of a line."""
    values = np.frombuffer(data, np.uint8)
    after_newline = np.flatnonzero(values == ord("\n")) + 1
    found = [document_starts[:-1], after_newline]
    if b"\r" in data:
        returns = np.flatnonzero(values == ord("\r"))
        followed = np.append(values, 0)[returns + 1] == ord("\n")
        found.append(returns[~followed] + 1)
    lines = np.sort(np.concatenate(found))  # np.unique hashes: measured at several times the cost
    lines = lines[np.flatnonzero(np.diff(lines, prepend=-1))]
    return lines[lines < len(data)].astype(np.int64)
