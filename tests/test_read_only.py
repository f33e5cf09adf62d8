"""A ledger that may not be written to can be read, and a run says what it may not write and changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import unprivileged
from aftermath import errors_told, leftovers, state_of
from faults import environment
from ledgers import Outcome, cli, names_below, sections, write

Command = Callable[..., Outcome]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that others may look into, with a ledger, and documents that are other ones by now.

    Not `tmp_path`, which lies in a folder that nobody else may enter.
    """
    made = Path(tempfile.mkdtemp())
    try:
        docs = write(made / "docs", {"a.md": sections(3), "b.md": sections(2)})
        assert cli("ingest", docs, "--out", made / "ledger").code == 0
        write(docs, {"b.md": sections(4)})
        assert cli("ingest", docs, "--out", made / "ledger").code == 0
        write(docs, {"a.md": sections(4)})
        _set_owner(made, unprivileged.NOBODY)
        yield made
    finally:
        for path in [made, *made.rglob("*")]:
            path.chmod(0o755)
        shutil.rmtree(made)


def _set_owner(folder: Path, user: int) -> None:
    """Everything belongs to the user of the command, where another one runs it."""
    for path in [folder, *folder.rglob("*")]:
        if os.geteuid() == 0:
            os.chown(path, user, user)
        path.chmod(0o755 if path.is_dir() else 0o644)


def _protect(*paths: Path) -> None:
    """Nobody may write there, by mode and by owner."""
    for path in paths:
        if os.geteuid() == 0:
            os.chown(path, 0, 0)
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture(scope="module")
def command() -> Iterator[Command]:
    """The command line, run in a folder by somebody who is not root."""
    pipe = subprocess.PIPE
    program = [sys.executable, unprivileged.__file__]
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, env=environment(), encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said, heard = process.stdin, process.stdout

        def run(folder: Path, *arguments: str) -> Outcome:
            said.write(json.dumps([str(folder), *arguments]) + "\n")
            said.flush()
            code, out, err = json.loads(heard.readline())
            return Outcome(code, out.replace(f"{folder}/", ""), err.replace(f"{folder}/", ""))

        yield run


def _check_refused(done: Outcome, said: str) -> None:
    assert (done.code, done.out, len(done.err.splitlines())) == (4, "", 1), done.err
    assert done.err.startswith("error: nothing was published: ledger")
    assert said in done.err


INGEST = ("ingest", "docs", "--out", "ledger", "--jobs", "0")
RECOUNT = ("recount", "ledger", "--encoding", "cl100k_base")


@pytest.mark.parametrize("arguments", [INGEST, RECOUNT])
@pytest.mark.parametrize("has_lock", [True, False])
def test_folder_that_may_not_be_written_to(
    folder: Path, command: Command, arguments: Sequence[str], has_lock: bool
) -> None:
    """A run into a ledger of somebody else ends with code 4, names the file, and leaves every file alone."""
    ledger = folder / "ledger"
    if not has_lock:
        (ledger / "_lock").unlink()
    _protect(ledger, *ledger.rglob("*"))
    before, names = state_of(ledger), names_below(ledger)
    _check_refused(command(folder, *arguments), "can't be written: Permission denied (ledger/_lock)")
    assert (state_of(ledger), names_below(ledger)) == (before, names)


@pytest.mark.parametrize("name", ["report", "export", "verify"])
def test_ledger_that_may_only_be_read(folder: Path, command: Command, name: str) -> None:
    """Whoever may read a ledger and write nothing gets all that there is."""
    ledger = folder / "ledger"
    assert cli("ingest", folder / "docs", "--out", ledger).code == 0
    expected = cli(name, ledger).out.replace(f"{folder}/", "")
    _protect(ledger, *ledger.rglob("*"))
    done = command(folder, name, "ledger")
    assert (done.code, done.err, done.out) == (0, "", expected)


@pytest.mark.parametrize("name", ["_delta_log", "_runs", "_documents", "_changes"])
@pytest.mark.parametrize("arguments", [INGEST, RECOUNT])
def test_folder_of_the_ledger_that_may_not_be_written_to(
    folder: Path, command: Command, name: str, arguments: Sequence[str]
) -> None:
    """Where only one of its folders is closed, nothing is published and no part is left, and the run after succeeds."""
    ledger = folder / "ledger"
    before = state_of(ledger)
    _protect(ledger / name)
    _check_refused(command(folder, *arguments), name if name != "_delta_log" else "the run could not be published: ")
    assert state_of(ledger) == before
    assert [left for left in leftovers(ledger) if not left.startswith("_runs/")] == []
    assert len(errors_told(ledger)) <= 1
    _set_owner(folder, unprivileged.NOBODY)
    assert command(folder, *arguments).code == 0
    assert [left for left in leftovers(ledger) if not left.startswith("_runs/")] == []


def test_new_ledger_where_nothing_may_be_made(folder: Path, command: Command) -> None:
    """A ledger can't be made in a folder that is closed, and nothing is."""
    shutil.rmtree(folder / "ledger")
    _protect(folder)
    _check_refused(command(folder, *INGEST), "can't be written: Permission denied (ledger)")
    assert not (folder / "ledger").exists()


def test_parts_that_may_not_be_read(folder: Path, command: Command) -> None:
    """Regression: root wrote them, cron reads them as somebody else, and doctor saw nothing."""
    for part in (folder / "ledger").glob("part-*"):
        part.chmod(0)
        if os.geteuid() == 0:
            os.chown(part, 0, 0)
    done = command(folder, "doctor", "ledger", "--format", "json")
    [found] = [check for check in json.loads(done.out) if check["verdict"] == "bad"]
    assert (done.code, found["name"], "can't be read: permission denied" in found["detail"]) == (1, "table", True)
