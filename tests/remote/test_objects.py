"""Objects of a real S3 server are listed, read, written under conditions and removed."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import time
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from buckets import Bucket
from chunkledger.errors import Conflict
from chunkledger.remote.listing import ObjectInfo, Unlisted
from chunkledger.remote.objects import ObjectStore, object_store

ADDRESSABLE = [
    *("a\\b", "a%20b", "a%b", "50%", "größe", "日本 x", "sp ace", " lead", "trail ", "..x", "a..", "...", "~x", "a*b"),
    *("a?b", "a#b", "a+b", "a&b", "[x]", "{x}", "a:b", "'q'", '"q"', "<x>", "é", "e\u0301", "a|b", "a^b", "a`b", "😀"),
    *("a;b", "a=b", "a,b", "a$b", "a@b", "a!b", "-", "x.md/y.md", "a\u202eb", "a\u0085b", "a" * 900),
]
UNADDRESSABLE = ["a/../b", "a//b", "a/./b", ".", "..", "a\x01b", "a\tb", "a\x7fb", "x//", "/lead"]


def _names(store: ObjectStore, prefix: str = "") -> list[str]:
    infos = list(store.infos(prefix))
    assert all(isinstance(info, ObjectInfo) for info in infos)
    return [info.name for info in infos]


def _both(store: ObjectStore) -> tuple[list[str], list[str]]:
    infos = list(store.infos())
    names = [info.name for info in infos if isinstance(info, ObjectInfo)]
    return names, [info.name for info in infos if isinstance(info, Unlisted)]


def test_what_is_written_is_there(bucket: Bucket) -> None:
    """An object has the name, size and tag that it was written with, and a time of change that is about now."""
    store = bucket.store("corpus/docs/")
    etag = store.write("a/b.md", b"hello")
    found = store.info("a/b.md")
    assert found is not None
    assert (found.name, found.size, found.etag) == ("a/b.md", 5, etag)
    assert abs(found.modified_ns / 1e9 - time.time()) < 60
    assert list(store.infos()) == [found]
    assert store.read("a/b.md") == b"hello"
    assert _names(bucket.store()) == ["corpus/docs/a/b.md"]


def test_listing_is_by_folder_and_recursive(bucket: Bucket) -> None:
    """A prefix is a folder, with or without its slash; one that is not there is empty."""
    for key in ("a/1", "a/b/2", "ab/3", "c"):
        bucket.put(key)
    store = bucket.store()
    assert _names(store) == ["a/1", "a/b/2", "ab/3", "c"]
    assert _names(store, "a") == _names(store, "a/") == ["a/1", "a/b/2"]
    assert _names(store, "none") == _names(bucket.store("none")) == []


def test_listing_goes_on_over_pages(bucket: Bucket) -> None:
    """More objects than a page holds are all listed, in order."""
    keys = [f"d/{number:05}" for number in range(1005)]
    for key in keys:
        bucket.put(key)
    assert _names(bucket.store(), "d") == keys


def test_odd_keys_are_listed_and_read(bucket: Bucket) -> None:
    """Whatever a key holds that object_store can address comes back as it is, and can be read by it."""
    for key in ADDRESSABLE:
        bucket.put(f"odd/{key}", key.encode())
    store = bucket.store("odd")
    assert sorted(_names(store)) == sorted(ADDRESSABLE)
    assert [store.read(key).decode() for key in ADDRESSABLE] == ADDRESSABLE


def test_odd_keys_are_written_as_they_are(bucket: Bucket) -> None:
    """A name is the key itself: nothing is decoded or encoded on its way."""
    store = bucket.store("odd")
    for key in ADDRESSABLE:
        store.write(key, key.encode())
    assert sorted(_names(store)) == sorted(ADDRESSABLE)


@pytest.mark.parametrize("path", ["größe", "50%", "a b", "a+b", "a:b", "[x]", "a&b=c", "日本"])
def test_path_of_a_url_is_a_key(bucket: Bucket, path: str) -> None:
    """The path in the URL is taken as it stands."""
    bucket.put(f"{path}/x")
    assert _names(bucket.store(path)) == ["x"]
    assert bucket.store(path).read("x") == b"x"


@pytest.mark.parametrize("key", UNADDRESSABLE)
@pytest.mark.parametrize("root", ["", "top"])
def test_key_that_cannot_be_addressed_hides_its_folder_only(bucket: Bucket, key: str, root: str) -> None:
    """One hostile key does not end the listing: the folder that it is in is named, and the others are whole."""
    for name in ("a/0", "b/1", "b/z", "b/zz/2", "c/d/2", f"b/{key}"):
        bucket.put(f"{root}/{name}".lstrip("/"))
    names, unlisted = _both(bucket.store(root))
    assert unlisted == ["b/a" if key.startswith("a/") else "b/x" if key == "x//" else "b"]
    assert len(names) == len(set(names))
    # What is before the key on its page is lost with it where both are in one folder; what comes after it is not.
    before = {"b/1"} if key.startswith("a") and unlisted == ["b"] else set()
    assert set(names) == {"a/0", "b/1", "b/z", "b/zz/2", "c/d/2"} - before


def test_many_hostile_keys_in_one_folder(bucket: Bucket) -> None:
    """The listing goes on behind each, and names the folder once."""
    for name in ("..", ".", "/x", "a\x01", "a\x02", "b\x7f", "c\t/d", "d/../e", "f/\x0b"):
        bucket.put(f"h/{name}")
    bucket.put("h/z")
    bucket.put("i/z")
    names, unlisted = _both(bucket.store())
    assert (names, unlisted) == (["h/z", "i/z"], ["h"])


def test_hostile_key_after_many_pages_gives_nothing_twice(bucket: Bucket) -> None:
    """What was listed before the bad page is not listed again, in its folder or those around it."""
    keys = [f"{folder}/{number:04}" for folder in "abc" for number in range(400)]
    for key in [*keys, "b/0399/../x"]:
        bucket.put(key)
    names, unlisted = _both(bucket.store())
    assert (names, unlisted) == (keys, ["b/0399"])


def test_object_in_a_folder_without_a_name(bucket: Bucket) -> None:
    """A key that begins with a slash is below the bucket's root, and does not make the listing go round for ever."""
    for key in ("/a", "//b", "c", "d/e"):
        bucket.put(key)
    names, unlisted = _both(bucket.store())
    assert {"c", "d/e"} <= set(names)
    assert unlisted == [""]


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "..", "a/./b", "a\nb", "a\x00", "\udce9"])
def test_name_that_cannot_be_addressed_is_refused(bucket: Bucket, name: str) -> None:
    """Such a name would be an error deep below, or that of another object."""
    store = bucket.store("docs")
    calls = [store.info, store.read, store.open, lambda it: store.read_at_most(it, 1), lambda it: store.write(it, b"")]
    for call in [*calls, lambda it: store.remove([it])]:
        with pytest.raises(OSError, match="can't be addressed"):
            call(name)


