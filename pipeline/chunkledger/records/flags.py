"""Flags: which chunks do not suit the sizes they are meant for, and what is to blame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from chunkledger.model import BoolArray, IntArray
from chunkledger.records.schema import KINDS
from chunkledger.settings import Settings

_CAUSE_OF_KIND = {
    "prose": "unbroken_prose",
    "list": "list",
    "table": "table",
    "code": "code",
    "html": "html",
    "front_matter": "front_matter",
}


Count = TypeVar("Count", int, IntArray)


@dataclass(frozen=True, slots=True)
class Sizes(Generic[Count]):
    """What a chunk's flags depend on; of one chunk, or of many as arrays."""

    token_count: Count
    embed_tokens: Count
    rendered_tokens: Count


_RULES: dict[str, Callable[[Sizes[Any], Settings], Any]] = {
    "over_slot": lambda sizes, settings: sizes.rendered_tokens > settings.slot_tokens,
    "over_share": lambda sizes, settings: sizes.rendered_tokens > settings.share_tokens,
    "over_max": lambda sizes, settings: sizes.embed_tokens > settings.max_tokens,
    "under_min": lambda sizes, settings: sizes.token_count < settings.min_tokens,
}
"""Flag -> when a chunk has it."""


def flags_of(sizes: Sizes[int], settings: Settings) -> list[str]:
    """The flags of one chunk, from its sizes and the settings alone.

    >>> flags_of(Sizes(10, 20, 900), Settings(slot_tokens=6000, slot_chunks=8))
    ['over_share', 'under_min']
    """
    return [flag for flag, holds in _RULES.items() if holds(sizes, settings)]


def has_flag(sizes: Sizes[IntArray], settings: Settings) -> dict[str, BoolArray]:
    """Of many chunks, for each flag, whether they have it."""
    return {flag: rule(sizes, settings) for flag, rule in _RULES.items()}


def flagged(sizes: Sizes[IntArray], settings: Settings) -> dict[int, list[str]]:
    """Of many chunks those that have flags: their places, ascending, with the flags."""
    holds = has_flag(sizes, settings)
    any_holds = np.logical_or.reduce(list(holds.values()))
    return {
        index: [flag for flag, where in holds.items() if where[index]] for index in np.flatnonzero(any_holds).tolist()
    }


def cause_of(flags: Sequence[str], kind: int, *, only_chunk: bool) -> str | None:
    """The structure to blame for a chunk's flags; None without flags.

    Too big comes before too small: a chunk can be both only where its header is most of it.

    Args:
        flags: of the chunk.
        kind: index into `KINDS` of what the chunk is mostly made of.
        only_chunk: whether the document has no other.
    """
    if "over_max" in flags:
        return "grapheme"
    if "over_slot" in flags or "over_share" in flags:
        return _CAUSE_OF_KIND[KINDS[kind]]
    if "under_min" in flags:
        return "short_document" if only_chunk else "short_section"
    return None


def given_cause_of(
    flags: Sequence[str], kind: int, *, only_chunk: bool, is_grapheme: bool, is_broken: bool
) -> str | None:
    """The same for a chunk that another splitter has cut, and that it could have cut elsewhere.

    Args:
        flags: of the chunk.
        kind: as above.
        only_chunk: as above.
        is_grapheme: whether it is one character.
        is_broken: whether no paragraph holds most of it, so that its prose could have been cut between paragraphs:
            then no structure is to blame.
    """
    if "over_max" in flags and not is_grapheme:
        flags = ["over_share"]
    cause = cause_of(flags, kind, only_chunk=only_chunk)
    return "foreign" if cause == "unbroken_prose" and is_broken else cause
