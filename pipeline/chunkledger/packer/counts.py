"""Counts by chunk id, for hits that come back from a store without them.

`chunkledger export LEDGER --format counts --to counts.sqlite` writes the index: all that packing and rendering need of
each chunk but its text. This module reads it, with the standard library's sqlite3, which nothing else here imports.

    counts = open_counts("counts.sqlite")                      # once, when the service starts
    packed = pack(counts.rows(hits), slot.tokens, encoding=counts.encoding)
    prompt = render(packed)                                    # needs hits with their texts, not bare ids
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import quote
from uuid import UUID

from .hits import column_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

APPLICATION_ID = 0x43484C43
"""Stands in the header of an index ("CHLC"), so that no other SQLite file is taken for one."""

VERSION = 2
"""Grows whenever a column changes its name or meaning."""

LISTS = ("heading_path", "boundary_chars", "boundary_kinds", "boundary_rendered_tokens")
"""Columns that the index keeps as JSON, NULL where they are empty."""

COLUMNS = (
    "chunk_id", "doc_id", "role", "chunk_index", "char_start", "char_end", "heading_path", "context", "gap_after",
    "overlap_chars", "token_count", "rendered_tokens", "body_tokens", "joined_tokens", "boundary_chars",
    "boundary_kinds", "boundary_rendered_tokens", "parent_id", "payload",
)  # fmt: skip
"""Columns of the table `chunks`: the ledger's, and what a document's metadata say of its payload."""

SCHEMA = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    f"CREATE TABLE chunks ({', '.join(COLUMNS).replace('chunk_id', 'chunk_id TEXT PRIMARY KEY', 1)}) WITHOUT ROWID",
)
"""The statements that make an empty index; `about` holds encoding, template and run."""

MISSING = ("raise", "skip")
"""What becomes of an id that the index does not have."""

_LOGGER = logging.getLogger("chunkledger.packer.counts")
_AT_ONCE = 500  # ids in one query; SQLite allows 999 at least
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM chunks WHERE chunk_id IN "  # noqa: S608 (constants)


class CountIndex:
    """An open index.

    It may be used from several threads, and follows when another index takes the place of the file, as an export or
    `mv` does it; what is no index, or is just being written there, is not followed.

    Attributes:
        path: where it lies.
        encoding: the encoding of all counts.
        template: the template of all rendered counts.
        run: the run of the ledger that was exported.
    """

    __slots__ = ("_closed", "_connection", "_lock", "_seen", "encoding", "path", "run", "template")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        self._lock = threading.Lock()
        self._closed = False
        self._open()

    def rows(self, hits: Iterable[object], *, missing: str = "raise") -> list[dict[str, Any]]:
        """The rows of ranked hits, ready for `pack`, in their order.

        Args:
            hits: in rank order: chunk ids, or hits that have one, nested or not (`chunk_id`, or `id` as frameworks call
                it). `render` needs texts, so give it hits that have theirs; the hit itself is in its row under the name
                `hit`.
            missing: one of `MISSING`: raise for an id that the index does not have, or leave its hit out and say so
                in a warning. A store that was loaded from another run than the index has such ids.

        Raises:
            ValueError: a hit without an id, or an id that is not in the index; it is named with its rank. Or the index
                is closed, or can't be read any more.
        """
        if missing not in MISSING:
            raise ValueError(f"missing is {missing!r}; it must be one of: {', '.join(MISSING)}")
        ranked = [(_id_of(rank, hit), hit) for rank, hit in enumerate(hits, 1)]
        found = self._found([chunk_id for chunk_id, _ in ranked])
        lost = [(rank, chunk_id) for rank, (chunk_id, _) in enumerate(ranked, 1) if chunk_id not in found]
        if lost:
            rank, chunk_id = lost[0]
            what = (
                f"hit at rank {rank} (chunk_id {chunk_id!r}) is not in {self.path}, which is of run {self.run} "
                f"({len(lost)} of {len(ranked)} hits are not): export the ledger again, or load the store again"
            )
            if missing == "raise":
                raise ValueError(what)
            _LOGGER.warning("%s", what)
        return [_with_hit(found[chunk_id], hit) for chunk_id, hit in ranked if chunk_id in found]

    def __len__(self) -> int:
        with self._reading() as connection:
            (count,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def __enter__(self) -> CountIndex:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _found(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        unique = [chunk_id for chunk_id in dict.fromkeys(ids) if _is_text(chunk_id)]
        found: dict[str, dict[str, Any]] = {}
        with self._reading() as connection:
            for first in range(0, len(unique), _AT_ONCE):
                some = unique[first : first + _AT_ONCE]
                for record in connection.execute(f"{_SELECT}({', '.join('?' * len(some))})", some):
                    found[record[0]] = self._row(record)  # here, where encoding and template are still those of it
        return found

    def _row(self, record: tuple[Any, ...]) -> dict[str, Any]:
        row = dict(zip(COLUMNS, record, strict=True))
        for name in LISTS:
            row[name] = json.loads(row[name]) if row[name] else []
        for name in ("context", "gap_after"):
            row[name] = row[name] or ""
        return row | {"encoding": self.encoding, "template": self.template}

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """The connection to the newest file, for one caller at a time."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the count index {self.path} is closed")
            self._follow()
            try:
                yield self._connection
            except sqlite3.Error as failure:
                raise ValueError(f"{self.path} can't be read any more: {failure}; {_HOW}") from failure

    def _follow(self) -> None:
        """Open the file again where another one has taken its place; what is open still holds where that fails."""
        try:
            if _identity(self.path) == self._seen:
                return
            before = self._connection
            self._open()
            before.close()
        except (OSError, ValueError):
            return  # it was removed, or what is there is no index (yet)

    def _open(self) -> None:
        try:
            seen = _identity(self.path)
            uri = f"file:{quote(os.fsencode(self.path))}?mode=ro"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        except (OSError, sqlite3.Error) as failure:
            raise ValueError(f"{self.path} can't be read: {getattr(failure, 'strerror', failure)}; {_HOW}") from failure
        try:
            about = self._about(connection)
        except (sqlite3.Error, KeyError) as failure:
            connection.close()
            raise ValueError(f"{self.path} is no count index ({failure}); {_HOW}") from failure
        except ValueError:
            connection.close()
            raise
        self._connection, self._seen = connection, seen
        self.encoding, self.template, self.run = about

    def _about(self, connection: sqlite3.Connection) -> tuple[str, str, int]:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise ValueError(f"{self.path} is no count index; {_HOW}")
        if version != VERSION:
            raise ValueError(f"{self.path} is a count index of version {version}, not {VERSION}; {_HOW}")
        about = dict(connection.execute("SELECT name, value FROM about").fetchall())
        return about["encoding"], about["template"], int(about["run"])


