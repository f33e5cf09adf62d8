"""Exceptions -> exit codes and messages."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import typer

from chunkledger.cli.output import error, use_log_format
from chunkledger.errors import ChunkledgerError, UnwritableError
from chunkledger.remote.failures import scrubbed
from chunkledger.store.commit import only_ends_the_process

GATE_FAILED, USAGE, FAILED, UNPUBLISHED, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 130, 143

_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""What no other command line would make better."""
Command = TypeVar("Command", bound=Callable[..., Any])


class _Terminated(BaseException):
    """SIGTERM as an exception, so that what is open is closed."""


@only_ends_the_process
def _terminate(signum: int, frame: FrameType | None) -> None:
    raise _Terminated("terminated")


@only_ends_the_process
def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt("interrupted")


def guarded(command: Command) -> Command:
    """The command with what it raises turned into a message on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (the command's own parameters)
        use_log_format("text")  # until the command says otherwise
        signal.signal(signal.SIGTERM, _terminate)
        # Set anew also where it is Python's own: polars puts one before that, and with it Ctrl-C ends no wait.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _interrupt)
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            _stop("interrupted", INTERRUPTED)
        except _Terminated:
            _stop("terminated", TERMINATED)
        except BrokenPipeError:
            # The reader of our output has gone, as with `| head`: there is nobody left to tell.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as failure:
            code = UNPUBLISHED if failure.errno in _OF_THE_DISK else USAGE
            _stop(f"{failure.filename or 'output'}: {failure.strerror or failure}", code)
        except UnwritableError as failure:
            _stop(str(failure), UNPUBLISHED)
        except (ChunkledgerError, ValueError) as failure:
            _stop(str(failure), USAGE)
        except (typer.Exit, typer.Abort):
            raise
        except Exception:  # the interpreter's own exit code for it, 1, would pass for a check that failed
            print(scrubbed(traceback.format_exc()), end="", file=sys.stderr)
            _stop("this is a fault of chunkledger; please report it with what stands above", UNPUBLISHED)

    return run  # type: ignore[return-value]


def _stop(message: str, code: int) -> None:
    error(scrubbed(message))
    raise typer.Exit(code)
