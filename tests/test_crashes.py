"""A run that is killed at any moment has changed nothing or all of it, and the next run ends as if it had not been."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from aftermath import State, followed, leftovers, state_of, told
from chunkledger import open_ledger
from chunkledger.planning import placement
from faults import LEDGER, Job, Stopped, environment, stopped
from ledgers import COMMAND, cli, names_below, prose, sections, write

FILES = {f"{name}.md": sections(3, 3).replace("w", name) for name in "abcdefg"} | {"n.png": "", "x.txt": prose(4)}
INGEST = ("ingest", "docs", "--jobs", "0", "--out", LEDGER)
SETTINGS = ("--max-tokens", "120", "--split-headings", "6", "--parent-tokens", "400")
OTHER_SETTINGS = ("--max-tokens", "90", "--template", "markdown/1")
PART_BYTES = 900
"""Least size of a part here, so that the corpus has several and some are merged."""
MOMENTS = 50


@dataclass(frozen=True)
class Case:
    """A kind of run.

    Attributes:
        arguments: of the command line.
        history: ledgers that the run is not the first of have these runs behind them.
        edited: whether the files are others than those of the last run.
    """

    arguments: Sequence[str]
    history: int = 2
    edited: bool = True


CASES = {
    "first": Case([*INGEST, *SETTINGS], history=0),
    "later": Case([*INGEST, *SETTINGS]),
    "settings": Case([*INGEST, *OTHER_SETTINGS]),
    "recount": Case(["recount", LEDGER, "--encoding", "cl100k_base"], edited=False),
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(placement, "LEAST_PART_BYTES", PART_BYTES)


def _write(files: Mapping[str, str]) -> None:
    """The files in `docs`, as they were some time ago: a stamp of this moment would not be trusted."""
    for name in write(Path("docs"), files).iterdir():
        os.utime(name, (1_000_000_000, 1_000_000_000))


def _edit() -> None:
    """Change a document, rename one, delete one, add two, and leave the others."""
    Path("docs/f.md").rename("docs/k.md")
    Path("docs/d.md").unlink()
    _write({"b.md": FILES["b.md"].replace("was 7 ", "was 8 "), "h.md": sections(2, 3), "y.txt": prose(3, "tax")})


def _ingest(ledger: Path | str, *settings: str) -> None:
    done = cli("ingest", "docs", "--out", ledger, *settings)
    assert (done.code, done.out) == (0, "")


def _ledger(case: Case) -> str:
    """A ledger with a history, and documents that are to be ingested now; "" where there is no ledger yet."""
    _write({name: FILES[name] for name in sorted(FILES)[: -2 if case.history else None]})
    for _ in range(case.history):
        _ingest("before", *SETTINGS)
        _write(FILES)
    if case.edited:
        _edit()
    return "before" if case.history else ""


def _resumed(case: Case, run: Stopped) -> None:
    """The same command once more, undisturbed."""
    done = cli(*(run.ledger if part == LEDGER else part for part in case.arguments))
    is_told = case.arguments[0] == "recount" and run.is_published
    assert done.code == (2 if is_told else 0)
    assert ("is counted in cl100k_base already" in done.err) == is_told


def _left_behind(ledger: Path) -> frozenset[tuple[str, int]]:
    """What is there, but for what is another in each run: the number of the process, times in reports and the log."""
    found = ((name, (ledger / name).stat().st_size) for name in names_below(ledger))
    return frozenset(
        (re.sub(r"\.\d+\.tmp", ".tmp", re.sub(r"(?<=_runs/).*(?=\.json)", "", name)), min(size, 21 + ("part" in name)))
        for name, size in found
    )


def _check_killed(case: Case, runs: Sequence[Stopped], states: Sequence[State | None]) -> None:
    """What is read after each kill, and what the next run makes of it, is that of the states before and after."""
    before, after = states
    assert after is not None
    seen: set[tuple[frozenset[tuple[str, int]], bool]] = set()
    for run in runs:
        assert run.code in (-signal.SIGKILL, -signal.SIGXFSZ), str(run)
        ledger = Path(run.ledger)
        found = state_of(ledger)
        if run.is_published:
            assert found is not None, str(run)
            assert found.content() == after.content(), str(run)
        else:
            assert found == before, str(run)
        # The next run knows nothing but what is there: before a step that is the same as after the last one.
        left = (_left_behind(ledger), run.is_published)
        if left not in seen:
            seen.add(left)
            _resumed(case, run)
            _check_whole(ledger, after, str(run))


def _check_whole(ledger: Path, after: State, said: str) -> None:
    """The ledger is what an undisturbed run makes of it, and nothing else is left."""
    found = state_of(ledger)
    assert found is not None, said
    assert found.content() == after.content(), said
    assert leftovers(ledger) == set(), said


def _check_feeds(before: State, undisturbed: Path, runs: Sequence[Stopped]) -> None:
    """What changed since the last run leads to what is there now, and is the same after each kill."""
    opened = open_ledger(undisturbed)
    assert followed(before, undisturbed) == told(opened.chunks(role="all"))
    for since in range(1, before.run + 1):
        expected = opened.feed(since, role="all")
        for run in runs:
            found = open_ledger(run.ledger)
            assert found.run == before.run or found.feed(since, role="all") == expected, str(run)


@pytest.mark.parametrize("name", CASES)
def test_run_that_is_killed_at_any_step(name: str) -> None:
    """Killed before, during and after each step that writes, a run is not to be seen, and is as good as not begun."""
    case = CASES[name]
    template = _ledger(case)
    undisturbed, *runs = stopped(Job(case.arguments, template, "runs", least_part_bytes=PART_BYTES))
    ledger = Path(undisturbed.ledger)
    before, after = state_of(Path(template)) if template else None, state_of(ledger)
    assert (undisturbed.code, leftovers(ledger), after is not None) == (0, set(), True)
    assert [step for step in undisturbed.steps if step.startswith("unforeseen")] == []
    moments = {run.moment: sum(each.moment == run.moment for each in runs) for run in runs}
    assert moments["before"] == moments["after"] == len(undisturbed.steps) > moments["during"] > 4
    assert len([run for run in runs if run.is_published]) > 4
    _check_killed(case, runs, (before, after))
    if before is not None:
        _check_feeds(before, ledger, runs)
    if case.arguments[0] == "ingest":
        _ingest("fresh", *case.arguments[len(INGEST) :])
        fresh = state_of(Path("fresh"))
        assert fresh is not None
        assert after is not None
        assert (fresh.records, len(after.parts) > 1) == (after.records, True)


def test_driver_that_is_killed_while_workers_work() -> None:
    """Where the driver is killed its workers end with it, and what they wrote is neither seen nor left."""
    case = CASES["later"]
    arguments = ["2" if part == "0" else part for part in case.arguments]
    template = _ledger(case)
    at = ("submit", "open _documents", "commit")
    undisturbed, *runs = stopped(Job(arguments, template, "runs", least_part_bytes=PART_BYTES, at=at))
    before, after = state_of(Path(template)), state_of(Path(undisturbed.ledger))
    assert undisturbed.code == 0
    assert len([run for run in runs if run.steps[-1] == "submit"]) > 2
    # Of each run the output was read to its end, which comes when the last of its processes has gone.
    _check_killed(case, runs, (before, after))


def _kills(arguments: Sequence[str], template: str, count: int, seed: int) -> Iterator[tuple[Path, int]]:
    """The real command, killed at so many moments from its first file on; each ledger, and how the process ended."""
    chance = random.Random(seed)  # noqa: S311 (nothing secret)
    whole = min(_killed_after(Path(f"whole{number}"), arguments, template, 60)[1] for number in range(2))
    for number in range(count):
        ledger = Path("killed", f"{seed}-{number}", "ledger")
        yield ledger, _killed_after(ledger, arguments, template, whole * (number + chance.random()) / count)[0]


def _killed_after(ledger: Path, arguments: Sequence[str], template: str, seconds: float) -> tuple[int, float]:
    """How the command ended that was killed so long after it had the lock, and how long that was."""
    if template:
        shutil.copytree(template, ledger)
    told = [str(ledger) if part == LEDGER else part for part in arguments]
    with subprocess.Popen([*COMMAND, *told], stderr=subprocess.DEVNULL, env=environment()) as process:
        while process.poll() is None and not (ledger / "_running.json").exists():
            time.sleep(0.001)
        start = time.monotonic()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait(), time.monotonic() - start


@pytest.mark.parametrize("name", ["first", "later"])
def test_run_that_is_killed_at_random_moments(name: str) -> None:
    """Killed at any moment, the real command with a worker has published all or nothing, and the next run mends it."""
    case = CASES[name]
    template = _ledger(case)
    before = state_of(Path(template)) if template else None
    assert _killed_after(Path("undisturbed"), case.arguments, template, 60)[0] == 0
    after = state_of(Path("undisturbed"))
    assert after is not None
    codes = []
    for ledger, code in _kills(["1" if part == "0" else part for part in case.arguments], template, MOMENTS // 2, 7):
        codes.append(code)
        found = state_of(ledger)
        assert found == before or (found is not None and found.content()[:3] == after.content()[:3])
        assert code == -signal.SIGKILL or (code == 0 and found != before)
        _ingest(ledger, *SETTINGS)
        found = state_of(ledger)
        assert found is not None
        assert found.records == after.records
        assert leftovers(ledger) == set()
    assert codes.count(-signal.SIGKILL) > len(codes) // 3
