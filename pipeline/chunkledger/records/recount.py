"""Records -> what is wrong with them: every count recounted with the reference tokenizer, ids and offsets recomputed.

This is the slow, obvious version of what the stations do: it builds each string and counts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    for row in rows:
        yield from _compared(row, str(row["encoding"]), "", following)
        for encoding in further_encodings(row):
            yield from _compared(row, encoding, f"_{encoding}", following)


def further_encodings(row: Row) -> list[str]:
    """The encodings that the record has columns of besides its own."""
    return [name.removeprefix("token_count_") for name in row if name.startswith("token_count_")]


def _compared(row: Row, encoding: str, suffix: str, following: Mapping[str, Row | None]) -> Iterator[Mismatch]:
    """The counts of one encoding, whose columns have this suffix."""
    for column, known in (("encoding", tuple(VOCABULARIES)), ("template", tuple(TEMPLATES))):
        if row[column] not in known:
            yield Mismatch(row["doc_id"], row["chunk_index"], column, row[column], known)
            return
    named = list(_strings(row, suffix))
    joined = _joined_string(row, suffix, following)
    if joined is not None:
        named.append((f"joined_tokens{suffix}", row[f"joined_tokens{suffix}"], joined))
    counts = reference_counts([text for _, _, text in named], encoding).tolist()
    for (column, stored, _), expected in zip(named, counts, strict=True):
        if stored != expected:
            yield Mismatch(row["doc_id"], row["chunk_index"], column, stored, expected)


def _strings(row: Row, suffix: str) -> Iterator[tuple[str, Any, str]]:
    """Column, stored count, and the string that it counts."""
    text = row["text"]
    template = template_named(row["template"])
    named = {
        "token_count": text,
        "embed_tokens": row["embed_prefix"] + text,
        "rendered_tokens": _block(row, text),
        "body_tokens": f"{defused(text, template)}\n",
    }
    for name, string in named.items():
        yield name + suffix, row[name + suffix], string
    lists = (row["boundary_chars"], row[f"boundary_tokens{suffix}"], row[f"boundary_rendered_tokens{suffix}"])
    for number, (place, tokens, rendered) in enumerate(zip(*lists, strict=False)):  # lengths: _boundary_mismatches
        yield f"boundary_tokens{suffix}[{number}]", tokens, text[:place]
        yield f"boundary_rendered_tokens{suffix}[{number}]", rendered, _block(row, text[:place], truncated=True)


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


def _joined_string(row: Row, suffix: str, following: Mapping[str, Row | None]) -> str | None:
    """The slice of the document up to the next chunk's start; None where there is nothing to compare."""
    if row[f"joined_tokens{suffix}"] is None or row["chunk_id"] not in following:
        return None
    successor = following[row["chunk_id"]]
    if successor is None:
        return ""  # a last chunk has no joined count: comparing with the empty string reports it
    if row["char_start"] is None or successor["char_start"] is None:
        return None
    if successor["overlap_chars"]:
        return str(row["text"][: successor["char_start"] - row["char_start"]])
    return str(row["text"] + row["gap_after"])


def document_mismatches(rows: Sequence[Row], *, given: bool = False) -> Iterator[Mismatch]:
    """What is wrong within one document: ids, numbering, the chain of offsets, boundaries.

    Args:
        rows: all records of one role of one document, in order.
        given: whether another splitter has cut them, which may have left text out.
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
        is_chained = bool(row["gap_after"] or successor["overlap_chars"] or row["joined_tokens"] is not None)
        if row["char_start"] is not None and row["char_end"] is not None and (is_chained or not given):
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
    suffixes = ["", *(f"_{encoding}" for encoding in further_encodings(row))]
    counted = [f"{name}{suffix}" for suffix in suffixes for name in ("boundary_tokens", "boundary_rendered_tokens")]
    for column in ("boundary_kinds", *counted):
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


def parent_mismatches(chunks: Sequence[Row], parents: Sequence[Row]) -> Iterator[Mismatch]:
    """What is wrong between the chunks and the parents of one document: each chunk lies in the parent it names."""
    by_id = {row["chunk_id"]: row for row in parents}
    for row in chunks:
        parent = by_id.get(row["parent_id"])
        if parent is None:
            if row["parent_id"] is not None or parents:
                yield Mismatch(row["doc_id"], row["chunk_index"], "parent_id", row["parent_id"], "a parent of it")
        elif row["char_start"] is not None and not (
            parent["char_start"] <= row["char_start"] and row["char_end"] <= parent["char_end"]
        ):
            span = (parent["char_start"], parent["char_end"])
            yield Mismatch(row["doc_id"], row["chunk_index"], "char_start", row["char_start"], f"inside {span}")
    for before, row in pairwise(chunks):
        if None not in (before["char_start"], row["char_start"]) and row["char_start"] <= before["char_start"]:
            yield Mismatch(
                row["doc_id"], row["chunk_index"], "char_start", row["char_start"], f"over {before['char_start']}"
            )
    for row in parents:
        if row["parent_id"] is not None:
            yield Mismatch(row["doc_id"], row["chunk_index"], "parent_id", row["parent_id"], None)
