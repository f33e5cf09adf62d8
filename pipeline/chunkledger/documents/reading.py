"""Entries -> documents."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

from chunkledger.documents import jsonl, parquet
from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.documents.files import contents, opened
from chunkledger.documents.rows import MOST_METADATA_BYTES, Place, Row, RowError, TableError
from chunkledger.documents.sources import Entry
from chunkledger.documents.tables import is_parquet, unforeseen
from chunkledger.model import Document, Finding
from chunkledger.settings import Settings

_CHANGED = "has changed since the sources were listed; it will be read next time"


class Read(NamedTuple):
    """What reading one document gave.

    Attributes:
        entry: what was read.
        document: None where there is nothing to split.
        finding: why there is no document, or what was repaired in it.
        sha256: of the bytes that were read, or of the row; "" where they could not be.
    """

    entry: Entry
    document: Document | None
    finding: Finding | None
    sha256: str

    def noting(self, told: str) -> Read:
        """The same, with one more thing to be told of a document that is taken."""
        before = f"{self.finding.reason}; " if self.finding else ""
        return self._replace(finding=Finding(self.entry.doc_id, "ok", before + told, self.entry.row, self.entry.table))


def documents_of(entries: Iterable[Entry], settings: Settings, longest: int) -> Iterator[Read]:
    """Read and decode the entries in their order; what is wrong with one is a Finding, never an exception.

    Args:
        entries: files and rows; rows that lie together are read together.
        settings: columns and encoding.
        longest: most bytes of a document.
    """
    for path, group in itertools.groupby(entries, key=lambda entry: entry.path if entry.table else ""):
        if path:
            yield from _rows(path, list(group), settings, longest)
        else:
            files = list(group)
            found = contents(((entry.path, entry.size) for entry in files), longest)
            for entry, raw in zip(files, found, strict=True):
                yield _file(entry, raw, settings, longest)


def _file(entry: Entry, raw: bytes | OSError, settings: Settings, longest: int) -> Read:
    if isinstance(raw, OSError):
        return _failed(entry, f"can't be read: {raw.strerror}")
    if len(raw) > longest:
        return _failed(entry, f"has grown over the limit of {longest:,} bytes since the sources were listed")
    sha256 = hashlib.sha256(raw).hexdigest()
    try:
        text, replaced = decoded(raw, settings.source_encoding)
    except UndecodableError as error:
        return _failed(entry, str(error), sha256)
    return _read(entry, Document(entry.doc_id, text, sha256, entry.format), replaced)


def _rows(path: str, entries: Sequence[Entry], settings: Settings, longest: int) -> Iterator[Read]:
    left = {entry.offset: entry for entry in entries}
    trouble = _CHANGED
    try:
        with opened(path) as file:
            for place, row in _rows_at(file, path, entries, settings, longest):
                yield _row(left.pop(place.offset), row)
    except TableError as error:
        trouble = str(error)
    except OSError as error:
        trouble = f"can't be read: {error.strerror or error}"
    except Exception as error:  # whatever a library makes of a damaged file, it is the file's
        trouble = unforeseen(error)
    for entry in left.values():
        yield _failed(entry, f"its table {trouble}")


def _rows_at(
    file: IO[bytes], path: str, entries: Sequence[Entry], settings: Settings, longest: int
) -> Iterator[tuple[Place, Row | RowError]]:
    places = [Place(entry.row, entry.offset) for entry in entries]
    if is_parquet(path):
        return parquet.rows_at(file, places, settings)
    return jsonl.rows_at(file, places, settings, longest)


def _row(entry: Entry, row: Row | RowError) -> Read:
    if isinstance(row, RowError):
        return _failed(entry, str(row))
    if entry.doc_id != row.row_id and not entry.doc_id.endswith(f"/{row.row_id}"):
        return _failed(entry, _CHANGED)
    found = _read(entry, Document(entry.doc_id, row.text, row.sha256, entry.format, row.metadata), row.replaced)
    if row.dropped and found.document:
        return found.noting(f"its metadata is left out: it takes over {MOST_METADATA_BYTES:,} bytes")
    return found


def _read(entry: Entry, document: Document, replaced: int) -> Read:
    if not document.text or document.text.isspace():
        return Read(entry, None, empty_finding(entry), document.sha256)
    finding = None
    if replaced:
        told = f"{replaced:,} NUL or surrogate characters replaced by U+FFFD"
        finding = Finding(entry.doc_id, "ok", told, entry.row, entry.table)
    return Read(entry, document, finding, document.sha256)


def _failed(entry: Entry, reason: str, sha256: str = "") -> Read:
    return Read(entry, None, Finding(entry.doc_id, "failed", reason, entry.row, entry.table), sha256)


def empty_finding(entry: Entry) -> Finding:
    """What is told of an entry that holds nothing."""
    return Finding(entry.doc_id, "skipped", "empty", entry.row, entry.table)
