"""One run is one commit, and what can't be a ledger is refused before anything is done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chunkledger import LedgerError, Settings, ingest, open_ledger
from chunkledger.runs.making import Step
from chunkledger.store.commit import NewPart, commit
from chunkledger.store.lock import LockedError
from chunkledger.store.log import RunFiles, last_run, opened, run_files
from ledgers import names_below, prose, rows_of, sections, write


def _ledger(folder: Path, text: str = "# A\n\nOne.\n") -> Path:
    ingest([write(folder / "docs", {"a.md": text})], folder / "ledger", jobs=1)
    return folder / "ledger"


def _names(run: int) -> RunFiles:
    return RunFiles(run, "_documents/x.parquet", "_runs/x.json")


def test_nothing_there_is_no_table(tmp_path: Path) -> None:
    """A folder that is not there, is empty, or holds something else is no table yet."""
    (tmp_path / "half" / "_delta_log").mkdir(parents=True)
    roots = [tmp_path / "nowhere", tmp_path, write(tmp_path / "docs", {"a.md": "x"}), tmp_path / "half"]
    assert [opened(str(root)) for root in roots] == [None] * 4
    assert last_run(None) == 0


def test_file_is_no_ledger(tmp_path: Path) -> None:
    """A file in the ledger's place is named."""
    write(tmp_path, {"a": "x"})
    with pytest.raises(LedgerError) as raised:
        opened(str(tmp_path / "a"))
    assert str(raised.value) == f"{tmp_path / 'a'} is a file; a ledger is a folder"


def test_damaged_log_is_named(tmp_path: Path) -> None:
    """A log that Delta can't read is an error of ours, with the folder in it."""
    write(tmp_path / "ledger", {"_delta_log/00000000000000000000.json": "{not json\n"})
    with pytest.raises(LedgerError, match="ledger can't be read as a ledger: "):
        opened(str(tmp_path / "ledger"))


def test_other_delta_table_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A table that another program made is neither read as a ledger nor written to."""
    write_deltalake(tmp_path / "table", pa.table({"a": [1]}))
    before = names_below(tmp_path / "table")
    with pytest.raises(LedgerError, match="is a Delta table, but no ledger; give another folder"):
        _ledger_in(tmp_path, "table")
    with pytest.raises(LedgerError, match="is a Delta table, but no ledger"):
        _ = open_ledger(tmp_path / "table").run
    assert names_below(tmp_path / "table") == before


def _ledger_in(folder: Path, name: str) -> None:
    ingest([write(folder / "docs", {"a.md": "x"})], folder / name, jobs=1)


@pytest.mark.parametrize("name", ["a#b", "a?b", "a\\b", "a\nb", "a\x7fb", "a\udce9b", "a%20b"])
def test_path_that_delta_cannot_take_is_refused(tmp_path: Path, name: str) -> None:
    """Regression: such a path failed at the commit, after all the work, lost its runs, or was another folder."""
    with pytest.raises(LedgerError, match="a ledger's path can't hold"):
        _ledger_in(tmp_path, name)
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


@pytest.mark.parametrize("name", ["my ledger", "größe", "日本", "50%", "[x]", "{a}", "a*", "a:b", "it's", '"<>"'])
def test_path_may_hold_whatever_else(tmp_path: Path, name: str) -> None:
    """Regression: below a folder whose name Delta percent-encodes nothing could be read and no second run was made."""
    ledger = tmp_path / name / "ledger"
    source = write(tmp_path / "docs", {"a.md": "# A\n\nOne.\n"})
    assert [ingest([source], ledger, jobs=1).changes.keep for _ in range(2)] == [0, 1]
    opened_ledger = open_ledger(ledger)
    assert [row["text"] for row in opened_ledger.chunks().to_pylist()] == ["# A\n\nOne."]
    assert opened_ledger.scan().collect()["text"].to_list() == ["# A\n\nOne."]


def test_commit_names_the_run_and_its_files(tmp_path: Path) -> None:
    """The commit's metadata and application transaction say which run it is and which files are its own."""
    ledger = _ledger(tmp_path)
    table = DeltaTable(ledger)
    found = json.loads(table.history()[0]["chunkledger"])
    assert (found["run"], table.transaction_version("ingest"), last_run(table)) == (1, 1, 1)
    assert {found["documents"], found["report"]} < names_below(ledger)
    assert run_files(table) == RunFiles(1, found["documents"], found["report"])


