"""Summary -> the sentences that a page begins with: good or bad, how many, because of what, where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from chunkledger.outliers.page.shown import short, visible
from chunkledger.outliers.summary import Summary
from chunkledger.settings import Settings

_CAUSES = {
    "table": "tables",
    "code": "code",
    "list": "lists",
    "html": "HTML",
    "front_matter": "front matter",
    "unbroken_prose": "long paragraphs",
    "short_document": "short documents",
    "short_section": "short sections",
    "grapheme": "characters over the limit",
    "foreign": "cuts of another splitter",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One of the figures that stand at the top; `flag` finds its chunks in the table."""

    flag: str
    chunks: int
    name: str
    meaning: str
    level: Literal["good", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the page says first."""

    level: Literal["good", "warn", "bad"]
    title: str
    lead: str


def called(cause: str) -> str:
    """What people call it."""
    return _CAUSES.get(cause, cause)


def keys(found: Summary, settings: Settings) -> tuple[Key, ...]:
    """How many chunks have each flag, the worst first."""
    counts = _by_flag(found)
    each = (
        ("over_slot", f"over the slot, {settings.slot_tokens:,}", "can never be packed whole", "bad"),
        ("over_share", f"over their share, {settings.share_tokens:,}", "crowd others out of the slot", "warn"),
        ("over_max", f"over the limit, {settings.max_tokens:,}", "the embedder may cut them off", "bad"),
        ("under_min", f"below {settings.min_tokens:,}", "say little for their header", "warn"),
    )
    return tuple(
        Key(flag, counts[flag], name, meaning, level if counts[flag] else "good")  # type: ignore[arg-type]
        for flag, name, meaning, level in each
    )


def verdict(found: Summary, settings: Settings) -> Verdict:
    """What the page says first of a ledger."""
    if not found.chunks:
        return Verdict("warn", "No chunks to report on", "This run of the ledger holds no documents.")
    all_chunks = "The only chunk suits" if found.chunks == 1 else f"All {found.chunks:,} chunks suit"
    if not found.flagged:
        largest = found.percentiles["rendered_tokens"]["max"]
        return Verdict(
            "good",
            f"{all_chunks} the slot",
            f"The largest takes {largest:,} tokens of a share of {settings.share_tokens:,}; none is below "
            f"{settings.min_tokens:,} or over the limit of {settings.max_tokens:,}.",
        )
    counts = _by_flag(found)
    is_bad = counts["over_slot"] or counts["over_max"]
    subject = f"{found.flagged:,} of {found.chunks:,} chunks do" if found.chunks > 1 else "The only chunk does"
    title = f"{subject} not suit the slot"
    return Verdict("bad" if is_bad else "warn", title, " ".join(_lead(found, counts, settings)))


def _lead(found: Summary, counts: Counter[str], settings: Settings) -> list[str]:
    said = []
    if counts["over_slot"]:
        said.append(f"{counts['over_slot']:,} can never be packed whole into {settings.slot_tokens:,} tokens.")
    elif counts["over_share"]:
        said.append(f"None is too large for the slot itself, but {counts['over_share']:,} for a share of it.")
    elif counts["over_max"]:
        said.append(f"{counts['over_max']:,} can't be cut down to the limit of {settings.max_tokens:,}.")
    else:
        said.append("None is too large for its share of the slot; they are too small.")
    causes: Counter[str] = Counter()
    for entry in found.flags:
        causes[entry.cause] = max(causes[entry.cause], entry.chunks)  # a chunk with two flags has one cause
    cause, chunks = causes.most_common(1)[0]
    name = called(cause)
    said.append(f"The most frequent cause: {name}, {chunks:,}." if len(causes) > 1 else f"The only cause: {name}.")
    worst = found.worst[0]
    where = visible(short(worst.doc_id, 60))
    if worst.flagged == found.flagged:
        return [*said, f"{'It is' if found.flagged == 1 else 'All are'} in {where}."]
    return [*said, f"{where} has the most, {worst.flagged:,}."]


def _by_flag(found: Summary) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in found.flags:
        counts[entry.flag] += entry.chunks
    return counts
