"""A file or object that was found -> an entry, a table, or a Finding in a listing."""

from __future__ import annotations

from chunkledger.documents.entries import Listing
from chunkledger.documents.formats import SUFFIXES, TABLE_SUFFIXES, format_of, suffix_of, unread
from chunkledger.documents.sources import Entry, Selection, Source, TableFile, one_line
from chunkledger.model import Finding

NOT_UTF8 = "the name is not UTF-8; rename it"


class ListedFiles:
    """Puts the files of a source into a listing."""

    def __init__(self, source: Source, selection: Selection, listing: Listing) -> None:
        self.source = source
        self.selection = selection
        self.listing = listing
        self.prefix = f"{source.name}/" if source.name else ""
        self.wants_all = not selection.include and not selection.exclude

    def wanted(self, below: str) -> str | None:
        """The suffix of the file at this POSIX path below the source, if it is to be read; else what is to be told is.

        Part of a hot loop.
        """
        doc_id = self.prefix + below
        if not doc_id.isascii() and not is_storable(doc_id):
            self.listing.findings.append(Finding(one_line(doc_id), "failed", NOT_UTF8))
            return None
        suffix = suffix_of(below)
        if not self.wants_all and not self._wants(doc_id, suffix in TABLE_SUFFIXES):
            return None
        if suffix not in SUFFIXES and (finding := unread(doc_id, below)):
            self.listing.findings.append(finding)
            return None
        return suffix

    def add(self, below: str, suffix: str, path: str, size: int, mtime_ns: int, stamp: str) -> None:
        """Add a file that is wanted; the arguments are those of an `Entry`. Part of a hot loop."""
        doc_id = self.prefix + below
        how = SUFFIXES.get(suffix)
        if how is None:
            # Its rows have sizes of their own, so its size has to be told by the stamp that they share.
            whole = f"{stamp}-{size}" if stamp else ""
            self.listing.tables.append(TableFile(doc_id, path, size, mtime_ns, whole, self.source))
        elif reason := self.selection.too_large(size):
            self.listing.findings.append(Finding(doc_id, "failed", reason))
        else:
            if self.selection.format != "auto":
                how = format_of(doc_id, self.selection.format)
            self.listing.entries.append(Entry(doc_id, path, size, mtime_ns, stamp, how))

    def fail(self, below: str, reason: str) -> None:
        """Tell of a file of which it is not known what it holds; it may be a table."""
        doc_id = self.prefix + below
        self.listing.findings.append(Finding(doc_id, "failed", reason))
        self.listing.unseen.add(doc_id)

    def _wants(self, doc_id: str, is_table: bool) -> bool:
        """Whether the globs let a file pass; a table that no glob names may still hold rows that one does."""
        return not self.selection.excludes(doc_id) and (is_table or self.selection.wants(doc_id))


def is_storable(name: str) -> bool:
    """Whether UTF-8 can hold a name."""
    try:
        return name.isascii() or bool(name.encode())
    except UnicodeEncodeError:
        return False
