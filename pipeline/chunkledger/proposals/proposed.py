"""What is in a source -> the settings that it calls for, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkledger.documents.columns import Columns
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, MOST_DOCUMENT_BYTES
from chunkledger.proposals.clutter import Clutter
from chunkledger.proposals.survey import Survey
from chunkledger.proposals.text_encodings import BINARY, FIRST_BYTES, UNKNOWN
from chunkledger.settings import Settings

_MOST_NAMED = 5
_OTHERS = ("shift_jis", "gb18030", "euc_kr", "cp1251")
"""The commonest encodings of texts that are in none of those that bytes tell."""
_DEFAULT = Settings()
_ID_NAMES = (
    ("id",),
    ("_id", "doc_id", "docid", "document_id", "uuid", "uid", "guid"),
    ("key", "url", "uri", "path", "file", "filename", "slug", "name"),
)
_TEXT_NAMES = (("text",), ("body", "content", "contents", "markdown", "document", "passage", "article"))
"""What such columns are called, in lower case; where none of one group is there, the next one counts."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a source says about one setting.

    Attributes:
        reasons: lines that say why.
        value: what it should be; None where only a person can tell.
        candidates: values to choose from.
    """

    reasons: tuple[str, ...]
    value: object = None
    candidates: tuple[object, ...] = ()


def proposals(found: Survey) -> dict[str, Proposal]:
    """The settings and options of a run that the source calls for, by name. None is a guess: those are candidates.

    >>> proposals(Survey((), {}, (("a.txt", 9_000_000),), {}, {}, (), 0, 0))["max_document_bytes"]
    Proposal(reasons=('over the default: a.txt (9,000,000 bytes)',), value=16777216, candidates=())
    """
    made = {**_columns(found.columns)}
    if found.large:
        made["max_document_bytes"] = _limit(found.large)
    if found.not_text:
        made["source_encoding"] = _encoding(found.not_text)
    if found.clutter:
        made["exclude"] = _exclude(found.clutter)
    return made


def named(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _limit(large: Sequence[tuple[str, int]]) -> Proposal:
    # A power of two, so that a document that grows a little does not fail the next night.
    value = MAX_DOCUMENT_BYTES
    while value < large[0][1]:
        value *= 2
    names = [f"{doc_id} ({size:,} bytes)" for doc_id, size in large]
    return Proposal((f"over the default: {named(names)}",), min(value, MOST_DOCUMENT_BYTES))


def _encoding(not_text: Mapping[str, Sequence[str]]) -> Proposal:
    reasons = []
    for encoding, names in not_text.items():
        what = {
            UNKNOWN: "not UTF-8, and hardly cp1252; of what else it may be, some are below",
            BINARY: "no text, it seems",
        }.get(encoding, f"not UTF-8; {encoding} is possible, look whether the words are right")
        reasons.append(f"{what}: {named(names)}")
    candidates = tuple(encoding for encoding in not_text if encoding not in (UNKNOWN, BINARY))
    if UNKNOWN in not_text:
        candidates += _OTHERS
    return Proposal((f"looked at is the first {FIRST_BYTES // 1024} KB of a file", *reasons), None, candidates)


def _exclude(found: Sequence[Clutter]) -> Proposal:
    sure = [each for each in found if each.is_sure]
    doubtful = [each for each in found if not each.is_sure]
    reasons = [f"{each.globs[0]}: {each.reason}, {each.documents:,} of their files would be documents" for each in sure]
    reasons += [f"{each.globs[0]}: {each.reason}? {each.documents:,} of their files are documents" for each in doubtful]
    globs = [pattern for each in sure for pattern in each.globs]
    candidates = ([*globs, *(pattern for each in doubtful for pattern in each.globs)],) if doubtful else ()
    return Proposal(tuple(reasons), globs or None, candidates)


def _columns(tables: Mapping[str, Columns | None]) -> dict[str, Proposal]:
    """The columns of ids and texts, where the default ones do not fit all tables."""
    known = {doc_id: columns for doc_id, columns in tables.items() if columns}
    id_column, text_column = _DEFAULT.id_column, _DEFAULT.text_column
    others = [doc_id for doc_id, each in known.items() if id_column not in each.ids or text_column not in each.texts]
    if not others:
        return {}
    first = next(iter(known.values()))
    ids = [name for name in first.ids if all(name in each.ids for each in known.values())]
    texts = [name for name in first.texts if all(name in each.texts for each in known.values())]
    chosen_text = _chosen([name for name in texts if [name] != ids], _TEXT_NAMES)
    chosen_id = _chosen([name for name in ids if name != chosen_text], _ID_NAMES)
    why = f"the default columns are not those of {named(others)}"
    if chosen_id and chosen_text:
        values = {"id_column": chosen_id, "text_column": chosen_text}
        reasons = (why, f"{chosen_id} and {chosen_text} fit all {len(known):,} tables that were looked at")
        return {name: Proposal(reasons, value) for name, value in values.items() if value != getattr(_DEFAULT, name)}
    if ids and texts:
        reasons = (why, "which ones of these is meant can't be told")
        return {"id_column": Proposal(reasons, None, tuple(ids)), "text_column": Proposal(reasons, None, tuple(texts))}
    reasons = (why, "no pair fits all tables; those that one fits can be ingested by themselves")
    each_ids = tuple(f"{doc_id}: {named(known[doc_id].ids) or 'none'}" for doc_id in others[:_MOST_NAMED])
    each_texts = tuple(f"{doc_id}: {named(known[doc_id].texts) or 'none'}" for doc_id in others[:_MOST_NAMED])
    return {"id_column": Proposal(reasons + each_ids), "text_column": Proposal(reasons + each_texts)}


def _chosen(names: Sequence[str], groups: Sequence[Sequence[str]]) -> str | None:
    """The one name that can be meant; None where there are several or none."""
    for group in groups:
        usual = [name for name in names if name.lower() in group]
        if usual:
            return usual[0] if len(usual) == 1 else None
    return names[0] if len(names) == 1 else None
