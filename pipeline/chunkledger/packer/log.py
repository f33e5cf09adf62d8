"""What one packing did, as one flat record for the service's log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

from .frozen import Frozen

LOGGER = logging.getLogger("chunkledger.packer")
"""Gets one record for each packing: at INFO, or at WARNING where the chunk at rank 1 is over the slot by itself."""

MOST_IDS = 20
"""A log line names at most so many chunks that were skipped, so that its length does not depend on the ranking's."""


class PackLog(Frozen):
    """What one packing did. `offered == packed + skipped_for_size + duplicates + not_reached`, always.

    Attributes:
        slot: tokens that there were to fill.
        used: tokens of all blocks.
        offered: hits in the ranking.
        packed: hits that are shown, whole or cut.
        blocks: blocks that show them.
        skipped_for_size: hits whose turn came and that did not fit in what was left.
        truncated: packed hits that are cut.
        duplicates: hits whose turn came and that show nothing more: their chunk_id had been seen higher in the
            ranking, or packed chunks show all of their text.
        merged: packed hits that go on in the block of the chunk before them; `packed - blocks`.
        not_reached: hits whose turn never came, because the pass had ended.
        skipped_with_room: those of `skipped_for_size` that were skipped while at least the median of the offered
            rendered_tokens (the lower of the middle two) was left: a sign of an outlier, not of a full slot.
        passed_over: those of `skipped_for_size` that rank better than the last hit that was packed.
        floor_over_slot: whether the chunk at rank 1 is over the slot by itself.
        space_left_because: why no more was packed; the first of these that is true:

            - `no_more_candidates`: every hit was packed or is a duplicate of one that was.
            - `full`: at most 2 % of the slot (`pack.FULL_SHARE`) was left.
            - `max_chunks`: as many hits as allowed were packed, and hits remain that were not reached or would fit.
            - `nothing_fits`: every hit that was not packed would add more than what was left. With `on_miss="stop"`
              that is the one hit that ended the pass.
        encoding: the encoding of all counts.
        template: the template of the prompt; "" where there was no hit and none was asked for, or where it is the
            caller's own.
        used_is_estimate: whether `used` is an estimate, because hits were counted for another template.
        median_tokens: the median that `skipped_with_room` is held against; 0 where there was no hit.
        packed_ids: the packed chunks, by the ranks of their blocks.
        truncated_chunk_id: the one that is cut.
        floor_chunk_id: the chunk at rank 1 where it is over the slot by itself.
        floor_chunk_tokens: its size.
        skipped_with_room_ids: the best-ranked 20 (`MOST_IDS`) of `skipped_with_room`.
        skipped_with_room_tokens: their sizes.
        extra: the caller's own fields, as pairs.
        emitted: whether the record has been logged, which is all that ever changes in it.
    """

    slot: int
    used: int
    offered: int
    packed: int
    blocks: int
    skipped_for_size: int
    truncated: int
    duplicates: int
    merged: int
    not_reached: int
    skipped_with_room: int
    passed_over: int
    floor_over_slot: bool
    space_left_because: str
    encoding: str
    template: str
    used_is_estimate: bool
    median_tokens: int
    packed_ids: tuple[str, ...]
    truncated_chunk_id: str | None
    floor_chunk_id: str | None
    floor_chunk_tokens: int | None
    skipped_with_room_ids: tuple[str, ...]
    skipped_with_room_tokens: tuple[int, ...]
    extra: tuple[tuple[str, object], ...]
    emitted: bool
    __slots__ = tuple(__annotations__)

    def __init__(
        self,
        *,
        slot: int,
        used: int,
        offered: int,
        packed: int,
        blocks: int,
        skipped_for_size: int,
        truncated: int,
        duplicates: int,
        merged: int,
        not_reached: int,
        skipped_with_room: int,
        passed_over: int,
        floor_over_slot: bool,
        space_left_because: str,
        encoding: str,
        template: str,
        used_is_estimate: bool,
        median_tokens: int,
        packed_ids: tuple[str, ...],
        truncated_chunk_id: str | None,
        floor_chunk_id: str | None,
        floor_chunk_tokens: int | None,
        skipped_with_room_ids: tuple[str, ...],
        skipped_with_room_tokens: tuple[int, ...],
        extra: tuple[tuple[str, object], ...],
        emitted: bool,
    ) -> None:
        self._set(locals())

    def as_dict(self, /, **fields: object) -> dict[str, object]:
        """The record as a mapping, the caller's own fields after it.

        Args:
            fields: of the caller, added to those that `pack` was given; for example `prompt_tokens`, `ttft_ms` or
                `answered_correctly`. They are put in as they are.

        Raises:
            ValueError: a field of the caller has a name that the record uses itself.

        >>> from chunkledger.packer import pack
        >>> pack([], 6_000, encoding="o200k_base").log.as_dict(query="rates 2026")["query"]
        'rates 2026'
        """
        check_names(fields)
        own: dict[str, object] = {name: getattr(self, name) for name in _OWN}
        for name, value in own.items():
            if isinstance(value, tuple):
                own[name] = list(value)
        return {**own, **dict(self.extra), **fields}

    def as_json(self, /, **fields: object) -> str:
        """The record as one line of JSON, the caller's own fields after it.

        numpy's numbers are numbers, and what JSON can't hold is text, because a log line must not fail a request.

        Args:
            fields: as in `as_dict`.

        Raises:
            ValueError: as `as_dict`.
        """
        record = self.as_dict(**fields)
        line = _json(record)
        if line is None:
            sound = {name: value if _json(value) else _text(value) for name, value in record.items()}
            line = _json(sound)
        return line or "{}"

    def emit(self, /, **fields: object) -> None:
        """Log the record, with the caller's own fields: for what is known only when the answer is there.

        It goes to the logger `chunkledger.packer`, at WARNING where `floor_over_slot`, else at INFO. The message is
        `as_json`, and the same as a mapping is the log record's attribute `packing`. Where the level is off, no line is
        made.

        Args:
            fields: as in `as_dict`.

        Raises:
            ValueError: as `as_dict`; or the record has been logged, by `pack` or here: a second line would count the
                request twice.
        """
        if self.emitted:
            why = "this record has been logged; where pack did, call it with emit=False to log it with more fields"
            raise ValueError(why)
        check_names(fields)
        object.__setattr__(self, "emitted", True)
        level = logging.WARNING if self.floor_over_slot else logging.INFO
        if LOGGER.isEnabledFor(level):
            line = self.as_json(**fields)
            LOGGER.log(level, "%s", line, extra={"packing": json.loads(line)})


_OWN = tuple(name for name in PackLog.names() if name not in ("extra", "emitted"))


def check_names(fields: Iterable[str]) -> None:
    """Refuse fields of the caller that the record has itself.

    Raises:
        ValueError: there is one, or one whose name is no string; the message names it.
    """
    if odd := [name for name in fields if not isinstance(name, str)]:
        raise ValueError(f"a field of the log is named {odd[0]!r}; names must be strings")
    if clash := [name for name in fields if name in _OWN]:
        raise ValueError(f"the log has its own {', '.join(clash)}; give these fields other names")


def _json(value: object) -> str | None:
    """The value as JSON; None where it has none."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except Exception:  # a caller's class may do anything
        return None


def _plain(value: object) -> object:
    """A value that is no JSON, as one that is: numpy's scalars and arrays as numbers and lists, the rest as text."""
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else _text(value)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # a caller's class may do anything
        return object.__repr__(value)
