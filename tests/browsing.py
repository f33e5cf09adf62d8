"""Pages of ledgers, for tests that look at them in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledgers import cli

Open = Callable[..., Any]
"""Opens a file as a page of the browser."""


def page_of(ledger: Path) -> Path:
    """The page of a ledger, beside it."""
    file = ledger.with_name("report.html")
    done = cli("report", ledger, "--html", file)
    assert (done.code, done.err.startswith("page of run 1 in ")) == (0, True)
    return file
