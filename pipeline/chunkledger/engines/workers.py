"""Spawned processes that may die: each works on one task at a time, so that the one that was deadly is known."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
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


class Workers(Generic[Key]):
    """Up to `jobs` processes, started as they are needed. A context manager: at its end all of them are gone.

    Processes, because threads gain nothing under the interpreter's lock; spawned, because forking a process that has
    threads is not safe. Each is an executor of its own: one that is shared breaks as a whole when a process dies, and
    does not say whose task it was.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = self._most = jobs
        self._waiting: deque[_Task[Key]] = deque()
        self._running: dict[Future[Any], _Running[Key]] = {}
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
        for running in self._running.values():
            # Interrupted, or a task raised: the other tasks would only put off the end.
            running.worker.kill("no longer needed")
        self._lifeline.close()
        for worker in [*self._idle, *(running.worker for running in self._running.values())]:
            worker.end()
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
            done, _ = wait(self._running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                running = self._running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    running.worker.end()
                    if self._is_stillborn(running.worker):
                        self._waiting.appendleft(running.task)
                        continue
                    result = Died(running.worker.why)
                except ChunkledgerError:
                    raise
                except Exception as error:
                    if isinstance(error, OSError) and error.errno not in _OF_THE_PROCESS:
                        raise
                    # Nobody knows what state the process is in, least of all where memory ran out.
                    running.worker.end()
                    result = Died(_said(error))
                else:
                    self._stillborn, self._has_worked = 0, True
                    self._idle.append(running.worker)
                yield running.task.key, result
            self._end_late_ones()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._jobs:
            worker = self._idle.pop() if self._idle else _Worker(self._context, self._watched)
            task = self._waiting.popleft()
            future = worker.submit(task.call, task.arguments)
            self._running[future] = _Running(worker, task, time.monotonic() + task.seconds)

    def _is_stillborn(self, worker: _Worker) -> bool:
        """Whether the process ended before it could do anything.

        Raises:
            WorkerError: so did the ones before it.
        """
        self._stillborn = 0 if worker.lived else self._stillborn + 1
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
        return not worker.lived

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for running in self._running.values():
            if running.until < now:
                running.worker.kill(f"it took more than {running.task.seconds:,.0f} s")


class _Worker:
    """One process."""

    def __init__(self, context: Any, watched: Connection) -> None:  # noqa: ANN401 (a context has no public type)
        self.why = "its process was killed, as by lack of memory"
        self._pool = ProcessPoolExecutor(1, context, initializer=_hold_on, initargs=(watched,))
        self._greeting = self._pool.submit(os.getpid)

    @property
    def lived(self) -> bool:
        """Whether the process came as far as to do something."""
        return self._greeting.done() and self._greeting.exception() is None

    def submit(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        """Have it work on a task."""
        try:
            return self._pool.submit(call, *arguments)
        except BrokenProcessPool as error:
            # It died while it had nothing to do; that is told as if it had died at once.
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def kill(self, why: str) -> None:
        """End it in the middle of its work."""
        self.why = why
        if self.lived:
            with suppress(ProcessLookupError):
                os.kill(self._greeting.result(), signal.SIGKILL)

    def end(self) -> None:
        """Let go of it."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _said(error: Exception) -> str:
    said = str(error).partition("\n")[0][:_LONGEST_REASON]
    if isinstance(error, MemoryError):
        return "its process ran out of memory"
    if isinstance(error, OSError):
        return f"its process got too little from the system, as of memory ({said})"
    return f"its process met {type(error).__name__}: {said}; this is a fault of chunkledger, please report it"


def _hold_on(watched: Connection) -> None:
    """Make a worker end without a traceback at Ctrl-C, and as soon as the other end of the pipe is closed.

    That also happens where the driver is killed; its workers were seen to wait for work for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    without_pandas()
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    watched.poll(None)
    os._exit(1)
