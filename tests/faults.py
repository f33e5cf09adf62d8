"""A program that runs the command line once for each step in which it writes, and stops it there; for tests.

    python faults.py < a `Job` as JSON > one `Stopped` as JSON a line

It imports what the command needs, and then forks a process for each run, which takes a tenth of the time. Steps are
found by an undisturbed run, so that a step that is new is stopped at too. A process is stopped before a step, after it,
or, where it writes, when the system has taken some bytes and gives no more.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chunkledger

LEDGER = "LEDGER"
"""Stands in a job's arguments for the ledger of the run."""
_TORN_BYTES = 20
"""What of a file is written where a run is stopped while it writes: less than any file has."""
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Job:
    """Runs to be stopped.

    Attributes:
        arguments: of the command line, with `LEDGER` for the ledger.
        template: a ledger to start from; "" for none.
        folder: where each run gets a folder of its own, with its ledger in `ledger`.
        number: of the signal; SIGKILL, or one that the run gives itself.
        moments: before, during, after.
        least_part_bytes: as in `planning.placement`; 0 leaves it.
        at: only at steps whose name begins with one of these; all where there are none.
    """

    arguments: Sequence[str]
    template: str
    folder: str
    number: int = int(signal.SIGKILL)
    moments: Sequence[str] = ("before", "during", "after")
    least_part_bytes: int = 0
    at: Sequence[str] = ()


@dataclass(frozen=True)
class Stopped:
    """A run that was stopped.

    Attributes:
        ledger: its ledger.
        moment: before, during or after; "" for the undisturbed run.
        steps: those that were begun, the last one being that at which it was stopped.
        code: how the process ended, as `subprocess` has it.
        err: what it wrote.
        is_published: whether the commit had been made.
    """

    ledger: str
    moment: str
    steps: Sequence[str]
    code: int
    err: str
    is_published: bool

    def __str__(self) -> str:
        return f"{self.moment or 'undisturbed'} {self.steps[-1]} ({len(self.steps)})"


def environment() -> dict[str, str]:
    """That of a process that finds this tree's package, and writes no byte code that a limit might cut short."""
    own = [str(Path(chunkledger.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, own)), "PYTHONDONTWRITEBYTECODE": "1"}


def stopped(job: Job) -> list[Stopped]:
    """What becomes of the runs; the first one is undisturbed."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(asdict(job)),
        stdout=subprocess.PIPE,
        env=environment(),
        encoding="utf-8",
        check=True,
        timeout=300,
    )
    return [Stopped(**json.loads(line)) for line in done.stdout.splitlines()]


class Stopper:
    """Counts the steps of this process, and stops it at one of them.

    Attributes:
        root: of the ledger; what happens elsewhere is no step.
        log: file descriptor that each step's name is written to.
        at: number of the step, from 1; 0 for none.
        moment: before, during or after.
        number: of the signal.
    """

    def __init__(self, root: str, log: int, at: int, moment: str, number: int) -> None:
        self.root, self.log, self.at, self.moment, self.number = root, log, at, moment, number
        self._count = 0
        self._is_inside = False

    def step(self, name: str, call: Callable[[], Any]) -> Any:  # noqa: ANN401 (what the call returns)
        """Do it, unless the process is stopped here."""
        if self._is_inside:
            return call()
        self._count += 1
        os.write(self.log, f"{name.replace(str(os.getpid()), 'PID')}\n".encode())
        moment = self.moment if self._count == self.at else ""
        if moment == "before":
            os.kill(os.getpid(), self.number)
        if moment == "during" and name == "commit":
            _tear()
        self._is_inside = True
        try:
            return call()
        finally:
            self._is_inside = False
            if moment == "during":
                _tear()
            if moment == "after":
                os.kill(os.getpid(), self.number)

    def below(self, path: object) -> str | None:
        """Where it is below the ledger; None where it is elsewhere."""
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        if not isinstance(path, str | os.PathLike):
            return None
        relative = os.path.relpath(os.fspath(path), self.root)
        return None if relative.startswith("..") else relative

    def watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook: a step that no wrapper knows is written down as one that is unforeseen."""
        if self._is_inside or not (event in _CHANGES or event == "open"):
            return
        is_writing = event != "open" or bool((arguments[2] or 0) & _WRITING)
        if is_writing and self.below(arguments[0]):
            os.write(self.log, f"unforeseen {event} {arguments[0]}\n".encode())

    def wrap(self, owner: Any, name: str) -> None:  # noqa: ANN401 (a module or a class)
        """Make a function of files a step, where what it does is in the ledger and changes it."""
        real = getattr(owner, name)

        def wrapped(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (those of the function)
            place = self.below(args[0]) if args and kwargs.get("dir_fd") is None else None
            if place is None or (name == "open" and not _is_writing(args, kwargs)):
                return real(*args, **kwargs)
            further = f" -> {self.below(args[1])}" if name in ("replace", "rename", "link") else ""
            return self.step(f"{name} {place}{further}", lambda: real(*args, **kwargs))

        setattr(owner, name, wrapped)

    def wrap_call(self, owner: Any, name: str, said: str) -> None:  # noqa: ANN401 (a module or a class)
        """Make any function a step."""
        real = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: self.step(said, lambda: real(*args, **kwargs)))


