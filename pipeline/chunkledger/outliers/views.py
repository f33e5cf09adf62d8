"""Ledger and document -> the document as its chunks hold it: texts, borders, overlap, cut points, counts, flags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from chunkledger.store.ledger import Ledger
from chunkledger.store.parts import records_of_documents

VIEW_VERSION = 1
"""Grows whenever a key of the JSON changes its name or meaning."""

_KEPT = (
    "chunk_id", "text", "gap_after", "overlap_chars", "char_start", "char_end", "line_start", "line_end",
    "kind", "token_count", "embed_tokens", "rendered_tokens",
)  # fmt: skip
"""Columns that a view has as they are, under the same names."""
_COLUMNS = [
    "doc_id", "role", "chunk_index", *_KEPT, "heading_path", "context", "flags", "flag_cause", "flag_detail",
    "boundary_chars", "boundary_kinds", "boundary_tokens", "boundary_rendered_tokens",
]  # fmt: skip
_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where the packer may cut a chunk, with the counts that were cached for it.

    Attributes:
        at: code points from the start of the chunk's text.
        kind: what ends there.
        token_count: of the text before it.
        rendered_tokens: of the chunk cut there.
    """

    at: int
    kind: str
    token_count: int
    rendered_tokens: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a chunk's text; `repeats` says whether the chunk before ends with it too."""

    text: str
    repeats: bool


@dataclass(frozen=True, slots=True)
class ChunkView:
    """One chunk of a document.

    Attributes:
        unheld_before: characters of the document between the chunk before (or its start) and this one that are in no
            chunk and no gap; None where that can't be told, for want of offsets or of the chunk before.
        cuts: where it may be cut, ascending.

    The others are the columns of the record, under their names.
    """

    chunk_index: int
    chunk_id: str
    text: str
    gap_after: str
    overlap_chars: int
    char_start: int | None
    char_end: int | None
    line_start: int | None
    line_end: int | None
    kind: str
    token_count: int
    embed_tokens: int
    rendered_tokens: int
    heading_path: tuple[str, ...]
    context: str
    flags: tuple[str, ...]
    flag_cause: str | None
    flag_detail: str | None
    unheld_before: int | None
    cuts: tuple[Cut, ...]

    def pieces(self) -> Iterator[Stretch | Cut]:
        """The text in stretches, and the cut points between them, in order; the stretches' texts make up the text."""
        done = 0
        for cut in (*self.cuts, None):
            end = len(self.text) if cut is None else cut.at
            for stop, repeats in ((min(self.overlap_chars, end), True), (end, False)):
                if stop > done:
                    yield Stretch(self.text[done:stop], repeats)
                    done = stop
            if cut is not None:
                yield cut


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The chunks of one document, in its order; all of them, or those that were asked for."""

    doc_id: str
    chunks: tuple[ChunkView, ...]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"view_version": VIEW_VERSION, **asdict(self)}


def document_view(ledger: Ledger, doc_id: str) -> DocumentView | None:
    """The document as its chunks hold it; None where the ledger has no such document."""
    return next(document_views(ledger, {doc_id: None}), None)


def document_views(ledger: Ledger, wanted: Mapping[str, Collection[int] | None]) -> Iterator[DocumentView]:
    """Some documents, in the order of the ledger's parts; those that it does not have are left out.

    Only parts that may hold one of them are read, and one document at a time is in memory.

    Args:
        ledger: which has them.
        wanted: by document id the indexes of the chunks that are wanted; None is all.
    """
    for part in ledger.parts():
        doc_ids = sorted(doc_id for doc_id in wanted if part.first <= doc_id <= part.last)
        if not doc_ids:
            continue
        tables = records_of_documents(part.path, doc_ids, _COLUMNS, "chunk")
        rows = (row for table in tables for row in _wanted(table, wanted).to_pylist())
        for doc_id, chunks in groupby(rows, key=lambda row: str(row["doc_id"])):
            yield DocumentView(doc_id, _chunk_views(list(chunks)))


def _wanted(table: pa.Table, wanted: Mapping[str, Collection[int] | None]) -> pa.Table:
    """The records of the table that are wanted; of the others no text becomes an object."""
    places = zip(table.column("doc_id").to_pylist(), table.column("chunk_index").to_pylist(), strict=True)
    chosen = [(indexes := wanted[doc_id]) is None or index in indexes for doc_id, index in places]
    return table if all(chosen) else table.filter(pa.array(chosen))


def _chunk_views(rows: list[_Row]) -> tuple[ChunkView, ...]:
    return tuple(_chunk_view(row, before) for row, before in zip(rows, [None, *rows], strict=False))


def _chunk_view(row: _Row, before: _Row | None) -> ChunkView:
    cuts = zip(*(row[f"boundary_{name}"] for name in ("chars", "kinds", "tokens", "rendered_tokens")), strict=True)
    return ChunkView(
        chunk_index=row["chunk_index"],
        **{name: row[name] for name in _KEPT},
        heading_path=tuple(row["heading_path"]),
        context=row["context"],
        flags=tuple(row["flags"]),
        flag_cause=row["flag_cause"],
        flag_detail=row["flag_detail"],
        unheld_before=_unheld(row, before),
        cuts=tuple(Cut(*cut) for cut in cuts),
    )


def _unheld(row: _Row, before: _Row | None) -> int | None:
    """Characters between a chunk and the one before it that neither of them accounts for."""
    if row["char_start"] is None:
        return None
    if before is None:
        return int(row["char_start"]) if row["chunk_index"] == 0 else None
    if before["char_end"] is None or before["chunk_index"] + 1 != row["chunk_index"]:
        return None
    return max(0, int(row["char_start"] - before["char_end"] - len(before["gap_after"])))