def test_folder_markers_are_left_out(bucket: Bucket) -> None:
    """An empty object whose key ends with a slash is no document, even beside one of its name."""
    for key, content in {"m/": b"", "m/f/": b"", "m/g/": b"", "m/g": b"text", "m/g/h": b"", "m/e": b""}.items():
        bucket.put(key, content)
    assert sorted(_names(bucket.store("m"))) == ["e", "g", "g/h"]


def test_at_most_so_many_bytes(bucket: Bucket) -> None:
    """A caller sees by one byte more that there is more, and an empty object has none."""
    store = bucket.store()
    store.write("ten", b"0123456789")
    store.write("none", b"")
    assert [len(store.read_at_most("ten", most)) for most in (0, 9, 10, 11)] == [1, 10, 10, 10]
    assert [store.read_at_most("none", most) for most in (0, 5)] == [b"", b""]


def test_open_object_is_a_file(bucket: Bucket) -> None:
    """Reads, seeks and lines of it are those of the same bytes in memory."""
    content = b"".join(b"line %d %s\n" % (number, b"x" * (number % 300)) for number in range(20_000))
    store = bucket.store()
    store.write("f", content)
    rng = random.Random(7)  # noqa: S311 (places to read from)
    with store.open("f") as stream:
        assert stream.readable()
        assert stream.seekable()
        assert (stream.read(3), stream.readline(), stream.tell()) == (b"lin", b"e 0 \n", 8)
        for _ in range(50):
            at, length = rng.randrange(len(content) + 10), rng.randrange(100_000)
            assert stream.seek(at) == at
            assert stream.read(length) == content[at : at + length]
        assert stream.seek(-5, 2) == len(content) - 5
        assert stream.read() == content[-5:]
        assert stream.read() == b""
        stream.seek(0)
        assert list(stream) == content.splitlines(keepends=True)


