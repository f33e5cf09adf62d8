"""What one packing did, as one flat record for the service's log."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass

LOGGER = logging.getLogger("chunkledger.packer")
"""Gets one INFO record for each packing, and a WARNING where the chunk at rank 1 is over the slot by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackLog:
    """What one packing did. `offered == packed + skipped_for_size + duplicates + not_reached`, always.

    Attributes:
        slot: tokens that there were to fill.
        used: tokens of all blocks.
        offered: hits in the ranking.
        packed: hits that are shown, whole or cut.
        blocks: blocks that show them.
        skipped_for_size: hits whose turn came and that did not fit in what was left.
        truncated: packed hits that are cut.
        duplicates: hits whose turn came and whose chunk_id had been seen higher in the ranking.
        not_reached: hits whose turn never came, because the pass had ended.
        skipped_with_room: those of `skipped_for_size` that were skipped while at least the median of the offered
            rendered_tokens (the lower of the middle two) was left: a sign of an outlier, not of a full slot.
        passed_over: those of `skipped_for_size` that rank better than the last hit that was packed.
        floor_over_slot: whether the chunk at rank 1 is over the slot by itself.
        space_left_because: why no more was packed; the first of these that is true:

            - `no_more_candidates`: every hit was packed or is a duplicate of one that was.
            - `full`: at most 2 % of the slot (`pack.FULL_SHARE`) was left.
            - `max_chunks`: as many hits as allowed were packed, and hits that were not reached remain.
            - `nothing_fits`: every hit that was not packed is larger than what was left. With `on_miss="stop"` that
              is the one hit that ended the pass.
        encoding: the encoding of all counts.
        template: the template of all counts; "" where there was no hit and none was asked for.
    """

    slot: int
    used: int
    offered: int
    packed: int
    blocks: int
    skipped_for_size: int
    truncated: int
    duplicates: int
    not_reached: int
    skipped_with_room: int
    passed_over: int
    floor_over_slot: bool
    space_left_because: str
    encoding: str
    template: str

    def as_dict(self, /, **extra: object) -> dict[str, object]:
        """The record as a mapping that is ready for JSON, with the caller's own fields after it.

        Args:
            extra: fields of the caller, for example `query`, `intent` or `chunks_retrieved`; put in as they are.

        Raises:
            ValueError: a field of the caller has a name that the record uses itself.

        >>> from chunkledger.packer import pack
        >>> pack([], 6_000, encoding="o200k_base").log.as_dict(query="rates 2026")["query"]
        'rates 2026'
        """
        own: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        if clash := [name for name in extra if name in own]:
            raise ValueError(f"the log has its own {', '.join(clash)}; give these fields other names")
        return own | extra


def emit(log: PackLog) -> None:
    """Log the record as one line of JSON, at INFO; where INFO is off, no line is made."""
    if LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info("%s", json.dumps(log.as_dict()))
