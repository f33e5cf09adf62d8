"""Spawned processes that may die: each works on one task at a time, so that the one that was deadly is known."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.resource_tracker import ensure_running
from types import TracebackType
from typing import Any, Generic, TypeVar

from chunkledger.engines.memory import without_pandas
from chunkledger.errors import ChunkledgerError

Key = TypeVar("Key")
_POLL_SECONDS = 1.0
_LONGEST_REASON = 200
_MOST_STILLBORN = 20
"""Processes in a row that end before they can do anything: then it is not the tasks that are at fault."""
_OF_THE_PROCESS = (None, errno.ENOMEM)
"""What an OSError has in `errno` that says nothing about files: pyarrow gives none where it gets no memory."""
_BLOCKED = {signal.SIGINT}
"""In a worker, until it can be ended without a word."""
_KILLED = "its process was killed, as by lack of memory"


class WorkerError(ChunkledgerError):
    """Worker processes can't be started at all."""


@dataclass(frozen=True, slots=True)
class Died:
    """Instead of a result: the process that worked on the task ended, was ended, or met something unforeseen.

    Attributes:
        why: for people.
    """

    why: str


@dataclass(frozen=True, slots=True)
class _Task(Generic[Key]):
    key: Key
    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float


@dataclass(slots=True)
class _Running(Generic[Key]):
    worker: _Worker
    task: _Task[Key]
    until: float


@dataclass(frozen=True, slots=True)
class _Raised:
    """Instead of a result: what the call raised."""

    error: Exception


