"""Entries -> the hashes of what they hold now, without decoding or splitting any of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from chunkledger.documents.files import content
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import Entry
from chunkledger.settings import Settings


def hashes(entries: Sequence[Entry], settings: Settings, longest: int) -> list[str]:
    """The sha256 of each entry as reading it would give it; "" for one that can't be read, or is too long.

    Args:
        entries: files and rows; rows that lie together are read together.
        settings: columns and encoding.
        longest: most bytes of a document.
    """
    found = [entry.sha256 or ("" if entry.table else _of_file(entry.path, longest)) for entry in entries]
    left = [place for place, entry in enumerate(entries) if entry.table and not found[place]]
    if left:
        places = {(entries[place].path, entries[place].offset): place for place in left}
        for read in documents_of([entries[place] for place in left], settings, longest):
            found[places[read.entry.path, read.entry.offset]] = read.sha256
    return found


def _of_file(path: str, longest: int) -> str:
    try:
        raw = content(path, longest)
    except OSError:
        return ""
    return hashlib.sha256(raw).hexdigest() if len(raw) <= longest else ""
