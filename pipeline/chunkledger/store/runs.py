"""Every run that a ledger has seen: those that were published, and those that were not and left a report."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chunkledger.store.files import names_in, read_file
from chunkledger.store.layout import RUNS, run_of
from chunkledger.store.ledger import open_ledger
from chunkledger.store.log import opened, published

Outcome = Literal["published", "failed", "ended"]
"""A run that is in no commit *failed* where its report says why, and *ended* where its process did before that."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run.

    Attributes:
        run: its number; one that was not published has that of the run that came after it.
        outcome: what became of it.
        started: UTC time, ISO 8601; "" where its report is gone.
        committed: UTC time of its commit; "" where there is none.
        error: why nothing was published; "" where there is nothing to say.
        report: all that it wrote down; empty where that is gone or damaged.
    """

    run: int
    outcome: Outcome
    started: str
    committed: str
    error: str
    report: Mapping[str, Any] = field(repr=False, default_factory=dict)

    def counts(self) -> Mapping[str, int]:
        """What it did, by name; empty for a run that was not published."""
        found: Mapping[str, int] = self.report.get("counts", {}) if self.outcome == "published" else {}
        return found

    def as_dict(self) -> dict[str, Any]:
        """For programs: the outcome, and the report."""
        return {
            "run": self.run,
            "outcome": self.outcome,
            "started": self.started,
            "committed": self.committed,
            "error": self.error,
            "report": dict(self.report),
        }


def runs(root: str) -> list[RunRecord]:
    """Every run that there is something of, in the order in which they started.

    Args:
        root: of the ledger, which need not have a published run yet.

    Raises:
        LedgerError: there is no run at all, or the table was not written by this package.
    """
    table = opened(root)
    named = {each.files.report: each for each in published(table)} if table else {}
    found: list[RunRecord] = []
    for name in sorted({*named, *(name for name in names_in(root, RUNS) if run_of(name))}):
        report = _report(root, name)
        each = named.get(name)
        committed = ""
        if each is not None:
            when = datetime.datetime.fromtimestamp(each.timestamp / 1000, datetime.UTC)
            committed = when.isoformat(timespec="seconds")
        error = str(report.get("error") or "")
        outcome: Outcome = "published" if each is not None else "failed" if error else "ended"
        number = each.files.run if each is not None else run_of(name) or 0
        found.append(RunRecord(number, outcome, str(report.get("started", "")), committed, error, report))
    if not found:
        open_ledger(root)  # which says that there is none
    return sorted(found, key=lambda record: (record.run, record.started or record.committed, record.outcome))


def _report(root: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(read_file(root, name))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
