"""Objects are read as files are, several at a time."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from buckets import Between, Bucket
from chunkledger import Settings, SourceError
from chunkledger.documents.files import content, contents, opened
from chunkledger.documents.hashes import hashes
from chunkledger.documents.listing import listed
from chunkledger.documents.reading import documents_of
from chunkledger.documents.sources import Selection, source_of
from ledgers import write

LONGEST = 1000


def _bytes(found: bytes | OSError) -> bytes:
    assert isinstance(found, bytes)
    return found


def test_objects_come_in_order(bucket: Bucket, tmp_path: Path) -> None:
    """Objects and files in any order, more than are asked for at once, the long ones cut."""
    texts = [str(number).encode() * (number % 7 * 100) for number in range(60)]
    places = []
    for number, text in enumerate(texts):
        bucket.put(f"docs/{number}", text)
        path = write(tmp_path, {str(number): text}) / str(number)
        places.append((str(path) if number % 5 == 0 else bucket.url(f"docs/{number}"), len(text)))
    assert [_bytes(found) for found in contents(places, LONGEST)] == [text[: LONGEST + 1] for text in texts]


def test_several_are_asked_for_at_once(bucket: Bucket, proxy: Between) -> None:
    """No request of these is answered before the others are there."""
    together = threading.Barrier(8, timeout=20)

    def waits(method: str, path: str) -> bool:
        together.wait()
        return False

    for number in range(16):
        bucket.put(f"docs/{number}")
    proxy.refuses = waits
    found = list(contents([(bucket.url(f"docs/{number}"), 1) for number in range(16)], LONGEST))
    assert found == [b"x"] * 16


def test_large_objects_are_asked_for_one_by_one(bucket: Bucket, proxy: Between) -> None:
    """What is in memory is bounded, whatever their number."""
    working, most = 0, 0

    def counts(method: str, path: str) -> bool:
        nonlocal working, most
        working += 1
        most = max(most, working)
        return False

    for number in range(6):
        bucket.put(f"docs/{number}")
    proxy.refuses = counts
    for _ in contents([(bucket.url(f"docs/{number}"), 5_000_000) for number in range(6)], LONGEST):
        working -= 1
    assert most <= 2


def test_missing_object_is_an_error_of_its_own(bucket: Bucket) -> None:
    """The others are read."""
    bucket.put("a")
    bucket.put("c")
    found = list(contents([(bucket.url(key), 1) for key in "abc"], LONGEST))
    assert (found[0], found[2]) == (b"x", b"x")
    assert isinstance(found[1], FileNotFoundError)


def test_store_that_does_not_work_ends_the_reading(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for each of many objects of a store that is not there."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("chunkledger.remote.urls.RETRIES", 0)
    places = [(bucket.url(str(number)), 1) for number in range(1000)]
    with pytest.raises(SourceError, match=r"^the last \d+ objects that were asked for can't be read; the last one: "):
        list(contents(places, LONGEST))


def test_open_object_is_a_file(bucket: Bucket) -> None:
    """Keys are taken as they are, whatever a URL would mean by them."""
    for key in ("a?b#c", "50%41", "a\\b"):
        bucket.put(key, key.encode())
        assert content(bucket.url() + "/" + key, LONGEST) == key.encode()
        with opened(bucket.url() + "/" + key) as file:
            assert file.read() == key.encode()


def test_documents_and_hashes(bucket: Bucket) -> None:
    """A document is what its object holds; one that has grown or is gone has failed."""
    for key, text in {"a.md": b"# A\n", "b.md": b"\xff", "c.md": b"c", "d.md": b"d"}.items():
        bucket.put(f"docs/{key}", text)
    entries = listed([source_of(bucket.url("docs"))], Selection()).entries
    bucket.put("docs/c.md", b"c" * 2000)
    bucket.remove("docs/d.md")
    found = list(documents_of(entries, Settings(), LONGEST))
    assert [read.document is not None for read in found] == [True, False, False, False]
    assert [read.finding.reason[:18] for read in found if read.finding] == [
        "byte 0 (0xff) is n", "has grown over the", "can't be read: no ",
    ]  # fmt: skip
    told = [hashlib.sha256(text).hexdigest() for text in (b"# A\n", b"\xff")]
    assert hashes(entries, Settings(), LONGEST) == [*told, "", ""]
