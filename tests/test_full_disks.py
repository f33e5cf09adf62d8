"""A run that finds no room, at whichever file, says so in one line, and leaves the table as it was."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from aftermath import State, errors_told, leftovers, state_of
from faults import environment
from ledgers import Outcome, cli, command, names_below, sections, write

PAGE = 4096
ROOM = 1024 * 1024
"""Size of a disk; a run writes a tenth of it."""
INODES = 200
SETTINGS = ("--max-tokens", "120")
FILES = {f"{name}.md": sections(3, 3) for name in "abcdef"}
PICTURES = {f"a picture that is not read {number}.png": "" for number in range(150)}


@dataclass(frozen=True)
class Limit:
    """Files may be only so large that one is the first that does not fit.

    Attributes:
        of: how the name of that file begins.
        before: files of the last run; None where there was none.
        now: files of this one.
        said: what the message says.
        arguments: of the command, beside where its files are.
        jobs: processes.
    """

    of: str
    before: dict[str, str] | None
    now: dict[str, str]
    said: str = "can't be written: File too large; a limit on the size of files is in the way (ulimit -f)"
    arguments: tuple[str, ...] = SETTINGS
    jobs: int = 0


EDITED = {name: text.replace("was", "is") for name, text in FILES.items()}
LIMITS = {
    "running": Limit("_running", FILES, FILES),
    "first part": Limit("part-00001", None, FILES, jobs=1),
    "part": Limit("part-00002", FILES, EDITED),
    "changes": Limit("_changes/", FILES, EDITED),
    "documents": Limit("_documents/", FILES, FILES),
    "report": Limit("_runs/", FILES, FILES | PICTURES),
    "first log": Limit("_delta_log/", None, {}, "the run could not be published: "),
    "log": Limit(
        "_delta_log/",
        {},
        {},
        "the run could not be published: ",
        ("--parent-tokens", "2000", "--encoding", "o200k_base", "--encoding", "cl100k_base"),
    ),
}


def _ingest(ledger: Path, limit: int | None = None, *settings: str, jobs: int = 0) -> Outcome:
    """The real command, where files may be only so large."""

    def limited() -> None:
        assert limit is not None
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    arguments = ("ingest", "docs", "--out", ledger, "--jobs", str(jobs), *(settings or SETTINGS))
    return command(*arguments, env=environment(), **({} if limit is None else {"preexec_fn": limited}))


def _check_told(done: Outcome, ledger: Path, said: str) -> None:
    """One line that says what is wrong, and the code of what was not published."""
    [line] = [line for line in done.err.splitlines() if not line.startswith("skipped: ")]
    assert line.startswith(f"error: nothing was published: {ledger}")
    assert said in line
    assert (done.code, done.out) == (4, "")


def _check_as_it_was(ledger: Path, before: State | None) -> None:
    """Readers see the last commit, and nothing lies about but perhaps the report of what failed."""
    assert state_of(ledger) == before
    assert [name for name in leftovers(ledger) if not name.startswith("_runs/")] == []


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(files: dict[str, str]) -> None:
    shutil.rmtree("docs", ignore_errors=True)
    for path in write(Path("docs"), files).iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.mark.parametrize("name", LIMITS)
def test_file_that_does_not_fit(name: str) -> None:
    """Whichever file is the first that gets too large, nothing is published, and the next run is as if it was not."""
    limit = LIMITS[name]
    ledger = Path("ledger")
    if limit.before is not None:
        _write(limit.before)
        assert _ingest(ledger).code == 0
        shutil.copytree(ledger, "undisturbed")
    before = state_of(ledger)
    _write(limit.now)
    known = names_below(ledger)
    assert _ingest(Path("undisturbed"), None, *limit.arguments).code == 0
    written = sorted(
        (path.stat().st_ctime_ns, path.stat().st_size, path.relative_to("undisturbed").as_posix())
        for path in Path("undisturbed").rglob("*")
        if path.is_file() and path.relative_to("undisturbed").as_posix() not in {*known, "_lock"}
    )
    place = next((place for place, (*_, path) in enumerate(written) if path.startswith(limit.of)), 0)
    largest = max([size + 100 for _, size, _ in written[:place]], default=20 if name == "running" else 200)
    assert written[place][1] > largest + 100 or name == "running"
    done = _ingest(ledger, largest, *limit.arguments, jobs=limit.jobs)
    _check_told(done, ledger, limit.said)
    _check_as_it_was(ledger, before)
    assert len(errors_told(ledger)) == (1 if largest > 2000 else 0)
    assert _ingest(ledger, None, *limit.arguments, jobs=limit.jobs).code == 0
    found, expected = state_of(ledger), state_of(Path("undisturbed"))
    assert found is not None
    assert expected is not None
    assert found.content() == expected.content()


def test_recount_that_does_not_fit() -> None:
    """Regression: a recount that failed left its parts behind."""
    _write(FILES)
    assert _ingest(Path("ledger")).code == 0
    before = state_of(Path("ledger"))
    assert before is not None
    largest = max((Path("ledger") / part).stat().st_size for part in before.parts) + 1_000
    done = command(
        "recount", "ledger", "--encoding", "cl100k_base", env=environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )  # fmt: skip
    _check_told(done, Path("ledger").absolute(), "can't be written: File too large")
    _check_as_it_was(Path("ledger"), before)


# A disk that is full. Where none can be mounted, files may be only so large as there is room: each write fails at some
# size then too, although not the smaller ones that come after.


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path | None]:
    """A disk of a megabyte; None where this process may mount none."""
    place = tmp_path / "disk"
    place.mkdir()
    options = f"size={ROOM},nr_inodes={INODES}"
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
        is_mounted = done.returncode == 0
    except FileNotFoundError:
        is_mounted = False
    try:
        yield place if is_mounted else None
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", place], check=True)


def _without_bytes(disk: Path, pages: int) -> Callable[[], None]:
    """Leave that many pages free; what makes them free again."""
    ballast = disk / "ballast"
    with ballast.open("wb") as stream:
        stream.write(bytes(max(0, os.statvfs(disk).f_bavail - pages) * PAGE))
    return ballast.unlink


def _without_files(disk: Path, files: int) -> Callable[[], None]:
    """Leave room for that many files and folders, however small; what makes room again."""
    folder = disk / "ballast"
    folder.mkdir()
    for number in range(os.statvfs(disk).f_favail - files):
        (folder / str(number)).touch()
    return lambda: shutil.rmtree(folder)


@pytest.mark.parametrize("is_limit", [False, True])
@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("filled", [_without_bytes, _without_files])
def test_disk_that_is_full(
    disk: Path | None, filled: Callable[[Path, int], Callable[[], None]], is_new: bool, is_limit: bool
) -> None:
    """However little room there is, a run publishes, or says that it is too little and changes nothing."""
    _write({} if is_new else FILES)
    if not is_new:
        assert cli("ingest", "docs", "--out", "before", *SETTINGS).code == 0
    _write(EDITED)
    before = None if is_new else state_of(Path("before"))
    failed = 0
    for room in count(0, 3 if is_limit or disk is None else 1):
        ledger = Path("ledgers", str(room)) if is_limit or disk is None else disk / "ledger"
        shutil.rmtree(ledger, ignore_errors=True)
        if not is_new:
            shutil.copytree("before", ledger)
        if is_limit or disk is None:
            done = _ingest(ledger, room * PAGE)
        else:
            free = filled(disk, room)
            done = cli("ingest", "docs", "--out", ledger, *SETTINGS)
        if done.code == 0:
            break
        failed += 1
        _check_told(done, ledger, "File too large" if is_limit or disk is None else "No space left on device")
        _check_as_it_was(ledger, before)
        if not (is_limit or disk is None):
            free()
        assert cli("ingest", "docs", "--out", ledger, *SETTINGS).code == 0
        found = state_of(ledger)
        assert found is not None
        assert found.documents.column("status").to_pylist() == ["ok"] * len(FILES)
    assert failed > 1