def _is_writing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    return bool(mode & _WRITING) if isinstance(mode, int) else bool(set(mode) & set("wax+"))


def _tear() -> None:
    """Have the system end this process as soon as a file has more than some bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_TORN_BYTES, _TORN_BYTES))


def _wrap_all(stopper: Stopper) -> None:
    from chunkledger.engines import workers
    from chunkledger.store import commit

    for owner in (io, builtins, os):
        stopper.wrap(owner, "open")
    for name in ("replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "truncate", "fsync"):
        stopper.wrap(os, name)
    stopper.wrap_call(commit, "_write", "commit")
    stopper.wrap_call(workers._Worker, "submit", "submit")
    sys.addaudithook(stopper.watch)


def _run(job: Job, ledger: str, log: int, at: int, moment: str) -> int:
    """The command, in this process; its exit code."""
    from chunkledger.cli import main
    from chunkledger.planning import placement

    if job.least_part_bytes:
        placement.LEAST_PART_BYTES = job.least_part_bytes
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    sys.argv = ["chunkledger", *(ledger if part == LEDGER else part for part in job.arguments)]
    _wrap_all(Stopper(ledger, log, at, moment, job.number))
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _ended(job: Job, number: int, at: int, moment: str) -> Stopped:
    """A run in a process of its own, and in a folder of its own."""
    folder = Path(job.folder, f"{number:03}")
    folder.mkdir(parents=True)
    ledger = folder / "ledger"
    if job.template:
        shutil.copytree(job.template, ledger)
    log, told = os.pipe()
    out, said = os.pipe()
    pid = os.fork()
    if not pid:
        code = 70
        try:
            os.dup2(said, 1)
            os.dup2(said, 2)
            for each in (log, out, said):
                os.close(each)
            code = _run(job, str(ledger), told, at, moment)
        except BaseException:
            traceback.print_exc()
        sys.exit(code)
    os.close(told)
    os.close(said)
    with open(log, encoding="utf-8") as stream:
        steps = stream.read().splitlines()
    # The end of this file: the process is gone, and so is every worker that had its output.
    with open(out, encoding="utf-8") as stream:
        err = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    is_published = "commit" in steps and not (steps[-1] == "commit" and moment in ("before", "during"))
    return Stopped(str(ledger), moment, steps, code, err, is_published)


def _all_ended(job: Job) -> Iterator[Stopped]:
    undisturbed = _ended(job, 0, 0, "")
    yield undisturbed
    number = 0
    for at, name in enumerate(undisturbed.steps, 1):
        if job.at and not name.startswith(tuple(job.at)):
            continue
        for moment in job.moments:
            if moment == "during" and not (name == "commit" or (name.startswith("open ") and name.endswith(".tmp"))):
                continue
            number += 1
            yield _ended(job, number, at, moment)


def _warm_up() -> None:
    """Have in memory what every run needs."""
    import polars  # noqa: F401

    import chunkledger.cli
    from chunkledger.counting.vocabulary import reference_encoding

    text = "# Rates\n\n" + "They were ten of the last year. " * 20
    for encoding in ("o200k_base", "cl100k_base"):
        reference_encoding(encoding)
        settings = chunkledger.Settings(encoding=encoding, max_tokens=60, parent_tokens=200)
        for form in ("markdown", "plain"):
            chunkledger.chunk_text(text, settings, format=form)


def _main() -> None:
    job = Job(**json.load(sys.stdin))
    _warm_up()
    for ended in _all_ended(job):
        print(json.dumps(asdict(ended)), flush=True)  # noqa: T201 (the result of this program)


if __name__ == "__main__":
    _main()
