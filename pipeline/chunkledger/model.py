"""The words that every station speaks: documents, findings, chunks, and the columns that a unit hands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.uint8]

Format = Literal["markdown", "plain", "rst"]
Status = Literal["ok", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class GivenChunk:
    """A chunk that another splitter has cut.

    Attributes:
        text: as it was given; what can't be stored is U+FFFD.
        char_start, char_end: half-open span of the document, in code points; None where it is not known.
        line_start, line_end: 1-based lines of the document; None where they are not known.
        gap_after: the blank space up to the next chunk's text, where that is known to be all there is.
        overlap_chars: how much of the start of `text` repeats the end of the chunk before.
        metadata: what its row says besides; JSON values.
    """

    text: str
    char_start: int | None = None
    char_end: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    gap_after: str = ""
    overlap_chars: int = 0
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One document, read and decoded.

    Attributes:
        doc_id: POSIX path below its source.
        text: decoded, without byte order mark; NUL and lone surrogates are U+FFFD, line ends as they were.
        sha256: of the raw bytes, hexadecimal.
        format: how the text is read.
        metadata: what the source says about the document (front matter is added later); JSON values.
        chunks: those that another splitter has cut it into, in order; `text` then is empty.
    """

    doc_id: str
    text: str
    sha256: str
    format: Format
    metadata: Mapping[str, object] = field(default_factory=dict)
    chunks: tuple[GivenChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A file or row that is not in the ledger, or is not there as it was found, and why.

    Attributes:
        doc_id: what its document id is or would have been; of a row without a usable id, the id of its table.
        status: `skipped` (nothing to do about it), `failed` (a document that could not be taken), or `ok` for a
            document that was taken but repaired.
        reason: for people: what was wrong, and where.
        row: number of the row of a table, from 1; 0 where it is about a file.
        table: id of the table that holds the row; "" where it is about a file.
    """

    doc_id: str
    status: Status
    reason: str
    row: int = 0
    table: str = ""

    @property
    def message(self) -> str:
        """The reason, and the row where it is about one.

        >>> Finding("a-17", "failed", "'text' is null, not text", 3, "faq.jsonl").message
        "row 3 of faq.jsonl: 'text' is null, not text"
        """
        if not self.row:
            return self.reason
        of = f" of {self.table}" if self.table != self.doc_id else ""
        return f"row {self.row:,}{of}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents whose UTF-8 bytes are joined once. Every position between stations is a byte of `data`.

    Attributes:
        documents: in order of doc_id.
        data: the UTF-8 bytes of all texts, nothing between them.
        starts: byte where each document starts, and the length of `data` last; documents + 1 values.
        line_starts: byte where each line starts, ascending; every document's start is one.
        exotic_blanks: byte where each blank starts that is no ASCII space, tab, newline or carriage return.
        continuations: each byte that goes on a character; the rest start one.
    """

    documents: tuple[Document, ...]
    data: bytes
    starts: IntArray
    line_starts: IntArray
    exotic_blanks: IntArray
    continuations: IntArray


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a batch, by document and start, outer ones first.

    Attributes:
        start, end: half-open, bytes of `Batch.data`; a block starts where its mark or text starts (so after the
            indentation of its line) and may end with the blank lines that follow it.
        line_start: where the line starts that `start` is on.
        kind: one of `chunkledger.structure.kinds`.
        level: of a heading from 1, in Markdown up to 6; of code 1 where its first line opens it; else 0.
        depth: how many list items, quotes and footnotes hold the block.
        document: index into `Batch.documents`.
        titles: of the heading blocks, in order, as plain text.
    """

    start: IntArray
    end: IntArray
    line_start: IntArray
    kind: CodeArray
    level: CodeArray
    depth: IntArray
    document: IntArray
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenEnds:
    """Where the tokens of a batch end, each document encoded whole.

    Attributes:
        end: ascending, bytes of `Batch.data`.
    """

    end: IntArray

    def before(self, position: IntArray) -> IntArray:
        """How many tokens of the batch end at or before each byte position."""
        return np.searchsorted(self.end, position, side="right")

    def are_ends(self, position: IntArray) -> BoolArray:
        """Whether a token ends at each byte position (or nothing stands before it)."""
        return self.reach(self.before(position), position)

    def reach(self, before: IntArray, position: IntArray) -> BoolArray:
        """The same where it is known how many tokens end before each position."""
        result: BoolArray = (
            np.where(before > 0, self.end[before - 1], 0) == position if len(self.end) else position == 0
        )
        return result


@dataclass(frozen=True, slots=True)
class Cuts:
    """Places where a document may be cut, ascending.

    Attributes:
        position: byte of `Batch.data` where the next chunk would start: the start of a line.
        strength: one of `chunkledger.splitting.strengths`, 0 the strongest.
        depth: how deep in lists and quotes.
        never: whether a cut here parts what must stay together (a heading and its first block).
        document: index into `Batch.documents`.
        introducing: those (as indices) that part a line which ends in a colon from the block that it introduces.
    """

    position: IntArray
    strength: CodeArray
    depth: IntArray
    never: BoolArray
    document: IntArray
    introducing: IntArray


@dataclass(frozen=True, slots=True)
class Spans:
    """The chunks of a batch as spans, in document order.

    Attributes:
        own_start, own_end: bytes of what is new in the chunk, with the blanks behind it.
        start: byte where its text starts: `own_start`, or earlier by the overlap.
        end: byte where its text ends, blanks trimmed.
        document: index into `Batch.documents`.
        loose: whether `start` lies within a line.
    """

    own_start: IntArray
    own_end: IntArray
    start: IntArray
    end: IntArray
    document: IntArray
    loose: BoolArray


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk with everything a record says about it; the columns are described in `chunkledger.records.schema`."""

    chunk_id: str
    doc_id: str
    doc_sha256: str
    role: str
    chunk_index: int
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    text: str
    gap_after: str
    heading_path: list[str]
    context: str
    embed_prefix: str
    kind: str
    token_count: int
    embed_tokens: int
    rendered_tokens: int
    body_tokens: int
    joined_tokens: int | None
    overlap_chars: int
    boundary_chars: list[int]
    boundary_kinds: list[str]
    boundary_tokens: list[int]
    boundary_rendered_tokens: list[int]
    flags: list[str]
    flag_cause: str | None
    flag_detail: str | None
    parent_id: str | None
    template: str
    encoding: str
    encoding_sha256: str
    settings_sha256: str
    metadata: str
