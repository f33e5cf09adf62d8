"""Filling a slot with ranked chunks, by their cached counts alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .cuts import BOUNDARY_KINDS, STRUCTURAL_KINDS
from .filling import Filling
from .log import MOST_IDS, PackLog, check_names
from .packed import Block, Packed, PackedChunk
from .render import extra_number_tokens
from .rows import Rows, read_rows
from .slot import whole_number

ON_MISS = ("skip", "stop")
"""What follows a hit that does not fit: smaller hits further down are tried, or the pass ends."""

TRUNCATE = ("floor", "never", "any")
"""Which chunks may be cut: the one at rank 1 where it is over the slot by itself; none; or, where rank 1 was not cut,
also the best-ranked one of those that did not fit, into the space that is left."""

DUPLICATES = ("text", "chunk")
"""What is not paid twice beside the same chunk and what is shown of its document: equal texts under equal headings,
whatever their documents; or nothing else."""

FULL_SHARE = 0.02
"""A slot with this share of it left, or less, counts as full: about the spread of chunk sizes around one that fits."""


def pack(
    hits: Iterable[object],
    slot_tokens: int,
    *,
    encoding: str,
    template: str | None = None,
    overhead_tokens: int | None = None,
    max_chunks: int | None = None,
    on_miss: str = "skip",
    truncate: str = "floor",
    boundary_kinds: Collection[str] = STRUCTURAL_KINDS,
    merge: bool = True,
    duplicates: str = "text",
    log_fields: Mapping[str, object] | None = None,
    emit: bool = True,
) -> Packed:
    """The best-ranked chunks that fit the slot, with the exact token count of the prompt that `render` makes of them.

    Hits are taken in rank order. One that fits in what is left goes in; one that does not is skipped, and smaller ones
    further down are tried. What a hit costs is what the prompt grows by: chunks that follow each other in a document
    make one block, and what that saves is there for others, those that were skipped before too, the best first.

    A hit is a duplicate where its chunk_id was seen higher in the ranking, or where packed chunks already show all of
    it: of the same document by its span, of any by equal text under equal headings. A chunk that holds smaller packed
    chunks takes their place.

    The hit at rank 1 always goes in. Where it is over the slot by itself, which is a fault of the chunking or of the
    budget and logged as a warning, it is cut at the last boundary that fits. Where there is none, it goes in whole and
    alone, and only then is more used than the slot has. At most one chunk is cut.

    Args:
        hits: in rank order; mappings or objects that carry the ledger's columns themselves, in their metadata, meta or
            payload. chunk_id, doc_id, encoding, template and rendered_tokens must be there. With chunk_index,
            char_start, char_end, body_tokens, joined_tokens, gap_after, overlap_chars and context neighbours are
            merged; with boundary_chars, boundary_kinds and boundary_rendered_tokens chunks can be cut. `render` needs
            text, context and heading_path as they were counted; a list that is missing is taken as empty.
        slot_tokens: tokens that the blocks may take, as `Slot.tokens` computes it.
        encoding: the tokenizer of the model that reads the prompt; every hit must have been counted with it, as
            its own encoding or beside that one.
        template: the template that every hit must have been counted for; None takes that of the first.
        overhead_tokens: what a template of your own adds to a text. Hits that were not counted for `template` (all of
            them where it is None) then cost their token_count and this, `used_tokens` is an estimate, and the log
            says so.
        max_chunks: most hits to pack; None is no limit.
        on_miss: one of `ON_MISS`.
        truncate: one of `TRUNCATE`.
        boundary_kinds: where a chunk may be cut, some of `BOUNDARY_KINDS`; sentences only where asked for.
        merge: whether neighbours make one block.
        duplicates: one of `DUPLICATES`; "chunk" where equal texts of different documents are different facts.
        log_fields: your own fields for the log line: query, intent, chunks_retrieved.
        emit: whether to log the packing now. With False, call `packed.log.emit(...)` when the answer is there, so that
            prompt_tokens, ttft_ms and answered_correctly get into the same line as `log_fields`.

    Raises:
        ValueError: an argument or a hit that can't be; the message names it and says what would work.

    >>> counted = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1"}
    >>> hits = [counted | {"chunk_id": name, "rendered_tokens": n} for name, n in [("c", 60), ("a", 50), ("b", 30)]]
    >>> packed = pack(hits, 100, encoding="o200k_base")
    >>> packed.chunk_ids, packed.used_tokens
    (['c', 'b'], 90)
    """
    slot_tokens = whole_number("slot_tokens", slot_tokens, at_least=1)
    limit = None if max_chunks is None else whole_number("max_chunks", max_chunks, at_least=1)
    overhead = None if overhead_tokens is None else whole_number("overhead_tokens", overhead_tokens, at_least=0)
    kinds = _checked_kinds(boundary_kinds)
    _check_options(on_miss, truncate, duplicates)
    _check_types(encoding, merge, log_fields, emit)
    extra = dict(log_fields or {})
    check_names(extra)
    rows = read_rows(hits, encoding, template, overhead)
    filling = Filling(rows, slot_tokens, merging=merge, equal_texts=duplicates == "text")
    if rows.tokens:
        _fill(filling, limit, on_miss, truncate, kinds)
    blocks = _blocks(rows, filling)
    log = _log(rows, filling, blocks, slot_tokens, limit, encoding, extra)
    if emit:
        log.emit()
    return Packed(blocks, log.used, slot_tokens, encoding, rows.template, log)


def _check_options(on_miss: str, truncate: str, duplicates: str) -> None:
    for name, value, known in (
        ("on_miss", on_miss, ON_MISS),
        ("truncate", truncate, TRUNCATE),
        ("duplicates", duplicates, DUPLICATES),
    ):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; it must be one of: {', '.join(known)}")


def _check_types(encoding: object, merge: object, log_fields: object, emit: object) -> None:
    if not isinstance(encoding, str) or not encoding:
        raise ValueError(f"encoding is {encoding!r}; it must be the name of an encoding, as o200k_base")
    for name, value in (("merge", merge), ("emit", emit)):
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}; it must be True or False")
    if log_fields is not None and not isinstance(log_fields, Mapping):
        raise ValueError(f"log_fields is {log_fields!r}; it must be a mapping of names to values")


def _checked_kinds(boundary_kinds: Collection[str]) -> tuple[str, ...]:
    try:
        kinds = () if isinstance(boundary_kinds, str) else tuple(boundary_kinds)
        known = not isinstance(boundary_kinds, str) and set(kinds) <= set(BOUNDARY_KINDS)
    except TypeError:
        known = False
    if not known:
        raise ValueError(f"boundary_kinds is {boundary_kinds!r}; it must be a list of: {', '.join(BOUNDARY_KINDS)}")
    return kinds


def _fill(filling: Filling, limit: int | None, on_miss: str, truncate: str, kinds: Collection[str]) -> None:
    filling.put_first(kinds if truncate != "never" else ())
    filling.fill(limit, stop_on_miss=on_miss == "stop")
    if truncate == "any" and not filling.cut and filling.left > 0 and len(filling.packed) != limit:
        filling.cut_into_the_rest(kinds)


def _blocks(rows: Rows, filling: Filling) -> tuple[Block, ...]:
    """The blocks in rank order, each at the best rank of the hits whose text it shows."""
    packed = filling.packed
    ranked = sorted(
        (packed[run[0]] if len(run) == 1 else min(packed[place] for place in run), run)
        for run in filling.assembly.runs(packed)
    )
    hits, chunk_ids, doc_ids = rows.hits, rows.chunk_ids, rows.doc_ids
    shown = {place: chars for place, (chars, _) in filling.cut.items()}
    blocks = []
    for number, (best, run) in enumerate(ranked, 1):
        chunks = tuple(
            [PackedChunk(place + 1, hits[place], chunk_ids[place], doc_ids[place], shown.get(place)) for place in run]
        )
        blocks.append(Block(best + 1, chunks, _block_tokens(rows, filling, run) + extra_number_tokens(number)))
    return tuple(blocks)


def _block_tokens(rows: Rows, filling: Filling, run: list[int]) -> int:
    first, last = run[0], run[-1]
    if first in filling.cut:
        return filling.cut[first][1]
    if first == last:
        return rows.tokens[first]
    return rows.around(first) + sum(map(rows.joint, run[:-1])) + rows.body(last)


def _log(
    rows: Rows,
    filling: Filling,
    blocks: tuple[Block, ...],
    slot_tokens: int,
    limit: int | None,
    encoding: str,
    extra: Mapping[str, object],
) -> PackLog:
    offered, packed = len(rows.hits), len(filling.packed)
    with_room = [place for place in filling.skipped if place in filling.with_room]
    last = max(filling.packed, default=0)
    not_reached = offered - filling.reached
    over = bool(rows.tokens) and rows.tokens[0] > slot_tokens
    return PackLog(
        slot=slot_tokens,
        used=filling.assembly.used,
        offered=offered,
        packed=packed,
        blocks=len(blocks),
        skipped_for_size=len(filling.skipped),
        truncated=len(filling.cut),
        duplicates=filling.duplicates,
        merged=packed - len(blocks),
        not_reached=not_reached,
        skipped_with_room=len(with_room),
        passed_over=sum(map(last.__gt__, filling.skipped)),
        floor_over_slot=over,
        space_left_because=_why_space_is_left(filling, slot_tokens, not_reached, at_limit=packed == limit),
        encoding=encoding,
        template=rows.template,
        used_is_estimate=bool(rows.shifts),
        median_tokens=filling.median,
        packed_ids=tuple([chunk.chunk_id for block in blocks for chunk in block.chunks]),
        truncated_chunk_id=next((rows.chunk_ids[place] for place in filling.cut), None),
        floor_chunk_id=rows.chunk_ids[0] if over else None,
        floor_chunk_tokens=rows.tokens[0] if over else None,
        skipped_with_room_ids=tuple(rows.chunk_ids[place] for place in with_room[:MOST_IDS]),
        skipped_with_room_tokens=tuple(rows.tokens[place] for place in with_room[:MOST_IDS]),
        extra=tuple(extra.items()),
        emitted=False,
    )


def _why_space_is_left(filling: Filling, slot_tokens: int, not_reached: int, *, at_limit: bool) -> str:
    if not filling.skipped and not not_reached:
        return "no_more_candidates"
    if filling.left <= FULL_SHARE * slot_tokens:
        return "full"
    if at_limit and (not_reached or filling.something_would_fit()):
        return "max_chunks"
    return "nothing_fits"
