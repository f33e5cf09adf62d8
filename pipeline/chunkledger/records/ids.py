"""Chunk ids: stable under edits elsewhere, unique for equal texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from chunkledger.records.arrow import uuid_strings


def chunk_ids(doc_id: str, role: str, texts: Iterable[str]) -> list[str]:
    """The ids of one document's chunks, in order.

    An id is a canonical UUID (RFC 9562 version 8) made from the document's id, the role, the text, and how many
    equal texts of that role stand before it in the document. So it does not change when other chunks do.

    >>> chunk_ids("a.md", "chunk", ["Ten."])
    ['91069414-c468-8dbc-830f-0e827aac8dd0']
    """
    found: list[str] = uuid_strings(list(id_digests(doc_id, role, (text.encode() for text in texts)))).to_pylist()
    return found


def id_digests(doc_id: str, role: str, texts: Iterable[bytes]) -> Iterator[bytes]:
    """What the ids of one document's chunks are made of, in order: a sha256 each."""
    seen: dict[bytes, int] = {}
    only: dict[int, bytes | None] = {}  # the only text of a length needs no look-up, which reads all of it
    base = hashlib.sha256(f"{doc_id}\0{role}\0".encode())
    for text in texts:
        occurrence, length = 0, len(text)
        if length not in only:
            only[length] = text
        else:
            if (first := only[length]) is not None:
                seen[first], only[length] = 1, None
            occurrence = seen.get(text, 0)
            seen[text] = occurrence + 1
        digest = base.copy()
        digest.update(text)
        digest.update(b"\0%d" % occurrence)
        yield digest.digest()
