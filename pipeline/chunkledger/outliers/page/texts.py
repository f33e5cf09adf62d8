"""Ledger and offenders -> the texts that the page holds, in bounds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from chunkledger.outliers.page.offenders import Offender
from chunkledger.outliers.page.shown import script_json
from chunkledger.outliers.views import ChunkView, Cut, document_views
from chunkledger.store.ledger import Ledger

MOST_BYTES = 5_000_000
"""Of all texts as JSON, with their ids: a page is to stay below 8 MB."""
_PLANNED_BYTES = 4_000_000
_BYTES_A_TOKEN = 6
_BYTES_A_CHUNK = 400
MOST_DOCUMENTS = 300
_WHOLE_CHUNKS = 40
"""A document of at most so many is shown whole; of a larger one only what is around its offenders."""
_AROUND = 2
_MOST_WINDOW = 60
_HEAD, _TAIL = 8000, 2000
"""Characters of a long chunk that are shown."""
_MOST_PATH = 400
_LINE_END = re.compile(r"\r\n|\r|\n")

Piece = str | list[object]
"""A text; or ["repeats", text], which ends the chunk before too; ["cut", kind, tokens, rendered tokens]; or
["left", characters, lines] in the place of what is left out."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A document on the page.

    Attributes:
        doc_id: its id.
        chunks: how many it has.
        held: what the page has of them, as JSON has it.
    """

    doc_id: str
    chunks: int
    held: tuple[dict[str, object], ...]


def texts_of(ledger: Ledger, frame: pl.DataFrame, offenders: Sequence[Offender]) -> tuple[Shown, ...]:
    """The documents that the page shows, by id: those of the worst offenders, and in a small ledger the others too.

    Args:
        ledger: which holds them.
        frame: its chunks.
        offenders: the worst first.
    """
    counts = _counts(frame)
    wanted = _wanted(counts, offenders)
    found: list[Shown] = []
    left = MOST_BYTES
    for view in document_views(ledger, wanted):
        held = tuple(map(_as_json, view.chunks))
        size = len(script_json([view.doc_id, held]).encode())
        if size <= left:
            left -= size
            found.append(Shown(view.doc_id, counts[view.doc_id][0], held))
    return tuple(sorted(found, key=lambda shown: shown.doc_id))


def _counts(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Of each document chunks and tokens; the largest chunks' documents first."""
    found = (
        frame.group_by("doc_id")
        .agg(pl.len(), pl.col("token_count").sum(), pl.col("rendered_tokens").max().alias("largest"))
        .sort(["largest", "doc_id"], descending=[True, False])
    )
    return {doc_id: (chunks, tokens) for doc_id, chunks, tokens, _ in found.rows()}


def _wanted(counts: dict[str, tuple[int, int]], offenders: Sequence[Offender]) -> dict[str, set[int] | None]:
    """By document the chunks to read, as many as are planned for; None is all."""
    around: defaultdict[str, set[int]] = defaultdict(set)
    for offender in offenders:
        window = around[offender.doc_id]
        if len(window) < _MOST_WINDOW:
            window |= set(range(max(0, offender.chunk_index - _AROUND), offender.chunk_index + _AROUND + 1))
    chosen: dict[str, set[int] | None] = {}
    planned = 0
    for doc_id in dict.fromkeys([*around, *counts]):
        chunks, tokens = counts[doc_id]
        window = around[doc_id] or set(range(_WHOLE_CHUNKS))
        number = chunks if chunks <= _WHOLE_CHUNKS else len(window)
        planned += number * (tokens * _BYTES_A_TOKEN // chunks + _BYTES_A_CHUNK)
        if len(chosen) == MOST_DOCUMENTS or (planned > _PLANNED_BYTES and chosen):
            break
        chosen[doc_id] = None if chunks <= _WHOLE_CHUNKS else window
    return chosen


def _as_json(chunk: ChunkView) -> dict[str, object]:
    """What the viewer needs of a chunk; what is usual is left out."""
    path = " › ".join(chunk.heading_path)
    found: dict[str, object] = {
        "index": chunk.chunk_index,
        "kind": chunk.kind,
        "sizes": [chunk.token_count, chunk.embed_tokens, chunk.rendered_tokens],
        "pieces": list(_pieces(chunk)),
        "lines": [chunk.line_start, chunk.line_end] if chunk.line_start is not None else None,
        "flags": chunk.flags,
        "cause": ", ".join(part for part in (chunk.flag_cause, chunk.flag_detail) if part),
        "path": path if len(path) <= _MOST_PATH else path[:_MOST_PATH] + "…",
        "context": chunk.context[:_HEAD],
        "unheld": chunk.unheld_before,
    }
    return {name: value for name, value in found.items() if value or name in ("index", "pieces")}


def _pieces(chunk: ChunkView) -> Iterator[Piece]:
    """The pieces of a chunk; of a long one its beginning and its end, and how much there is between them."""
    size = len(chunk.text)
    stop, resume = (size, size) if size <= _HEAD + _TAIL else (_HEAD, size - _TAIL)
    done = 0
    for piece in chunk.pieces():
        if isinstance(piece, Cut):
            if not stop < piece.at < resume:
                yield ["cut", piece.kind, piece.token_count, piece.rendered_tokens]
            continue
        end = done + len(piece.text)
        if done < stop:
            yield _text(chunk.text[done : min(end, stop)], piece.repeats)
        if done <= stop < end and stop < resume:
            yield ["left", resume - stop, len(_LINE_END.findall(chunk.text[stop:resume]))]
        if end > resume:
            yield _text(chunk.text[max(done, resume) : end], piece.repeats)
        done = end


def _text(text: str, repeats: bool) -> Piece:
    return ["repeats", text] if repeats else text