def test_part_has_statistics_that_prune(tmp_path: Path) -> None:
    """The log knows rows, size, and first and last document id of a part."""
    source = write(tmp_path / "docs", {"b.md": sections(3), "a.md": "x", "z/ö.md": "x"})
    ingest([source], tmp_path / "ledger", Settings(max_tokens=200), jobs=1)
    [action] = pa.table(DeltaTable(tmp_path / "ledger").get_add_actions(flatten=True)).to_pylist()
    rows = rows_of(tmp_path / "ledger")
    assert (action["num_records"], action["min.doc_id"], action["max.doc_id"]) == (len(rows), "a.md", "z/ö.md")
    assert action["size_bytes"] == (tmp_path / "ledger" / action["path"]).stat().st_size


def test_log_is_kept_and_deletion_vectors_are_off(tmp_path: Path) -> None:
    """Runs are listed from the log, and every reader can read the table."""
    configuration = DeltaTable(_ledger(tmp_path)).metadata().configuration
    assert configuration == {"delta.enableExpiredLogCleanup": "false", "delta.enableDeletionVectors": "false"}


def test_run_that_was_overtaken_is_refused(tmp_path: Path) -> None:
    """A commit on a table that another run has changed meanwhile changes nothing."""
    ledger = _ledger(tmp_path)
    stale = opened(str(ledger))
    _ledger(tmp_path, "# A\n\nTwo.\n")
    before = rows_of(ledger)
    with pytest.raises(LedgerError, match="another run was published while this one worked; run it again"):
        commit(str(ledger), stale, [NewPart("part-00002-00000-x.parquet", 1, 1, ("a", "b"))], [], _names(2))
    assert (rows_of(ledger), DeltaTable(ledger).version(), open_ledger(ledger).run) == (before, 1, 2)


def test_first_run_that_was_overtaken_is_refused(tmp_path: Path) -> None:
    """Where two first runs meet, one of them is told."""
    ledger = _ledger(tmp_path)
    before = rows_of(ledger)
    with pytest.raises(LedgerError, match="another run was published while this one worked; run it again"):
        commit(str(ledger), None, [NewPart("part-00001-00000-x.parquet", 1, 1, ("a", "b"))], [], _names(1))
    assert (rows_of(ledger), DeltaTable(ledger).version()) == (before, 0)


def test_run_whose_log_can_not_be_written_is_told(tmp_path: Path) -> None:
    """What is not somebody else's run is told as it is."""
    write(tmp_path / "ledger", {"_delta_log": "a file in the place of the log"})
    with pytest.raises(LedgerError, match="the run could not be published: "):
        commit(str(tmp_path / "ledger"), None, [NewPart("part-00001-00000-x.parquet", 1, 1, ("a", "b"))], [], _names(1))


HANGING = """
import hashlib, os, signal, sys, threading
from chunkledger.cli import exits
from chunkledger.store import commit

number, ours, rounds = signal.Signals[sys.argv[1]], sys.argv[2] == "ours", int(sys.argv[3])
handler = {"SIGTERM": exits._terminate, "SIGINT": exits._interrupt}[sys.argv[1]]
signal.signal(number, handler if ours else lambda *_: print("handled", flush=True))

def hang(*_):
    threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", rounds)

commit._write = hang
commit.commit("nowhere", None, [], [], commit.RunFiles(1, "", ""))
print("done", flush=True)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize(
    ("whose", "rounds", "code", "out"), [("ours", 10**9, -1, set()), ("theirs", 1_500_000, 0, {"handled", "done"})]
)
def test_signal_ends_a_commit_that_hangs(name: str, whose: str, rounds: int, code: int, out: set[str]) -> None:
    """Regression: in a call of a library no handler of Python runs. One that has more to do than to end is kept."""
    done = subprocess.run(
        [sys.executable, "-c", HANGING, name, whose, str(rounds)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, set(done.stdout.split())) == (code and -signal.Signals[name], out)


def test_run_can_not_be_overtaken(tmp_path: Path) -> None:
    """While a run is at work, another one is refused, and the first is published."""
    source = write(tmp_path / "docs", {"a.md": prose(3)})
    ledger = tmp_path / "ledger"
    ingest([source], ledger, jobs=1)
    other = write(tmp_path / "other", {"b.md": prose(5)})
    refused: list[str] = []

    def overtake(_: Step) -> None:
        with pytest.raises(LockedError) as caught:
            ingest([other], ledger, jobs=1)
        refused.append(str(caught.value))

    write(tmp_path / "docs", {"a.md": prose(4)})
    ingest([source], ledger, jobs=1, progress=overtake)
    assert [f"another run is at work (process {os.getpid()} on " in message for message in refused] == [True] * 2
    assert ({row["doc_id"] for row in rows_of(ledger)}, DeltaTable(ledger).version()) == ({"a.md"}, 1)
