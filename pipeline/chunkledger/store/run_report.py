"""What a run did, and what it writes down about that for people and programs that come later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkledger.counting.counter import Engine
from chunkledger.model import Finding
from chunkledger.records.schema import SCHEMA_VERSION
from chunkledger.store.changes import ChangeCounts

REPORT_VERSION = 2
"""Grows whenever a key's name or meaning changes."""
MOST_FINDINGS = 10_000
"""Findings beyond are counted, not listed; the table of documents has them all."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did.

    Attributes:
        number: of the run in its ledger, from 1.
        documents: files met, ok + skipped + failed.
        ok: documents that are in the ledger now.
        skipped: files that are no documents.
        failed: documents that could not be taken.
        kept: documents that could not be read now, and whose chunks of the last run are in the ledger still.
        unchanged: documents that were as the last run knew them, and were not split.
        renamed: documents that are the same as others that are gone.
        chunks: records in the ledger now.
        changes: what became of chunks since the last run.
        flagged: chunks with at least one flag.
        tokens: sum of their token counts.
        seconds: wall time.
        findings: what was passed over or repaired, and why.
        notices: what the operator should know about the run itself.
        engine: whose tokenizer counted.
    """

    number: int
    documents: int
    ok: int
    skipped: int
    failed: int
    kept: int
    unchanged: int
    renamed: int
    chunks: int
    changes: ChangeCounts
    flagged: int
    tokens: int
    seconds: float
    findings: tuple[Finding, ...]
    notices: tuple[str, ...] = ()
    engine: Engine = "toktok"

    @property
    def exit_code(self) -> int:
        """3 where a document failed, else 0."""
        return 3 if self.failed else 0

    def counts(self) -> dict[str, int]:
        """Every count by its name."""
        change = self.changes
        return {
            "documents": self.documents,
            "ok": self.ok,
            "skipped": self.skipped,
            "failed": self.failed,
            "kept": self.kept,
            "unchanged": self.unchanged,
            "renamed": self.renamed,
            "chunks": self.chunks,
            "add": change.add,
            "keep": change.keep,
            "move": change.move,
            "update": change.update,
            "delete": change.delete,
            "flagged": self.flagged,
            "tokens": self.tokens,
        }

    def done_line(self) -> str:
        """The one line that every run ends with."""
        change = self.changes
        return (
            f"DONE run={self.number} documents={self.documents} ok={self.ok} skipped={self.skipped} "
            f"failed={self.failed} chunks={self.chunks} add={change.add} keep={change.keep} move={change.move} "
            f"update={change.update} delete={change.delete} flagged={self.flagged} seconds={self.seconds:.1f}"
        )


def run_report(
    *,
    run: int,
    sources: Sequence[Mapping[str, str]],
    selection: Mapping[str, object],
    settings: Mapping[str, object],
    versions: Mapping[str, str],
    counts: Mapping[str, int],
    findings: Sequence[Finding],
    engine: str,
    notices: Sequence[str],
    started: str,
    seconds: Mapping[str, float],
    peak_bytes: Mapping[str, int],
    error: str | None,
) -> bytes:
    """The run's report as JSON.

    Args:
        run: its number.
        sources: name, absolute path and glob pattern of each.
        selection: which of their documents were wanted.
        settings: every setting.
        versions: of this package and those that decide what records hold.
        counts: documents, chunks, changes.
        findings: what was passed over or repaired.
        engine: whose tokenizer counted.
        notices: what the operator should know.
        started: UTC time, ISO 8601.
        seconds: wall time of the whole, and CPU time of each station over all workers.
        peak_bytes: most memory of the driver, and of a worker; 0 where the system does not say, or there was none.
        error: why nothing was published; None for a run that is to be. Whether it was, only the log tells.
    """
    return json.dumps(
        {
            "report_version": REPORT_VERSION,
            "run": run,
            "error": error,
            "started": started,
            "sources": list(sources),
            "selection": dict(selection),
            "settings": dict(settings),
            "versions": dict(versions),
            "schema_version": SCHEMA_VERSION,
            "engine": engine,
            "notices": list(notices),
            "counts": dict(counts),
            "findings": [
                {"doc_id": finding.doc_id, "status": finding.status, "reason": finding.reason, "row": finding.row}
                for finding in _foremost(findings)
            ],
            "findings_in_all": len(findings),
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
            "peak_bytes": dict(peak_bytes),
        },
        indent=1,
        ensure_ascii=False,
    ).encode("utf-8", "backslashreplace")  # a source's path may hold bytes that are not UTF-8: these become \\udcXX


def _foremost(findings: Sequence[Finding]) -> Sequence[Finding]:
    """As many as the report holds; failed ones stay longest, in the order that they have."""
    if len(findings) <= MOST_FINDINGS:
        return findings
    failed = [finding for finding in findings if finding.status == "failed"]
    others = [finding for finding in findings if finding.status != "failed"]
    return [*failed, *others][:MOST_FINDINGS]
