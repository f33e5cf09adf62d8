"""Reading a ledger: records, documents, runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.records.schema import schema_of
from chunkledger.remote.opened import absolute, normal
from chunkledger.remote.urls import is_url
from chunkledger.settings import Settings
from chunkledger.store.changes import changes_schema
from chunkledger.store.files import is_there, place_of, read_file, size_of, source_at
from chunkledger.store.log import RunFiles, added_parts, last_run, opened, published, run_files
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import Role, readable, records_in
from chunkledger.store.run_report import REPORT_VERSION

if TYPE_CHECKING:
    import polars as pl


_LAST = "\U0010ffff"
"""Where a part has no statistics: after every document id."""
_REPORT_KEYS = ("sources", "selection", "settings", "versions", "schema_version", "engine", "counts")
"""Keys of a run's report that readers rely on."""


@dataclass(frozen=True)
class Ledger:
    """A ledger as its last published run left it.

    Attributes:
        root: folder of the Delta table, absolute; or its URL.
        table: the version that is read, whatever is published later.

    What the log says of that version is asked once: in a store each look at it takes some requests.
    """

    root: str
    table: DeltaTable

    @cached_property
    def run(self) -> int:
        """Number of the run that is read."""
        return last_run(self.table)

    @cached_property
    def files(self) -> RunFiles:
        """What the commit of the run names besides its parts."""
        return run_files(self.table)

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of the records: those of `SCHEMA`, and of each further encoding."""
        return schema_of(self.settings().further_encodings)

    def chunks(self, columns: Sequence[str] | None = None, *, role: Role = "chunk") -> pa.Table:
        """The records in document order.

        Args:
            columns: only these; None is all.
            role: `chunk`; `parent` for the parents, where the ledger has any; `all` for both, those of a document
                together, its chunks first.
        """
        schema = self.schema
        wanted = list(columns) if columns is not None else list(schema.names)
        tables = list(self.iter_tables(wanted, role=role))
        return pa.concat_tables(tables) if tables else pa.schema([schema.field(name) for name in wanted]).empty_table()

    def iter_tables(self, columns: Sequence[str] | None = None, *, role: Role = "chunk") -> Iterator[pa.Table]:
        """The records some thousands at a time, in document order; bounds memory where the ledger is large.

        A document's records may go on in the next table.

        Args:
            columns: only these; None is all.
            role: as for `chunks`.
        """
        names = self.schema.names
        wanted = list(columns) if columns is not None else list(names)
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise LedgerError(f"no such column: {', '.join(unknown)}; there are {', '.join(names)}")
        for table in self._tables(list(dict.fromkeys([*wanted, "doc_id", "role"])), role):
            yield table.select(wanted)

    def scan(self, *, role: Role = "chunk") -> pl.LazyFrame:
        """The records as a polars LazyFrame, for queries of your own.

        Args:
            role: as for `chunks`.
        """
        import polars as pl

        # Not pl.scan_delta: it does not find the parts below a folder whose name is not plain ASCII.
        paths = self.part_paths()
        if not paths:
            return pl.DataFrame(self.chunks()).lazy()
        # Not by a reader of its own in a store: what that says when it fails may hold credentials.
        every = self._streamed() if is_url(self.root) else pl.scan_parquet(paths, glob=False)
        return every if role == "all" else every.filter(pl.col("role") == role)

    def _streamed(self) -> pl.LazyFrame:
        """All records as a LazyFrame that reads the columns and rows that are asked for, through pyarrow."""
        import polars as pl
        from polars.io.plugins import register_io_source

        def read(
            columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, batch_rows: int | None
        ) -> Iterator[pl.DataFrame]:
            left = rows
            for records in self.iter_tables(columns, role="all"):
                frame = pl.DataFrame(records.slice(0, left))
                left = None if left is None else left - len(frame)
                yield frame if predicate is None else frame.filter(predicate)
                if left == 0:
                    return

        return register_io_source(read, schema=pl.DataFrame(self.schema.empty_table()).schema)

    def feed(self, since: int, *, role: Role = "chunk") -> pa.Table:
        """What became of chunks since a run: the columns of a record, and before them three more.

        `operation` is add, delete, move (another place, the same id) or update (the same place, another column);
        `embed_needed` says whether what is embedded is another string than before; `previous_chunk_id` names the chunk
        of a renamed document. A chunk that came and went in between is not told.

        Args:
            since: number of the run whose records are known; 0 where none are.
            role: as for `chunks`.

        Raises:
            SettingsError: there is no such run.
            LedgerError: the changes of a run are gone.
        """
        schema = changes_schema(self.schema)
        tables = list(self.iter_feed(since, role=role))
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def iter_feed(self, since: int, *, role: Role = "chunk") -> Iterator[pa.Table]:
        """The same, some thousands of rows at a time."""
        from chunkledger.store.feed import feed  # not at the top: it reads ledgers

        return feed(self, since, role)

    def documents(self) -> pa.Table:
        """What the run saw of each document; the columns are those of `DOCUMENTS_SCHEMA`."""
        path = place_of(self.root, self.files.documents)
        with readable(path):
            return pq.ParquetFile(source_at(path)).read(use_threads=False)

    def report(self) -> dict[str, Any]:
        """What the run wrote down about itself: settings, versions, sources, counts, findings."""
        name = self.files.report
        with readable(place_of(self.root, name)):
            found: dict[str, Any] = json.loads(read_file(self.root, name))
            if not isinstance(found, dict) or found.get("report_version") != REPORT_VERSION:
                raise ValueError(f"it is no report of version {REPORT_VERSION}, the one that this release reads")
            if missing := [key for key in _REPORT_KEYS if key not in found]:
                raise ValueError(f"it lacks {', '.join(missing)}")
        return found

    def settings(self) -> Settings:
        """The settings that the run was made with."""
        found = self.report()["settings"]
        try:
            return Settings(**found)
        except (TypeError, SettingsError) as error:
            raise LedgerError(f"{self.root}: the run's settings are not those of this release: {error}") from error

    def part_paths(self) -> list[str]:
        """The Parquet files of the run, by first document id."""
        return [part.path for part in self.parts()]

    def parts(self) -> list[PartRange]:
        """The same, with the ids that each holds."""
        # Delta's URIs are percent-encoded where the folder's name is not plain ASCII; the parts' own names always are.
        actions = added_parts(self.table)
        names = [os.path.basename(path) for path in actions.column("path").to_pylist()]
        self._check_named(names)
        ranges = zip(names, *(_column(actions, f"{end}.doc_id") for end in ("min", "max")), strict=True)
        parts = [PartRange(place_of(self.root, name), first or "", last or _LAST) for name, first, last in ranges]
        return sorted(parts, key=lambda part: (part.first, part.path))

    def _check_named(self, names: Sequence[str]) -> None:
        """Let the parts that the log names pass, where they are those that the run's own table of documents names.

        An entry of the log that was emptied is read as one in which nothing was done, and then no part that it removed
        is gone, and every chunk of them is there twice.

        Raises:
            LedgerError: they are others.
        """
        if wrong := sorted(set(names) ^ self._named):
            raise LedgerError(
                f"{self.root}: the log does not agree with what run {self.run} has written of its parts (of "
                f"{', '.join(wrong[:2])}{', …' if wrong[2:] else ''}); has an entry of _delta_log been damaged, or "
                "another program written to the table? Put it back, or ingest again into a new folder"
            )

    @cached_property
    def _named(self) -> frozenset[str]:
        """Names of the parts that hold the run's documents, by its own account."""
        path = place_of(self.root, self.files.documents)
        with readable(path):
            parts = pq.ParquetFile(source_at(path), read_dictionary=["part"]).read(["part"], use_threads=False)
        return frozenset(parts.column("part").unique().to_pylist()) - {""}

    def check_parts(self) -> None:
        """Return if the parts that the run is made of are there, on a disk; what is unchanged stays in them.

        Raises:
            LedgerError: one is gone, has another size, or the log names others than the run wrote down.
        """
        self.parts()
        if is_url(self.root):
            return  # a store would be asked for each, and loses nothing
        actions = added_parts(self.table)
        for name, size in zip(*(actions.column(each).to_pylist() for each in ("path", "size_bytes")), strict=True):
            own = os.path.basename(name)
            now = size_of(self.root, own)
            if now != size:
                why = "is gone" if now is None else f"has {now:,} bytes, and had {size:,}"
                place = place_of(self.root, own)
                raise LedgerError(f"{place} {why}; put it back, or ingest again into a new folder")

    def _tables(self, columns: list[str] | None, role: Role) -> Iterator[pa.Table]:
        return in_document_order(self.parts(), lambda path: records_in(path, columns, role))


def _column(table: pa.Table, name: str) -> list[Any]:
    """The column's values; none where the table has no such column."""
    return list(table.column(name).to_pylist()) if name in table.schema.names else [None] * len(table)


def open_ledger(path: str | os.PathLike[str], run: int | None = None) -> Ledger:
    """Open the ledger in this folder, or below this URL of an object store.

    Args:
        path: the folder or URL.
        run: number of the run to read, as long as its files are there; None is the last one.

    Raises:
        LedgerError: there is none, or no such run, or it can't be read.
    """
    root = normal(path)
    table = opened(root)
    if table is None:
        raise LedgerError(f"no ledger in {root}; `chunkledger ingest SOURCE --out {root}` makes one")
    if run is not None and run != last_run(table):
        found = next((each for each in published(table) if each.files.run == run), None)
        if found is None:
            raise LedgerError(f"{root} has no run {run}; it has runs up to {last_run(table)}, see `chunkledger runs`")
        if not is_there(root, found.files.documents):
            raise LedgerError(f"the files of run {run} are gone; vacuum removes those of old runs")
        table = opened(root, found.version)
    assert table is not None  # noqa: S101 (a version that the log names is there)
    return Ledger(absolute(root), table)
