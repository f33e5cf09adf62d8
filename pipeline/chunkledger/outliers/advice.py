"""Causes of outliers -> what to change, and the command that shows what would change."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from chunkledger.settings import Settings

_ROUND = 10
_LEAST_LIMIT = 32
"""Below, a limit is no remedy that anybody would try."""
TOO_BIG = {
    "table": "tables are cut between rows, and only where they do not fit; a lower limit makes smaller parts of them "
    "(the header travels along), and so do fewer or shorter columns",
    "code": "listings are cut at blank or least indented lines, and only where they do not fit; a lower limit makes "
    "smaller parts of them, or part them in the document",
    "list": "lists are cut between items; a lower limit makes smaller parts of them, or part long items in the "
    "document",
    "html": "markup is cut by its lines; convert it to Markdown, or lower the limit",
    "unbroken_prose": "long passages of prose; a lower limit cuts them between paragraphs, or at sentences",
    "front_matter": "front matter is a chunk of its own; move out of it what nobody retrieves, or lower the limit",
    "grapheme": "one character that has more tokens than the limit; raise the limit, or take it out of the document",
    "foreign": "their splitter could have cut between paragraphs, and did not; lower its size",
}
"""Cause -> what makes such chunks, and what makes fewer of them."""
TOO_SMALL = {
    "short_document": "whole documents that are this short; join them, leave them out (--exclude), or call smaller "
    "chunks good (--min-tokens)",
    "short_section": "what is left between strong borders, or behind full chunks; a larger limit leaves less of it, or "
    "call smaller chunks good (--min-tokens)",
}
_GIVEN_TOO_BIG = "their splitter does not open {what}: lower its size, or give it one that knows this structure"
_GIVEN_TOO_SMALL = "their splitter leaves small pieces: let it merge them with their neighbours"
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
    """The largest limit, rounded down, with which chunks like these would not be over their share of the slot."""
    around = int((chunks["rendered_tokens"] - chunks["embed_tokens"]).max() or 0)  # type: ignore[arg-type]
    return min(settings.max_tokens, settings.share_tokens - around) // _ROUND * _ROUND


def limit_is_over_share(settings: Settings, around: int) -> bool:
    """Whether a chunk that is as large as it may be is over its share of the slot, with what rendering adds."""
    return settings.max_tokens + around > settings.share_tokens


def _most(chunks: pl.DataFrame, column: str) -> int:
    return int(chunks[column].max() or 0)  # type: ignore[arg-type]


def meanings() -> Mapping[str, str]:
    """Every cause, and what it means for chunks of our own."""
    return {**TOO_BIG, **TOO_SMALL}
