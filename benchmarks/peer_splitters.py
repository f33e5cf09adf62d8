"""Other packages' splitters, each made by a function that takes the encoding and the most tokens of a chunk.

Each is called as its documentation says, with tiktoken's counts and no overlap, and made to say where its chunks are.
Nothing is downloaded: vocabularies come from `reference_encoding`. The packages are imported where they are used, since
only `make peers` installs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tiktoken.registry

from chunkledger.counting.vocabulary import reference_encoding
from judging import Row

HEADINGS = [f"\n{'#' * level} " for level in range(1, 7)]
MODELS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4o"}
"""A model for each encoding: semantic-text-splitter, which has the vocabularies built in, goes by models."""

Split = Callable[[str], list[Row]]
"""The chunks of a text: text, char_start, char_end, and token_count where the splitter gives one."""


def chonkie_recursive(encoding: str, max_tokens: int) -> Split:
    """Chonkie's recursive splitter with its own rules."""
    from chonkie import RecursiveRules

    return _chonkie(encoding, max_tokens, RecursiveRules())


def chonkie_headings(encoding: str, max_tokens: int) -> Split:
    """The same with a level of headings ahead of its rules: its recipe for Markdown would have to be downloaded."""
    from chonkie import RecursiveLevel, RecursiveRules

    headings = RecursiveLevel(delimiters=HEADINGS, include_delim="next")
    return _chonkie(encoding, max_tokens, RecursiveRules([headings, *(RecursiveRules().levels or [])]))


def _chonkie(encoding: str, max_tokens: int, rules: Any) -> Split:  # noqa: ANN401 (chonkie.RecursiveRules)
    from chonkie import RecursiveChunker

    chunk = RecursiveChunker(tokenizer=reference_encoding(encoding), chunk_size=max_tokens, rules=rules).chunk
    return lambda text: [_row(made.text, made.start_index, made.end_index, made.token_count) for made in chunk(text)]


def langchain_recursive(encoding: str, max_tokens: int) -> Split:
    """LangChain's recursive splitter."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return _langchain(encoding, max_tokens, RecursiveCharacterTextSplitter)


def langchain_markdown(encoding: str, max_tokens: int) -> Split:
    """LangChain's recursive splitter with its separators for Markdown."""
    from langchain_text_splitters import MarkdownTextSplitter

    return _langchain(encoding, max_tokens, MarkdownTextSplitter)


def _langchain(encoding: str, max_tokens: int, splitter: Any) -> Split:  # noqa: ANN401 (a class of LangChain's)
    # It asks tiktoken for an encoding by its name, and tiktoken would download it.
    tiktoken.registry.ENCODINGS.setdefault(encoding, reference_encoding(encoding))
    # Without disallowed_special it looks for special tokens before each count, and stops at a text that has one.
    create = splitter.from_tiktoken_encoder(
        encoding_name=encoding, chunk_size=max_tokens, chunk_overlap=0, disallowed_special=(), add_start_index=True
    ).create_documents
    return lambda text: [_row(made.page_content, made.metadata["start_index"]) for made in create([text])]


def semantic_text_splitter(encoding: str, max_tokens: int) -> Split:
    """semantic-text-splitter's splitter of Markdown."""
    from semantic_text_splitter import MarkdownSplitter

    indices = MarkdownSplitter.from_tiktoken_model(MODELS[encoding], max_tokens).chunk_indices
    return lambda text: [_row(made, start) for start, made in indices(text)]


def semchunk(encoding: str, max_tokens: int) -> Split:
    """Semchunk's splitter."""
    from semchunk import chunkerify

    chunker = chunkerify(reference_encoding(encoding), max_tokens)
    return lambda text: [_row(made, *span) for made, span in zip(*chunker(text, offsets=True), strict=True)]


PEERS: dict[str, Callable[[str, int], Split]] = {
    "chonkie RecursiveChunker": chonkie_recursive,
    "chonkie RecursiveChunker, headings first": chonkie_headings,
    "LangChain RecursiveCharacterTextSplitter": langchain_recursive,
    "LangChain MarkdownTextSplitter": langchain_markdown,
    "semantic-text-splitter MarkdownSplitter": semantic_text_splitter,
    "semchunk": semchunk,
}


def _row(text: str, start: int, end: int | None = None, tokens: int | None = None) -> Row:
    return {
        "text": text,
        "char_start": start,
        "char_end": start + len(text) if end is None else end,
        "token_count": tokens,
    }
