"""The objects below a URL: the only module that calls obstore."""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from chunkledger.errors import Conflict, ObjectStoreError
from chunkledger.remote import urls
from chunkledger.remote.failures import as_os_error, reason
from chunkledger.remote.listing import ObjectInfo, Unlisted, listed
from chunkledger.remote.reader import BUFFER, RangeReader

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 1000
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def object_store(url: str) -> ObjectStore:
    """The store of this URL, whose credentials, region and endpoint come from the environment or the machine's role.

    Nothing is asked of the server yet.

    Raises:
        ObjectStoreError: it is no URL of an object store, obstore is not installed, or the environment holds what it
            can't take.
    """
    return ObjectStore(urls.place_of(url))


class ObjectStore:
    """What lies below a URL, by names that are relative to it.

    The store may be sent to another process, which opens it anew. A name that object_store can't address (with an
    empty segment, `.`, `..`, a slash at an end, or a control character) is an OSError wherever it is given.

    What all of its methods raise: FileNotFoundError, PermissionError or another OSError, in one line, with the URL and
    without credentials. A server that can't be reached fails within about half a minute.
    """

    __slots__ = ("_place", "_store", "url")

    def __init__(self, place: urls.Place) -> None:
        self.url = place.url
        self._place = place
        self._store = _opened(place)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return object_store, (self.url,)

    def __repr__(self) -> str:
        return f"ObjectStore({self.url!r})"

    def where(self, name: str) -> str:
        """The URL of an object."""
        return f"{self.url}/{name}" if name else self.url

    def infos(self, prefix: str = "") -> Iterator[ObjectInfo | Unlisted]:
        """Every object below a folder, recursively, as the server's pages come.

        "Folder markers", empty objects whose key ends with a slash, are left out. A folder in which the store can't
        address a name is given as `Unlisted`, once, and as much of it as can be listed; the other folders are whole.

        Args:
            prefix: name of the folder, not just the beginning of a name.
        """
        if prefix := prefix.removesuffix("/"):
            self._check(prefix)
        import obstore
        from obstore.exceptions import InvalidPathError

        def flat(folder: str, after: str | None) -> Iterator[ObjectInfo]:
            for page in obstore.list(self._store, folder or None, offset=after, chunk_size=_PAGE):
                yield from self._real(page)

        def level(folder: str) -> tuple[list[ObjectInfo], list[str]]:
            found = obstore.list_with_delimiter(self._store, folder or None)
            return list(self._real(found["objects"])), list(found["common_prefixes"])

        with self._told(prefix):
            yield from listed(prefix, self._place.path, flat, level, InvalidPathError)

    def info(self, name: str) -> ObjectInfo | None:
        """What there is of this name; None where there is nothing."""
        import obstore

        try:
            with self._told(name):
                return self._info(obstore.head(self._store, self._check(name)))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes:
        """The whole object."""
        import obstore

        with self._told(name):
            return bytes(obstore.get(self._store, self._check(name)).bytes())

    def read_at_most(self, name: str, most: int) -> bytes:
        """The whole object; of one with more than `most` bytes, that many and one."""
        import obstore

        with self._told(name):
            found = obstore.get(self._store, self._check(name))
            if found.meta["size"] <= most:
                return bytes(found.bytes())
            # The answer is dropped unread; an empty object has no range that could be asked for in its place.
            return self._read_range(name, 0, most + 1, found.meta["e_tag"])

    def open(self, name: str) -> BinaryIO:
        """The object as a buffered file, which fails when the object is replaced while it is read."""
        import obstore

        with self._told(name):
            meta = obstore.head(self._store, self._check(name))
        etag = meta["e_tag"]

        def read_range(start: int, end: int) -> bytes:
            with self._told(name):
                return self._read_range(name, start, end, etag)

        return io.BufferedReader(RangeReader(meta["size"], read_range), BUFFER)

    def write(self, name: str, content: bytes, *, if_absent: bool = False, if_etag: str | None = None) -> str:
        """Write an object, whole or not at all.

        A condition may fail though it was this very call that fulfilled it, when an answer was lost on the way and the
        request sent again; who can't bear that looks at what is there.

        Args:
            name: of the object.
            content: of the object.
            if_absent: only where there is none yet.
            if_etag: only where it still is the one with this tag.

        Returns:
            Its new tag.

        Raises:
            Conflict: the condition does not hold.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        mode: Any = "create" if if_absent else "overwrite"
        if if_etag is not None:
            mode = {"version" if self._place.scheme == "gs" else "e_tag": if_etag}
        path = self._check(name)
        with self._told(name):
            try:
                return self._tag(obstore.put(self._store, path, content, mode=mode))
            except (AlreadyExistsError, PreconditionError):
                pass
        why = "is there already" if if_absent else "is not the one that was to be replaced"
        raise Conflict(f"{self.where(name)} {why}; another writer was faster")

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; on S3 one that is not there is as good as removed."""
        import obstore

        paths = [self._check(name) for name in names]
        with self._told(paths[0] if len(paths) == 1 else ""):
            obstore.delete(self._store, paths)

    def _check(self, name: str) -> str:
        wrong: str | None = None
        if found := _CONTROL.search(name):
            wrong = f"the character {found[0]!r}"
        elif (segment := urls.wrong_segment(name)) is not None:
            wrong = f"the segment {segment!r}"
        if wrong is not None:
            raise OSError(errno.EINVAL, f"an object whose name holds {wrong} can't be addressed", self.where(name))
        return name

    def _read_range(self, name: str, start: int, end: int, etag: str | None) -> bytes:
        import obstore

        options: Any = {"range": (start, end), "if_match": etag}
        return bytes(obstore.get(self._store, name, options=options).bytes())

    def _real(self, metas: Sequence[Mapping[str, Any]]) -> Iterator[ObjectInfo]:
        for meta in metas:
            info = self._info(meta)
            if not info.name:
                continue
            if not info.size:
                # A folder marker is listed without its slash, by which name there is nothing, or something else.
                there = self.info(info.name)
                if there is None or there.size:
                    continue
            yield info

    def _info(self, meta: Mapping[str, Any]) -> ObjectInfo:
        modified_ns = (meta["last_modified"] - _EPOCH) // timedelta(microseconds=1) * 1000
        return ObjectInfo(str(meta["path"]), int(meta["size"]), modified_ns, self._tag(meta))

    def _tag(self, found: Mapping[str, Any]) -> str:
        # Google's conditions go by generation, which obstore calls the version.
        return str((found["version"] if self._place.scheme == "gs" else None) or found["e_tag"] or "")

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError, ValueError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise  # ours already
            # Not `from error`: it holds the server's answer, in which a signature may be repeated.
            raise as_os_error(self.where(name), error) from None


