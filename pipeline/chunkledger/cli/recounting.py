"""`chunkledger recount`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from chunkledger.cli.exits import UNPUBLISHED
from chunkledger.cli.ingesting import tell_done
from chunkledger.cli.output import error, note, use_log_format
from chunkledger.errors import LedgerError
from chunkledger.recounting import recount
from chunkledger.settings import ENCODINGS


def recount_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    encoding: Annotated[str, typer.Option(help=f"What to count in: {', '.join(ENCODINGS)}.")],
    wait: Annotated[int, typer.Option(min=0, metavar="SECONDS", help="Wait for another run on LEDGER to end.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write errors and the DONE line only.")] = False,
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="Narration as lines, or as one object of JSON a line.")
    ] = "text",
) -> None:
    """Add the counts of another encoding to every record of LEDGER, in columns that end in its name.

    Nothing is cut anew and no id changes: limits and flags stay in the encoding that LEDGER was made with. Every later
    ingest into it counts in this encoding too.
    """
    use_log_format(log_format)
    try:
        run = recount(ledger, encoding, wait=wait)
    except LedgerError as failure:
        error(f"nothing was published: {failure}")
        raise typer.Exit(UNPUBLISHED) from failure
    for notice in run.notices:
        error(notice)
    if not quiet:
        note(f"every chunk is an update in the feed: stores have the counts of {encoding} to learn")
    tell_done(run)
