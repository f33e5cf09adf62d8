"""What is at fault, by the findings that hold."""

from __future__ import annotations

import pytest

from chunkledger.request_log.findings import Finding, Thresholds
from chunkledger.simulation.verdict import OUTLIERS_IN_THE_WAY, verdict_of

SIZES = ("floor_over_slot", "truncation_is_a_habit", "slot_empty_because_nothing_fits")


def _finding(name: str, share: float = 0.5, *, holds: bool = True) -> Finding:
    return Finding(name, holds, "", "", {"requests": 1, "share": share}, {})


@pytest.mark.parametrize(
    ("name", "median", "what"),
    [
        # What is over a slot of 1,000 is twice the median where that is up to 500, else an ordinary chunk.
        ("floor_over_slot", 500, "splitter"),
        ("floor_over_slot", 501, "budget"),
        ("truncation_is_a_habit", 500, "splitter"),
        ("truncation_is_a_habit", 501, "budget"),
        # What does not fit into the empty half of it likewise.
        ("slot_empty_because_nothing_fits", 250, "splitter"),
        ("slot_empty_because_nothing_fits", 251, "budget"),
        ("outliers_never_fit", 2000, "splitter"),
        ("slot_empty_for_want_of_candidates", 1, "k"),
        ("slot_empty_because_of_max_chunks", 2000, "k"),
    ],
)
def test_each_finding_has_its_fault(name: str, median: int, what: str) -> None:
    """The median tells whether what did not fit is an outlier, which a splitter made, or an ordinary chunk."""
    verdict = verdict_of([_finding(name)], 0.0, median, 1000, Thresholds())
    assert (verdict.at_fault, [fault.because for fault in verdict.faults]) == (what, [(name,)])


def test_thresholds_are_those_of_the_diagnosis() -> None:
    """Who calls other chunks outliers, or other slots empty, gets verdicts by that."""
    limits = Thresholds(outlier_size=3, empty=0.1)
    assert verdict_of([_finding(SIZES[0])], 0.0, 400, 1000, limits).at_fault == "budget"
    assert verdict_of([_finding(SIZES[2])], 0.0, 300, 1000, limits).at_fault == "splitter"


def test_what_touches_most_requests_comes_first() -> None:
    """Findings of one fault are together; those that do not hold are none."""
    findings = [
        _finding("slot_empty_for_want_of_candidates", 0.3),
        _finding("floor_over_slot", 0.1),
        _finding("outliers_never_fit", 0.4),
        _finding("slot_empty_because_of_max_chunks", 0.9, holds=False),
    ]
    verdict = verdict_of(findings, 0.0, 100, 1000, Thresholds())
    assert [(fault.what, fault.share, len(fault.because)) for fault in verdict.faults] == [
        ("splitter", 0.4, 2),
        ("k", 0.3, 1),
    ]
    nothing = verdict_of(findings[-1:], 0.0, 100, 1000, Thresholds())
    assert (nothing.at_fault, nothing.faults) == ("nothing", ())


def test_outliers_in_the_way_are_the_splitters() -> None:
    """How often a request skips an outlier with room tells, whatever was packed in some other request."""
    limits = Thresholds()
    assert verdict_of([], limits.outliers, 100, 1000, limits).at_fault == "nothing"
    [fault] = verdict_of([], 0.47, 100, 1000, limits).faults
    assert (fault.what, fault.share, fault.because) == ("splitter", 0.47, (OUTLIERS_IN_THE_WAY,))
    [both] = verdict_of([_finding("outliers_never_fit", 0.2)], 0.47, 100, 1000, limits).faults
    assert (both.share, both.because) == (0.47, ("outliers_never_fit", OUTLIERS_IN_THE_WAY))
