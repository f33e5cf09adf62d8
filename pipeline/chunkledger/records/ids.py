"""Chunk ids: stable under edits elsewhere, unique for equal texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator


def chunk_ids(doc_id: str, role: str, texts: Iterable[str]) -> Iterator[str]:
    """The ids of one document's chunks, in order.

    An id is a canonical UUID (RFC 9562 version 8) made from the document's id, the role, the text, and how many
    equal texts of that role stand before it in the document. So it does not change when other chunks do.

    >>> list(chunk_ids("a.md", "chunk", ["Ten."]))
    ['91069414-c468-8dbc-830f-0e827aac8dd0']
    """
    seen: dict[str, int] = {}
    base = hashlib.sha256(f"{doc_id}\0{role}\0".encode())
    for text in texts:
        occurrence = seen.get(text, 0)
        seen[text] = occurrence + 1
        digest = base.copy()
        digest.update(f"{text}\0{occurrence}".encode())
        yield _as_uuid(digest.digest())


def _as_uuid(digest: bytes) -> str:
    value = bytearray(digest[:16])
    value[6] = 0x80 | value[6] & 0x0F
    value[8] = 0x80 | value[8] & 0x3F
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
