"""Sources -> the files to read, each with its document id, and what was passed over and why."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from chunkledger.errors import SourceError
from chunkledger.model import Finding, Format, Status

SUFFIXES: dict[str, Format] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".txt": "plain",
    ".text": "plain",
}
"""File name suffixes of the documents that are read, in lower case."""

OFFICE_SUFFIXES = frozenset(
    [".doc", ".docx", ".odt", ".rtf", ".xls", ".xlsx", ".ods", ".ppt", ".pptx", ".odp", ".pdf", ".epub"]
)
"""Documents that would have to be converted first: failed, not skipped, so that nobody misses them."""

MAX_DOCUMENT_BYTES = 8 * 1024 * 1024
"""A larger document is a Finding unless the limit is raised."""

_NOT_UTF8 = "the name is not UTF-8; rename it"
_NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or file to read.

    Attributes:
        path: absolute.
        name: prefix of the ids of its documents, or "".
    """

    path: Path
    name: str = ""

    def doc_id(self, below: str) -> str:
        """The document id of the file at this POSIX path below the source."""
        return f"{self.name}/{below}" if self.name else below

    def file_of(self, doc_id: str) -> Path | None:
        """The file that a document id of this source stands for; None if the id is not of this source."""
        below = doc_id.removeprefix(f"{self.name}/") if self.name else doc_id
        if self.name and below == doc_id:
            return None
        if self.path.is_file():
            return self.path if self.path.name == below else None
        return self.path / below


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that is to be read.

    Attributes:
        doc_id: its document's id.
        path: absolute.
        size: in bytes.
        mtime_ns: when it was last changed.
        format: how it is read.
    """

    doc_id: str
    path: str
    size: int
    mtime_ns: int
    format: Format


@dataclass(slots=True)
class Listing:
    """What is in the sources: files to read, by document id, and findings."""

    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files of the sources are wanted.

    Attributes:
        include: globs on the document id; where there are any, one must match.
        exclude: globs on the document id; none may match.
        max_document_bytes: a larger document is a Finding.
        format: `auto` goes by suffix; a format reads every known suffix as that.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    format: str = "auto"

    def wants(self, doc_id: str) -> bool:
        """Whether the globs let this document pass; `*` crosses folders."""
        if self.include and not any(fnmatchcase(doc_id, glob) for glob in self.include):
            return False
        return not self.excludes(doc_id)

    def excludes(self, doc_id: str) -> bool:
        """Whether a glob shuts out what is here, be it a document, a link or a folder that can't be listed."""
        return any(fnmatchcase(doc_id, glob) for glob in self.exclude)


def source_of(argument: str) -> Source:
    """The source that an argument names: a path, or NAME=PATH.

    Raises:
        SourceError: there is no such file or folder.
    """
    path = Path(argument)
    if path.exists():
        return Source(path.absolute())
    named = _NAMED.fullmatch(argument)
    if named and Path(named[2]).exists():
        return Source(Path(named[2]).absolute(), named[1])
    raise SourceError(f"no such file or folder: {one_line(argument)}")


