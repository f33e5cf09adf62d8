"""Documents of chunks that another splitter has cut -> the same, each with the file that they were cut from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chunkledger.documents.entries import Entries, Listing
from chunkledger.documents.grouped import with_original
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import NO_ORIGINAL, Entry, Selection, source_of
from chunkledger.model import Finding

_NO_TABLE = "no table of chunks (.jsonl, .ndjson, .parquet), and only these are read with --chunks"
Hashes = Callable[[Sequence[Entry]], Sequence[str]]
"""From entries to their hashes; "" for one that can't be read."""


def as_chunks(listing: Listing, selection: Selection, hashes: Hashes) -> None:
    """Let a listing hold documents that are chunks, and nothing else.

    Args:
        listing: with the rows of its tables; what is no table becomes a Finding.
        selection: says where the documents are that the chunks were cut from.
        hashes: of their files.

    Raises:
        SourceError: there is no such folder, or it can't be listed.
    """
    others = [entry.doc_id for entry in listing.entries if not entry.table]
    if others:
        listing.findings += [Finding(doc_id, "skipped", _NO_TABLE) for doc_id in others]
        listing.findings.sort(key=lambda finding: (finding.doc_id, finding.row, finding.reason))
        listing.entries = Entries(entry for entry in listing.entries if entry.table)
    if selection.documents:
        names = {table.doc_id: table.source.name for table in listing.tables}
        listing.entries = _with_originals(listing.entries, names, _files(selection), hashes)


def _files(selection: Selection) -> dict[str, Entry]:
    """The documents by id; an id of a row never becomes a path, it is looked up among those that were found."""
    own = Selection(max_document_bytes=selection.max_document_bytes)
    return {entry.doc_id: entry for entry in listed([source_of(selection.documents)], own).entries}


def _with_originals(entries: Entries, names: Mapping[str, str], files: Mapping[str, Entry], hashes: Hashes) -> Entries:
    """The entries, each with its file, which goes by its id without the name of its source.

    Its stamp is none: that the table is what it was does not say that the file is.
    """
    found = [files.get(entry.doc_id.removeprefix(f"{names[entry.table]}/")) for entry in entries]
    there = [file for file in found if file is not None]
    hash_of = dict(zip((file.doc_id for file in there), hashes(there), strict=True))
    return Entries(
        entry._replace(stamp="", original=NO_ORIGINAL)
        if file is None
        else entry._replace(
            stamp="",
            original=file.path,
            sha256=with_original(entry.sha256, hash_of[file.doc_id]) if entry.sha256 and hash_of[file.doc_id] else "",
        )
        for entry, file in zip(entries, found, strict=True)
    )
