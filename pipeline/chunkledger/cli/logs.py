"""Files of a service's log, as the commands that read one take them."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator, Sequence

from chunkledger.errors import SettingsError


def log_lines(logs: Sequence[str]) -> Iterator[str]:
    """The lines of all files, one after the other; `.gz` is read as such, `-` is standard input.

    Raises:
        SettingsError: one can't be read.
    """
    for log in logs:
        try:
            if log == "-":
                sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
                yield from sys.stdin
            elif log.endswith(".gz"):
                with gzip.open(log, "rt", encoding="utf-8", errors="replace") as packed:
                    yield from packed
            else:
                with open(log, encoding="utf-8-sig", errors="replace") as lines:
                    yield from lines
        except (OSError, EOFError) as failure:
            raise SettingsError(f"{log} can't be read: {getattr(failure, 'strerror', None) or failure}") from failure
