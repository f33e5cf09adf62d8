"""What is in the sources: very many entries in columns, each an object only while somebody looks at it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import SupportsIndex, overload

import numpy as np
import pyarrow as pa

from chunkledger.documents.sources import Entry, TableFile, weights_of
from chunkledger.model import Finding, Format, IntArray

_FORMATS: tuple[Format, ...] = ("markdown", "plain", "rst")
_CODES = {name: code for code, name in enumerate(_FORMATS)}
MOST_INODE = 2**62
"""A larger one has no place in the column."""
RACY, _OTHER = -1, -2
"""Instead of an inode: a file without a stamp, and one whose stamp is something else."""
_LONGEST_INODE = 18
"""Digits that fit into the column."""
_WHOLE = -1
"""Instead of the length of what a document id has more than a path: the path is all of the file's."""


class Entries(Sequence[Entry]):
    """A sequence of entries that takes some 150 bytes of each, where an object takes 500.

    What is the same for many (folders, tables) is held once, a path is put together from a folder and the document id,
    and a stamp from time and inode.
    """

    __slots__ = (
        "_beside",
        "_codes",
        "_formats",
        "_further",
        "_hashes",
        "_heads",
        "_ids",
        "_inodes",
        "_mtimes",
        "_offsets",
        "_originals",
        "_places",
        "_rows",
        "_sizes",
        "_stamps",
        "_table_of",
        "_tables",
    )  # fmt: skip

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Take over entries that there are.

        Args:
            entries: in order.
        """
        self._ids: list[str] = []
        self._heads: list[tuple[str, int]] = []
        self._codes: dict[tuple[str, int], int] = {}
        self._places = array("i")
        self._sizes, self._mtimes, self._inodes = array("q"), array("q"), array("q")
        self._formats = array("b")
        self._tables: list[tuple[str, str]] = [("", "")]
        self._table_of, self._rows, self._offsets, self._beside = array("i"), array("q"), array("q"), array("q")
        self._stamps: dict[int, str] = {}
        self._hashes: dict[int, bytes] = {}
        self._further: dict[int, bytes] = {}
        self._originals: dict[int, str] = {}
        self.extend(entries)

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add entries at the end."""
        for entry in entries:
            self.append(entry)

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""
        doc_id, path, size, mtime_ns, stamp, how, table, row, offset, beside, sha256, further, original = entry
        number = len(self._ids)
        # Rows share the stamp of their table.
        inode = RACY if table or not stamp else _inode(stamp, mtime_ns)
        if inode == _OTHER:
            self._stamps[number] = stamp
        if sha256:
            self._hashes[number] = bytes.fromhex(sha256)
        if further:
            self._further[number] = further
        if original:
            self._originals[number] = original
        self.add_file(self._code(_head(path, doc_id)), doc_id, size, mtime_ns, inode, how)
        if table or row or offset or beside:
            if table and self._tables[-1] != (table, stamp):
                self._tables.append((table, stamp))
            self._pad(number)
            self._table_of.append(len(self._tables) - 1 if table else 0)
            self._rows.append(row)
            self._offsets.append(offset)
            self._beside.append(beside)

    def add_file(self, folder: int, doc_id: str, size: int, mtime_ns: int, inode: int, how: Format) -> None:
        """Add a file at the end, in a fifth of the time that an entry would take.

        Args:
            folder: as `folder` has given it.
            doc_id: its id.
            size: in bytes.
            mtime_ns: when it was last changed.
            inode: at most `MOST_INODE`; `RACY` where time and inode say nothing.
            how: it is read.
        """
        self._ids.append(doc_id)
        self._places.append(folder)
        self._sizes.append(size)
        self._mtimes.append(mtime_ns)
        self._inodes.append(inode)
        self._formats.append(_CODES[how])

    def folder(self, path: str, prefix: str) -> int:
        """What stands for a folder, given with the slash at its end, below which ids go on behind this prefix."""
        return self._code((path, len(prefix)))

    def _code(self, head: tuple[str, int]) -> int:
        code = self._codes.get(head)
        if code is None:
            code = self._codes[head] = len(self._heads)
            self._heads.append(head)
        return code

    def _pad(self, length: int) -> None:
        """Let the columns that only rows of tables have go so far; behind their end all is nothing."""
        for column in (self._table_of, self._rows, self._offsets, self._beside):
            if len(column) < length:
                column.frombytes(bytes(column.itemsize * (length - len(column))))

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> Entries: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Entry | Entries:
        if isinstance(place, slice):
            return self.take(np.arange(*place.indices(len(self))))
        return self._entry(range(len(self))[place])

    def __iter__(self) -> Iterator[Entry]:
        return map(self._entry, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _entry(self, number: int) -> Entry:
        self._pad(len(self))
        doc_id, mtime_ns, inode = self._ids[number], self._mtimes[number], self._inodes[number]
        head, cut = self._heads[self._places[number]]
        table, stamp = self._tables[self._table_of[number]]
        if not table and inode != RACY:
            stamp = self._stamps[number] if inode == _OTHER else f"{mtime_ns}-{inode}"
        return Entry(
            doc_id, head if cut == _WHOLE else head + doc_id[cut:], self._sizes[number], mtime_ns, stamp,
            _FORMATS[self._formats[number]], table, self._rows[number],
            self._offsets[number], self._beside[number], self._hashes[number].hex() if number in self._hashes else "",
            self._further.get(number, b""), self._originals.get(number, ""),
        )  # fmt: skip

    def take(self, places: IntArray) -> Entries:
        """The entries at these places, in their order."""
        self._pad(len(self))
        found = Entries()
        chosen = places.tolist()
        found._ids = [self._ids[place] for place in chosen]
        found._heads, found._codes, found._tables = self._heads, self._codes, self._tables
        for name in (
            "_places",
            "_sizes",
            "_mtimes",
            "_inodes",
            "_formats",
            "_table_of",
            "_rows",
            "_offsets",
            "_beside",
        ):
            column = getattr(self, name)
            setattr(found, name, array(column.typecode, np.asarray(column)[places].tobytes()))
        if self._stamps or self._hashes or self._further or self._originals:
            of = {place: number for number, place in enumerate(chosen)}
            for name in ("_stamps", "_hashes", "_further", "_originals"):
                setattr(found, name, {of[place]: each for place, each in getattr(self, name).items() if place in of})
        return found

    def by_id(self) -> Entries:
        """The entries by document id."""
        ids = self._ids
        if all(one <= other for one, other in pairwise(ids)):
            return self
        return self.take(np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64))

    @property
    def doc_ids(self) -> list[str]:
        """The id of each, which is not to be changed."""
        return self._ids

    @property
    def sizes(self) -> IntArray:
        """Bytes of each."""
        return np.array(self._sizes, np.int64)

    @property
    def mtimes(self) -> IntArray:
        """When each was last changed, in ns."""
        return np.array(self._mtimes, np.int64)

    @property
    def rows(self) -> IntArray:
        """Number of the row of each; 0 for a file."""
        self._pad(len(self))
        return np.array(self._rows, np.int64)

    @property
    def weights(self) -> IntArray:
        """What each weighs, as `Entry.weight`."""
        self._pad(len(self))
        return weights_of(self.sizes, np.array(self._beside, np.int64))

    def ids(self) -> pa.Array:
        """The id of each."""
        return pa.array(self._ids, pa.string())

    def stamps(self) -> pa.Array:
        """The stamp of each."""
        self._pad(len(self))
        rows = zip(self._mtimes, self._inodes, self._table_of, strict=True)
        made = (self._tables[table][1] if inode < 0 else f"{mtime_ns}-{inode}" for mtime_ns, inode, table in rows)
        if self._stamps:
            made = (self._stamps.get(number, stamp) for number, stamp in enumerate(made))
        return pa.array(made, pa.string())

    def origins(self) -> pa.Array:
        """Id of the file that each comes from."""
        if len(self._tables) == 1:
            return self.ids()
        self._pad(len(self))
        pairs = zip(self._ids, self._table_of, strict=True)
        return pa.array((self._tables[table][0] or doc_id for doc_id, table in pairs), pa.string())


def _head(path: str, doc_id: str) -> tuple[str, int]:
    """What a path begins with, and how much of the document id is left out of what follows."""
    if path.endswith(doc_id):
        return path[: len(path) - len(doc_id)], 0
    # With the name of a source before it.
    cut = doc_id.find("/") + 1
    if cut and path.endswith(doc_id[cut:]):
        return path[: len(path) - len(doc_id) + cut], cut
    return path, _WHOLE


def _inode(stamp: str, mtime_ns: int) -> int:
    time, _, inode = stamp.partition("-")
    if time != str(mtime_ns) or not inode.isascii() or not inode.isdigit() or len(inode) > _LONGEST_INODE:
        return _OTHER
    found = int(inode)
    return found if str(found) == inode else _OTHER


@dataclass(slots=True)
class Listing:
    """What is in the sources.

    Attributes:
        entries: files to read, by document id.
        tables: files whose rows are to be read, by id.
        findings: what is not read.
        unseen: ids of folders, links and tables of which it is not known what they hold now; a document that comes
            from one of them, or from below it, can't be said to be gone. "" is above all of them.
    """

    entries: Entries = field(default_factory=Entries)
    tables: list[TableFile] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)
