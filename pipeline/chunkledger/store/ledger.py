"""Reading a ledger: records, documents, runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.records.schema import SCHEMA
from chunkledger.settings import Settings
from chunkledger.store.commit import opened, run_files
from chunkledger.store.run_report import REPORT_VERSION

if TYPE_CHECKING:
    import polars as pl


_REPORT_KEYS = ("sources", "settings", "versions", "engine", "counts")
"""Keys of a run's report that readers rely on."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger as its last published run left it.

    Attributes:
        root: folder of the Delta table, absolute.
        table: the version that is read, whatever is published later.
    """

    root: str
    table: DeltaTable

    @property
    def run(self) -> int:
        """Number of the run that is read."""
        return run_files(self.table).run

    def chunks(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The records in document order.

        Args:
            columns: only these; None is all.
        """
        wanted = list(columns) if columns is not None else list(SCHEMA.names)
        unknown = [name for name in wanted if name not in SCHEMA.names]
        if unknown:
            raise LedgerError(f"no such column: {', '.join(unknown)}; there are {', '.join(SCHEMA.names)}")
        tables = [part.select(wanted) for part in self._parts([*wanted, "role"])]
        schema = pa.schema([SCHEMA.field(name) for name in wanted])
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def iter_parts(self) -> Iterator[pa.Table]:
        """The records of one part at a time, in document order; bounds memory where the ledger is large."""
        yield from self._parts(None)

    def scan(self) -> pl.LazyFrame:
        """The records as a polars LazyFrame, for queries of your own."""
        import polars as pl

        # Not pl.scan_delta: it does not find the parts below a folder whose name is not plain ASCII.
        paths = self.part_paths()
        if not paths:
            return pl.DataFrame(self.chunks()).lazy()
        return pl.scan_parquet(paths, glob=False).filter(pl.col("role") == "chunk")

    def documents(self) -> pa.Table:
        """What the run saw of each document: doc_id, size, mtime_ns, sha256, status, reason."""
        path = Path(self.root, run_files(self.table).documents)
        with _readable(path):
            return pq.ParquetFile(path).read()

    def report(self) -> dict[str, Any]:
        """What the run wrote down about itself: settings, versions, sources, counts, findings."""
        path = Path(self.root, run_files(self.table).report)
        with _readable(path):
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
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

    def part_paths(self) -> list[Path]:
        """The Parquet files of the run, in document order."""
        # Names begin with run and unit, and units are in order of document id. Delta's URIs are percent-encoded where
        # the folder's name is not plain ASCII; the parts' own names always are.
        return [Path(self.root, name) for name in sorted(map(os.path.basename, self.table.file_uris()))]

    def _parts(self, columns: list[str] | None) -> Iterator[pa.Table]:
        for path in self.part_paths():
            with _readable(path):
                part = pq.ParquetFile(path).read(columns=list(dict.fromkeys(columns)) if columns else None)
            keep = [role == "chunk" for role in part.column("role").to_pylist()]
            yield part if all(keep) else part.filter(pa.array(keep))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A file that a commit names may have been lost or damaged since: say which one it is."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        raise LedgerError(f"{path} can't be read: {error}; put it back, or ingest again into a new folder") from error


def open_ledger(path: str | os.PathLike[str]) -> Ledger:
    """Open the ledger in this folder.

    Raises:
        LedgerError: there is none, or it can't be read.
    """
    root = os.fspath(path)
    table = opened(root)
    if table is None:
        raise LedgerError(f"no ledger in {root}; `chunkledger ingest SOURCE --out {root}` makes one")
    return Ledger(os.path.abspath(root), table)