def _opened(place: urls.Place) -> Any:  # noqa: ANN401 (obstore's classes have no common one)
    try:
        from obstore.exceptions import BaseError
        from obstore.store import AzureStore, GCSStore, S3Store
    except ImportError:
        raise ObjectStoreError(
            f"{place.url}: object stores need the package obstore; pip install 'chunkledger[s3]'"
        ) from None
    client: Any = {
        "connect_timeout": timedelta(seconds=urls.CONNECT_SECONDS),
        "timeout": timedelta(seconds=urls.REQUEST_SECONDS),
    }
    retries: Any = {
        "max_retries": urls.RETRIES,
        "retry_timeout": timedelta(seconds=urls.RETRY_SECONDS),
        "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=5), "base": 2},
    }
    # By bucket and path, not by URL: obstore and deltalake read az:// differently, and here a % is a %.
    common: Any = {"prefix": place.path or None, "client_options": client, "retry_config": retries}
    try:
        if place.scheme == "gs":
            return GCSStore(place.bucket, **common)
        if place.scheme == "az":
            return AzureStore(place.bucket, **common)
        if urls.allows_http():
            client["allow_http"] = True
        config: Any = {"conditional_put": "etag"}
        if found := urls.endpoint():
            config["endpoint"] = found
        return S3Store(place.bucket, config=config, **common)
    except (BaseError, OSError, ValueError) as error:
        said = f"{place.url} can't be opened with what the environment says: {reason(error)}"
    raise ObjectStoreError(said)
