"""Hits that were counted in several encodings are packed by the counts of the one that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from chunkledger.packer import pack, render
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings
from ledgers import sections
from markdown_texts import document
from recounting import tokens

Row = dict[str, Any]
SETTINGS = Settings(
    max_tokens=200, split_headings=6, encoding="cl100k_base", further_encodings=("o200k_base",), parent_tokens=600
)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Chunks of one document in a rank order that is not the document's, with a table that has to be cut."""
    table = "| a | b |\n|---|---|\n" + "".join(f"| régime {number} | / |\n" for number in range(60))
    found: list[Row] = chunk_batch([document(f"{sections(4)}\n## Rates\n\n{table}")], SETTINGS).to_pylist()
    chunks = [row for row in found if row["role"] == "chunk"]
    return [chunks[index] for index in (4, 1, 2, 0, *range(5, len(chunks)), 3)]


@pytest.mark.parametrize("encoding", SETTINGS.encodings)
@pytest.mark.parametrize("slot_tokens", [60, 150, 400, 900, 5000])
def test_used_tokens_are_those_of_the_prompt_in_each_encoding(rows: list[Row], encoding: str, slot_tokens: int) -> None:
    """Whole, cut and merged blocks."""
    for hits in (rows, [{"id": row["chunk_id"], "payload": row} for row in rows]):
        packed = pack(hits, slot_tokens, encoding=encoding, truncate="any")
        assert packed.encoding == packed.log.encoding == encoding
        assert packed.used_tokens == tokens(render(packed), encoding)


def test_counts_that_are_no_plain_numbers_are_those_of_the_encoding(rows: list[Row]) -> None:
    """The slow way of reading a column takes the same column."""

    class Count(int):
        """A whole number of another type, as numpy has them."""

    odd = [row | {name: Count(row[name]) for name in row if name.startswith("rendered_tokens")} for row in rows]
    for encoding in SETTINGS.encodings:
        assert pack(odd, 900, encoding=encoding).used_tokens == pack(rows, 900, encoding=encoding).used_tokens


def test_encoding_that_was_not_counted_is_named(rows: list[Row]) -> None:
    """Of all hits, or of one of them."""
    with pytest.raises(ValueError, match="its tokens are counts of encoding 'cl100k_base', but 'o200k_harmony' was"):
        pack(rows, 900, encoding="o200k_harmony")
    lacking = [rows[0], {name: value for name, value in rows[1].items() if not name.endswith("_o200k_base")}]
    with pytest.raises(ValueError, match=r"hit at rank 2 .* add the other with `chunkledger recount`"):
        pack(lacking, 900, encoding="o200k_base")
