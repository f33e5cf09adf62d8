"""Sources -> the files to read, each with its document id, and what was passed over and why."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import time
from collections.abc import Callable, Sequence

from chunkledger.documents.entries import MOST_INODE, RACY, Listing
from chunkledger.documents.formats import SUFFIXES, TABLE_SUFFIXES, format_of, has_file_name, suffix_of, unread
from chunkledger.documents.globs import Glob
from chunkledger.documents.listed_files import NOT_UTF8, ListedFiles, is_storable
from chunkledger.documents.listed_objects import list_objects
from chunkledger.documents.sources import Selection, Source, one_line
from chunkledger.errors import SourceError
from chunkledger.model import Finding, Status
from chunkledger.remote.urls import is_url

_RACY_NS = 2_000_000_000
"""A file that was written to so shortly before it is looked at may be written to again in the same tick of its clock,
which then does not show (git calls it racy). The coarsest clock in use, that of FAT, ticks every two seconds."""


def listed(sources: Sequence[Source], selection: Selection, ledger: str = "") -> Listing:
    """Every file of the sources: to be read, or a Finding. Entries and tables are sorted by document id.

    Args:
        sources: where to look.
        selection: what is wanted.
        ledger: a folder or URL that is passed over, also where no run has been published in it yet.

    Raises:
        SourceError: two files have the same document id, a source can't be listed, or a glob matches nothing.
    """
    listing = Listing()
    owners: dict[tuple[str, str], int] = {}
    for number, source in enumerate(sources):
        found = Listing()
        _list(source, selection, ledger, found)
        if len(sources) > 1:
            _check_only_here(found, source, number, owners)
            listing.entries.extend(found.entries)
        else:
            listing.entries = found.entries
        listing.tables += found.tables
        listing.findings += found.findings
        listing.unseen |= found.unseen
    listing.entries = listing.entries.by_id()
    listing.tables.sort(key=lambda table: table.doc_id)
    listing.findings.sort(key=lambda finding: (finding.doc_id, finding.reason))
    _check_different(listing.entries.doc_ids, lambda place: listing.entries[place].path)
    _check_different([table.doc_id for table in listing.tables], lambda place: listing.tables[place].path)
    return listing


def _check_only_here(found: Listing, source: Source, number: int, owners: dict[tuple[str, str], int]) -> None:
    """Let a source pass of whose files none is in one before it; another name says that it is meant."""
    for path in sorted({entry.path for entry in found.entries} | {table.path for table in found.tables}):
        if owners.setdefault((path, source.name), number) != number:
            raise SourceError(f"{one_line(path)} is in two of the sources; give each only once")


def _list(source: Source, selection: Selection, ledger: str, listing: Listing) -> None:
    path = source.path
    if not is_url(path) and not os.path.isdir(path):
        _Files(source, selection, listing).take(os.path.basename(path), os.path.realpath(path))
        return
    try:
        if is_url(path):
            matched = list_objects(source, selection, ledger, listing)
        else:
            walk = _Walk(source, selection, listing, ledger)
            walk.take(path)
            matched = walk.matched
    except OSError as error:
        raise SourceError(f"{one_line(path)} can't be listed: {error.strerror or error}") from error
    if source.pattern and not matched:
        hint = "; for a bracket in a name write [[]" if "[" in source.pattern else ""
        raise SourceError(f"no file matches {one_line(os.path.join(path, source.pattern))}{hint}")


def _check_different(doc_ids: Sequence[str], path_of: Callable[[int], str]) -> None:
    """Let ids pass, in order, of which no two are equal."""
    for place, (doc_id, following) in enumerate(itertools.pairwise(doc_ids)):
        if doc_id == following:
            raise SourceError(
                f"two files would have the document id {one_line(doc_id)}: {one_line(path_of(place))} and "
                f"{one_line(path_of(place + 1))}; give one source a name, as in NAME=PATH"
            )


class _Walk:
    """One pass over a folder source."""

    def __init__(self, source: Source, selection: Selection, listing: Listing, ledger: str) -> None:
        self.source = source
        self.selection = selection
        self.listing = listing
        self.files = _Files(source, selection, listing)
        self.root = os.path.realpath(source.path)
        self.ledger = os.path.realpath(ledger) if ledger and not is_url(ledger) else ""
        self.glob = Glob(source.pattern) if source.pattern else None
        self.matched = False
        """Whether there was something that the glob means, or that could not be seen."""
        self.linked: dict[str, str] = {}
        """Real paths of the folders that were reached through a link, each with the first place of it."""

    def take(self, path: str) -> None:
        """Take everything below the source's folder.

        Raises:
            OSError: that folder can't be listed.
        """
        # A stack of our own: folders may lie deeper than Python may recurse.
        waiting: list[tuple[os.DirEntry[str], str, tuple[str, ...]]]
        waiting = [(entry, "", (self.root,)) for entry in reversed(_entries(path))]
        plain = self.files.plain
        while waiting:
            entry, below, above = waiting.pop()
            name = entry.name
            place = f"{below}/{name}" if below else name
            # Most files of most folders have nothing special about them, and there are very many.
            if plain(entry, name, place):
                continue
            if not is_storable(place):
                self._find(place, "failed", NOT_UTF8)
                continue
            if name.startswith("."):
                self._find(place, "skipped", "hidden")
                continue
            is_link = entry.is_symlink()
            # What is no link is not looked at again, and a link in a loop fails.
            is_folder = os.path.isdir(entry.path) if is_link else entry.is_dir()
            if is_folder and self.ledger and os.path.realpath(entry.path) == self.ledger:
                self._find(place, "skipped", "the ledger itself", folder=True)
            elif is_link and (trouble := self._link_trouble(entry.path, place, above)):
                self._find_link(entry.path, place, *trouble)
            elif is_folder:
                real = os.path.realpath(entry.path) if is_link else f"{above[-1]}/{name}"
                inside = self._subfolder(entry.path, place)
                chain = (*above, real)
                waiting += [(each, place, chain) for each in reversed(inside)]
            elif self.glob is None or self.glob.matches(place):
                self.matched = True
                path = os.path.realpath(entry.path) if is_link else entry.path
                self.files.take(place, path, None if is_link else entry)

    def _subfolder(self, path: str, below: str) -> list[os.DirEntry[str]]:
        """What is in a folder below the source; nothing where it is not to be read."""
        if self.glob is not None and not self.glob.may_hold(below):
            return []
        try:
            entries = _entries(path)
        except OSError as error:
            self._find(below, "failed", f"can't be listed: {error.strerror}", folder=True)
            return []
        if os.path.isdir(os.path.join(path, "_delta_log")):
            self._find(below, "skipped", "a table, not documents", folder=True)
            return []
        return entries

    def _link_trouble(self, path: str, place: str, above: tuple[str, ...]) -> tuple[Status, str] | None:
        """Why a link is not followed; None where it is.

        It must stay inside the source and not lead back to where we are; and a folder is entered through one link
        only, because folders that link to each other have more paths than could ever be walked.
        """
        target = os.path.realpath(path)
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except OSError as error:
            return "failed", "a link in a loop" if error.errno == errno.ELOOP else "broken link"
        if os.path.commonpath([self.root, target]) != self.root:
            return "failed", "a link that leaves the source"
        if any(part.startswith(".") for part in os.path.relpath(target, self.root).split(os.sep) if part != "."):
            return "skipped", "a link to what is hidden"
        if target in above:
            return "failed", "a link to a folder that holds it"
        if is_folder and self.linked.setdefault(target, place) != place:
            return "skipped", f"a link to a folder that was read as {self.linked[target]} already"
        return None

    def _find_link(self, path: str, below: str, status: Status, reason: str) -> None:
        """Tell of a link that is not followed; nothing is told where it can't lead to a document that is wanted."""
        doc_id = self.source.doc_id(below)
        there = os.path.exists(path)
        is_file = not os.path.isdir(path) if there else has_file_name(below)
        if not is_file:
            wanted = self.selection.wants(doc_id) or self.selection.may_want_below(doc_id)
        else:
            is_table = suffix_of(below) in TABLE_SUFFIXES
            wanted = (is_table or self.selection.wants(doc_id)) and (self.glob is None or self.glob.matches(below))
        found = unread(doc_id, below) if is_file else None
        if found and found.status == "skipped":
            status, reason = found.status, f"{reason}; {found.reason}"
        if wanted:
            self._find(below, status, reason)
        elif status == "failed":
            # Should it be what it does not look like, nothing that came from it is gone.
            self.listing.unseen.add(doc_id)

    def _find(self, below: str, status: Status, reason: str, *, folder: bool = False) -> None:
        matches = self.glob is None or self.glob.matches(below)
        if self.glob is not None and not (folder or matches or self.glob.may_hold(below)):
            return
        self.matched |= matches or status == "failed"
        doc_id = one_line(self.source.doc_id(below)) if reason == NOT_UTF8 else self.source.doc_id(below)
        if not self.selection.excludes(doc_id):
            self.listing.findings.append(Finding(doc_id, status, reason))
            if status == "failed":
                self.listing.unseen.add(doc_id)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, in order of name."""
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


class _Files:
    """Puts the files of a source that lie on disk into a listing."""

    def __init__(self, source: Source, selection: Selection, listing: Listing) -> None:
        self.listed = ListedFiles(source, selection, listing)
        self.selection = selection
        self.entries = listing.entries
        self.prefix = f"{source.name}/" if source.name else ""
        self.not_racy = time.time_ns() - _RACY_NS
        of = {suffix: format_of(f"a{suffix}", selection.format) for suffix in SUFFIXES}
        self.formats = of if self.listed.wants_all and not source.pattern else {}
        self.folder = self.entries.folder(f"{source.path}{'' if source.path.endswith(os.sep) else os.sep}", self.prefix)

    def plain(self, entry: os.DirEntry[str], name: str, below: str) -> bool:
        """Take a file that has nothing special about it; whether it is one.

        What `take` does, in a third of the time, which for an unchanged corpus is most of all there is to do.

        Args:
            entry: of the folder.
            name: of the file.
            below: POSIX path of it below the source.
        """
        dot = name.rfind(".")
        how = self.formats.get(name[dot:]) if dot > 0 else None
        if how is None or name[0] == "." or not below.isascii() or not entry.is_file(follow_symlinks=False):
            return False
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return False
        size, mtime_ns = status.st_size, status.st_mtime_ns
        if size > self.selection.max_document_bytes or status.st_ino > MOST_INODE:
            return False
        inode = status.st_ino if mtime_ns < self.not_racy else RACY
        self.entries.add_file(self.folder, self.prefix + below, size, mtime_ns, inode, how)
        return True

    def take(self, below: str, path: str, entry: os.DirEntry[str] | None = None) -> None:
        """Take the file at this POSIX path below the source.

        Args:
            below: the path.
            path: absolute, links resolved.
            entry: of the folder, where that is the file itself and no link to it.
        """
        suffix = self.listed.wanted(below)
        if suffix is None:
            return
        try:
            status = os.stat(path) if entry is None else entry.stat()
        except OSError as error:
            self.listed.fail(below, f"can't be read: {error.strerror}")
            return
        if not stat.S_ISREG(status.st_mode):
            # Reading a pipe would wait for its writer for ever.
            self.listed.fail(below, "not a regular file")
            return
        mtime_ns = status.st_mtime_ns
        stamp = f"{mtime_ns}-{status.st_ino}" if mtime_ns < self.not_racy else ""
        self.listed.add(below, suffix, path, status.st_size, mtime_ns, stamp)
