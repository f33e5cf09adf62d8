"""What would be, beside what is: values for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chunkledger.model import Finding
from chunkledger.simulation.outcome import Spread

WHATIF_VERSION = 1
"""Grows whenever a key of the JSON changes its name or meaning."""


@dataclass(frozen=True, slots=True)
class FlagCount:
    """How many chunks have a flag for one cause, and in how many documents."""

    flag: str
    cause: str
    chunks: int
    documents: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one splitting.

    Attributes:
        documents: that have chunks.
        chunks: how many.
        parents: rows of role parent.
        tokens: sum of token_count, overlap counted again.
        embed_tokens: sum over the embed texts.
        rendered_tokens: what all chunks together would cost in a prompt.
        percentiles: size column -> percentile -> tokens, as `chunkledger report` has them.
        flagged: chunks with at least one flag.
        flags: by flag, how many chunks have it.
        causes: by flag and cause, the most first.
    """

    documents: int
    chunks: int
    parents: int
    tokens: int
    embed_tokens: int
    rendered_tokens: int
    percentiles: Mapping[str, Mapping[str, int]]
    flagged: int
    flags: Mapping[str, int]
    causes: tuple[FlagCount, ...]


@dataclass(frozen=True, slots=True)
class Fill:
    """What a simulation gives at one slot; the lists are those of the same seed on both sides.

    Attributes:
        slot_tokens: the slot.
        fill: used tokens as a share of it.
        packed: chunks that are packed.
        skipped_with_room: share of requests that skip a chunk though an average one would fit.
        at_fault: the verdict: splitter, budget, k or nothing.
    """

    slot_tokens: int
    fill: Spread
    packed: Spread
    skipped_with_room: float
    at_fault: str


@dataclass(frozen=True, slots=True)
class DocumentChanges:
    """How the documents differ from those that the ledger was made of; what differs blurs every other figure.

    Attributes:
        same: have the hash that they had.
        changed: have another one. None where chunks were cut elsewhere: what they were cut from is not known.
        new: are not in the ledger.
        gone: are in the ledger and no longer in the sources.
        failed: could not be read now; their chunks in the ledger are compared with nothing.
    """

    same: int
    changed: int | None
    new: int
    gone: int
    failed: int


@dataclass(frozen=True, slots=True)
class ChunkChanges:
    """What would become of the ledger's chunks; the feed would tell it so.

    Attributes:
        stay: ids that are on both sides.
        go: ids that are in the ledger alone.
        come: ids that are new.
        embed: chunks whose embed text is another one, so that they must be embedded.
        embed_tokens: of these.
    """

    stay: int
    go: int
    come: int
    embed: int
    embed_tokens: int


@dataclass(frozen=True, slots=True)
class Case:
    """One splitting that was tried.

    Attributes:
        values: what a sweep set, by name; empty where there was none.
        is_own: whether the settings are the ledger's own.
        settings: all of them.
        figures: of it.
        fill: at its slot; None where there is no chunk.
        fill_before: of the ledger at the same slot.
        documents: how they differ from the ledger's.
        changes: what would become of the ledger's chunks.
    """

    values: Mapping[str, int]
    is_own: bool
    settings: Mapping[str, Any]
    figures: Figures
    fill: Fill | None
    fill_before: Fill | None
    documents: DocumentChanges
    changes: ChunkChanges


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Everything that was tried, beside the ledger as it is.

    Attributes:
        ledger: its folder or URL.
        run: of the ledger.
        settings: of that run.
        sources: what was split.
        lists: requests, k and seed of the simulation.
        before: the ledger's figures.
        fill: of the ledger at its own slot; None where there is no chunk.
        cases: in the order in which they were asked for.
        findings: of the splittings, each once: what failed, what was passed over.
        notices: what somebody should know.
    """

    ledger: str
    run: int
    settings: Mapping[str, Any]
    sources: tuple[str, ...]
    lists: Mapping[str, int]
    before: Figures
    fill: Fill | None
    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]
    notices: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """3 where a document failed, else 0."""
        return 3 if any(finding.status == "failed" for finding in self.findings) else 0

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"whatif_version": WHATIF_VERSION, **asdict(self)}
