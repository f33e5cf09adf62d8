"""A ledger in a bucket is the one that a folder would hold, whatever its sources are in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from buckets import Bucket, Watch
from chunkledger import LedgerError, Run, Settings, SourceError, ingest, open_ledger, verify
from chunkledger.outliers.summary import summary
from chunkledger.recounting import recount
from chunkledger.runs.making import Step
from chunkledger.store import commit, lock
from chunkledger.store.ledger import Ledger
from chunkledger.store.lock import Held, LockedError, locked
from ledgers import SAMPLE_CORPUS, sections, write

SMALL = Settings(max_tokens=200, min_tokens=20)
OTHER = Settings(max_tokens=100, min_tokens=20)
_OWN = ("origin", "row", "size", "sha256", "status", "reason", "part", "chunks", "flagged", "tokens")


@pytest.fixture
def corpus(bucket: Bucket) -> Bucket:
    """A bucket with a few documents below `docs`."""
    for number in range(4):
        bucket.put(f"docs/d{number}.md", sections(3 + number).encode())
    return bucket


def _records(place: object, run: int | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = open_ledger(place, run).chunks(role="all").to_pylist()  # type: ignore[arg-type]
    return found


def _told(ledger: Ledger) -> dict[str, Any]:
    """Everything but places and times, which are others elsewhere."""
    return {
        "chunks": ledger.chunks(role="all").to_pylist(),
        "parts": [path.rpartition("/")[2] for path in ledger.part_paths()],
        "documents": ledger.documents().select(["doc_id", *_OWN]).to_pylist(),
        "report": {key: ledger.report()[key] for key in ("selection", "settings", "versions", "counts", "findings")},
    }


@pytest.mark.parametrize("jobs", [0, 2])
def test_bucket_to_bucket_is_as_folder_to_folder(bucket: Bucket, tmp_path: Path, jobs: int) -> None:
    """The sample corpus, with its tables and what is wrong in it, in this process and in others."""
    settings = Settings(max_tokens=256, parent_tokens=900)
    source, ledger = bucket.fill(SAMPLE_CORPUS, "docs"), bucket.url("ledger/")
    remote = ingest(source, ledger, settings, jobs=jobs)
    local = ingest(SAMPLE_CORPUS, tmp_path / "ledger", settings)
    assert (remote.counts(), remote.findings) == (local.counts(), local.findings)
    found = open_ledger(ledger)
    assert found.root == bucket.url("ledger")
    assert found.report()["sources"] == [{"name": "", "path": source, "pattern": ""}]
    assert _told(found) == _told(open_ledger(tmp_path / "ledger"))
    assert "_running.json" not in bucket.names("ledger")


@pytest.mark.parametrize("where", ["source", "ledger"])
def test_one_side_in_a_bucket(bucket: Bucket, tmp_path: Path, where: str) -> None:
    """A folder goes into a bucket, and a bucket into a folder."""
    folder = write(tmp_path / "docs", {"a/x.md": sections(4), "b.md": sections(2)})
    url = bucket.fill(folder, "docs")
    ingest(url if where == "source" else folder, bucket.url("l") if where == "ledger" else tmp_path / "l", SMALL)
    ingest(folder, tmp_path / "both", SMALL)
    ledger = open_ledger(bucket.url("l") if where == "ledger" else tmp_path / "l")
    assert _told(ledger) == _told(open_ledger(tmp_path / "both"))


def test_tables_are_sources(bucket: Bucket, tmp_path: Path) -> None:
    """Rows of JSON Lines and of Parquet, too large to be read at once."""
    rows = [{"id": f"r{number}", "text": sections(1 + number % 3), "kind": "k" * 9} for number in range(300)]
    table = pa.Table.from_pylist(rows)
    write(tmp_path / "docs", {"a.jsonl": "\n".join(map(json.dumps, rows))})
    pq.write_table(table, tmp_path / "docs" / "b.parquet", row_group_size=100)
    for name in ("a.jsonl", "b.parquet"):
        url, folder = bucket.fill(tmp_path / "docs", "docs"), tmp_path / "docs"
        ingest(f"{url}/{name}", bucket.url(f"ledger-{name}"), SMALL)
        ingest(folder / name, tmp_path / f"ledger-{name}", SMALL)
        remote, local = open_ledger(bucket.url(f"ledger-{name}")), open_ledger(tmp_path / f"ledger-{name}")
        assert _told(remote) == _told(local)


def test_unchanged_objects_are_not_read(corpus: Bucket, watch: Watch) -> None:
    """Size and tag tell, so that a second run asks for no document, and for no part of the ledger."""
    corpus.put("docs/rows.jsonl", b'{"id": "r", "text": "Some text."}\n')
    first = ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    assert len(watch.read("/docs/")) >= 5
    watch.forget()
    second = ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    assert (second.unchanged, second.changes.keep) == (first.ok, first.chunks)
    assert watch.read("/docs/") == watch.read("/part-") == []
    assert [request for request in watch.requests() if request.startswith("PUT") and "/part-" in request] == []


def test_same_bytes_with_another_tag_are_read_and_not_split(bucket: Bucket, watch: Watch) -> None:
    """As those that were copied in parts, whose tag is no hash of the content: our own hash tells."""
    large = sections(60_000).encode()[:6_000_000]
    for key in ("docs/a.md", "docs/b.md"):
        bucket.put(key, large if key.endswith("a.md") else b"# B\n")
    tag = bucket.store("docs").info("a.md")
    first = ingest(bucket.url("docs"), bucket.url("ledger"), SMALL)
    assert bucket.store("docs").write("a.md", large) != tag.etag  # type: ignore[union-attr]
    watch.forget()
    run = ingest(bucket.url("docs"), bucket.url("ledger"), SMALL)
    assert (run.unchanged, run.changes.keep) == (2, first.chunks)
    assert [request.rpartition("/")[2] for request in watch.read("/docs/")] == ["a.md"]
    run = ingest(bucket.url("docs"), bucket.url("ledger"), SMALL, rehash=True)
    assert (run.unchanged, len(watch.read("/docs/"))) == (2, 3)


def test_edits_deletes_and_renames(corpus: Bucket, tmp_path: Path, watch: Watch) -> None:
    """Only what is new or another one is read, the ledger is that of a fresh run, and the feed says what changed."""
    url, ledger = corpus.url("docs"), corpus.url("ledger")
    ingest(url, ledger, SMALL)
    before = _records(ledger)
    corpus.put("docs/d0.md", sections(5).encode())
    corpus.remove("docs/d1.md")
    corpus.put("docs/new/d2.md", sections(5).encode().replace(b"w1", b"v1"))
    corpus.remove("docs/d3.md")
    corpus.put("docs/e3.md", sections(6).encode())
    watch.forget()
    run = ingest(url, ledger, SMALL, max_delete=1)
    assert {path.rpartition("/")[2] for path in watch.read("/docs/")} == {"d0.md", "d2.md", "e3.md"}
    assert (run.renamed, run.unchanged, run.number) == (1, 1, 2)
    ingest(url, tmp_path / "fresh", SMALL)
    assert _records(ledger) == _records(tmp_path / "fresh")
    assert _records(ledger, run=1) == before
    told = open_ledger(ledger).feed(1)
    operations = {row["chunk_id"]: row["operation"] for row in told.to_pylist()}
    ids = [{row["chunk_id"] for row in rows} for rows in (before, _records(ledger))]
    assert {chunk_id for chunk_id, operation in operations.items() if operation == "delete"} == ids[0] - ids[1]
    assert {chunk_id for chunk_id, operation in operations.items() if operation == "add"} == ids[1] - ids[0]
    assert told.filter(pa.compute.is_valid(told.column("previous_chunk_id"))).num_rows > 0


@pytest.mark.parametrize("typo", ["doc", "docs/none", "docs/**/*.rst"])
def test_source_that_is_not_there_deletes_nothing(corpus: Bucket, typo: str) -> None:
    """The ledger stays as it was."""
    ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    before = _records(corpus.url("ledger"))
    with pytest.raises(SourceError):
        ingest(corpus.url(typo), corpus.url("ledger"), SMALL, max_delete=1)
    assert (open_ledger(corpus.url("ledger")).run, _records(corpus.url("ledger"))) == (1, before)


def test_document_that_was_not_seen_stays(corpus: Bucket) -> None:
    """Where a key hides part of the source, nothing in it is deleted."""
    ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    corpus.remove("docs/d3.md")
    corpus.put("docs//hostile")
    run = ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    assert (run.kept, run.failed, run.changes.delete) == (1, 1, 0)
    assert "d3.md" in {row["doc_id"] for row in _records(corpus.url("ledger"))}


def test_object_that_can_no_longer_be_read_keeps_its_chunks(corpus: Bucket, watch: Watch) -> None:
    """It has failed, and the run goes on."""
    ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    corpus.put("docs/d1.md", b"# Other\n\nText.\n")
    watch.refuse(r"GET .*/d1\.md$")
    run = ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    assert (run.failed, run.kept, run.changes.delete) == (1, 1, 0)
    assert run.findings[0].reason.startswith("can't be read: no permission (")


@pytest.mark.parametrize("place", ["docs", "docs/ledger"])
def test_ledger_beside_its_documents(corpus: Bucket, place: str) -> None:
    """One below the source is passed over, one in its place is refused."""
    if place == "docs":
        with pytest.raises(SourceError, match="can't be the source itself"):
            ingest(corpus.url("docs"), corpus.url("docs/"), SMALL)
        return
    for number in (1, 2):
        run = ingest(corpus.url("docs"), corpus.url(place), SMALL)
        assert (run.number, run.ok) == (number, 4)
        assert [finding.reason for finding in run.findings] == ["the ledger itself"]


def test_readers(corpus: Bucket, tmp_path: Path) -> None:
    """Scan, summary, verification and recount give what they give on disk."""
    places = (corpus.url("ledger"), tmp_path / "ledger")
    for place in places:
        ingest(corpus.url("docs"), place, Settings(max_tokens=200, parent_tokens=600, min_tokens=190))
        recount(place, "cl100k_base")
    remote, local = (open_ledger(place) for place in places)
    assert remote.settings().further_encodings == ("cl100k_base",)
    assert _told(remote) == _told(local)
    assert summary(remote, name="ledger").as_dict() == summary(local, name="ledger").as_dict()
    for role in ("chunk", "parent", "all"):
        scans = [each.scan(role=role) for each in (remote, local)]  # type: ignore[arg-type]
        assert scans[0].collect().equals(scans[1].collect())
        assert scans[0].select("doc_id").head(3).collect().equals(scans[1].select("doc_id").head(3).collect())
        counted = [scan.group_by("doc_id").len().sort("doc_id").collect() for scan in scans]
        assert counted[0].equals(counted[1])
    assert remote.feed(0).equals(local.feed(0))
    assert remote.feed(1).equals(local.feed(1))
    found = verify(remote)
    assert (found.mismatches, found.not_compared, found.compared) == ([], {}, 4)
    corpus.put("docs/d1.md", b"x")
    corpus.remove("docs/d2.md")
    assert verify(places[0]).not_compared == {"d1.md": "the source has changed", "d2.md": "the source is gone"}


def test_large_part_is_read_by_ranges(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same as one that is read at once."""
    bucket.put("docs/a.md", sections(40).encode())
    ingest(bucket.url("docs"), bucket.url("ledger"), SMALL)
    whole = _records(bucket.url("ledger"))
    monkeypatch.setattr("chunkledger.store.files._WHOLE_BYTES", 100)
    assert _records(bucket.url("ledger")) == whole


