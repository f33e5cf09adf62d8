"""Delta Lake writes to the store that its options name, and of two writers one wins."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions

from buckets import Bucket
from chunkledger.remote.listing import ObjectInfo
from chunkledger.remote.urls import storage_options

SCHEMA = Schema.from_arrow(pa.schema([("a", pa.int64())]))
ONCE = CommitProperties(max_commit_retries=0)


def _added(name: str) -> AddAction:
    return AddAction(name, 1, {}, 1, True, "{}")


def _create(url: str, name: str = "first.parquet") -> None:
    create_table_with_add_actions(
        url, SCHEMA, [_added(name)], mode="error", storage_options=storage_options(url), commit_properties=ONCE
    )


def _overwrite(table: DeltaTable, name: str) -> None:
    table.create_write_transaction([_added(name)], mode="overwrite", schema=SCHEMA, commit_properties=ONCE)


def _table(url: str) -> DeltaTable:
    return DeltaTable(url, storage_options=storage_options(url))


def _files(url: str) -> list[str]:
    return [uri.rpartition("/")[2] for uri in _table(url).file_uris()]


def test_log_is_written_to_the_same_endpoint(bucket: Bucket) -> None:
    """The store lists the log that deltalake wrote."""
    _create(bucket.url("ledger"))
    names = [info.name for info in bucket.store("ledger").infos() if isinstance(info, ObjectInfo)]
    assert names == ["_delta_log/00000000000000000000.json"]


@pytest.mark.parametrize("path", ["größe", "50%", "a b", "a+b", "a:b", "[x]", "a&b=c", "日本"])
def test_path_means_the_same_to_both(bucket: Bucket, path: str) -> None:
    """Whatever path is allowed, deltalake writes below the one that the store lists."""
    _create(bucket.url(path))
    assert bucket.store(path).info("_delta_log/00000000000000000000.json") is not None
    assert _files(bucket.url(path)) == ["first.parquet"]


def test_special_endpoint_comes_first(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both libraries go to the endpoint of S3 where another one is named for all services."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{bucket.port}")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    _create(bucket.url("ledger"))
    assert bucket.store("ledger").info("_delta_log/00000000000000000000.json") is not None


@pytest.mark.parametrize("elsewhere", ["etag", "disabled"])
def test_of_two_stale_writers_one_wins(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, elsewhere: str) -> None:
    """Both hold version 0; the second to commit fails and changes nothing, whatever the environment says of it."""
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", elsewhere)
    url = bucket.url("ledger")
    _create(url)
    one, other = _table(url), _table(url)
    _overwrite(one, "one.parquet")
    with pytest.raises(CommitFailedError):
        _overwrite(other, "other.parquet")
    assert (_table(url).version(), _files(url)) == (1, ["one.parquet"])


def test_of_many_writers_at_once_one_wins(bucket: Bucket) -> None:
    """So it is when they commit at the same time."""
    url = bucket.url("ledger")
    _create(url)
    tables = {f"{number}.parquet": _table(url) for number in range(6)}
    start, won, lost = threading.Barrier(len(tables)), list[str](), list[str]()

    def write(name: str, table: DeltaTable) -> None:
        start.wait()
        try:
            _overwrite(table, name)
            won.append(name)
        except CommitFailedError:
            lost.append(name)

    threads = [threading.Thread(target=write, args=item) for item in tables.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 5)
    assert (_table(url).version(), _files(url)) == (1, won)


def test_table_is_made_once(bucket: Bucket) -> None:
    """A second writer of the first version is refused."""
    url = bucket.url("ledger")
    _create(url, "one.parquet")
    with pytest.raises(DeltaError, match="already exists"):
        _create(url, "other.parquet")
    assert _files(url) == ["one.parquet"]
