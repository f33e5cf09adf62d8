"""A place is a path or a URL, and the store of a URL is opened once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkledger.errors import ObjectStoreError
from chunkledger.remote.opened import absolute, is_same, normal, object_at, store_at, untested


def test_store_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the environment says something else, as new credentials."""
    first = store_at("s3://bucket/docs")
    assert store_at("s3://bucket/docs") is first
    assert store_at("s3://bucket/other") is not first
    monkeypatch.setenv("AWS_SESSION_TOKEN", "another")
    assert store_at("s3://bucket/docs") is not first


@pytest.mark.parametrize("key", ["a/b.md", "a?b#c", "50%41", "a b", "ö"])
def test_object_is_found_by_its_url(key: str) -> None:
    """The store is the bucket's, and the name is the key as it stands."""
    store = store_at("s3://bucket")
    assert object_at(store.where(key)) == (store, key)


def test_place_has_one_form(tmp_path: Path) -> None:
    """A URL has no slash at its end; a path is left alone, and one of pathlib is never a URL."""
    assert normal("s3://bucket/a/") == "s3://bucket/a"
    assert (normal("a/"), normal(tmp_path), normal(Path("http://x"))) == ("a/", str(tmp_path), "http:/x")
    assert (absolute("s3://bucket/a"), absolute("a")) == ("s3://bucket/a", os.path.abspath("a"))
    with pytest.raises(ObjectStoreError, match="http:// can't be opened"):
        normal("http://x")


def test_places_are_compared(tmp_path: Path) -> None:
    """By what they mean."""
    (tmp_path / "link").symlink_to(tmp_path)
    assert is_same(str(tmp_path / "link"), f"{tmp_path}/")
    assert is_same("s3://b/a/", "s3://b/a")
    assert not is_same("s3://b/a", "s3://b/b")
    assert not is_same("s3://b/a", "gs://b/a")
    assert not is_same("s3://b/a", str(tmp_path))


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_other_stores_are_said_to_be_untested(scheme: str) -> None:
    """Once, however many places are in one."""
    [told] = untested([f"{scheme}://b/a", "docs", "s3://b/a", f"{scheme}://b/c"])
    assert told == f"{scheme}:// is accepted, but was never tested by this package; s3:// was"
    assert untested(["docs", "s3://b/a"]) == []
