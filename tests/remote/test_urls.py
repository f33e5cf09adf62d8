"""URLs of object stores are told from paths, and hold nothing secret."""

from __future__ import annotations

import pytest

from chunkledger import ChunkledgerError
from chunkledger.errors import ObjectStoreError
from chunkledger.remote import urls
from chunkledger.remote.objects import object_store
from chunkledger.remote.urls import is_url, place_of, storage_options


@pytest.mark.parametrize("url", ["s3://bucket", "s3://bucket/a/b", "gs://bucket/a", "az://container/a"])
def test_urls_of_object_stores(url: str) -> None:
    """They are URLs, and their parts make them again without a slash at the end."""
    assert is_url(url)
    assert place_of(url).url == place_of(f"{url}/").url == url


@pytest.mark.parametrize("place", ["docs", "/docs", "a:b", "s3:/bucket", "s3", "C:\\docs", "a b://c", "", "./s3://b"])
def test_paths_are_none(place: str) -> None:
    """Whatever does not begin with a scheme is a path."""
    assert not is_url(place)


@pytest.mark.parametrize(
    "place", ["http://host/x", "file:///docs", "S3://bucket", "s3a://bucket", "hdfs://user:pw@h/x"]
)
def test_other_urls_are_refused(place: str) -> None:
    """What can't be opened is named by its scheme alone, together with what can."""
    with pytest.raises(ObjectStoreError) as raised:
        is_url(place)
    scheme = place.partition("://")[0]
    assert str(raised.value) == (
        f"{scheme}:// can't be opened; s3://, gs:// and az:// can, and a folder is given by its path alone"
    )


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:hunter22@bucket/a",
        "s3://hunter22@bucket",
        "s3://key:hunter22/x@bucket/a",
        "s3://bucket/a?X-Amz-Signature=hunter22",
        "s3://bucket?hunter22",
        "s3://bucket/a#hunter22",
        "az://c/a?sig=hunter22",
        "s3:///hunter22",
        "s3://hunter22 /x",
        "s3://bucket/%3Fsig=hunter22",
        "hunter22",
    ],
)
def test_secret_in_a_url_is_not_repeated(url: str) -> None:
    """A URL that holds a user, a query or what can't be there is refused in words without its own."""
    with pytest.raises(ChunkledgerError) as raised:
        object_store(url)
    assert "hunter22" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("path", ["a//b", "/a", "a/../b", "./a", "a\\b", "a%20b", "a\nb", "a\x7f", "a\udce9b"])
def test_path_that_two_libraries_read_differently_is_refused(path: str) -> None:
    """Delta decodes and normalises a path where obstore does not, so such a path would be two places."""
    with pytest.raises(ObjectStoreError, match="URL can't hold"):
        place_of(f"s3://bucket/{path}")


def test_options_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint of S3 alone comes before that of all services; unencrypted is allowed where it is all there is."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://s3.example")
    found = storage_options("s3://bucket/ledger")
    assert (found["endpoint"], found["conditional_put"], "allow_http" in found) == ("https://s3.example", "etag", False)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "HTTP://s3.example")
    assert storage_options("s3://bucket/ledger")["allow_http"] == "true"
    assert not {"endpoint", "conditional_put", "allow_http"} & storage_options("gs://bucket/ledger").keys()


def test_options_hold_no_credentials() -> None:
    """What deltalake is told may be printed."""
    assert not {"KEY", "EXAMPLE", "token"} & set(" ".join(storage_options("s3://b/x").values()).split())
    assert "EXAMPLE" not in repr(storage_options("s3://b/x"))


def test_patience_is_under_a_minute() -> None:
    """Neither a silent host nor one that can't be reached takes longer, with the pauses between retries."""
    pauses = sum(min(5.0, 0.2 * 2**number) for number in range(1, urls.RETRIES + 1))
    assert (urls.RETRIES + 1) * urls.CONNECT_SECONDS + pauses < 60
    assert urls.RETRY_SECONDS + urls.REQUEST_SECONDS < 60
