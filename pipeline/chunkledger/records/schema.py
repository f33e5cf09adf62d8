"""The columns of a chunk record: names, types, meanings. Fixed, never inferred from data."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

SCHEMA_VERSION = 1
"""Grows whenever a column's name, type or meaning changes."""

_TEXT_LIST = pa.list_(pa.field("element", pa.string()))
_INT_LIST = pa.list_(pa.field("element", pa.int32()))

_COLUMNS: tuple[tuple[str, pa.DataType, bool, str], ...] = (
    ("chunk_id", pa.string(), False, "canonical UUID made from doc_id, role, text and its occurrence in the document"),
    ("doc_id", pa.string(), False, "POSIX path below its source"),
    ("doc_sha256", pa.string(), False, "hash of the document's raw bytes"),
    ("role", pa.string(), False, "chunk, or parent"),
    ("chunk_index", pa.int32(), False, "0-based place in the document"),
    ("char_start", pa.int64(), True, "first code point of the text in the document"),
    ("char_end", pa.int64(), True, "code point behind the text; document_text[char_start:char_end] == text"),
    ("line_start", pa.int32(), True, "1-based line of the first character"),
    ("line_end", pa.int32(), True, "1-based line of the last character"),
    ("text", pa.string(), False, "the exact slice of the document, blank space at its end left out"),
    ("gap_after", pa.string(), False, "the blank space up to the next chunk's text"),
    ("heading_path", _TEXT_LIST, False, "titles from the document's root to the section of the first character"),
    ("context", pa.string(), False, "repeated structure: a cut table's header lines, a cut fence's opening line"),
    ("embed_prefix", pa.string(), False, "what stands before the text when it is embedded"),
    ("kind", pa.string(), False, "mostly made of: prose, list, table, code, html, front_matter"),
    ("token_count", pa.int32(), False, "tokens of text"),
    ("embed_tokens", pa.int32(), False, "tokens of embed_prefix + text"),
    ("rendered_tokens", pa.int32(), False, "tokens of the block that the packer renders for this chunk alone"),
    ("body_tokens", pa.int32(), False, "tokens of text and the newline before the block's closing"),
    ("joined_tokens", pa.int32(), True, "tokens that this chunk adds to a block that goes on with its successor"),
    ("overlap_chars", pa.int32(), False, "code points at the start of text that repeat the end of the previous chunk"),
    ("boundary_chars", _INT_LIST, False, "offsets into text, ascending, where it may be cut"),
    ("boundary_kinds", _TEXT_LIST, False, "what ends there"),
    ("boundary_tokens", _INT_LIST, False, "tokens of text[:boundary]"),
    ("boundary_rendered_tokens", _INT_LIST, False, "rendered tokens of the chunk cut there, marker included"),
    ("flags", _TEXT_LIST, False, "over_slot, over_share, over_max, under_min"),
    ("flag_cause", pa.string(), True, "the structure to blame for the flags"),
    ("flag_detail", pa.string(), True, "how much of it there is"),
    ("parent_id", pa.string(), True, "the parent's chunk_id"),
    ("template", pa.string(), False, "the template that rendered counts are of"),
    ("encoding", pa.string(), False, "the tokenizer that counts are of"),
    ("encoding_sha256", pa.string(), False, "fingerprint of its ranks, pattern and special tokens"),
    ("settings_sha256", pa.string(), False, "fingerprint of every setting that a column depends on"),
    ("metadata", pa.string(), False, "front matter and source metadata, a JSON object"),
)

COLUMNS = tuple(name for name, _, _, _ in _COLUMNS)
"""Column names in order."""

COUNT_COLUMNS = (
    "token_count", "embed_tokens", "rendered_tokens", "body_tokens", "joined_tokens", "boundary_tokens",
    "boundary_rendered_tokens", "encoding_sha256",
)  # fmt: skip
"""Columns that every further encoding has too, under their name, `_` and its own."""

_METADATA = {"chunkledger.schema_version": str(SCHEMA_VERSION)}

SCHEMA = pa.schema(
    [pa.field(name, kind, nullable, {"description": meaning}) for name, kind, nullable, meaning in _COLUMNS],
    metadata=_METADATA,
)
"""The Arrow schema of a ledger's records, with one encoding."""


def schema_of(further_encodings: Sequence[str]) -> pa.Schema:
    """The Arrow schema of records with the counts of further encodings.

    >>> schema_of(["cl100k_base"]).names[-1]
    'encoding_sha256_cl100k_base'
    """
    fields = [
        field.with_name(f"{field.name}_{encoding}").with_metadata(
            {"description": f"{field.metadata[b'description'].decode()}, under {encoding}"}
        )
        for encoding in further_encodings
        for field in map(SCHEMA.field, COUNT_COLUMNS)
    ]
    return pa.schema([*SCHEMA, *fields], metadata=_METADATA)


KINDS = ("prose", "list", "table", "code", "html", "front_matter")
"""Values of `kind`."""
