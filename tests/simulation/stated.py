"""Ledgers that hold stated records, and what packing lists of them comes to by brute force."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from chunkledger import ingest, open_ledger
from chunkledger.packer import BOUNDARY_KINDS, STRUCTURAL_KINDS
from chunkledger.records.schema import SCHEMA
from chunkledger.simulation.packing import Packing
from ledgers import rows_of, write
from packer.model import Model, Options

Row = dict[str, Any]


def blank_ledger(folder: Path) -> Path:
    """A ledger of one document, whose records others are to take the place of."""
    ingest([write(folder / "docs", {"a.md": "One.\n"})], folder / "ledger")
    return folder / "ledger"


def ledger_of(rows: Sequence[Row], blank: Path, out: Path) -> Path:
    """A copy of a blank ledger that holds these records instead; what they lack is that of its own."""
    shutil.copytree(blank, out)
    [own] = rows_of(out)
    full = [own | _stored(row) for row in rows]
    full.sort(key=lambda row: (row["doc_id"], row["role"], row["chunk_index"]))
    [part] = open_ledger(out).part_paths()
    pq.write_table(pa.Table.from_pylist(full, SCHEMA), part)
    [report] = (out / "_runs").iterdir()
    said = json.loads(report.read_text("utf-8"))
    said["counts"]["chunks"] = sum(row["role"] == "chunk" for row in full)
    report.write_text(json.dumps(said), "utf-8")
    return out


def _stored(row: Row) -> Row:
    payload = row.get("payload")
    return {name: value for name, value in row.items() if name != "payload"} | {
        "metadata": json.dumps({"payload": payload} if payload else {"title": "x"})
    }


def outcomes(rows: Sequence[Row], lists: Sequence[Sequence[str]], packing: Packing) -> list[Row]:
    """What the slow packer says of each list; a list is left out whose first k ids are all unknown."""
    known = {row["chunk_id"]: row for row in rows}
    options = Options(
        packing.on_miss,
        packing.truncate,
        packing.max_chunks,
        BOUNDARY_KINDS if packing.sentences else STRUCTURAL_KINDS,
        packing.merge,
        packing.duplicates,
    )
    return [
        Model([known[each] for each in ids[: packing.k] if each in known], packing.slot_tokens, options).outcome()
        for ids in lists
        if not ids or any(each in known for each in ids[: packing.k])
    ]


def figures(records: Sequence[Row]) -> Row:
    """The figures of a simulation, by adding them up one after the other."""
    names = (
        "offered", "packed", "skipped_for_size", "skipped_with_room", "passed_over", "truncated", "floor_over_slot",
        "duplicates", "merged", "not_reached",
    )  # fmt: skip
    reasons = Counter(record["space_left_because"] for record in records)
    return {
        "requests": len(records),
        "fill": _spread([record["used"] / record["slot"] for record in records]),
        "used": _spread([record["used"] for record in records]),
        "packed": _spread([record["packed"] for record in records]),
        "counts": {
            name: (sum(record[name] for record in records), sum(record[name] > 0 for record in records))
            for name in names
        },
        "space_left": {
            reason: (
                count,
                sum(
                    max(0, record["slot"] - record["used"])
                    for record in records
                    if record["space_left_because"] == reason
                ),
            )
            for reason, count in reasons.items()
        },
        "floor": Counter(record["floor_chunk_id"] for record in records if record["floor_chunk_id"]),
        "with_room": Counter(each for record in records for each in record["skipped_with_room_ids"]),
    }


def _spread(values: Sequence[float]) -> list[float]:
    """Mean, and the values at or above 5, 50 and 95 % of all."""
    ordered = sorted(values)
    # The share in whole numbers, so that no fraction decides which value it is.
    places = [math.ceil(share * (len(ordered) - 1) / 100) for share in (5, 50, 95)]
    return [sum(values) / len(values), *(ordered[place] for place in places)]
