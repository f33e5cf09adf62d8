"""Document ids that are the end of any worker process that receives them; for tests of what goes on without it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path


class Deadly(str):
    """An id that kills the process that unpickles it."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return signal.raise_signal, (signal.SIGKILL,)


class Endless(str):
    """An id that never gets unpickled."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return signal.pause, ()


class DeadlyOnce(str):
    """An id that kills the first process that unpickles it; a file of its name remembers that."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return kill_once, (str(self),)


def kill_once(path: str) -> str:
    """Die if nobody has at this path yet."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path


def raise_of(error: BaseException) -> None:
    """Raise it, wherever this is called."""
    raise error


def die_at_once(*_: object) -> None:
    """End the process before it can do anything."""
    os._exit(1)


class Untellable(Exception):
    """One that no other process can be told."""

    def __init__(self) -> None:
        super().__init__("no")
        self.lock = threading.Lock()


def raise_untellable() -> None:
    """Raise it."""
    raise Untellable


def untellable() -> object:
    """What can't be given to another process."""
    return threading.Lock()
