"""Entries -> documents."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, NamedTuple

from chunkledger.documents import jsonl, parquet
from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.documents.files import contents, opened
from chunkledger.documents.given import given
from chunkledger.documents.grouped import hash_of
from chunkledger.documents.rows import MOST_METADATA_BYTES, Place, Row, RowError, TableError
from chunkledger.documents.sources import NO_ORIGINAL, Entry
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
            if settings.chunks:
                for entry, rows in _together(file, path, entries, settings, longest):
                    yield _given(left.pop(entry.offset), rows, settings, longest)
            else:
                places = [Place(entry.row, entry.offset) for entry in entries]
                for place, row in _rows_at(file, path, places, settings, longest):
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
    file: IO[bytes], path: str, places: Sequence[Place], settings: Settings, longest: int
) -> Iterator[tuple[Place, Row | RowError]]:
    if is_parquet(path):
        return parquet.rows_at(file, places, settings)
    return jsonl.rows_at(file, places, settings, longest)


def _together(
    file: IO[bytes], path: str, entries: Sequence[Entry], settings: Settings, longest: int
) -> Iterator[tuple[Entry, list[Row | RowError]]]:
    """Each document with its rows, as soon as the last of them is read; the table is read in its own order."""
    owners = {offset: entry for entry in entries for offset in entry.offsets}
    places = [Place(0, offset) for offset in sorted(owners)]
    waiting: dict[int, list[Row | RowError]] = {}
    for place, row in _rows_at(file, path, places, settings, longest):
        entry = owners[place.offset]
        rows = waiting.setdefault(entry.offset, [])
        rows.append(row)
        if len(rows) == len(entry.offsets):
            yield entry, waiting.pop(entry.offset)


def _given(entry: Entry, rows: Sequence[Row | RowError], settings: Settings, longest: int) -> Read:
    """A document of chunks that another splitter has cut."""
    sound = [row for row in rows if isinstance(row, Row) and _is_of(entry, row)]
    if len(sound) < len(rows):
        return _failed(entry, next((str(row) for row in rows if isinstance(row, RowError)), _CHANGED))
    original, sha256, notes = _original(entry, settings, longest)
    if all(row.span == (None, None) for row in sound):
        notes = []  # there is nothing to check
    found = given([(number, row) for number, row in enumerate(sound, 1)], original)
    notes += found.notes
    if replaced := sum(row.replaced for row in sound):
        notes.append(_replaced(replaced))
    if any(row.dropped for row in sound):
        notes.append(f"metadata is left out: that of a chunk takes over {MOST_METADATA_BYTES:,} bytes")
    sha256 = hash_of([row.sha256 for row in sound], sha256)
    if not found.chunks:
        return Read(entry, None, empty_finding(entry), sha256)
    read = Read(entry, Document(entry.doc_id, "", sha256, entry.format, {}, found.chunks), None, sha256)
    return read.noting("; ".join(notes)) if notes else read


def _original(entry: Entry, settings: Settings, longest: int) -> tuple[str | None, str, list[str]]:
    """Text and hash of the file that chunks were cut from, and what is to be told where there is none."""
    if entry.original == NO_ORIGINAL:
        return None, "", ["no document of its id is below --documents, so that its offsets are not checked"]
    if not entry.original:
        return None, "", []
    [raw] = contents([(entry.original, 0)], longest)
    if isinstance(raw, OSError):
        return None, "", [f"its document can't be read ({raw.strerror}), so that offsets are not checked"]
    sha256 = hashlib.sha256(raw).hexdigest()
    if len(raw) > longest:
        return None, sha256, [f"its document has over {longest:,} bytes, so that offsets are not checked"]
    try:
        return decoded(raw, settings.source_encoding)[0], sha256, []
    except UndecodableError as error:
        return None, sha256, [f"offsets are not checked, as its document can't be read: {error}"]


def _is_of(entry: Entry, row: Row) -> bool:
    return entry.doc_id == row.row_id or entry.doc_id.endswith(f"/{row.row_id}")


def _row(entry: Entry, row: Row | RowError) -> Read:
    if isinstance(row, RowError):
        return _failed(entry, str(row))
    if not _is_of(entry, row):
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
        finding = Finding(entry.doc_id, "ok", _replaced(replaced), entry.row, entry.table)
    return Read(entry, document, finding, document.sha256)


def _replaced(count: int) -> str:
    return f"{count:,} NUL or surrogate characters replaced by U+FFFD"


def _failed(entry: Entry, reason: str, sha256: str = "") -> Read:
    return Read(entry, None, Finding(entry.doc_id, "failed", reason, entry.row, entry.table), sha256)


def empty_finding(entry: Entry) -> Finding:
    """What is told of an entry that holds nothing."""
    return Finding(entry.doc_id, "skipped", "empty", entry.row, entry.table)
