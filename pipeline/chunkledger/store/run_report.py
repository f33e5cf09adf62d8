"""What a run writes down about itself, for people and programs that come later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from chunkledger.model import Finding

REPORT_VERSION = 1
"""Grows whenever a key's name or meaning changes."""
MOST_FINDINGS = 10_000
"""Findings beyond are counted, not listed; the table of documents has them all."""


def run_report(
    *,
    run: int,
    sources: Sequence[Mapping[str, str]],
    settings: Mapping[str, object],
    versions: Mapping[str, str],
    counts: Mapping[str, int],
    findings: Sequence[Finding],
    engine: str,
    notices: Sequence[str],
    started: str,
    seconds: Mapping[str, float],
) -> bytes:
    """The run's report as JSON.

    Args:
        run: its number.
        sources: name and absolute path of each.
        settings: every setting.
        versions: of this package and those that decide what records hold.
        counts: documents, chunks, changes.
        findings: what was passed over or repaired.
        engine: whose tokenizer counted.
        notices: what the operator should know.
        started: UTC time, ISO 8601.
        seconds: wall time of the whole, and CPU time of each station over all workers.
    """
    return json.dumps(
        {
            "report_version": REPORT_VERSION,
            "run": run,
            "started": started,
            "sources": list(sources),
            "settings": dict(settings),
            "versions": dict(versions),
            "engine": engine,
            "notices": list(notices),
            "counts": dict(counts),
            "findings": [
                {"doc_id": finding.doc_id, "status": finding.status, "reason": finding.reason}
                for finding in findings[:MOST_FINDINGS]
            ],
            "findings_in_all": len(findings),
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
        },
        indent=1,
        ensure_ascii=False,
    ).encode("utf-8", "backslashreplace")  # a source's path may hold bytes that are not UTF-8: these become \\udcXX
