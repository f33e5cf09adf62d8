"""What is to blame -> what to change. The only place that the page has advice from; commands stand in backticks."""

from __future__ import annotations

import polars as pl

from chunkledger.settings import MIN_MAX_TOKENS, Settings

_NEARLY_ALL = 0.99
"""Of the headers: one of a hundred repeats the header of a wide table, and should not make all other chunks small."""
_ADVICE = {
    "table": "A lower `--max-tokens` cuts between more of its rows; its header goes along with each part.",
    "code": "A lower `--max-tokens` cuts between its least indented lines; leave generated code out with `--exclude`.",
    "list": "A lower `--max-tokens` cuts between more items; an item as long as a section wants a heading of its own.",
    "html": "Convert the markup to Markdown, whose structure can be cut; what is left of it is cut by lines.",
    "front_matter": "Move what is long out of the front matter; it stays whole where it fits.",
    "unbroken_prose": "A lower `--max-tokens` cuts between more sentences; or plan for fewer chunks a slot.",
    "short_document": "Nothing to split: put such notes together in one document, or lower `--min-tokens`.",
    "short_section": "What is left between two strong places; raise `--target-tokens`, or lower `--min-tokens`.",
    "grapheme": "One character is larger than the limit, and can't be cut; raise `--max-tokens`.",
    "foreign": "No structure explains the size: the splitter that made the chunk can cut here; lower its own limit.",
}


def advice_for(cause: str) -> str:
    """What to change where this is to blame; empty where nothing is known to help."""
    return _ADVICE.get(cause, "")


def advice_on_limits(settings: Settings, sizes: pl.DataFrame) -> str:
    """What to change where chunks are over their share because the limit itself does not suit it; else empty.

    Args:
        settings: that the chunks were made with.
        sizes: their `embed_tokens` and `rendered_tokens`.
    """
    header = pl.col("rendered_tokens") - pl.col("embed_tokens")
    over = sizes.filter(
        (pl.col("rendered_tokens") > settings.share_tokens) & (pl.col("embed_tokens") <= settings.max_tokens)
    )
    if not len(over) or settings.max_tokens > 2 * settings.share_tokens:
        return ""
    usual, largest = over.select(
        header.quantile(_NEARLY_ALL, "higher").cast(int).alias("usual"), pl.max("rendered_tokens").alias("largest")
    ).row(0)
    limit = settings.share_tokens - usual
    if not MIN_MAX_TOKENS <= limit < settings.max_tokens:
        return ""
    slots = settings.slot_tokens // largest
    others = f", or `--slot-chunks {slots}`" if slots else ""
    return (
        f"The limit does not suit the slot: {settings.max_tokens:,} tokens and a header of up to {usual:,} are more "
        f"than a share of {settings.share_tokens:,}. Ingest with `--max-tokens {limit}`{others}."
    )
