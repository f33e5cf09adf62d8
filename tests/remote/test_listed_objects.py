"""What is below a URL is listed as the same files in a folder are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from buckets import Between, Bucket
from chunkledger import SourceError
from chunkledger.documents.entries import Listing
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, Source, source_of
from chunkledger.errors import ObjectStoreError
from ledgers import write

TREE = {
    "a.md": "# A\n", "README": "text", "b/c.txt": "c", "b/.draft.md": "x", "b/.git/config": "x", "b/.git/a.md": "x",
    ".hidden/a.md": "x", ".env": "x", "b/logo.png": "x", "b/scan.docx": "x", "b/large.md": "x" * 300,
    "b/rows.jsonl": '{"id": "r", "text": "t"}\n', "t/_delta_log/00.json": "{}", "t/part.parquet": "x", "t/d/e.md": "x",
    "b/t/_delta_log/00.json": "{}", "b/t/x.md": "x", "ledger/_lock.json": "{}", "ledger/x.md": "x",
    "z/ä ö/50%.md": "x", "z/[x]/a&b.md": "x", "z/y/z.rst": "x",
}  # fmt: skip
SELECTIONS = [
    {},
    {"include": ("b/*",)},
    {"include": ("*.md",), "exclude": ("z/*",)},
    {"exclude": ("b/*", "*.png")},
    {"exclude": ("ledger", "t")},
    {"include": ("r*",), "max_document_bytes": 2},
]
PATTERNS = ["", "**/*.md", "*", "b/**", "**/*.png", "t/**/*.md", "z/*/*.md", "**/.*", "z/[[]x]/*"]


def _told(found: Listing) -> tuple[Sequence[object], ...]:
    """What does not depend on where it is."""
    return (
        [(entry.doc_id, entry.size, entry.format) for entry in found.entries],
        [(table.doc_id, table.size) for table in found.tables],
        [(finding.doc_id, finding.status, finding.reason) for finding in found.findings],
        sorted(found.unseen),
    )


@pytest.mark.parametrize("pattern", PATTERNS)
def test_bucket_is_listed_as_a_folder_is(bucket: Bucket, tmp_path: Path, pattern: str) -> None:
    """Ids, formats, and what is passed over and why, for every selection and glob."""
    folder = write(tmp_path / "docs", TREE)
    url = bucket.fill(folder, "docs")
    suffix = f"/{pattern}" if pattern else ""
    for selection in (Selection(max_document_bytes=200), *(Selection(**each) for each in SELECTIONS)):  # type: ignore[arg-type]
        for name in ("", "kb="):
            on_disk = listed([source_of(f"{name}{folder}{suffix}")], selection, str(folder / "ledger"))
            remote = listed([source_of(f"{name}{url}{suffix}")], selection, f"{url}/ledger")
            assert _told(remote) == _told(on_disk)


def test_entry_is_an_object(bucket: Bucket) -> None:
    """Its path is the object's URL, its stamp the tag that the store has of it."""
    bucket.put("docs/a b/50%.md", b"hello")
    [entry] = listed([source_of(bucket.url("docs"))], Selection()).entries
    info = bucket.store("docs").info("a b/50%.md")
    assert info is not None
    assert (entry.path, entry.size, entry.stamp) == (bucket.url("docs/a b/50%.md"), 5, f"etag:{info.etag}")
    assert entry.mtime_ns == info.modified_ns


def test_one_object_is_a_source(bucket: Bucket) -> None:
    """Its id is its own name; what lies beside it is not asked for."""
    for key in ("docs/a.md", "docs/b.md", "docs/LICENSE"):
        bucket.put(key)
    found = listed([source_of(f"kb={bucket.url('docs/a.md')}")], Selection())
    assert [(entry.doc_id, entry.path) for entry in found.entries] == [("kb/a.md", bucket.url("docs/a.md"))]
    [finding] = listed([source_of(bucket.url("docs/LICENSE"))], Selection()).findings
    assert (finding.doc_id, finding.status) == ("LICENSE", "skipped")


