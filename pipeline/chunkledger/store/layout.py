"""Where everything lies below a ledger's root."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

DOCUMENTS = "_documents"
RUNS = "_runs"
_HASH_LENGTH = 16


def content_hash(content: bytes) -> str:
    """The part of a file name that makes it unlike any other writer's: the start of its content's sha256."""
    return hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]


def part_name(run: int, unit: int, content: bytes) -> str:
    """Name of the Parquet part of one unit of work."""
    return f"part-{run:05d}-{unit:05d}-{content_hash(content)}.parquet"


def documents_name(run: int, content: bytes) -> str:
    """Name, below the root, of the table of documents of one run."""
    return f"{DOCUMENTS}/{run:05d}-{content_hash(content)}.parquet"


def run_name(run: int, content: bytes) -> str:
    """Name, below the root, of the report of one run."""
    return f"{RUNS}/{run:05d}-{content_hash(content)}.json"


def write_file(root: str, name: str, content: bytes) -> None:
    """Write a file below the root so that it is there whole or not at all.

    The name holds a hash of the content, so an equal file that another writer put there is the same file.
    """
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with waiting.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        waiting.replace(path)
    except BaseException:
        waiting.unlink(missing_ok=True)
        raise
