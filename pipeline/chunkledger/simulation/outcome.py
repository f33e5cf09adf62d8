"""What simulated packings came to, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from chunkledger.request_log.findings import Finding
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.verdict import Verdict

SIMULATION_VERSION = 1
"""Grows whenever a key of the JSON changes its name or meaning."""

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over all requests; percentiles are values that a request has, at or above that share of them."""

    mean: float
    p5: float
    p50: float
    p95: float


def spread_of(values: Sequence[float]) -> Spread:
    """The spread of at least one value.

    >>> spread_of([1, 2, 3, 10])
    Spread(mean=4.0, p5=2.0, p50=3.0, p95=10.0)
    """
    found = np.percentile(np.asarray(values, np.float64), (5, 50, 95), method="higher")
    mean = float(np.mean(np.asarray(values, np.float64)))
    return Spread(*(round(float(value), _DIGITS) for value in (mean, *found)))


@dataclass(frozen=True, slots=True)
class Count:
    """How often something happened: in all, and in how many requests at least once."""

    total: int
    requests: int


@dataclass(frozen=True, slots=True)
class SpaceLeft:
    """One reason why no more was packed, as `PackLog.space_left_because` has it.

    Attributes:
        reason: in the packer's words.
        requests: that ended for it.
        share: of all requests.
        tokens: that were left in them, all in all; a chunk that is larger than the slot leaves none.
    """

    reason: str
    requests: int
    share: float
    tokens: int


@dataclass(frozen=True, slots=True)
class WorstChunk:
    """A chunk that did not fit where it should have.

    Attributes:
        chunk_id: its id.
        floor: requests in which it was the best hit, and alone larger than the slot.
        skipped_with_room: requests in which it was skipped though an average hit would have fitted.
        doc_id: its document.
        line_start: where it starts; None where that is not known, like all that follows.
        line_end: where it ends.
        rendered_tokens: what it costs.
        kind: what it is mostly made of.
        flags: that it has in the ledger.
        cause: what is to blame for them.
        detail: how much of it there is.
    """

    chunk_id: str
    floor: int
    skipped_with_room: int
    doc_id: str
    line_start: int | None
    line_end: int | None
    rendered_tokens: int
    kind: str
    flags: tuple[str, ...]
    cause: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """What one way of packing came to.

    Attributes:
        packing: how it was packed.
        requests: how many lists were packed; one of whose first k ids the ledger has none is not.
        fill: used tokens as a share of the slot; above 1 where the best chunk alone is larger and could not be cut.
        used: tokens that were used.
        packed: chunks that were packed.
        counts: the packer's counts by name, in the words of `chunkledger.packer.PackLog`.
        space_left: why no more was packed, the most frequent first.
        worst: chunks that did not fit most often, those at rank 1 first.
        findings: what `chunkledger diagnose` finds in the same records, but for what only answers tell.
        verdict: what is at fault.
    """

    packing: Packing
    requests: int
    fill: Spread
    used: Spread
    packed: Spread
    counts: Mapping[str, Count]
    space_left: tuple[SpaceLeft, ...]
    worst: tuple[WorstChunk, ...]
    findings: tuple[Finding, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Simulated:
    """All packings of the same lists.

    Attributes:
        ledger: its folder or URL.
        run: of the ledger.
        encoding: whose counts were packed.
        chunks: in the ledger.
        parents: whether the parents of the hits were packed.
        rankings: where the lists are from: `from` is `seed` or `log`, `requests` how many there were; with the `seed`,
            or of the log `left_out` (lines without a list), `first_left_out` (which line and why), `unknown_ids` (that
            the ledger does not have), `unknown_hits` (how often they stood in a list) and `unknown_requests` (lists of
            nothing else, which are no request).
        simulations: one for each packing, in the order in which they were asked for.
    """

    ledger: str
    run: int
    encoding: str
    chunks: int
    parents: bool
    rankings: Mapping[str, Any]
    simulations: tuple[Simulation, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"simulation_version": SIMULATION_VERSION, **asdict(self)}
