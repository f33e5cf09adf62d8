"""Where a command writes what it was asked for: standard output, or a file that is there whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from chunkledger.errors import SettingsError
from chunkledger.remote.urls import is_url

To = Annotated[str | None, typer.Option("--to", metavar="FILE", help="Where to; standard output where left out, or -.")]

_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def destination(to: str | None, ledger: str, *, option: str = "--to") -> Path | None:
    """The file that was named; None for standard output.

    Args:
        to: as it was given.
        ledger: root of the ledger that is read.
        option: its name.

    Raises:
        SettingsError: it is a URL, or lies in the ledger.
    """
    if to is None or to in _STANDARD_OUTPUT:
        return None
    if is_url(to):
        raise SettingsError(
            f"{option} takes a file, not {to}; leave it out, and give standard output to what writes to the store"
            if option == "--to"
            else f"{option} takes a file, not {to}; put it into the store afterwards"
        )
    path = Path(to)
    if not is_url(ledger) and path.resolve().is_relative_to(Path(ledger).resolve()):
        raise SettingsError(f"{to} lies in the ledger; give a file outside of it")
    return path


@contextmanager
def text_to(to: Path | None) -> Iterator[TextIO]:
    """A stream of UTF-8 that leaves line ends as they are.

    Raises:
        OSError: the file can't be written; the one that was there stays.
    """
    if to is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        yield sys.stdout
        sys.stdout.flush()
        return
    with whole_file(to) as path, path.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def write_parquet(tables: Iterable[pa.Table], schema: pa.Schema, to: Path) -> None:
    """Write tables of one schema as a Parquet file, holding one at a time.

    Raises:
        OSError: the file can't be written; the one that was there stays.
    """
    with whole_file(to) as path, pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)


@contextmanager
def whole_file(to: Path) -> Iterator[Path]:
    """Where to write a file that takes its place once it is whole and on the disk.

    What is no file, as a pipe or a device, is written to as it is; a link is followed.

    Raises:
        OSError: it can't be written; the file that was there stays.
    """
    if to.exists() and not to.is_file():
        yield to
        return
    target = to.resolve()
    waiting = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield waiting
        with waiting.open("rb") as made:
            os.fsync(made.fileno())
        waiting.replace(target)
    except BaseException as failure:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)
        if isinstance(failure, OSError):
            raise OSError(failure.errno, failure.strerror or str(failure), str(to)) from failure
        raise
