"""How far a run is: a bar on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from chunkledger.cli.output import LogFormat, told
from chunkledger.runs.making import Progress as Told
from chunkledger.runs.making import Step

LINE_SECONDS = 60.0
"""Between two lines where there is no terminal: often enough to see that it is alive, seldom enough for a log."""
_MEGA = 1_000_000


@contextmanager
def progress(quiet: bool, log_format: LogFormat) -> Iterator[Told]:
    """What a run is to tell its steps to.

    Args:
        quiet: show nothing.
        log_format: JSON gets lines also on a terminal.
    """
    if quiet:
        yield lambda step: None
    elif log_format == "text" and sys.stderr.isatty():
        yield from _bar()
    else:
        yield from _lines()


def _bar() -> Iterator[Told]:
    columns = (
        TextColumn("ingest"),
        BarColumn(),
        TextColumn("{task.fields[documents]}"),
        TextColumn("{task.fields[megabytes]}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    clock = _Clock()
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("ingest", total=None, documents="looking", megabytes="", rate="")

        def update(step: Step) -> None:
            documents, megabytes, rate = _figures(step, clock.seconds(step))
            bar.update(
                task,
                completed=step.size,
                total=step.all_bytes,
                documents=documents,
                megabytes=megabytes,
                rate=rate,
            )

        yield update


def _lines() -> Iterator[Told]:
    clock = _Clock()
    latest: list[Step] = []

    def keep(step: Step) -> None:
        latest[:] = [step]

    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(LINE_SECONDS):
            _tell(latest[-1] if latest else None, clock)

    teller = threading.Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield keep
    finally:
        ended.set()
        teller.join()


class _Clock:
    """Since when documents are being worked on."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._is_working = False

    def seconds(self, step: Step) -> float:
        """Seconds since the first step, which comes before any document is done."""
        if not self._is_working:
            self._started, self._is_working = time.monotonic(), True
        return time.monotonic() - self._started


def _tell(step: Step | None, clock: _Clock) -> None:
    if step is None:
        nothing = dict.fromkeys(("documents", "all_documents", "bytes", "all_bytes", "chunks", "seconds_left"))
        told("progress", "progress: looking at the sources", nothing)
        return
    seconds = clock.seconds(step)
    left = _seconds_left(step, seconds)
    message = f"progress: {', '.join(_figures(step, seconds))}"
    if step.documents == step.all_documents:
        message += ", publishing"
    elif left is not None:
        message += f", {_duration(left)} left"
    told(
        "progress",
        message,
        {
            "documents": step.documents,
            "all_documents": step.all_documents,
            "bytes": step.size,
            "all_bytes": step.all_bytes,
            "chunks": step.chunks,
            "seconds_left": None if left is None else round(left),
        },
    )


def _figures(step: Step, seconds: float) -> tuple[str, str, str]:
    return (
        f"{step.documents:,} of {step.all_documents:,} documents",
        f"{step.size / _MEGA:,.1f} of {step.all_bytes / _MEGA:,.1f} MB",
        f"{step.chunks / seconds if seconds > 0 else 0:,.0f} chunks/s",
    )


def _seconds_left(step: Step, seconds: float) -> float | None:
    return seconds * (step.all_bytes - step.size) / step.size if step.size else None


def _duration(seconds: float) -> str:
    """Seconds in words.

    >>> _duration(42), _duration(780), _duration(9000)
    ('42 s', '13 min', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
