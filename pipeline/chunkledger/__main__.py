"""The `chunkledger` command, which `python -m chunkledger` is too, from its first moment to its last."""

from __future__ import annotations

import os
import signal
import sys
import time

TYPE_CHECKING = False  # importing typing is time in which a signal would end in a traceback
if TYPE_CHECKING:
    from types import FrameType

_ENDINGS = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}
"""What is said, and the exit code, as of a command that is at work."""


def _end(number: int, frame: FrameType | None) -> None:
    """Say so and end at once: nothing has been begun yet, or everything has been done."""
    said, code = _ENDINGS[signal.Signals(number)]
    line = f"error: {said}"
    if _wants_json():
        # By hand: the modules for it may be half imported.
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime())
        line = f'{{"time": "{now}", "level": "error", "event": "error", "message": "{said}"}}'
    os.write(2, f"{line}\n".encode())
    os._exit(code)


def _wants_json() -> bool:
    """Whether lines are to be JSON, asked before the command line is read, which may be wrong."""
    return "--log-format=json" in sys.argv or ("--log-format", "json") in zip(sys.argv, sys.argv[1:], strict=False)


def _end_without_a_traceback() -> None:
    for number in _ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # a shell lets what it starts in the background ignore it
            signal.signal(number, _end)


def main() -> None:
    """Run the command line and exit with its code."""
    _end_without_a_traceback()
    # Arrow's own allocator keeps what it was given: 50 MB a process more, for no time that could be measured.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from chunkledger import cli  # half a second, of which nobody should see a traceback

    try:
        cli.main(with_json_lines=_wants_json())
    finally:
        _end_without_a_traceback()


if __name__ == "__main__":
    main()
