"""Flags: which chunks do not suit the sizes they are meant for, and what is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a chunk's flags depend on."""

    token_count: int
    embed_tokens: int
    rendered_tokens: int


def flags_of(sizes: Sizes, settings: Settings) -> list[str]:
    """The flags of one chunk, from its sizes and the settings alone.

    >>> flags_of(Sizes(10, 20, 900), Settings(slot_tokens=6000, slot_chunks=8))
    ['over_share', 'under_min']
    """
    flags = []
    if sizes.rendered_tokens > settings.slot_tokens:
        flags.append("over_slot")
    if sizes.rendered_tokens > settings.share_tokens:
        flags.append("over_share")
    if sizes.embed_tokens > settings.max_tokens:
        flags.append("over_max")
    if sizes.token_count < settings.min_tokens:
        flags.append("under_min")
    return flags


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
