"""What a ledger holds, and what lies in its folder without being part of it; for tests of runs that were stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from chunkledger import LedgerError, open_ledger
from chunkledger.store.log import METADATA_KEY
from ledgers import names_below

Row = dict[str, Any]
_UNTOLD = ("doc_sha256", "settings_sha256")
"""Columns that are no reason for the feed to tell a chunk."""


@dataclass(frozen=True)
class State:
    """All that a reader sees.

    Attributes:
        run: its number.
        records: of every role.
        documents: the table of documents.
        report: of the run.
        parts: names of the parts in order.
    """

    run: int
    records: pa.Table
    documents: pa.Table
    report: dict[str, Any]
    parts: tuple[str, ...]

    def content(self) -> tuple[object, ...]:
        """What does not tell how it came about."""
        return self.records, self.documents, self.report["settings"], self.parts


def state_of(ledger: Path) -> State | None:
    """What a reader sees now; None where it is told that there is no ledger."""
    if not list((ledger / "_delta_log").glob("*.json")):
        with pytest.raises(LedgerError, match=r"^no ledger in "):
            open_ledger(ledger)
        return None
    opened = open_ledger(ledger)
    parts = tuple(Path(path).name for path in opened.part_paths())
    return State(opened.run, opened.chunks(role="all"), opened.documents(), opened.report(), parts)


def leftovers(ledger: Path) -> set[str]:
    """Files that no commit names; told from the log itself."""
    named = {"_lock"}
    for entry in (ledger / "_delta_log").glob("*.json"):
        named.add(f"_delta_log/{entry.name}")
        for line in entry.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                named.add(action["add"]["path"])
            if METADATA_KEY in action.get("commitInfo", {}):
                files = json.loads(action["commitInfo"][METADATA_KEY])
                named |= {files["documents"], files["report"], *files["changes"]}
    return names_below(ledger) - named


def errors_told(ledger: Path) -> list[str | None]:
    """The errors in the reports that no commit names, one for each run that was not published."""
    names = sorted(name for name in leftovers(ledger) if name.startswith("_runs/"))
    return [json.loads((ledger / name).read_text())["error"] for name in names]


def followed(before: State, ledger: Path) -> dict[str, Row]:
    """Records of then, as a store has them that does what the feed says since then, by id."""
    opened = open_ledger(ledger)
    columns = [name for name in opened.schema.names if name not in _UNTOLD]
    found = told(before.records)
    for change in opened.feed(before.run, role="all").to_pylist():
        assert (change["chunk_id"] in found) == (change["operation"] != "add")
        if change["operation"] == "delete":
            del found[change["chunk_id"]]
        else:
            found[change["chunk_id"]] = {name: change[name] for name in columns}
    return found


def told(records: pa.Table) -> dict[str, Row]:
    """Records by id, as far as the feed tells them."""
    names = [name for name in records.column_names if name not in _UNTOLD]
    return {row["chunk_id"]: row for row in records.select(names).to_pylist()}
