"""Where a chunk may be cut short, and what it then costs."""

from __future__ import annotations

import json
import operator
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from .hits import Column
from .values import counted, listed, whole_numbers

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from typing import Any

    from .rows import Rows

_LIST, _NONE = {list}, {type(None)}

BOUNDARY_KINDS = ("section", "paragraph", "list_item", "table_row", "code_group", "sentence")
"""What may end at a boundary, as the ledger's column `boundary_kinds` says it."""

BOUNDARY_COLUMNS = ("boundary_chars", "boundary_kinds", "boundary_rendered_tokens")
"""Parallel lists: offsets into the text, what ends there, tokens of the block cut there."""

MARKER_TOKENS = 64
"""More than the truncation marker and its line end take; no cut block is so much larger than the whole one."""

STRUCTURAL_KINDS = BOUNDARY_KINDS[:-1]
"""Where chunks are cut unless sentences are asked for too."""


def boundaries(column: Column) -> tuple[list[int], list[object], list[int]]:
    """Where one chunk may be cut: offsets into its text, what ends there, tokens of the block cut there.

    Missing columns are no boundaries.

    Raises:
        ValueError: the lists are not parallel, the offsets not positive and ascending or not within the text, or a
            count not positive.

    >>> boundaries({"boundary_chars": [4], "boundary_kinds": ["section"], "boundary_rendered_tokens": [21]}.get)
    ([4], ['section'], [21])
    """
    chars, tokens = whole_numbers(column, "boundary_chars"), whole_numbers(column, "boundary_rendered_tokens")
    kinds = listed(column, "boundary_kinds")
    if not len(chars) == len(kinds) == len(tokens):
        raise ValueError(
            f"boundary_chars, boundary_kinds and boundary_rendered_tokens have {len(chars)}, {len(kinds)} and "
            f"{len(tokens)} values; they are parallel: give all three as the ledger has them, or none"
        )
    if chars and (chars[0] <= 0 or not all(map(operator.lt, chars, chars[1:]))):
        raise ValueError(f"boundary_chars is {chars}; it must be positive and ascending, as in the ledger")
    if tokens and min(tokens) <= 0:
        raise ValueError(f"boundary_rendered_tokens is {tokens}; every count must be positive, as in the ledger")
    text = column("text")
    if chars and isinstance(text, str) and chars[-1] >= len(text):
        raise ValueError(
            f"boundary_chars has {chars[-1]}, but its text has {len(text)} characters; hits must carry `text` as the "
            "ledger does, without prefix and not shortened"
        )
    start, end = counted(column, "char_start", 0), counted(column, "char_end", 0)
    if chars and start is not None and end is not None and chars[-1] >= end - start:
        raise ValueError(
            f"boundary_chars has {chars[-1]}, but char_start {start} and char_end {end} are those of a text of "
            f"{end - start} characters; they contradict each other: take all columns from one ledger"
        )
    return chars, kinds, tokens


def look_right(chars: Sequence[Any], kinds: Sequence[Any], tokens: Sequence[Any], rows: Rows) -> bool:
    """Whether the boundaries of all chunks are lists, parallel, within their texts and no dearer than their chunks.

    What stands in the lists is looked at where a chunk is cut: for all chunks that would take as long as packing them.

    Args:
        chars: boundary_chars of each chunk.
        kinds: boundary_kinds.
        tokens: boundary_rendered_tokens.
        rows: their spans and costs.
    """
    found = set(map(type, chain(chars, kinds, tokens)))
    if found != _LIST:
        return found <= _NONE
    lengths = list(map(len, chars))
    if list(map(len, kinds)) != lengths or list(map(len, tokens)) != lengths:
        return False
    try:
        odd = [
            each
            for each, costs, whole, start, end in zip(chars, tokens, rows.tokens, rows.starts, rows.ends, strict=True)
            if each
            and (
                costs[-1] > whole + MARKER_TOKENS or (start is not None and end is not None and each[-1] >= end - start)
            )
        ]
    except TypeError:
        return False
    return not odd


def cut_within(column: Column, tokens: int, kinds: Collection[str], shift: int = 0) -> tuple[int, int] | None:
    """The last boundary at which the cut block takes at most `tokens`: (offset into the text, tokens of the block).

    None where there is none, and where the document's metadata says `payload: end`: what such a document is for stands
    at the end of its chunks, so a cut would keep the wrong part.

    Args:
        column: the chunk.
        tokens: what the block may take.
        kinds: where it may be cut.
        shift: what another template adds to each count of a block.

    >>> row = {"boundary_chars": [4, 9], "boundary_kinds": ["section"] * 2, "boundary_rendered_tokens": [21, 35]}
    >>> cut_within(row.get, 30, ["section"])
    (4, 21)
    """
    found = None
    for chars, kind, cost in zip(*boundaries(column), strict=True):
        if cost + shift <= tokens and kind in kinds:
            found = chars, cost + shift
    return None if found is None or _ends_with_payload(column) else found


def _ends_with_payload(column: Column) -> bool:
    metadata = column("metadata")
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = None
    said = metadata.get("payload") if isinstance(metadata, Mapping) else None
    said = said if isinstance(said, str) else column("payload")
    return isinstance(said, str) and said.strip().lower() == "end"