def test_object_may_be_read_without_the_right_to_list(bucket: Bucket, proxy: Between) -> None:
    """Nothing is listed where a document is named."""
    bucket.put("docs/a.md")
    proxy.refuses = lambda method, path: "list-type" in path
    assert len(listed([source_of(bucket.url("docs/a.md"))], Selection()).entries) == 1
    with pytest.raises(SourceError, match=r"docs can't be listed: no permission .*SignatureDoesNotMatch"):
        listed([source_of(bucket.url("docs"))], Selection())


@pytest.mark.parametrize("place", ["none", "none/a.md", "doc", "none/*.md"])
def test_nothing_there_is_an_error(bucket: Bucket, place: str) -> None:
    """A typo is not an empty folder, as all documents would be deleted."""
    bucket.put("docs/a.md")
    with pytest.raises(SourceError, match=rf"^no object is at or below {bucket.url('none')[:-4]}"):
        listed([source_of(bucket.url(place))], Selection())


def test_missing_bucket_is_an_error() -> None:
    """So is one that nobody has made."""
    with pytest.raises(SourceError, match=r"^s3://nobody-made-this/docs can't be listed: no such bucket$"):
        listed([source_of("s3://nobody-made-this/docs")], Selection())


def test_glob_that_matches_nothing_is_an_error(bucket: Bucket) -> None:
    """As on disk."""
    bucket.put("docs/a.md")
    with pytest.raises(SourceError, match=r"^no file matches s3://.*/docs/\*\*/\*\.rst$"):
        listed([source_of(bucket.url("docs/**/*.rst"))], Selection())


@pytest.mark.parametrize(
    ("argument", "source"),
    [
        ("s3://b/docs/", Source("s3://b/docs")),
        ("s3://b", Source("s3://b")),
        ("kb=s3://b/x.md", Source("s3://b/x.md", "kb")),
        ("s3://b/a=b/x", Source("s3://b/a=b/x")),
        ("kb=s3://b/a/**/*.md", Source("s3://b/a", "kb", "**/*.md")),
        ("gs://b/*.md", Source("gs://b", "", "*.md")),
    ],
)
def test_source_of_a_url(argument: str, source: Source) -> None:
    """Names and globs go with URLs as with paths."""
    assert source_of(argument) == source


@pytest.mark.parametrize("argument", ["s3://k:secret@b/x", "kb=s3://b/x?sig=secret", "http://host/secret", "s3:///x"])
def test_wrong_url_is_refused(argument: str) -> None:
    """Without what may be a secret in it."""
    with pytest.raises(ObjectStoreError) as raised:
        source_of(argument)
    assert "secret" not in str(raised.value)


def test_source_given_twice_is_an_error(bucket: Bucket) -> None:
    """By what it holds, as on disk."""
    bucket.put("docs/a/x.md")
    with pytest.raises(SourceError, match="is in two of the sources"):
        listed([source_of(bucket.url("docs")), source_of(bucket.url("docs/a"))], Selection())


@pytest.mark.parametrize(("key", "unseen"), [("docs/b/../x.md", "b"), ("docs/..", "")])
def test_folder_that_is_not_whole_has_failed(bucket: Bucket, key: str, unseen: str) -> None:
    """A name that can't be addressed hides its folder: somebody is told, and nothing in it counts as gone."""
    for each in ("docs/a.md", "docs/b/c.md", "docs/d/e.md", key):
        bucket.put(each)
    found = listed([source_of(bucket.url("docs"))], Selection())
    assert "d/e.md" in [entry.doc_id for entry in found.entries]
    [finding] = [finding for finding in found.findings if finding.status == "failed"]
    assert finding.doc_id == (unseen or bucket.url("docs"))
    assert finding.reason.startswith("can't be listed whole: ")
    assert found.unseen == {unseen}
