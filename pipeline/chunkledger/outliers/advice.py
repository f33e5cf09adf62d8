"""Causes of outliers -> what to change, and the command that shows what would change."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from chunkledger.settings import Settings

_ROUND = 10
_NEARLY_ALL = 0.99
"""Of the headers: one of a hundred names a document at length, and should not make all other chunks small."""
_LEAST_LIMIT = 32
"""Below, a limit is no remedy that anybody would try."""
TOO_BIG = {
    "table": "A lower limit cuts between more of the rows, and the header goes along; or write fewer, shorter columns.",
    "code": "A lower limit cuts between more of the least indented lines; or leave generated code out.",
    "list": "A lower limit cuts between more items; an item as long as a section wants a heading of its own.",
    "html": "Convert the markup to Markdown, whose structure can be cut; what is left of it is cut by lines.",
    "front_matter": "Move what nobody retrieves out of the front matter; it stays whole where it fits.",
    "unbroken_prose": "A lower limit cuts between more paragraphs and sentences; or plan for fewer chunks a slot.",
    "grapheme": "One character has more tokens than the limit and can't be cut: raise the limit, or mend the document.",
    "foreign": "The splitter could have cut between paragraphs, and did not: lower its size.",
}
"""Cause -> what makes fewer such chunks."""
TOO_SMALL = {
    "short_document": "Nothing to split: put such documents together, leave them out, or call smaller chunks good.",
    "short_section": "What is left between strong borders: a larger limit leaves less, or call smaller chunks good.",
}
_GIVEN_TOO_BIG = "The splitter does not open {what}: lower its size, or give it one that knows this structure."
_GIVEN_TOO_SMALL = "The splitter leaves small pieces: let it merge them with their neighbours."
_OPENED = {
    "table": "tables",
    "code": "listings",
    "list": "lists",
    "html": "markup",
    "unbroken_prose": "long paragraphs",
    "front_matter": "front matter",
}


@dataclass(frozen=True, slots=True)
class Advice:
    """What to change about one cause.

    Attributes:
        cause: of the flags.
        chunks: how many chunks it is to blame for.
        documents: how many documents hold them.
        what: what makes them, and what would make fewer.
        command: that shows what would change; "" where there is none.
    """

    cause: str
    chunks: int
    documents: int
    what: str
    command: str


@dataclass(frozen=True, slots=True)
class Basis:
    """What advice depends on besides the chunks.

    Attributes:
        settings: they were made with.
        ledger: as the caller named it.
        originals: where the documents are that chunks were cut from by another splitter; "" where that is not known.
    """

    settings: Settings
    ledger: str
    originals: str = ""

    def whatif(self, **options: int) -> str:
        """The command that shows what these settings would change."""
        given = [f"--{name.replace('_', '-')} {value}" for name, value in options.items()]
        sources = [shlex.quote(self.originals)] if self.settings.chunks else []
        return " ".join(["chunkledger whatif", *sources, "--against", shlex.quote(self.ledger), *given])


def advice(flagged: pl.DataFrame, basis: Basis) -> tuple[Advice, ...]:
    """What to do about each cause, the most frequent first.

    Args:
        flagged: the flagged chunks.
        basis: what they were made with.
    """
    counted = flagged.group_by("flag_cause").agg(
        pl.len().alias("chunks"), pl.col("doc_id").n_unique().alias("documents")
    )
    ranked = counted.sort(["chunks", "flag_cause"], descending=[True, False])
    of = {key[0]: group for key, group in flagged.group_by("flag_cause")}
    # One limit for all that are too big: it is one setting.
    too_big = flagged.filter(pl.col("flag_cause").is_in(list(TOO_BIG)))
    limit = fitting_limit(too_big, basis.settings)
    return tuple(
        Advice(cause, chunks, documents, *_advice(str(cause), of[cause], limit, basis))
        for cause, chunks, documents in ranked.rows()
    )


def _advice(cause: str, chunks: pl.DataFrame, limit: int, basis: Basis) -> tuple[str, str]:
    if basis.settings.chunks:
        return _of_given(cause, limit, basis)
    if cause == "grapheme":
        return TOO_BIG[cause], basis.whatif(max_tokens=_most(chunks, "embed_tokens"))
    if cause in TOO_SMALL:
        return TOO_SMALL[cause], basis.whatif(min_tokens=max(1, int(chunks["token_count"].median() or 0)))  # type: ignore[arg-type]
    if limit >= _LEAST_LIMIT:
        return TOO_BIG.get(cause, ""), basis.whatif(max_tokens=limit)
    share = _most(chunks, "rendered_tokens")
    return TOO_BIG.get(cause, ""), basis.whatif(slot_chunks=max(1, basis.settings.slot_tokens // share))


def _of_given(cause: str, limit: int, basis: Basis) -> tuple[str, str]:
    """Of chunks that another splitter has cut, what its owner can change; ours shows what it would make of it."""
    settings = basis.settings
    if cause in TOO_SMALL:
        what, size = _GIVEN_TOO_SMALL, settings.max_tokens
    else:
        what = _GIVEN_TOO_BIG.format(what=_OPENED[cause]) if cause in _OPENED else TOO_BIG.get(cause, "")
        size = min(settings.max_tokens, max(_LEAST_LIMIT, limit))
    return what, basis.whatif(max_tokens=size) if basis.originals else ""


def fitting_limit(chunks: pl.DataFrame, settings: Settings) -> int:
    """The largest limit, rounded down, with which nearly all chunks like these would be within their share."""
    return min(settings.max_tokens, settings.share_tokens - _header(chunks)) // _ROUND * _ROUND


def _header(chunks: pl.DataFrame) -> int:
    """What rendering adds to nearly all of these chunks."""
    added = (chunks["rendered_tokens"] - chunks["embed_tokens"]).quantile(_NEARLY_ALL, "higher")
    return int(added or 0)


def on_limits(chunks: pl.DataFrame, settings: Settings) -> str:
    """What is to be said where chunks are over their share because the limit itself does not suit it; else empty.

    Args:
        chunks: all of them.
        settings: that they were made with.
    """
    is_over = (pl.col("rendered_tokens") > settings.share_tokens) & (pl.col("embed_tokens") <= settings.max_tokens)
    over = chunks.filter(is_over)
    if settings.chunks or not len(over):
        return ""
    header = _header(over)
    if settings.max_tokens + header <= settings.share_tokens:
        return ""
    return (
        f"The limit does not suit the slot: {settings.max_tokens:,} tokens and a header of up to {header:,} are more "
        f"than a share of {settings.share_tokens:,}."
    )


def _most(chunks: pl.DataFrame, column: str) -> int:
    return int(chunks[column].max() or 0)  # type: ignore[arg-type]


def meanings() -> Mapping[str, str]:
    """Every cause, and what it means for chunks of our own."""
    return {**TOO_BIG, **TOO_SMALL}
