"""The columns of a record are fixed and described."""

from __future__ import annotations

import pyarrow as pa

from chunkledger.records.schema import COLUMNS, SCHEMA, SCHEMA_VERSION

CONTRACT = """
chunk_id doc_id doc_sha256 role chunk_index char_start char_end line_start line_end text gap_after heading_path context
embed_prefix kind token_count embed_tokens rendered_tokens body_tokens joined_tokens overlap_chars boundary_chars
boundary_kinds boundary_tokens boundary_rendered_tokens flags flag_cause flag_detail parent_id template encoding
encoding_sha256 settings_sha256 metadata
"""


def test_the_columns_are_those_of_the_contract() -> None:
    """Name and order of the columns are those of the contract."""
    assert list(COLUMNS) == CONTRACT.split()
    assert SCHEMA.names == list(COLUMNS)


def test_every_column_says_what_it_means() -> None:
    """Every column has a description in the schema, and the schema its version."""
    assert [field.name for field in SCHEMA if not field.metadata.get(b"description")] == []
    assert SCHEMA.metadata == {b"chunkledger.schema_version": str(SCHEMA_VERSION).encode()}


def test_types_are_plain() -> None:
    """Columns are strings, 32 or 64 bit integers, and lists of strings or 32 bit integers."""
    allowed = {pa.string(), pa.int32(), pa.int64()}
    flat = {field.type.value_type if pa.types.is_list(field.type) else field.type for field in SCHEMA}
    assert flat <= allowed


def test_what_may_be_null() -> None:
    """Null may be offsets of chunks cut elsewhere, joined counts, causes without flags, and parents."""
    expected = ["char_start", "char_end", "line_start", "line_end", "joined_tokens"]
    expected += ["flag_cause", "flag_detail", "parent_id"]
    assert [field.name for field in SCHEMA if field.nullable] == expected