def test_empty_object_is_an_empty_file(bucket: Bucket) -> None:
    """No range of it is asked for, since the server would refuse any."""
    bucket.put("none", b"")
    with bucket.store().open("none") as stream:
        assert (stream.read(), stream.readline()) == (b"", b"")


def test_parquet_is_read_by_its_parts(bucket: Bucket) -> None:
    """Pyarrow reads columns and row groups out of an open object."""
    table = pa.table({"id": list(range(50_000)), "text": [f"text {number}" * 9 for number in range(50_000)]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=10_000)
    store = bucket.store()
    store.write("t.parquet", sink.getvalue().to_pybytes())
    with store.open("t.parquet") as stream, pq.ParquetFile(stream) as file:
        assert file.read_row_group(3, columns=["id"]).column("id").to_pylist() == list(range(30_000, 40_000))
        assert file.read().equals(table)


def test_object_that_changes_while_it_is_read_is_noticed(bucket: Bucket) -> None:
    """No file is made of the halves of two versions."""
    store = bucket.store()
    store.write("f", b"a" * 3_000_000)
    with store.open("f") as stream:
        stream.read(10)
        store.write("f", b"b" * 3_000_000)
        with pytest.raises(OSError, match="has changed since it was opened"):
            stream.read()


def test_only_the_first_creates(bucket: Bucket) -> None:
    """An object that is there is not created again, and keeps its content."""
    store = bucket.store("p")
    store.write("f", b"1", if_absent=True)
    with pytest.raises(Conflict) as raised:
        store.write("f", b"2", if_absent=True)
    assert str(raised.value) == f"s3://{bucket.name}/p/f is there already; another writer was faster"
    assert store.read("f") == b"1"


def test_only_the_known_version_is_replaced(bucket: Bucket) -> None:
    """Each write by tag needs the tag of the last, and one that is gone can't be replaced."""
    store = bucket.store()
    tags = [store.write("f", b"1")]
    tags.append(store.write("f", b"2", if_etag=tags[0]))
    for name in ("f", "gone"):
        with pytest.raises(Conflict, match="is not the one that was to be replaced"):
            store.write(name, b"3", if_etag=tags[0])
    assert all(one != other for one, other in pairwise(tags))
    assert store.read("f") == b"2"
    assert store.info("gone") is None


def test_large_object_is_written_whole(bucket: Bucket) -> None:
    """One that is sent in parts is the same as one that is not, and may have a condition."""
    content = bytes(range(256)) * 50_000
    store = bucket.store()
    store.write("parts", content)
    store.write("once", content, if_absent=True)
    assert store.read("parts") == store.read("once") == content


def test_removed_is_gone(bucket: Bucket) -> None:
    """Several at once, and those that were never there."""
    store = bucket.store("p")
    for name in "abc":
        store.write(name, b"")
    store.remove(["a", "never", "c"])
    store.remove([])
    assert _names(store) == ["b"]


def test_store_goes_to_other_processes(bucket: Bucket) -> None:
    """A copy by pickle holds the URL alone, and reads the same."""
    store = bucket.store("p")
    store.write("f", b"1")
    sent = pickle.dumps(store)
    assert b"EXAMPLE" not in sent
    assert pickle.loads(sent).read("f") == b"1"  # noqa: S301 (our own)
    assert repr(store) == f"ObjectStore('s3://{bucket.name}/p')"


def test_other_stores_open() -> None:
    """Google's and Azure's are opened by their own classes, which ask nobody yet."""
    assert repr(object_store("gs://bucket/a/")) == "ObjectStore('gs://bucket/a')"


def test_obstore_is_loaded_by_a_store_alone() -> None:
    """Importing the modules loads no library, so that paths on disk need none."""
    script = (
        "import sys, chunkledger.remote.objects, chunkledger.remote.lease; from chunkledger.remote.urls import is_url;"
        "is_url('s3://b/x'); print('obstore' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_missing_library_is_told_how_to_install() -> None:
    """Without the extra a URL is refused with the command that brings it."""
    script = (
        "import sys; sys.modules['obstore.store'] = None\n"
        "from chunkledger.errors import ObjectStoreError\nfrom chunkledger.remote.objects import object_store\n"
        "try: object_store('s3://b/x')\nexcept ObjectStoreError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "s3://b/x: object stores need the package obstore; pip install 'chunkledger[s3]'\n"