def one_line(value: str) -> str:
    """A path as it may be shown: what UTF-8 can't hold and control characters are written as escapes."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in value
    )


def listed(sources: Sequence[Source], selection: Selection) -> Listing:
    """Every file of the sources: to be read, or a Finding. Entries are sorted by document id.

    Raises:
        SourceError: two files have the same document id, or a source can't be listed.
    """
    listing = Listing()
    for source in sources:
        path = os.fspath(source.path)
        if not source.path.is_dir():
            _take(listing, source, source.path.name, path, selection)
            continue
        try:
            entries = _entries(path)
        except OSError as error:
            raise SourceError(f"{one_line(path)} can't be listed: {error.strerror}") from error
        _Walk(source, selection, listing).take(entries, "", (os.path.realpath(path),))
    listing.entries.sort(key=lambda entry: entry.doc_id)
    listing.findings.sort(key=lambda finding: (finding.doc_id, finding.reason))
    for before, after in zip(listing.entries, listing.entries[1:], strict=False):
        if before.doc_id == after.doc_id and before.path == after.path:
            raise SourceError(f"{one_line(before.path)} is in two of the sources; give each only once")
        if before.doc_id == after.doc_id:
            raise SourceError(
                f"two files would have the document id {before.doc_id}: {before.path} and {after.path}; "
                "give one source a name, as in NAME=PATH"
            )
    return listing


@dataclass(slots=True)
class _Walk:
    """One pass over a folder source."""

    source: Source
    selection: Selection
    listing: Listing

    def take(self, entries: Sequence[os.DirEntry[str]], below: str, above: tuple[str, ...]) -> None:
        """Take everything in a folder.

        Args:
            entries: what is in it, in order of name.
            below: its POSIX path below the source, "" for the source itself.
            above: real paths of the folders that lead to it, its own last.
        """
        for entry in entries:
            place = f"{below}/{entry.name}" if below else entry.name
            if not _is_storable(place):
                self._find(place, "failed", _NOT_UTF8)
            elif entry.name.startswith("."):
                self._find(place, "skipped", "hidden")
            elif entry.is_symlink() and (trouble := self._link_trouble(entry.path, above)):
                self._find(place, "failed", trouble)
            elif entry.is_dir():
                self._subfolder(entry.path, place, above)
            else:
                _take(self.listing, self.source, place, entry.path, self.selection)

    def _subfolder(self, path: str, below: str, above: tuple[str, ...]) -> None:
        try:
            entries = _entries(path)
        except OSError as error:
            self._find(below, "failed", f"can't be listed: {error.strerror}")
            return
        if os.path.isdir(os.path.join(path, "_delta_log")):
            self._find(below, "skipped", "a table, not documents")
        else:
            self.take(entries, below, (*above, os.path.realpath(path)))

    def _link_trouble(self, path: str, above: tuple[str, ...]) -> str | None:
        """Why a link is not followed; None where it stays inside the source and does not lead back to where we are."""
        target = os.path.realpath(path)
        root = os.path.realpath(self.source.path)
        if not os.path.exists(target):
            return "broken link"
        if os.path.commonpath([root, target]) != root:
            return "a link that leaves the source"
        if target in above:
            return "a link to a folder that holds it"
        return None

    def _find(self, below: str, status: Status, reason: str) -> None:
        doc_id = one_line(self.source.doc_id(below)) if reason == _NOT_UTF8 else self.source.doc_id(below)
        if not self.selection.excludes(doc_id):
            self.listing.findings.append(Finding(doc_id, status, reason))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder, in order of name."""
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _take(listing: Listing, source: Source, below: str, path: str, selection: Selection) -> None:
    """Put one file into the listing, as an entry or as a finding."""
    doc_id = source.doc_id(below)
    if not _is_storable(doc_id):
        listing.findings.append(Finding(one_line(doc_id), "failed", _NOT_UTF8))
        return
    if not selection.wants(doc_id):
        return
    suffix = os.path.splitext(path)[1].lower()
    if suffix in OFFICE_SUFFIXES:
        listing.findings.append(
            Finding(doc_id, "failed", f"{suffix} must be converted to Markdown or plain text first")
        )
        return
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        listing.findings.append(Finding(doc_id, "skipped", f"unknown suffix {suffix or '(none)'}; read are {known}"))
        return
    try:
        status = os.stat(path)
    except OSError as error:
        listing.findings.append(Finding(doc_id, "failed", f"can't be read: {error.strerror}"))
        return
    if not stat.S_ISREG(status.st_mode):
        # Reading a pipe would wait for its writer for ever.
        listing.findings.append(Finding(doc_id, "failed", "not a regular file"))
        return
    if status.st_size > selection.max_document_bytes:
        reason = (
            f"{status.st_size:,} bytes, over the limit of {selection.max_document_bytes:,}; raise --max-document-bytes"
        )
        listing.findings.append(Finding(doc_id, "failed", reason))
        return
    how = format_of(doc_id, selection.format)
    listing.entries.append(Entry(doc_id, path, status.st_size, status.st_mtime_ns, how))


def format_of(doc_id: str, chosen: str = "auto") -> Format:
    """How a document is read: by its suffix, unless a format was chosen for all.

    >>> format_of("a/README.MD"), format_of("a/README.MD", "plain")
    ('markdown', 'plain')
    """
    if chosen == "auto":
        return SUFFIXES.get(os.path.splitext(doc_id)[1].lower(), "plain")
    return "markdown" if chosen == "markdown" else "plain"


def _is_storable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
