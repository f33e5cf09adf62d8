"""Shares of chunks that must not be passed -> which of them are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chunkledger.errors import SettingsError
from chunkledger.settings import share

FLAGS = ("over_slot", "over_share", "over_max", "under_min")
FLAGGED, WORSE = "flagged", "worse"


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit, and what was found.

    Attributes:
        name: a flag; `flagged` for chunks with any flag; `worse` for documents that got worse between two runs.
        most: the share that may be.
        count: how many there are.
        of: of how many.
    """

    name: str
    most: float
    count: int
    of: int

    @property
    def share(self) -> float:
        """The share that there is."""
        return self.count / self.of if self.of else 0.0

    @property
    def holds(self) -> bool:
        """Whether it is within the limit."""
        return self.share <= self.most


def limits(written: str) -> dict[str, float]:
    """The shares that may not be passed, by name.

    >>> limits("over_share=0,under_min=2%")
    {'over_share': 0.0, 'under_min': 0.02}

    Raises:
        SettingsError: a name that there is not, or no share.
    """
    found: dict[str, float] = {}
    for part in written.split(","):
        name, equals, value = part.strip().partition("=")
        if name not in (*FLAGS, FLAGGED, WORSE) or not equals:
            known = ", ".join((*FLAGS, FLAGGED, WORSE))
            raise SettingsError(f"--fail-over {part!r} is no NAME=SHARE of one of: {known}; for example over_share=2%")
        found[name] = share(value, f"--fail-over {name}")
    return found


def gates(most: Mapping[str, float], counts: Mapping[str, tuple[int, int]]) -> tuple[Gate, ...]:
    """Every limit with what was found.

    Args:
        most: by name, as `limits` gave them.
        counts: by name, how many there are, and of how many.

    Raises:
        SettingsError: a limit on what was not counted.
    """
    if WORSE in most and WORSE not in counts:
        raise SettingsError("--fail-over worse=… is about two runs; it goes with --against RUN")
    return tuple(Gate(name, value, *counts[name]) for name, value in most.items())
