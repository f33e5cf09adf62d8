"""The command line with URLs: exit codes, one line for what went wrong, and no credentials anywhere."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from buckets import Bucket, Watch
from ledgers import COMMAND, IN_PROCESS, sections, write

SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIAZZTOPSECRETKEY07",
    "AWS_SECRET_ACCESS_KEY": "dIstInctIve/secret+key/of/the/tests==x07",
    "AWS_SESSION_TOKEN": "IQoJdIstInctIve+session/token==",
}
SIGNED = ("Signature=", "AWS4-HMAC", "aws4_request", "x-amz-security-token")


@pytest.fixture
def corpus(bucket: Bucket) -> Bucket:
    """A bucket with two documents and a table below `docs`."""
    bucket.put("docs/a.md", sections(4).encode())
    bucket.put("docs/b.md", sections(2).encode())
    bucket.put("docs/rows.jsonl", b'{"id": "r", "text": "Some text."}\n')
    return bucket


def _done(*arguments: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **IN_PROCESS, **environment}
    return subprocess.run([*COMMAND, *arguments], env=env, cwd=folder, capture_output=True, text=True, check=False)


def _ingest(bucket: Bucket, *more: str, ledger: str = "ledger", **environment: str) -> subprocess.CompletedProcess[str]:
    return _done("ingest", bucket.url("docs"), "--out", bucket.url(ledger), *more, **environment)


def test_commands_take_urls(corpus: Bucket, tmp_path: Path) -> None:
    """Each that reads a ledger reads one in a bucket, and says the same of it as of one on disk."""
    url, local = corpus.url("ledger"), str(tmp_path / "ledger")
    assert _ingest(corpus).returncode == 0
    assert _done("ingest", corpus.url("docs"), "--out", local).returncode == 0
    before = {name: corpus.store("ledger").read(name) for name in corpus.names("ledger")}
    [first, *_] = _done("export", url).stdout.splitlines()
    write(tmp_path, {"ids": json.loads(first)["chunk_id"]})
    for arguments in (
        ("report", "{}", "--format", "json"),
        ("show", "{}", "a.md"),
        ("export", "{}", "--format", "csv"),
        ("verify", "{}"),
        ("pack", "{}", "--ids", str(tmp_path / "ids"), "--slot-tokens", "3000", "--render"),
        ("simulate", "{}", "--requests", "50"),
        ("whatif", "--against", "{}", "--max-tokens", "90", "--requests", "50", "-q"),
        ("whatif", corpus.url("docs"), "--against", "{}", "--sweep", "max_tokens=90,512", "--requests", "50", "-q"),
    ):
        remote, here = (_done(*(each.format(place) for each in arguments)) for place in (url, local))
        # The commands that a report proposes name the ledger as it was named.
        assert (remote.returncode, remote.stdout.replace(url, local)) == (0, here.stdout)
    assert {name: corpus.store("ledger").read(name) for name in corpus.names("ledger")} == before
    for name in ("parquet", "counts"):
        done = [_done("export", place, "--format", name, "--to", str(tmp_path / name)) for place in (url, local)]
        assert [each.returncode for each in done] == [0, 0]
    assert _done("recount", url, "--encoding", "cl100k_base").returncode == 0
    assert _done("init", corpus.url("docs"), "--print").returncode == 0


def test_operators_take_urls(corpus: Bucket) -> None:
    """A dry run, the feed by a cursor, the list of runs, vacuum and doctor."""
    url = corpus.url("ledger")
    assert _ingest(corpus).returncode == 0
    corpus.put("docs/a.md", sections(5).encode())
    before = corpus.names("ledger")
    dry = _ingest(corpus, "--dry-run")
    assert (dry.returncode, "changed: a.md" in dry.stdout, corpus.names("ledger")) == (0, True, before)
    assert _done("feed", url, "--cursor", "store", "--ack").returncode == 0
    assert _ingest(corpus, "--rehash", "--wait", "5").returncode == 0
    fed = _done("feed", url, "--cursor", "store", "--ack")
    assert (fed.returncode, len(fed.stdout.splitlines()) > 0) == (0, True)
    runs = _done("runs", url)
    assert (runs.returncode, "2" in runs.stdout) == (0, True)
    doctor = _done("doctor", url)
    assert (doctor.returncode, f"{url} can be written" in doctor.stdout) == (0, True), doctor.stdout
    vacuum = _done("vacuum", url, "--keep-days", "0")
    assert (vacuum.returncode, "part-00001-" in vacuum.stdout) == (0, True), vacuum.stderr
    assert [name for name in corpus.names("ledger") if "part-00001-" in name] == []
    assert _done("verify", url).returncode == 0


@pytest.mark.parametrize(
    ("source", "ledger", "code", "said"),
    [
        ("s3://nobody-made-this/docs", "{}/l", 2, "s3://nobody-made-this/docs can't be listed: no such bucket"),
        ("{}/none", "{}/l", 2, "no object is at or below {}/none"),
        ("{}/docs/*.rst", "{}/l", 2, "no file matches {}/docs/*.rst"),
        ("{}/docs", "s3://nobody-made-this/l", 4, "nothing was published: s3://nobody-made-this/l can't be read as a "
         "ledger: no such bucket"),
        ("{}/docs", "{}/docs/", 2, "the ledger can't be the source itself ({}/docs); give another folder to write to"),
        ("http://host/x", "{}/l", 2, "http:// can't be opened; s3://, gs:// and az:// can, and a folder is given by "
         "its path alone"),
        ("{}/docs", "s3://key:hunter22@b/l", 2, "a s3:// URL can't hold a user, password or port; credentials and "
         "endpoint come from the environment"),
    ],
)  # fmt: skip
def test_what_is_not_there(corpus: Bucket, source: str, ledger: str, code: int, said: str) -> None:
    """One line says what, and the exit code what to do."""
    root = corpus.url()
    done = _done("ingest", source.format(root), "--out", ledger.format(root))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == f"error: {said.format(root)}\n"


@pytest.mark.parametrize("command", ["report", "verify", "export"])
def test_ledger_that_is_not_there(bucket: Bucket, command: str) -> None:
    """A reader says so too."""
    done = _done(command, bucket.url("none"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: no ledger in {bucket.url('none')}; `chunkledger ingest")


def test_store_that_is_not_there(bucket: Bucket) -> None:
    """It is given up in less than a minute, with one line."""
    done = _ingest(bucket, AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)
    assert "error sending request" in done.stderr


def test_missing_library(tmp_path: Path) -> None:
    """The command that brings it is named, and paths on disk need none."""
    write(tmp_path, {"docs/a.md": "# A\n\nText.\n", "none/obstore.py": "raise ImportError('there is none')"})
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "none"), *filter(None, sys.path)])}
    for source, ledger in (("s3://b/docs", "ledger"), ("docs", "s3://b/ledger")):
        done = _done("ingest", source, "--out", ledger, folder=tmp_path, **path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith("object stores need the package obstore; pip install 'chunkledger[s3]'\n")
    assert _done("ingest", "docs", "--out", "ledger", folder=tmp_path, **path).returncode == 0


def test_lock_of_another_process(corpus: Bucket) -> None:
    """Of two commands at once the second says who is at work, or waits."""
    holding = (
        "import sys; from chunkledger.store.lock import locked\nwith locked(sys.argv[1]): print(1, flush=True); input()"
    )
    command = (sys.executable, "-c", holding, corpus.url("ledger"))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        done = _ingest(corpus)
        process.communicate("\n")
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)
    assert f"another run is at work (process {process.pid} on " in done.stderr
    assert _ingest(corpus).returncode == 0


def _texts(bucket: Bucket, path: str) -> Iterator[tuple[str, str]]:
    """All that the objects below a path hold, and their names."""
    for name in bucket.names(path):
        content = bucket.store(path).read(name)
        yield name, name
        yield name, content.decode("latin-1")
        if name.endswith(".parquet"):
            yield name, str(pq.read_table(io.BytesIO(content)).to_pylist())


def _check(text: str, where: str) -> None:
    for secret in [*SECRETS.values(), *map(quote, SECRETS.values()), *(quote(each, "") for each in SECRETS.values())]:
        assert secret not in text, where
    for sign in SIGNED:
        assert sign.lower() not in text.lower(), where


@contextmanager
def _refused(watch: Watch, pattern: str) -> Iterator[None]:
    watch.refuse(pattern)
    try:
        yield
    finally:
        watch.refuse("")


FAILURES = [
    ("listing of the source", r"prefix=docs", 2),
    ("a document", r"GET \S*/docs/[ab]\.md$", 3),
    ("a table", r"(GET|HEAD) \S*/docs/rows\.jsonl$", 3),
    ("the lock", r"PUT \S*/_lock\.json", 4),
    ("a part", r"PUT \S*/part-", 4),
    ("the table of documents", r"PUT \S*/_documents/", 4),
    ("the report", r"PUT \S*/_runs/", 4),
    ("the commit", r"PUT \S*_delta_log/\d+\.json", 4),
    ("the log", r"GET \S*_delta_log", 4),
    ("listing of the ledger", r"prefix=ledger", 4),
    ("everything", r".", 4),
]


@pytest.mark.parametrize("is_first", [True, False])
def test_credentials_are_nowhere(corpus: Bucket, watch: Watch, monkeypatch: pytest.MonkeyPatch, is_first: bool) -> None:
    """Whatever the server refuses, repeating the request, the output and every object of the ledger are clean."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    said: list[str] = []

    def look(done: subprocess.CompletedProcess[str], code: int, where: str) -> None:
        assert done.returncode == code, (where, done.stderr)
        assert "Traceback" not in done.stderr
        if code in (2, 4):
            assert len(done.stderr.splitlines()) == 1, (where, done.stderr)
            assert "SignatureDoesNotMatch" in done.stderr, (where, done.stderr)
        said.append(done.stdout + done.stderr)

    if not is_first:
        look(_ingest(corpus), 0, "first")
    # A first run differs in what it writes.
    failures = [each for each in FAILURES if "PUT" in each[1]] if is_first else FAILURES
    for number, (what, pattern, code) in enumerate(failures):
        corpus.put("docs/a.md", sections(4 + number).encode())
        corpus.put("docs/b.md", sections(3 + number).encode())
        corpus.put("docs/rows.jsonl", json.dumps({"id": "r", "text": sections(1 + number)}).encode())
        ledger = f"ledger{number}" if is_first else "ledger"
        with _refused(watch, pattern):
            look(
                _ingest(corpus, ledger=ledger, CHUNKLEDGER_JOBS="2" if code == 3 or "part" in what else "0"), code, what
            )
    look(_ingest(corpus), 0, "last")
    for command in () if is_first else ("report", "export", "verify"):
        look(_done(command, corpus.url("ledger")), 0, command)
        for pattern in (r"GET \S*/part-", r"GET \S*/_runs/", r"GET \S*_delta_log"):
            with _refused(watch, pattern):
                done = _done(command, corpus.url("ledger"))
                look(done, 2, f"{command} {pattern}")
    for text in said:
        _check(text, text)
    found = list(_texts(corpus, ""))
    assert len(found) > 20
    for name, text in found:
        _check(text, name)
