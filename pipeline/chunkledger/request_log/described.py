"""Chunk ids -> what a ledger knows of them: place, size, flags and cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.store.ledger import Ledger

Described = Callable[[Sequence[str]], Mapping[str, Mapping[str, Any]]]
"""From chunk ids to what a ledger knows of them, by id."""

COLUMNS = ("doc_id", "line_start", "line_end", "rendered_tokens", "kind", "flags", "flag_cause", "flag_detail")


def described_by(ledger: Ledger) -> Described:
    """What looks chunks up in a ledger; an id that is not in it has no entry.

    Args:
        ledger: where the chunks are from; parents are found too.
    """

    def described(ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        wanted = pa.array(ids, pa.string())
        found: dict[str, Mapping[str, Any]] = {}
        for records in ledger.iter_tables(["chunk_id", *COLUMNS], role="all"):
            for row in records.filter(pc.is_in(records.column("chunk_id"), wanted)).to_pylist():
                found[row.pop("chunk_id")] = row
        return found

    return described
