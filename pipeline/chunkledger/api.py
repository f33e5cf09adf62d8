"""Chunks of one text, without a ledger."""

from __future__ import annotations

import hashlib

from chunkledger.documents.decoding import repaired
from chunkledger.model import Chunk, Document, Format
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.settings import Settings


def chunk_text(
    text: str, settings: Settings | None = None, *, format: Format = "markdown", doc_id: str = "text"
) -> list[Chunk]:
    r"""The chunks of one text, in order, with everything that a record of a ledger says.

    Args:
        text: the document. A byte order mark at its start is dropped; NUL and lone surrogates become U+FFFD, one for
            one; offsets are into the text after that.
        settings: sizes, encoding, template; the defaults where None.
        format: `markdown`, `rst` or `plain`.
        doc_id: what the chunks' ids and rendered headers are made with.

    Raises:
        TypeError: `text` is no string.
        ValueError: an unknown format.

    >>> [chunk] = chunk_text("# Rates\n\nTen a day.\n")
    >>> chunk.text, chunk.token_count, chunk.heading_path
    ('# Rates\n\nTen a day.', 7, ['Rates'])
    """
    if format not in ("markdown", "rst", "plain"):
        raise ValueError(f"format must be 'markdown', 'rst' or 'plain', not {format!r}")
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}; decode bytes first")
    clean, _ = repaired(text.removeprefix("\ufeff"))
    if not clean.strip():
        return []
    document = Document(doc_id, clean, hashlib.sha256(clean.encode()).hexdigest(), format)
    return [Chunk(**row) for row in chunk_batch([document], settings or Settings()).to_pylist()]
