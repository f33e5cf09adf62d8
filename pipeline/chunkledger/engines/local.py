"""Units over the cores of one machine: spawned processes, or none where there is one unit or one job."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing.connection import Connection

from chunkledger.counting.counter import Engine
from chunkledger.engines.units import PartInfo, Unit, run_unit
from chunkledger.settings import Settings


def run_units(
    units: Sequence[Unit], settings: Settings, out: str, engine: Engine, jobs: int
) -> Iterator[tuple[Unit, PartInfo]]:
    """Run every unit; results come as they are done.

    Args:
        units: what to do.
        settings: what to make.
        out: root of the ledger.
        engine: whose tokenizer counts.
        jobs: most processes at once. Processes, because threads gain nothing under the interpreter's lock; spawned,
            because forking a process that has threads is not safe.
    """
    if jobs <= 1 or len(units) <= 1:
        for unit in units:
            yield unit, run_unit(unit, settings, out, engine)
        return
    context = multiprocessing.get_context("spawn")
    watched, lifeline = context.Pipe(duplex=False)
    with (
        watched,
        lifeline,
        ProcessPoolExecutor(min(jobs, len(units)), context, initializer=_hold_on, initargs=(watched,)) as pool,
    ):
        try:
            waiting = {pool.submit(run_unit, unit, settings, out, engine): unit for unit in units}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            # Interrupted, or a unit failed: the other units would only put off the end. And a pool that broke while
            # it was being filled was seen to wait for ever for a worker that it had just started.
            lifeline.close()
            raise


def _hold_on(watched: Connection) -> None:
    """Make a worker end without a traceback at Ctrl-C, and as soon as the other end of the pipe is closed.

    That also happens where the driver is killed; its workers were seen to wait for work for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(watched,), daemon=True).start()


def _end_with(watched: Connection) -> None:
    watched.poll(None)
    os._exit(1)
