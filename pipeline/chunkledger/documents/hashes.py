"""Entries -> the hashes of what they hold now, without decoding or splitting any of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from chunkledger.documents.files import contents
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
    found = [entry.sha256 for entry in entries]
    files = [place for place, entry in enumerate(entries) if not entry.table and not found[place]]
    read = contents(((entries[place].path, entries[place].size) for place in files), longest)
    for place, raw in zip(files, read, strict=True):
        found[place] = _of_file(raw, longest)
    left = [place for place, entry in enumerate(entries) if entry.table and not found[place]]
    if left:
        places = {(entries[place].path, entries[place].offset): place for place in left}
        for row in documents_of([entries[place] for place in left], settings, longest):
            found[places[row.entry.path, row.entry.offset]] = row.sha256
    return found


def _of_file(raw: bytes | OSError, longest: int) -> str:
    return "" if isinstance(raw, OSError) or len(raw) > longest else hashlib.sha256(raw).hexdigest()