class Workers(Generic[Key]):
    """Up to `jobs` processes, started as they are needed. A context manager: at its end all of them are gone.

    Processes, because threads gain nothing under the interpreter's lock; spawned, because forking a process that has
    threads is not safe. Each has a pipe of its own and no thread beside this one serves it. An executor of the standard
    library breaks as a whole when a process dies, and does not say whose task it was; and one for each process was seen
    to end with its own threads' tracebacks where it was interrupted.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = self._most = jobs
        self._waiting: deque[_Task[Key]] = deque()
        self._running: dict[Connection, _Running[Key]] = {}
        self._idle: list[_Worker] = []
        self._stillborn = 0
        self._has_worked = False
        self._context = multiprocessing.get_context("spawn")
        self._watched, self._lifeline = self._context.Pipe(duplex=False)

    def __enter__(self) -> Workers[Key]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Interrupted, or a task raised: what is still worked on would only put off the end.
        for worker in [*self._idle, *(running.worker for running in self._running.values())]:
            worker.end()
        self._lifeline.close()
        self._watched.close()

    def limit(self, jobs: int) -> None:
        """Let at most so many processes work at once from now on, and no more than at first."""
        self._jobs = max(1, min(self._most, jobs))

    def submit(self, key: Key, call: Callable[..., Any], *arguments: object, seconds: float) -> None:
        """Add a task; also while `outcomes` is read.

        Args:
            key: what its outcome comes with.
            call: a function that can be pickled.
            arguments: of the call.
            seconds: wall time after which its process is ended.
        """
        self._waiting.append(_Task(key, call, arguments, seconds))

    def outcomes(self) -> Iterator[tuple[Key, Any]]:
        """What became of each task, as it is done: what its call returned, or `Died`.

        Raises:
            WorkerError: no process can be started.
            OSError, ChunkledgerError: a call raised it, which is the system's fault or the user's and not its task's.
        """
        while self._waiting or self._running:
            self._start()
            for connection in wait(list(self._running), timeout=_POLL_SECONDS):
                outcome = self._heard(connection)  # type: ignore[arg-type]  # one of those that it was given
                if outcome is not None:
                    yield outcome
            self._end_late_ones()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._jobs:
            task = self._waiting.popleft()
            with _uninterrupted():
                worker = self._idle.pop() if self._idle else _Worker(self._context, self._watched)
                self._running[worker.connection] = _Running(worker, task, time.monotonic() + task.seconds)
            if worker.has_greeted:  # one that starts could not read yet, and a long list of documents fills its pipe
                worker.submit(task.call, task.arguments)

    def _heard(self, connection: Connection) -> tuple[Key, Any] | None:
        """What there is to tell now that a worker said something, or has gone."""
        worker, task = self._running[connection].worker, self._running[connection].task
        if not worker.has_greeted:
            worker.has_greeted = worker.is_heard()
            if worker.has_greeted:
                worker.submit(task.call, task.arguments)
                return None
            outcome: Any = Died(worker.why)
        else:
            outcome = worker.outcome()
        if isinstance(outcome, Died | _Raised):
            # Nobody knows what state the process is in, least of all where memory ran out.
            worker.end()
        else:
            self._stillborn, self._has_worked = 0, True
            self._idle.append(worker)
        del self._running[connection]
        if isinstance(outcome, Died) and self._is_stillborn(worker):
            self._waiting.appendleft(task)
            return None
        return task.key, _or_raised(outcome)

    def _is_stillborn(self, worker: _Worker) -> bool:
        """Whether the process ended before it could do anything.

        Raises:
            WorkerError: so did the ones before it.
        """
        self._stillborn = 0 if worker.has_greeted else self._stillborn + 1
        if self._stillborn >= _MOST_STILLBORN and self._has_worked:
            raise WorkerError(
                f"the last {_MOST_STILLBORN} worker processes ended before they could do anything, after others had "
                "worked; is there too little memory for so many jobs?"
            )
        if self._stillborn >= _MOST_STILLBORN:
            raise WorkerError(
                "worker processes can't be started; a script that calls ingest with jobs must do so below "
                "`if __name__ == '__main__':`, or leave jobs at 0, which works in the script's own process"
            )
        return not worker.has_greeted

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for running in self._running.values():
            if running.until < now:
                running.worker.kill(f"it took more than {running.task.seconds:,.0f} s")


class _Worker:
    """One process, and this end of its pipe.

    Attributes:
        connection: which can be read when its call is done, and when it has gone.
        has_greeted: whether it came as far as to do something.
        why: what is said of it when it has gone.
    """

    def __init__(self, context: Any, watched: Connection) -> None:  # noqa: ANN401 (a context has no public type)
        self.why = _KILLED
        self.has_greeted = False
        self.connection, theirs = context.Pipe()
        # A daemon, so that the interpreter's own end takes it with it where ours did not come to pass.
        self._process = context.Process(target=_serve, args=(theirs, watched), daemon=True)
        self._process.start()
        theirs.close()

    def submit(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Have it work on a task; that it has gone is found when it is listened to."""
        try:
            self.connection.send((call, arguments))
        except (BrokenPipeError, ConnectionResetError):
            return

    def is_heard(self) -> bool:
        """Whether it says something, and does not go without a word."""
        try:
            self.connection.recv_bytes()
        except (EOFError, OSError):
            return False
        return True

    def outcome(self) -> Any:  # noqa: ANN401 (what its call returned)
        """What its call returned, or that it raised, or that it died."""
        try:
            said = self.connection.recv_bytes()
        except (EOFError, OSError):
            return Died(self.why)
        try:
            return pickle.loads(said)  # noqa: S301 (from a process of ours)
        except Exception as error:
            return _Raised(error)

    def kill(self, why: str) -> None:
        """End it in the middle of its work."""
        self.why = why
        self._process.kill()

    def end(self) -> None:
        """Have it gone. It is killed: what it did is either told or of no use, and it frees much memory in vain."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _or_raised(outcome: Any) -> Any:  # noqa: ANN401 (what a call returned)
    """The outcome, or `Died` where its call raised what is the task's own fault.

    Raises:
        OSError, ChunkledgerError: the call raised it.
    """
    if not isinstance(outcome, _Raised):
        return outcome
    error = outcome.error
    if isinstance(error, ChunkledgerError) or (isinstance(error, OSError) and error.errno not in _OF_THE_PROCESS):
        raise error
    return Died(_said(error))


def _said(error: Exception) -> str:
    said = str(error).partition("\n")[0][:_LONGEST_REASON]
    if isinstance(error, MemoryError):
        return "its process ran out of memory"
    if isinstance(error, OSError):
        return f"its process got too little from the system, as of memory ({said})"
    return f"its process met {type(error).__name__}: {said}; this is a fault of chunkledger, please report it"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off SIGINT and SIGTERM: a process that was started by half would be nobody's to end.

    A process that is started meanwhile has SIGINT blocked: a terminal sends it to each process, and one that is still
    importing would answer with a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # where no signal is handled
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # One that C code has set could not be set again; what is ignored is so in the process that is started, too.
    before = {number: handler for number, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, lambda number, _: came.append(number))
    ensure_running()  # which unblocks SIGINT, once
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number, handler in before.items():
            signal.signal(number, handler)
    for late in came:
        signal.raise_signal(late)


def _serve(connection: Connection, watched: Connection) -> None:
    """What a worker does: one call after the other, until nobody has any more for it."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    without_pandas()
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
    connection.send_bytes(b"ready")
    while True:
        try:
            task = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_answer(task))


def _answer(task: bytes) -> bytes:
    try:
        call, arguments = pickle.loads(task)  # noqa: S301 (from the process that started this one)
        return pickle.dumps(call(*arguments), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raised = error
    try:
        return pickle.dumps(_Raised(raised), pickle.HIGHEST_PROTOCOL)
    except Exception:  # its own state can't be pickled
        return pickle.dumps(_Raised(RuntimeError(f"{type(raised).__name__}: {raised}")), pickle.HIGHEST_PROTOCOL)


def _end_with(watched: Connection) -> None:
    """End this process as soon as the other end of the pipe is closed.

    That also happens where the driver is killed; its workers were seen to work on, and then to wait for ever.
    """
    watched.poll(None)
    os._exit(1)
