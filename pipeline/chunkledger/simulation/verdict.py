"""What is at fault where packing goes wrong: the splitter, the budget or K; from the findings that diagnose has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkledger.request_log.findings import Finding, Thresholds

_SIZES = ("floor_over_slot", "truncation_is_a_habit", "outliers_never_fit", "slot_empty_because_nothing_fits")
OUTLIERS_IN_THE_WAY = "outliers_skipped_with_room"
"""What no log can be asked for, as it names only chunks that never fit."""
_CANDIDATES = ("slot_empty_for_want_of_candidates", "slot_empty_because_of_max_chunks")

_SAYS = {
    "splitter": "chunks that are much larger than the others do not fit, where an ordinary one would",
    "budget": "ordinary chunks do not fit: the slot is too small for chunks of this size",
    "k": "the slot stays mostly empty, because too few hits are offered or may be packed",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is at fault.

    Attributes:
        what: `splitter`, `budget` or `k`.
        share: of the requests, that of the finding that touches most.
        because: names of the findings, and `OUTLIERS_IN_THE_WAY`.
        says: in words.
    """

    what: str
    share: float
    because: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is at fault.

    Attributes:
        at_fault: `splitter`, `budget`, `k`, or `nothing`; of several what touches most requests.
        faults: all of them, that one first; none where nothing is.
    """

    at_fault: str
    faults: tuple[Fault, ...]


def verdict_of(
    findings: Sequence[Finding], outliers: float, median_tokens: float, slot_tokens: int, limits: Thresholds
) -> Verdict:
    """What is at fault, by the findings that hold and by how often an outlier was in the way; nothing is where none is.

    Where sizes are, it is told by what does not fit. A chunk of `outlier_size` times the median is an outlier, and the
    splitter made it. Ordinary chunks that do not fit mean that the budget is too small.

    Args:
        findings: of a diagnosis.
        outliers: share of the requests in which a chunk of `outlier_size` times their median was skipped with room.
        median_tokens: of the hits that were offered; the middle one of the requests' medians.
        slot_tokens: what was to be filled.
        limits: those of the diagnosis.
    """
    because: dict[str, list[Finding]] = {}
    for finding in findings:
        if not finding.holds:
            continue
        if finding.name in _CANDIDATES:
            because.setdefault("k", []).append(finding)
        elif finding.name in _SIZES:
            because.setdefault(_of_sizes(finding, median_tokens, slot_tokens, limits), []).append(finding)
    names = {what: [each.name for each in found] for what, found in because.items()}
    shares = {what: max(_share(each) for each in found) for what, found in because.items()}
    if outliers > limits.outliers:
        names.setdefault("splitter", []).append(OUTLIERS_IN_THE_WAY)
        shares["splitter"] = max(outliers, shares.get("splitter", 0.0))
    faults = [Fault(what, shares[what], tuple(names[what]), _SAYS[what]) for what in names]
    faults.sort(key=lambda fault: (-fault.share, fault.what))
    return Verdict(faults[0].what if faults else "nothing", tuple(faults))


def _of_sizes(finding: Finding, median_tokens: float, slot_tokens: int, limits: Thresholds) -> str:
    """Whether the splitter or the budget is at fault, where chunks do not fit.

    Outliers are the splitter's by their definition. Of what is larger than the whole slot, or than the emptiness of one
    that is mostly empty, the size of an ordinary chunk tells: where that would not fit either, no splitter is at fault.
    """
    if finding.name == "outliers_never_fit":
        return "splitter"
    room = slot_tokens * (1 - limits.empty) if finding.name == "slot_empty_because_nothing_fits" else slot_tokens
    return "splitter" if median_tokens * limits.outlier_size <= room else "budget"


def _share(finding: Finding) -> float:
    figures: Mapping[str, float | int | None] = finding.figures
    return float(figures.get("share") or 0.0)
