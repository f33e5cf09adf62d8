"""Filling a slot with ranked chunks, by their cached counts alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .log import LOGGER, PackLog, emit
from .packed import Block, Packed
from .render import extra_number_tokens
from .rows import BOUNDARY_KINDS, Rows, boundaries, column_of, read_rows
from .slot import whole_number

ON_MISS = ("skip", "stop")
"""What follows a hit that does not fit: smaller hits further down are tried, or the pass ends."""

FULL_SHARE = 0.02
"""A slot with this share of it left, or less, counts as full: about the spread of chunk sizes around one that fits."""

TRUNCATE = ("floor", "never")
"""Which chunks may be cut: the one at rank 1 where it is over the slot by itself, or none."""


@dataclass(frozen=True, slots=True)
class _Floor:
    """How the hit at rank 1 goes in: its cost, where it is cut (None is whole), whether it is over the slot whole."""

    tokens: int
    shown_chars: int | None
    over_slot: bool


@dataclass(frozen=True, slots=True)
class _Filling:
    """The outcome of one pass: 0-based places of the packed hits, their costs, and the tallies of `PackLog`."""

    places: list[int]
    costs: list[int]
    skipped: int
    duplicates: int
    skipped_with_room: int
    passed_over: int


def pack(
    hits: Iterable[object],
    slot_tokens: int,
    *,
    encoding: str,
    template: str | None = None,
    max_chunks: int | None = None,
    on_miss: str = "skip",
    truncate: str = "floor",
    boundary_kinds: Collection[str] = ("section", "paragraph", "list_item", "table_row", "code_group"),
) -> Packed:
    """The best-ranked chunks that fit the slot, with the exact token count of the prompt that `render` makes of them.

    Hits are taken in rank order. One that fits in what is left goes in; one that does not is skipped, and smaller ones
    further down are tried. A chunk_id that was seen higher in the ranking is not looked at again.

    The hit at rank 1 always goes in. Where it is over the slot by itself, which is a fault of the chunking or of the
    budget and logged as a warning, it is cut at the last boundary that fits. Where there is none, it goes in whole and
    alone, and only then is more used than the slot has.

    Args:
        hits: in rank order; mappings or objects that carry the ledger's columns chunk_id, doc_id, encoding, template
            and rendered_tokens; boundary_chars, boundary_kinds and boundary_rendered_tokens where they can be cut. The
            text is not needed before `render`.
        slot_tokens: tokens that the blocks may take, as `Slot.tokens` computes it.
        encoding: the tokenizer of the model that reads the prompt; every hit must have been counted with it.
        template: the template that every hit must have been counted for; None takes that of the first.
        max_chunks: most hits to pack; None is no limit.
        on_miss: one of `ON_MISS`.
        truncate: one of `TRUNCATE`.
        boundary_kinds: where a chunk may be cut, some of `BOUNDARY_KINDS`.

    Raises:
        ValueError: an argument or a hit that can't be; the message names it and says what would work.

    >>> counted = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1"}
    >>> hits = [counted | {"chunk_id": name, "rendered_tokens": n} for name, n in [("c", 60), ("a", 50), ("b", 30)]]
    >>> packed = pack(hits, 100, encoding="o200k_base")
    >>> [block.chunk_id for block in packed.blocks], packed.used_tokens
    (['c', 'b'], 90)
    """
    slot_tokens = whole_number("slot_tokens", slot_tokens, at_least=1)
    limit = None if max_chunks is None else whole_number("max_chunks", max_chunks, at_least=1)
    _check_options(on_miss, truncate, boundary_kinds)
    rows = read_rows(hits, encoding, template)
    floor = _floor(rows, slot_tokens, boundary_kinds if truncate == "floor" else ())
    filling = _fill(rows, slot_tokens, floor, limit, stop_on_miss=on_miss == "stop")
    log = _log(rows, slot_tokens, floor, filling, limit, encoding)
    emit(log)
    return Packed(_blocks(rows, floor, filling), log.used, slot_tokens, encoding, rows.template, log)


def _check_options(on_miss: str, truncate: str, boundary_kinds: Collection[str]) -> None:
    if on_miss not in ON_MISS:
        raise ValueError(f"on_miss is {on_miss!r}; it must be one of: {', '.join(ON_MISS)}")
    if truncate not in TRUNCATE:
        raise ValueError(f"truncate is {truncate!r}; it must be one of: {', '.join(TRUNCATE)}")
    if isinstance(boundary_kinds, str) or not set(boundary_kinds) <= set(BOUNDARY_KINDS):
        raise ValueError(f"boundary_kinds is {boundary_kinds!r}; it must be a list of: {', '.join(BOUNDARY_KINDS)}")


def _floor(rows: Rows, slot_tokens: int, kinds: Collection[str]) -> _Floor:
    whole = rows.tokens[0] if rows.tokens else 0
    if whole <= slot_tokens:
        return _Floor(whole, None, over_slot=False)
    cut = _Floor(whole, None, over_slot=True)
    for chars, kind, tokens in zip(*boundaries(column_of(rows.hits[0])), strict=True):
        if tokens <= slot_tokens and str(kind) in kinds:
            cut = _Floor(tokens, chars, over_slot=True)
    LOGGER.warning(
        "the chunk at rank 1 (chunk_id %r) takes %d tokens, more than the whole slot of %d: a fault of the chunking or "
        "the budget; it goes in %s",
        rows.chunk_ids[0],
        whole,
        slot_tokens,
        "whole and alone" if cut.shown_chars is None else f"cut to {cut.tokens} tokens",
    )
    return cut


def _fill(rows: Rows, slot_tokens: int, floor: _Floor, limit: int | None, *, stop_on_miss: bool) -> _Filling:
    if not rows.tokens:
        return _Filling([], [], 0, 0, 0, 0)
    median = sorted(rows.tokens)[(len(rows.tokens) - 1) // 2]
    places, costs, seen = [0], [floor.tokens], {rows.chunk_ids[0]}
    left, extra = slot_tokens - floor.tokens, 0
    skipped = duplicates = skipped_with_room = passed_over = 0
    for place in range(1, len(rows.tokens)):
        if left < 0 or len(places) == limit:
            break
        if rows.chunk_ids[place] in seen:
            duplicates += 1
            continue
        seen.add(rows.chunk_ids[place])
        cost = rows.tokens[place] + extra
        if cost <= left:
            places.append(place)
            costs.append(cost)
            left -= cost
            extra = extra_number_tokens(len(places) + 1)
            passed_over = skipped
            continue
        skipped += 1
        skipped_with_room += left >= median
        if stop_on_miss:
            break
    return _Filling(places, costs, skipped, duplicates, skipped_with_room, passed_over)


def _blocks(rows: Rows, floor: _Floor, filling: _Filling) -> tuple[Block, ...]:
    shown_chars = floor.shown_chars
    blocks = []
    for place, cost in zip(filling.places, filling.costs, strict=True):
        chunk_id, doc_id = rows.chunk_ids[place], rows.doc_ids[place]
        blocks.append(Block(place + 1, rows.hits[place], chunk_id, doc_id, cost, shown_chars if place == 0 else None))
    return tuple(blocks)


def _log(rows: Rows, slot_tokens: int, floor: _Floor, filling: _Filling, limit: int | None, encoding: str) -> PackLog:
    offered, packed = len(rows.hits), len(filling.places)
    not_reached = offered - packed - filling.skipped - filling.duplicates
    return PackLog(
        slot=slot_tokens,
        used=sum(filling.costs),
        offered=offered,
        packed=packed,
        blocks=packed,
        skipped_for_size=filling.skipped,
        truncated=int(floor.shown_chars is not None),
        duplicates=filling.duplicates,
        not_reached=not_reached,
        skipped_with_room=filling.skipped_with_room,
        passed_over=filling.passed_over,
        floor_over_slot=floor.over_slot,
        space_left_because=_why_space_is_left(filling, slot_tokens, not_reached, at_limit=packed == limit),
        encoding=encoding,
        template=rows.template,
    )


def _why_space_is_left(filling: _Filling, slot_tokens: int, not_reached: int, *, at_limit: bool) -> str:
    if not filling.skipped and not not_reached:
        return "no_more_candidates"
    if slot_tokens - sum(filling.costs) <= FULL_SHARE * slot_tokens:
        return "full"
    return "max_chunks" if at_limit and not_reached else "nothing_fits"
