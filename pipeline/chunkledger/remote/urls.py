"""What may stand in the URL of an object store, and what Delta Lake has to be told to reach the same one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from chunkledger.errors import ObjectStoreError

SCHEMES = ("s3", "gs", "az")
CONNECT_SECONDS = 5
REQUEST_SECONDS = 30
RETRIES = 4
RETRY_SECONDS = 25
"""A host that never answers fails after REQUEST_SECONDS, as no retry starts later than RETRY_SECONDS; one that can't be
reached after RETRIES + 1 times CONNECT_SECONDS. The first two are the defaults of object_store; its retries go on for
three minutes."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\]|%[0-9A-Fa-f]{2}")
"""What a path can't hold: deltalake would decode or reject it, and look in another place than the listing does."""
_TRUE = ("1", "true", "yes", "on", "t", "y")


@dataclass(frozen=True, slots=True)
class Place:
    """A URL in its parts: scheme, bucket or container, and the path below it without a slash at its ends."""

    scheme: str
    bucket: str
    path: str

    @property
    def url(self) -> str:
        """The URL again, without a slash at its end."""
        return f"{self.scheme}://{self.bucket}/{self.path}".rstrip("/")


def is_url(place: str) -> bool:
    """Whether the place is the URL of an object store; a path is none, whatever it holds.

    >>> is_url("s3://bucket/docs"), is_url("docs/guide.md")
    (True, False)

    Raises:
        ObjectStoreError: it is a URL, but of something else.
    """
    found = _SCHEME.match(place)
    if found is None:
        return False
    if found[1] not in SCHEMES:
        raise ObjectStoreError(
            f"{found[0]} can't be opened; s3://, gs:// and az:// can, and a folder is given by its path alone"
        )
    return True


def place_of(url: str) -> Place:
    """The parts of a URL of an object store.

    >>> place_of("s3://bucket/corpus/docs/")
    Place(scheme='s3', bucket='bucket', path='corpus/docs')

    Raises:
        ObjectStoreError: it is none, or holds what it must not. A secret may stand in it, so it is not repeated.
    """
    if not is_url(url):
        raise ObjectStoreError("not the URL of an object store; such a one reads s3://bucket/path")
    scheme, _, rest = url.partition("://")
    bucket, _, path = rest.partition("/")
    if "@" in bucket or ":" in bucket:
        raise ObjectStoreError(
            f"a {scheme}:// URL can't hold a user, password or port; credentials and endpoint come from the environment"
        )
    if "?" in rest or "#" in rest:
        raise ObjectStoreError(
            f"a {scheme}:// URL can't hold '?' or '#'; credentials and endpoint come from the environment"
        )
    if not _BUCKET.fullmatch(bucket):
        raise ObjectStoreError(f"a {scheme}:// URL names a bucket of letters, digits, '.', '-' and '_' before its path")
    path = path.removesuffix("/")
    if found := _UNUSABLE.search(path):
        raise ObjectStoreError(f"the path of a {scheme}:// URL can't hold {found[0]!r}; choose another path")
    if path and (wrong := wrong_segment(path)) is not None:
        raise ObjectStoreError(f"the path of a {scheme}:// URL can't hold the segment {wrong!r}; choose another path")
    return Place(scheme, bucket, path)


def wrong_segment(name: str) -> str | None:
    """The first segment of an object's name by which it can't be addressed: empty, or one that means another folder."""
    return next((segment for segment in name.split("/") if segment in ("", ".", "..")), None)


def endpoint() -> str | None:
    """The URL that stands in for Amazon's, from the variables that obstore reads, the most special one first."""
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        if value := os.environ.get(name, "").strip():
            return value
    return None


def allows_http() -> bool:
    """Whether requests may go unencrypted: the environment says so, or names an endpoint that can't do better."""
    if os.environ.get("AWS_ALLOW_HTTP", "").strip().lower() in _TRUE:
        return True
    return (endpoint() or "").lower().startswith("http://")


def storage_options(url: str) -> dict[str, str]:
    """What `deltalake.DeltaTable(url, storage_options=...)` needs to reach the same store with the same patience.

    Credentials are not in it; deltalake reads them from the environment as obstore does.

    >>> storage_options("gs://bucket/ledger")["max_retries"]
    '4'

    Raises:
        ObjectStoreError: it is no URL of an object store.
    """
    options = {
        "connect_timeout": f"{CONNECT_SECONDS}s",
        "timeout": f"{REQUEST_SECONDS}s",
        "max_retries": str(RETRIES),
        "retry_timeout": f"{RETRY_SECONDS}s",
    }
    if place_of(url).scheme != "s3":
        return options
    # Of two writers of one version the second must fail.
    options["conditional_put"] = "etag"
    if allows_http():
        options["allow_http"] = "true"
    if found := endpoint():
        options["endpoint"] = found
    return options
