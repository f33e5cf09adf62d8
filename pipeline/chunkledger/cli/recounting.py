"""`chunkledger recount`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from chunkledger.cli.exits import UNPUBLISHED
from chunkledger.cli.output import error
from chunkledger.errors import LedgerError
from chunkledger.recounting import recount
from chunkledger.settings import ENCODINGS


def recount_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    encoding: Annotated[str, typer.Option(help=f"What to count in: {', '.join(ENCODINGS)}.")],
) -> None:
    """Add the counts of another encoding to every record of LEDGER, in columns that end in its name.

    Nothing is cut anew and no id changes: limits and flags stay in the encoding that LEDGER was made with. Every later
    ingest into it counts in this encoding too.
    """
    try:
        run = recount(ledger, encoding)
    except LedgerError as failure:
        error(f"nothing was published: {failure}")
        raise typer.Exit(UNPUBLISHED) from failure
    for notice in run.notices:
        error(notice)
    print(run.done_line(), file=sys.stderr)
