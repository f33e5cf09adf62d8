"""Where everything lies below a ledger's root."""

from __future__ import annotations

import hashlib
import re

DOCUMENTS, CHANGES, RUNS, CURSORS = "_documents", "_changes", "_runs", "_cursors"
RUNNING = "_running.json"
"""What the run that holds the lock says of itself; one that was killed leaves it behind."""
LOCK = "_lock"
"""The lock's file; in a store it is an object, `_lock.json`."""
_HASH_LENGTH = 16
_PART = re.compile(r"part-(\d{5,})-\d{5,}-[0-9a-f]{16}\.parquet")
_OF_RUN = re.compile(r"[^/]+/(\d{5,})-[0-9a-f]{16}\.(?:parquet|json)")


def content_hash(content: bytes) -> str:
    """The part of a file name that makes it unlike any other writer's: the start of its content's sha256."""
    return hashlib.sha256(content).hexdigest()[:_HASH_LENGTH]


def part_name(run: int, unit: int, content: bytes) -> str:
    """Name of the Parquet part of one unit of work."""
    return f"part-{run:05d}-{unit:05d}-{content_hash(content)}.parquet"


def documents_name(run: int, content: bytes) -> str:
    """Name, below the root, of the table of documents of one run."""
    return f"{DOCUMENTS}/{run:05d}-{content_hash(content)}.parquet"


def changes_name(run: int, content: bytes) -> str:
    """Name, below the root, of a file of what changed in one run."""
    return f"{CHANGES}/{run:05d}-{content_hash(content)}.parquet"


def run_name(run: int, content: bytes) -> str:
    """Name, below the root, of the report of one run."""
    return f"{RUNS}/{run:05d}-{content_hash(content)}.json"


def run_of(name: str) -> int | None:
    """The run that a file below the root is of, by its name; None where it is no file of a run.

    >>> run_of("part-00012-00000-0123456789abcdef.parquet"), run_of("_runs/00003-0123456789abcdef.json")
    (12, 3)
    >>> run_of("_lock")
    """
    found = _PART.fullmatch(name) or _OF_RUN.fullmatch(name)
    return int(found[1]) if found else None
