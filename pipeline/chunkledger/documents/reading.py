"""Files -> documents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.documents.sources import Entry
from chunkledger.model import Document, Finding


@dataclass(frozen=True, slots=True)
class Read:
    """What reading one file gave.

    Attributes:
        document: None where there is nothing to split.
        finding: why there is no document, or what was repaired in it.
        sha256: of the bytes that were read; "" where they could not be.
    """

    document: Document | None
    finding: Finding | None
    sha256: str


def read(entry: Entry) -> Read:
    """Read and decode one file; what is wrong with it is a Finding, never an exception."""
    try:
        raw = Path(entry.path).read_bytes()
    except OSError as error:
        return Read(None, Finding(entry.doc_id, "failed", f"can't be read: {error.strerror}"), "")
    sha256 = hashlib.sha256(raw).hexdigest()
    try:
        text, replaced = decoded(raw)
    except UndecodableError as error:
        return Read(None, Finding(entry.doc_id, "failed", str(error)), sha256)
    if not text or text.isspace():
        return Read(None, Finding(entry.doc_id, "skipped", "empty"), sha256)
    finding = None
    if replaced:
        finding = Finding(entry.doc_id, "ok", f"{replaced:,} NUL or surrogate characters replaced by U+FFFD")
    return Read(Document(entry.doc_id, text, sha256, entry.format), finding, sha256)
