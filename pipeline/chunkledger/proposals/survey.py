"""A source -> what is in it, as far as settings depend on it: names, sizes, and the first bytes of some files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from chunkledger.documents.columns import Columns, columns_of
from chunkledger.documents.entries import Entries, Listing
from chunkledger.documents.files import content
from chunkledger.documents.formats import TABLE_SUFFIXES, suffix_of
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, MOST_DOCUMENT_BYTES, Selection, Source
from chunkledger.documents.tables import is_parquet
from chunkledger.proposals import text_encodings
from chunkledger.proposals.clutter import Clutter, clutter
from chunkledger.proposals.text_encodings import proposed_encoding
from chunkledger.remote.urls import is_url

MOST_TEXTS, MOST_TABLES = 2000, 500
"""Files that are opened; of more, these many spread over all of them."""

_Item = TypeVar("_Item")


class Kind(NamedTuple):
    """Files that are read in one way.

    Attributes:
        name: a format, or the suffix of tables.
        files: how many.
        size: of all, in bytes.
        largest: document id of the largest.
        largest_size: of that, in bytes.
    """

    name: str
    files: int
    size: int
    largest: str
    largest_size: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What is in a source. Figures and names are of what is left when `clutter` that is sure is shut out.

    Attributes:
        kinds: files that are read, by name of the kind.
        not_read: how many files are not, by status and reason.
        large: documents over the default limit of bytes, the largest first, each with its size.
        not_text: files that are no UTF-8, by what they may be in, as `proposed_encoding` has it.
        columns: of each table that was looked at; None where nothing can be told.
        clutter: folders that should be shut out.
        texts_opened: how many of the texts were opened.
        tables_opened: how many of the tables.
    """

    kinds: tuple[Kind, ...]
    not_read: Mapping[tuple[str, str], int]
    large: tuple[tuple[str, int], ...]
    not_text: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, Columns | None]
    clutter: tuple[Clutter, ...]
    texts_opened: int
    tables_opened: int


def survey(source: Source, without: Path | None = None) -> Survey:
    """Look at a source. All of it is listed; of some thousand files at most, the first bytes are read.

    Args:
        source: what to look at.
        without: a file that is not to be seen, be it there or not.

    Raises:
        SourceError: it can't be listed.
    """
    found = listed([source], Selection(max_document_bytes=MOST_DOCUMENT_BYTES))
    if without is not None and not is_url(source.path):
        _forget(found, source, without)
    tangled = _clutter(found, source)
    globs = tuple(pattern for each in tangled if each.is_sure for pattern in each.globs)
    left = _without(found, Selection(exclude=globs))
    texts, tables = _some(left.entries, MOST_TEXTS), _some(left.tables, MOST_TABLES)
    files = [(entry.doc_id, entry.path) for entry in texts]
    files += [(table.doc_id, table.path) for table in tables if not is_parquet(table.path)]
    large = [(entry.doc_id, entry.size) for entry in left.entries if entry.size > MAX_DOCUMENT_BYTES]
    return Survey(
        kinds=_kinds(left),
        not_read=Counter((finding.status, finding.reason.partition(";")[0]) for finding in left.findings),
        large=tuple(sorted(large, key=lambda each: (-each[1], each[0]))),
        not_text=_not_text(files),
        columns={table.doc_id: columns_of(table.path) for table in tables},
        clutter=tuple(tangled),
        texts_opened=len(texts),
        tables_opened=len(tables),
    )


def _forget(found: Listing, source: Source, path: Path) -> None:
    """Take a file out of the listing, as though it were not there."""
    real = os.path.realpath(path)
    found.entries = Entries(entry for entry in found.entries if entry.path != real)
    found.tables = [table for table in found.tables if table.path != real]
    root = os.path.realpath(source.path)
    below = source.doc_id(os.path.relpath(real, root)) if real.startswith(f"{root}/") else source.doc_id(path.name)
    found.findings = [finding for finding in found.findings if finding.doc_id != below]


def _clutter(found: Listing, source: Source) -> list[Clutter]:
    read = [*(entry.doc_id for entry in found.entries), *(table.doc_id for table in found.tables)]
    failed = [finding.doc_id for finding in found.findings if finding.status == "failed"]
    skipped = [finding.doc_id for finding in found.findings if finding.status != "failed"]
    return clutter([*read, *failed], skipped, source.doc_id(""))


def _without(found: Listing, selection: Selection) -> Listing:
    return Listing(
        Entries(entry for entry in found.entries if not selection.excludes(entry.doc_id)),
        [table for table in found.tables if not selection.excludes(table.doc_id)],
        [finding for finding in found.findings if not selection.excludes(finding.doc_id)],
    )


def _kinds(found: Listing) -> tuple[Kind, ...]:
    sizes: dict[str, list[tuple[int, str]]] = {}
    for entry in found.entries:
        sizes.setdefault(entry.format, []).append((entry.size, entry.doc_id))
    for table in found.tables:
        name = "Parquet tables" if is_parquet(table.path) else "JSON Lines tables"
        sizes.setdefault(name, []).append((table.size, table.doc_id))
    made = []
    for name, each in sorted(sizes.items()):
        size, doc_id = min(each, key=lambda pair: (-pair[0], pair[1]))
        made.append(Kind(name, len(each), sum(pair[0] for pair in each), doc_id, size))
    return tuple(made)


def _some(items: Sequence[_Item], most: int) -> Sequence[_Item]:
    """At most so many of the items, spread over all of them."""
    if len(items) <= most:
        return items
    return [items[number * len(items) // most] for number in range(most)]


def _not_text(files: Sequence[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for doc_id, path in files:
        try:
            encoding = proposed_encoding(content(path, text_encodings.FIRST_BYTES))
        except OSError:  # ingest names it
            continue
        # Lines are told apart by bytes: of a table in UTF-16, `columns` says that nothing can be told.
        if encoding and not (encoding.startswith("utf") and suffix_of(path) in TABLE_SUFFIXES):
            found.setdefault(encoding, []).append(doc_id)
    return {encoding: tuple(ids) for encoding, ids in sorted(found.items())}
