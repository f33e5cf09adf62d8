"""The URL of an object store -> the objects below it as files of a listing, by the rules that hold for folders."""

from __future__ import annotations

from chunkledger.documents.entries import Listing
from chunkledger.documents.formats import has_file_name
from chunkledger.documents.globs import Glob
from chunkledger.documents.listed_files import ListedFiles
from chunkledger.documents.sources import Selection, Source, one_line
from chunkledger.errors import SourceError
from chunkledger.model import Finding, Status
from chunkledger.remote.listing import ObjectInfo, Unlisted
from chunkledger.remote.opened import object_at, store_at
from chunkledger.remote.urls import is_url

_LOG = "_delta_log"


def list_objects(source: Source, selection: Selection, ledger: str, listing: Listing) -> bool:
    """Put every object below the source's URL, or the one that is at it, into a listing.

    Args:
        source: its path is a URL.
        selection: what is wanted.
        ledger: a folder or URL that is passed over.
        listing: to be added to.

    Returns:
        Whether there was something that the source's glob means, or that could not be seen.

    Raises:
        SourceError: there is nothing. That may as well be a typo or a missing permission, and nothing may be deleted
            because of one.
        OSError: the store can't be listed.
    """
    # Where an object is meant, it need not be allowed to list the others.
    if not source.pattern and has_file_name(source.path) and _take_one(source, selection, listing):
        return True
    found = list(store_at(source.path).infos())
    if found:
        return _Objects(source, selection, ledger, listing, found).take()
    if not source.pattern and _take_one(source, selection, listing):
        return True
    raise SourceError(f"no object is at or below {one_line(source.path)}")


def _take_one(source: Source, selection: Selection, listing: Listing) -> bool:
    """Take the object that is at the source's own URL; whether there is one."""
    store, key = object_at(source.path)
    info = store.info(key) if key else None
    if info is None:
        return False
    _add(ListedFiles(source, selection, listing), key.rpartition("/")[2], source.path, info)
    return True


def _add(files: ListedFiles, below: str, url: str, info: ObjectInfo) -> None:
    suffix = files.wanted(below)
    if suffix is not None:
        # What a store says is true at once for everybody, so that a tag is never in doubt as a time on disk may be.
        stamp = f"etag:{info.etag}" if info.etag else ""
        files.add(below, suffix, url, info.size, info.modified_ns, stamp)


class _Objects:
    """One pass over what is below a URL. Folders are what stands between slashes; each is judged once."""

    def __init__(
        self, source: Source, selection: Selection, ledger: str, listing: Listing, found: list[ObjectInfo | Unlisted]
    ) -> None:
        self.source = source
        self.selection = selection
        self.listing = listing
        self.found = found
        self.files = ListedFiles(source, selection, listing)
        self.ledger = ledger if ledger and is_url(ledger) else ""
        self.glob = Glob(source.pattern) if source.pattern else None
        self.tables = {folder for each in found for folder in _table_folders(each.name)}
        self.closed: dict[str, bool] = {"": False}
        """Folders, and whether nothing in them is read."""
        self.matched = False

    def take(self) -> bool:
        """Take all of them; whether something matched."""
        for each in self.found:
            folder, _, name = each.name.rpartition("/")
            if self._is_closed(folder):
                continue
            if isinstance(each, Unlisted):
                self._not_whole(each)
            elif name.startswith("."):
                self._find(each.name, "skipped", "hidden")
            elif self.glob is None or self.glob.matches(each.name):
                self.matched = True
                _add(self.files, each.name, f"{self.source.path}/{each.name}", each)
        return self.matched

    def _is_closed(self, folder: str) -> bool:
        """Whether nothing in a folder is read; if that was not known before, why is told."""
        parts = folder.split("/") if folder not in self.closed else []
        for count in range(1, len(parts) + 1):
            place = "/".join(parts[:count])
            if place not in self.closed:
                above = self.closed["/".join(parts[: count - 1])]
                self.closed[place] = above or self._closes(place)
        return self.closed[folder]

    def _closes(self, folder: str) -> bool:
        if folder.rpartition("/")[2].startswith("."):
            self._find(folder, "skipped", "hidden")
        elif f"{self.source.path}/{folder}" == self.ledger:
            self._find(folder, "skipped", "the ledger itself", folder=True)
        elif self.glob is not None and not self.glob.may_hold(folder):
            pass
        elif folder in self.tables:
            self._find(folder, "skipped", "a table, not documents", folder=True)
        else:
            return False
        return True

    def _not_whole(self, folder: Unlisted) -> None:
        reason = f"can't be listed whole: {folder.reason}"
        if folder.name:
            if not self._is_closed(folder.name):
                self._find(folder.name, "failed", reason, folder=True)
            return
        # The source itself has no id. Without a name "" stands for it, below which everything is.
        self.matched = True
        self.listing.findings.append(Finding(self.source.name or self.source.path, "failed", reason))
        self.listing.unseen.add(self.source.name)

    def _find(self, below: str, status: Status, reason: str, *, folder: bool = False) -> None:
        matches = self.glob is None or self.glob.matches(below)
        if self.glob is not None and not (folder or matches or self.glob.may_hold(below)):
            return
        self.matched |= matches or status == "failed"
        doc_id = self.source.doc_id(below)
        if not self.selection.excludes(doc_id):
            self.listing.findings.append(Finding(doc_id, status, reason))
            if status == "failed":
                self.listing.unseen.add(doc_id)


def _table_folders(name: str) -> list[str]:
    """The folders in the name that hold a log of Delta Lake; the source itself is meant, whatever it is."""
    parts = name.split("/")
    return ["/".join(parts[:place]) for place, part in enumerate(parts[:-1]) if part == _LOG and place]
