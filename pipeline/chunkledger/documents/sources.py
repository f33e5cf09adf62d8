"""What a run is pointed at, and what it is to read there: sources, entries, the selection among them."""

from __future__ import annotations

import os
import re
from array import array
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, TypeVar

from chunkledger.documents.globs import MAGIC, may_begin
from chunkledger.errors import SettingsError, SourceError
from chunkledger.model import Format, IntArray
from chunkledger.remote.urls import is_url, place_of

MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
"""A larger document is a Finding unless the limit is raised."""

MOST_DOCUMENT_BYTES = 1024 * 1024 * 1024
"""What the limit can be raised to: columns count in 32 bits, and a document is worked on as a whole."""

_CHUNK_BYTES = 2000
"""About what a chunk of some 500 tokens takes; only how work is divided depends on it."""

NO_ORIGINAL = "?"
"""Instead of the path of a file; paths are absolute."""

Number = TypeVar("Number", int, IntArray)
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or file to read, or what is below a URL.

    Attributes:
        path: absolute; or the URL, without a slash at its end.
        name: prefix of the ids of its documents, or "".
        pattern: which of the folder's files are meant, as in `**/*.md`; "" is all.
    """

    path: str
    name: str = ""
    pattern: str = ""

    def doc_id(self, below: str) -> str:
        """The document id of the file at this POSIX path below the source, or of a row with this id."""
        return f"{self.name}/{below}" if self.name else below


class Entry(NamedTuple):
    """A document that is to be read: a file, or a row of a table. A named tuple, because there are very many.

    Attributes:
        doc_id: its id.
        path: of the file, absolute, links resolved; or the URL of the object.
        size: in bytes; of a row, that of its text.
        mtime_ns: when the file was last changed.
        stamp: what tells, beside the size, whether the file is the one that was read before.
        format: how the text is read.
        table: id of the table that holds the row; "" for a file.
        row: number of the row, from 1; 0 for a file.
        offset: where the row is: byte of its line in the file, or its index where rows have no bytes of their own.
        beside: bytes that the row's metadata takes, about.
        sha256: of the row, where finding it has told; "" where only reading it does.
        further: of a document that is many rows, each a chunk, the offsets of all of them but the first, as 64-bit
            integers.
        original: path of the file that the chunks were cut from; "" where they are not compared with any, and
            `NO_ORIGINAL` where there should be one and is none.
    """

    doc_id: str
    path: str
    size: int
    mtime_ns: int
    stamp: str
    format: Format
    table: str = ""
    row: int = 0
    offset: int = 0
    beside: int = 0
    sha256: str = ""
    further: bytes = b""
    original: str = ""

    @property
    def offsets(self) -> list[int]:
        """Where its rows are, in order."""
        return [self.offset, *array("q", self.further)]

    @property
    def weight(self) -> int:
        """Bytes that working on the document takes in and gives out, about: every chunk repeats the metadata."""
        return weights_of(self.size, self.beside)

    @property
    def origin(self) -> str:
        """Id of the file that the document comes from: its own, or that of the table that holds it."""
        return self.table or self.doc_id


def weights_of(size: Number, beside: Number) -> Number:
    """`Entry.weight` of one document or of many."""
    return size + beside * (1 + size // _CHUNK_BYTES)


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table whose rows are documents; they are not known yet.

    Attributes:
        doc_id: what the file's own id would be; findings about the table as a whole go by it.
        path: absolute, links resolved; or its URL.
        size: in bytes.
        mtime_ns: when it was last changed.
        stamp: as that of an entry.
        source: where it was found; its name prefixes the ids of the rows.
    """

    doc_id: str
    path: str
    size: int
    mtime_ns: int
    stamp: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which documents of the sources are wanted.

    Attributes:
        include: globs on the document id; where there are any, one must match (for a row: its id or its table's).
        exclude: globs on the document id; none may match.
        max_document_bytes: a larger document is a Finding.
        format: `auto` goes by suffix; a format reads every known suffix as that.
        documents: folder or URL of the documents that chunks of tables were cut from, which their offsets are checked
            against; "" checks none.

    Raises:
        SettingsError: a limit that can't be.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    format: str = "auto"
    documents: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.max_document_bytes <= MOST_DOCUMENT_BYTES:
            raise SettingsError(
                f"max_document_bytes must be from 1 to {MOST_DOCUMENT_BYTES}, not {self.max_document_bytes}"
            )

    def wants(self, doc_id: str, *others: str) -> bool:
        """Whether the globs let this document pass, or one of its other names in; `*` crosses folders."""
        names = (doc_id, *others)
        if self.include and not any(fnmatchcase(name, glob) for glob in self.include for name in names):
            return False
        return not self.excludes(doc_id)

    def may_want_below(self, folder: str) -> bool:
        """Whether the globs can let a document below the folder of this id pass."""
        return not self.include or any(may_begin(glob, f"{folder}/") for glob in self.include)

    def excludes(self, doc_id: str) -> bool:
        """Whether a glob shuts out what is here, be it a document, a link or a folder that can't be listed."""
        return bool(self.exclude) and any(fnmatchcase(doc_id, glob) for glob in self.exclude)

    def too_large(self, size: int) -> str | None:
        """Why a document of this size is not taken; None where it is."""
        if size <= self.max_document_bytes:
            return None
        return f"{size:,} bytes, over the limit of {self.max_document_bytes:,}; raise --max-document-bytes"


def source_of(argument: str) -> Source:
    """The source that an argument names: a path, a URL, a glob of either, or NAME= before one of them.

    No store is asked yet. A name in a bucket is a glob where it holds `*` or `[`, whatever objects there are.

    >>> source_of("kb=s3://bucket/docs/**/*.md")
    Source(path='s3://bucket/docs', name='kb', pattern='**/*.md')

    Raises:
        SourceError: there is no such file or folder.
        ObjectStoreError: the URL is none that can be opened.
    """
    named = _NAMED.fullmatch(argument)
    readings = [("", argument), *([(named[1], named[2])] if named else [])]
    for name, path in readings:
        if is_url(path):
            return _of_url(path, name)
        if os.path.exists(path):
            return Source(str(Path(path).absolute()), name)
    # The name first: as a glob of its own, `docs=*.md` would be one for files that are called so.
    for name, path in reversed(readings):
        if MAGIC.search(path) and (found := _globbed(path, name)):
            return found
    hint = "; braces are the shell's, give each glob by itself" if re.search(r"\{.*,.*\}", argument) else ""
    raise SourceError(f"no such file or folder: {one_line(argument)}{hint}")


def _globbed(path: str, name: str) -> Source | None:
    """The source of a glob: the folder above its first wildcard; None where there is no such folder."""
    parts = path.split("/")
    first = next(place for place, part in enumerate(parts) if MAGIC.search(part))
    folder = "/".join(parts[:first]) or ("/" if path.startswith("/") else ".")
    return Source(str(Path(folder).absolute()), name, "/".join(parts[first:])) if os.path.isdir(folder) else None


def _of_url(url: str, name: str) -> Source:
    place = place_of(url)
    parts = place.path.split("/")
    first = next((number for number, part in enumerate(parts) if MAGIC.search(part)), len(parts))
    return Source(replace(place, path="/".join(parts[:first])).url, name, "/".join(parts[first:]))


def one_line(value: str) -> str:
    """A path as it may be shown: what UTF-8 can't hold and control characters are written as escapes."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in value
    )
