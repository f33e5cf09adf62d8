"""Places as the rest of the package has them, which may be paths or URLs -> the store that is asked, kept open."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import PurePath

from chunkledger.remote.objects import ObjectStore, object_store
from chunkledger.remote.urls import SCHEMES, is_url, place_of

_MOST_OPEN = 16
_ENVIRONMENT = ("AWS_", "AZURE_", "GOOGLE_")


def normal(place: str | os.PathLike[str]) -> str:
    """A path as it is given; a URL without a slash at its end, once it was found to be one that can be opened.

    >>> normal("s3://bucket/ledger/"), normal("ledger/")
    ('s3://bucket/ledger', 'ledger/')

    Raises:
        ObjectStoreError: it is a URL that can't be opened.
    """
    written = os.fspath(place)
    if isinstance(place, PurePath) or not is_url(written):
        return written
    return place_of(written).url


def absolute(place: str) -> str:
    """A path from the root on; a URL is absolute already."""
    return place if is_url(place) else os.path.abspath(place)


def is_same(place: str, other: str) -> bool:
    """Whether two places are one, links resolved."""
    if is_url(place) or is_url(other):
        return normal(place) == normal(other)
    return os.path.realpath(place) == os.path.realpath(other)


def store_at(url: str) -> ObjectStore:
    """The store of a URL: the one that this process has opened already, unless the environment has changed since."""
    # Not the values themselves: credentials are among them.
    environment = hash(frozenset((name, os.environ[name]) for name in os.environ if name.startswith(_ENVIRONMENT)))
    return _opened(url, environment)


@lru_cache(_MOST_OPEN)
def _opened(url: str, environment: int) -> ObjectStore:
    return object_store(url)


def object_at(url: str) -> tuple[ObjectStore, str]:
    """The store of the bucket that holds an object, and the object's name in it.

    Args:
        url: as `ObjectStore.where` gives it. What a key holds is part of the key, be it a `?` or a `#`.
    """
    scheme, _, rest = url.partition("://")
    bucket, _, name = rest.partition("/")
    return store_at(f"{scheme}://{bucket}"), name


def untested(places: list[str]) -> list[str]:
    """What somebody should know who gives URLs of stores that the tests of this package never meet.

    >>> untested(["docs", "s3://bucket/docs", "gs://bucket/docs", "gs://bucket/ledger"])
    ['gs:// is accepted, but was never tested by this package; s3:// was']
    """
    schemes = {place.partition("://")[0] for place in places if is_url(place)}
    return [
        f"{scheme}:// is accepted, but was never tested by this package; s3:// was"
        for scheme in SCHEMES[1:]
        if scheme in schemes
    ]
