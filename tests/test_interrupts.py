"""A run that is asked to stop, at whatever step, says so in one line, and leaves the ledger as it was."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aftermath import errors_told, leftovers, state_of
from chunkledger.planning import placement
from faults import LEDGER, Job, Stopped, environment, stopped
from ledgers import cli, names_below, prose, sections, write

PART_BYTES = 900
SIGNALS = {"SIGINT": (130, "interrupted", "before"), "SIGTERM": (143, "terminated", "after")}


def _aged(folder: Path, files: dict[str, str]) -> Path:
    for path in write(folder, files).iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return folder


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents of several parts that are other ones than those of `ledger` beside them."""
    monkeypatch.setattr(placement, "LEAST_PART_BYTES", PART_BYTES)
    source = _aged(tmp_path / "docs", {f"{name}.md": sections(3, 3) for name in "abcdef"})
    assert cli("ingest", source, "--out", tmp_path / "ledger", "--max-tokens", "120").code == 0
    return _aged(source, {"b.md": sections(4, 3), "g.md": prose(9)})


def _interrupted(docs: Path, arguments: list[str], number: str, at: tuple[str, ...] = ()) -> tuple[Stopped, ...]:
    """Runs that get the signal at each step; the first one does not."""
    moment = SIGNALS[number][2]
    folder, template = str(docs.parent / "runs"), str(docs.parent / "ledger")
    return tuple(stopped(Job(arguments, template, folder, getattr(signal, number), (moment,), PART_BYTES, at)))


def _check(run: Stopped, number: str, template: Path, after: Path) -> None:
    code, word, _ = SIGNALS[number]
    ledger = Path(run.ledger)
    before, now, then = state_of(template), state_of(ledger), state_of(after)
    assert now is not None
    assert then is not None
    if run.steps[-1] == "commit":
        # The library is not waited for: the system ends the process.
        assert (run.code, run.err) == (-getattr(signal, number), ""), str(run)
    else:
        assert (run.code, run.err.splitlines()[-1:]) == (code, [f"error: {word}"]), str(run)
    if run.is_published:
        assert now.content() == then.content(), str(run)
        assert leftovers(ledger) <= {"_running.json"}, str(run)
    else:
        assert now == before, str(run)
    if not run.is_published and run.steps[-1] != "commit":
        assert {name for name in names_below(ledger) - names_below(template) if not name.startswith("_runs/")} <= {
            "_running.json"
        }, str(run)
        has_begun = any(step.startswith("unlink _running.json") for step in run.steps)
        assert errors_told(ledger) in ([word], []), str(run)
        assert has_begun or errors_told(ledger) == [], str(run)


@pytest.mark.parametrize("number", SIGNALS)
def test_ingest_that_is_interrupted_at_any_step(docs: Path, number: str) -> None:
    """Exit code and one line say what happened, the table is as it was, a report tells why, nothing else is left."""
    arguments = ["ingest", str(docs), "--out", LEDGER, "--max-tokens", "120", "--jobs", "0"]
    undisturbed, *runs = _interrupted(docs, arguments, number)
    assert (undisturbed.code, len(runs)) == (0, len(undisturbed.steps))
    for run in runs:
        _check(run, number, docs.parent / "ledger", Path(undisturbed.ledger))
    assert sum(errors_told(Path(run.ledger)) == [SIGNALS[number][1]] for run in runs) > 20


@pytest.mark.parametrize("number", SIGNALS)
def test_interrupted_run_takes_its_workers_with_it(docs: Path, number: str) -> None:
    """Signalled while workers work, they are gone with it, and nothing that they wrote is left."""
    arguments = ["ingest", str(docs), "--out", LEDGER, "--max-tokens", "90", "--jobs", "2"]
    undisturbed, *runs = _interrupted(docs, arguments, number, ("submit",))
    assert (undisturbed.code, len(runs) > 2) == (0, True)
    for run in runs:
        # Its output was read to the end, which comes when the last of its processes has gone.
        _check(run, number, docs.parent / "ledger", Path(undisturbed.ledger))


@pytest.mark.parametrize("number", SIGNALS)
def test_recount_that_is_interrupted_at_any_step(docs: Path, number: str) -> None:
    """Regression: a recount that was interrupted left its parts behind until the next run."""
    undisturbed, *runs = _interrupted(docs, ["recount", LEDGER, "--encoding", "cl100k_base"], number)
    assert (undisturbed.code, len(runs)) == (0, len(undisturbed.steps))
    for run in runs:
        _check(run, number, docs.parent / "ledger", Path(undisturbed.ledger))


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize("number", SIGNALS)
def test_command_that_is_interrupted_while_it_is_imported(tmp_path: Path, number: str, is_json: bool) -> None:
    """Regression: a signal in the first half second ended in a traceback of imports, or without a word."""
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys\n"
        "from chunkledger.__main__ import main\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        f"            signal.raise_signal(signal.{number})\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "main()\n",
        "utf-8",
    )
    call = [sys.executable, str(program), *(["ingest", "--log-format", "json"] if is_json else [])]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, env=environment())
    code, word, _ = SIGNALS[number]
    assert (done.returncode, done.stdout) == (code, "")
    if is_json:
        told = json.loads(done.stderr)
        assert list(told.items())[1:] == [("level", "error"), ("event", "error"), ("message", word)]
        assert datetime.datetime.fromisoformat(told["time"]).tzinfo is not None
    else:
        assert done.stderr == f"error: {word}\n"