def test_lock_is_held_by_one(corpus: Bucket) -> None:
    """Another run is told whose it is, and leaves everything alone."""
    url = corpus.url("ledger")
    ingest(corpus.url("docs"), url, SMALL)
    with locked(url):
        names = corpus.names("ledger")
        with pytest.raises(LockedError) as raised:
            ingest(corpus.url("docs"), url, SMALL)
        assert corpus.names("ledger") == names
    assert str(raised.value).startswith(f"{url}: another run is at work (process {os.getpid()} on ")
    assert "--wait SECONDS waits for it; should it have died, its lock ends 120 s after" in str(raised.value)


def test_run_waits_for_the_lock(corpus: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two at once each makes a run, one after the other."""
    monkeypatch.setattr(lock, "LEASE_SECONDS", 2.0)
    runs: list[Run] = []
    threads = [
        threading.Thread(
            target=lambda: runs.append(ingest(corpus.url("docs"), corpus.url("ledger"), SMALL, wait=60)),
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((run.number, run.changes.keep == run.chunks) for run in runs) == [(1, False), (2, True)]


_KILLED = """
import os, signal, sys
from chunkledger import Settings, ingestion
from chunkledger.store import lock
lock.LEASE_SECONDS = 1.0
ingestion.publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
ingestion.ingest(sys.argv[1], sys.argv[2], Settings(max_tokens=200, min_tokens=20))
"""


def test_killed_run_is_cleared_up(corpus: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one gets the lock when the lease is over, says so, and removes what nothing refers to."""
    url, ledger = corpus.url("docs"), corpus.url("ledger")
    ingest(url, ledger, SMALL)
    before = _records(ledger)
    corpus.put("docs/d0.md", sections(9).encode())
    done = subprocess.run([sys.executable, "-c", _KILLED, url, ledger], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, b"")
    left = [name for name in corpus.names("ledger") if "00002-" in name]
    assert {name.partition("00002-")[0] for name in left} == {"_changes/", "part-"}
    assert _records(ledger) == before
    corpus.put("docs/d0.md", sections(2).encode())
    monkeypatch.setattr(lock, "LEASE_SECONDS", 2.0)
    told: list[str] = []
    run = ingest(url, ledger, SMALL, wait=60, notify=told.append)
    assert run.number == 2
    assert [message[:22] for message in told] == ["the last run (process "]
    assert not set(left) & set(corpus.names("ledger"))


class _NoLock(Held):
    def remove(self, names: Iterable[str]) -> None:
        """Remove nothing, as who has no lock must not."""


@contextmanager
def _no_lock(root: str, wait: float = 0.0) -> Iterator[Held]:
    yield _NoLock(root, None)


@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_runs_without_a_lock_one_is_published(
    corpus: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """The commit is conditional by itself: the slower run fails, and takes nothing from the faster one."""
    monkeypatch.setattr("chunkledger.ingestion.locked", _no_lock)
    url, ledger = corpus.url("docs"), corpus.url("ledger")
    if not is_first:
        ingest(corpus.url("docs/d3.md"), ledger, SMALL)
    inner: list[Run] = []

    def overtaken(step: Step) -> None:
        if not inner:
            inner.append(ingest(f"{url}/d0.md", ledger, SMALL, max_delete=1))

    with pytest.raises(LedgerError, match="another run was published while this one worked"):
        ingest(url, ledger, SMALL, progress=overtaken)
    ingest(corpus.url("docs/d0.md"), tmp_path / "alone", SMALL)
    assert open_ledger(ledger).run == inner[0].number == (1 if is_first else 2)
    assert _records(ledger) == _records(tmp_path / "alone")
    assert verify(ledger).mismatches == []


def test_run_that_has_lost_its_lock_stops(corpus: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """It publishes nothing, and removes nothing, as it may be another's by now."""
    url, ledger = corpus.url("docs"), corpus.url("ledger")
    ingest(url, ledger, SMALL)
    before = _records(ledger)
    corpus.put("docs/d0.md", sections(9).encode())
    monkeypatch.setattr(lock, "LEASE_SECONDS", 1.0)
    seen: list[list[str]] = []
    another = json.dumps({"pid": 1, "host": "other", "run": "other", "seconds": 100.0}).encode()

    def take_over(step: Step) -> None:
        if not step.documents:
            return  # the first step comes before any part is written
        corpus.store("ledger").write("_lock.json", another)
        for thread in threading.enumerate():
            if thread.name.startswith("lease of"):
                thread.join(30)
        seen.append(corpus.names("ledger"))

    with pytest.raises(LedgerError, match="the lock was lost while this run worked"):
        ingest(url, ledger, SMALL, progress=take_over)
    assert (open_ledger(ledger).run, _records(ledger)) == (1, before)
    assert [name[:5] for name in seen[0] if "00002-" in name] == ["part-"]
    assert set(seen[0]) <= set(corpus.names("ledger"))
    assert corpus.store("ledger").read("_lock.json") == another
    told = [name for name in corpus.names("ledger") if name.startswith("_runs/00002-")]
    assert "the lock was lost" in json.loads(corpus.store("ledger").read(told[0]))["error"]


@pytest.mark.parametrize("in_bucket", [True, False])
def test_commit_whose_answer_is_lost_is_a_commit(
    corpus: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_bucket: bool
) -> None:
    """Where the log names the run's own files, it was published, whatever the library says."""
    ledger = corpus.url("ledger") if in_bucket else str(tmp_path / "ledger")
    real: Callable[..., None] = commit._write

    def lost(*args: object) -> None:
        real(*args)
        raise commit.CommitFailedError("the version is there already")

    monkeypatch.setattr(commit, "_write", lost)
    for number in (1, 2):
        run = ingest(corpus.url("docs"), ledger, SMALL)
        assert (run.number, open_ledger(ledger).run) == (number, number)


def test_log_has_a_checkpoint_soon(corpus: Bucket) -> None:
    """Opening the table takes few requests after any number of nights."""
    for _ in range(11):
        ingest(corpus.url("docs"), corpus.url("ledger"), SMALL)
    assert "_delta_log/_last_checkpoint" in corpus.names("ledger")
    assert open_ledger(corpus.url("ledger"), run=3).run == 3


def test_notice_of_what_is_untested(monkeypatch: pytest.MonkeyPatch, corpus: Bucket, tmp_path: Path) -> None:
    """Who gives a URL of another store than S3 is told that nobody has tried."""
    monkeypatch.setattr("chunkledger.ingestion.untested", lambda places: [f"untested: {', '.join(places)}"])
    run = ingest(corpus.url("docs"), str(tmp_path / "ledger"), SMALL)
    assert run.notices == (f"untested: {tmp_path / 'ledger'}, {corpus.url('docs')}",)