_HOW = "make one with: chunkledger export LEDGER --format counts --to FILE"


def open_counts(path: str | os.PathLike[str]) -> CountIndex:
    """The count index at `path`, open for reading.

    Raises:
        ValueError: there is no such file, or it is no count index, or one of another version.

    >>> open_counts("nowhere.sqlite")
    Traceback (most recent call last):
    ValueError: ...nowhere.sqlite can't be read: No such file or directory; make one with: chunkledger export ...
    """
    return CountIndex(path)


def _identity(path: str) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def _id_of(rank: int, hit: object) -> str:
    chunk_id = hit if isinstance(hit, str) else str(hit) if isinstance(hit, UUID) else column_of(hit)("chunk_id")
    if not isinstance(chunk_id, str):
        raise ValueError(f"hit at rank {rank} has no chunk_id, but {chunk_id!r}; give ids, or hits that have one")
    return chunk_id


def _is_text(chunk_id: str) -> bool:
    """Whether SQLite can be asked for it; an id with half of a surrogate pair is in no ledger."""
    try:
        chunk_id.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_hit(row: dict[str, Any], hit: object) -> dict[str, Any]:
    if isinstance(hit, (str, UUID)):
        return row
    text = column_of(hit)("text")
    return row | ({"hit": hit} if text is None else {"hit": hit, "text": text})
