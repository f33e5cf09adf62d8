"""Records -> what is wrong with them: every count recounted with the reference tokenizer, ids and offsets recomputed.

This is the slow, obvious version of what the stations do: it builds each string and counts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from chunkledger.counting.reference import reference_counts
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.packer.render import TEMPLATES, defused, render_block, template_named
from chunkledger.records.ids import chunk_ids

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One value of one record that is not what it should be."""

    doc_id: str
    chunk_index: int
    column: str
    stored: object
    expected: object

    def __str__(self) -> str:
        return f"{self.doc_id} chunk {self.chunk_index}: {self.column} is {self.stored!r}, should be {self.expected!r}"


def count_mismatches(rows: Iterable[Row], following: Mapping[str, Row | None]) -> Iterator[Mismatch]:
    """Every count of every record that differs from tiktoken's count of the string that it is of.

    Args:
        rows: records with all columns.
        following: chunk_id -> the next record of its document, for `joined_tokens`; ids that are left out are not
            checked for it.
    """
    for encoding, group in groupby(rows, key=lambda row: str(row["encoding"])):
        for row in group:
            yield from _compared(row, encoding, following)


def _compared(row: Row, encoding: str, following: Mapping[str, Row | None]) -> Iterator[Mismatch]:
    for column, known in (("encoding", tuple(VOCABULARIES)), ("template", tuple(TEMPLATES))):
        if row[column] not in known:
            yield Mismatch(row["doc_id"], row["chunk_index"], column, row[column], known)
            return
    named = list(_strings(row))
    joined = _joined_string(row, following)
    if joined is not None:
        named.append(("joined_tokens", row["joined_tokens"], joined))
    counts = reference_counts([text for _, _, text in named], encoding).tolist()
    for (column, stored, _), expected in zip(named, counts, strict=True):
        if stored != expected:
            yield Mismatch(row["doc_id"], row["chunk_index"], column, stored, expected)


def _strings(row: Row) -> Iterator[tuple[str, Any, str]]:
    """Column, stored count, and the string that it counts."""
    text = row["text"]
    template = template_named(row["template"])
    yield "token_count", row["token_count"], text
    yield "embed_tokens", row["embed_tokens"], row["embed_prefix"] + text
    yield "rendered_tokens", row["rendered_tokens"], _block(row, text)
    yield "body_tokens", row["body_tokens"], f"{defused(text, template)}\n"
    lists = (row["boundary_chars"], row["boundary_tokens"], row["boundary_rendered_tokens"])
    for number, (place, tokens, rendered) in enumerate(zip(*lists, strict=False)):  # lengths: _boundary_mismatches
        yield f"boundary_tokens[{number}]", tokens, text[:place]
        yield f"boundary_rendered_tokens[{number}]", rendered, _block(row, text[:place], truncated=True)


def _block(row: Row, text: str, *, truncated: bool = False) -> str:
    return render_block(
        number=1,
        source=row["doc_id"],
        heading_path=row["heading_path"],
        context=row["context"],
        text=text,
        template=template_named(row["template"]),
        truncated=truncated,
    )


def _joined_string(row: Row, following: Mapping[str, Row | None]) -> str | None:
    """The slice of the document up to the next chunk's start; None where there is nothing to compare."""
    if row["joined_tokens"] is None or row["chunk_id"] not in following:
        return None
    successor = following[row["chunk_id"]]
    if successor is None:
        return ""  # a last chunk has no joined count: comparing with the empty string reports it
    if row["char_start"] is None or successor["char_start"] is None:
        return None
    if successor["overlap_chars"]:
        return str(row["text"][: successor["char_start"] - row["char_start"]])
    return str(row["text"] + row["gap_after"])


def document_mismatches(rows: Sequence[Row]) -> Iterator[Mismatch]:
    """What is wrong within one document: ids, numbering, the chain of offsets, boundaries.

    Args:
        rows: all records of role chunk of one document, in order.
    """
    ids = chunk_ids(rows[0]["doc_id"], rows[0]["role"], (row["text"] for row in rows))
    for number, (row, chunk_id) in enumerate(zip(rows, ids, strict=True)):
        expected: list[tuple[str, object]] = [("chunk_id", chunk_id), ("chunk_index", number)]
        if row["char_start"] is not None:
            expected.append(("char_end", row["char_start"] + len(row["text"])))
        for column, value in expected:
            if row[column] != value:
                yield Mismatch(row["doc_id"], number, column, row[column], value)
        if row["gap_after"].strip():
            yield Mismatch(row["doc_id"], number, "gap_after", row["gap_after"], "blank space")
        yield from _boundary_mismatches(row)
    for row, successor in pairwise(rows):
        if row["char_start"] is not None and row["char_end"] is not None:
            yield from _chain_mismatches(row, successor)


def _chain_mismatches(row: Row, successor: Row) -> Iterator[Mismatch]:
    """Offsets of neighbours: end plus gap is the next start, or the next text repeats the end by its overlap."""
    start, overlap = successor["char_start"], successor["overlap_chars"]
    expected = row["char_end"] - overlap if overlap else row["char_end"] + len(row["gap_after"])
    if start != expected:
        yield Mismatch(successor["doc_id"], successor["chunk_index"], "char_start", start, expected)
    elif overlap and row["text"][-overlap:] != successor["text"][:overlap]:
        yield Mismatch(
            successor["doc_id"],
            successor["chunk_index"],
            "overlap_chars",
            successor["text"][:overlap],
            row["text"][-overlap:],
        )
    if overlap and row["gap_after"]:
        yield Mismatch(row["doc_id"], row["chunk_index"], "gap_after", row["gap_after"], "")


def _boundary_mismatches(row: Row) -> Iterator[Mismatch]:
    places = row["boundary_chars"]
    for column in ("boundary_kinds", "boundary_tokens", "boundary_rendered_tokens"):
        if len(row[column]) != len(places):
            yield Mismatch(row["doc_id"], row["chunk_index"], column, row[column], f"{len(places)} values")
    if any(not 0 < place < len(row["text"]) for place in places) or sorted(set(places)) != list(places):
        yield Mismatch(row["doc_id"], row["chunk_index"], "boundary_chars", places, "ascending offsets inside the text")
    for place, kind in zip(places, row["boundary_kinds"], strict=False):
        before = row["text"][:place]
        if kind != "sentence" and not before.endswith(("\n", "\r")):
            yield Mismatch(row["doc_id"], row["chunk_index"], "boundary_chars", place, "the start of a line")
        if kind == "sentence" and before != before.rstrip():
            yield Mismatch(row["doc_id"], row["chunk_index"], "boundary_chars", place, "the end of a sentence")
