"""`chunkledger verify`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from chunkledger.cli.exits import GATE_FAILED
from chunkledger.cli.output import shown
from chunkledger.store.ledger import open_ledger
from chunkledger.verification import verify

_MOST_SHOWN = 50


def verify_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    sample: Annotated[
        int | None, typer.Option(min=1, help="Recount at most this many records; the rest is checked for all.")
    ] = None,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
) -> None:
    """Recount LEDGER with tiktoken itself, and check its ids, offsets, flags and sources.

    Exit code 1: something is not what it should be.
    """
    found = verify(open_ledger(ledger, run), sample=sample)
    for mismatch in found.mismatches[:_MOST_SHOWN]:
        print(shown(str(mismatch)))
    if len(found.mismatches) > _MOST_SHOWN:
        print(f"… and {len(found.mismatches) - _MOST_SHOWN:,} more")
    for why, count in sorted(Counter(found.not_compared.values()).items()):
        print(f"{count:,} documents not compared with their source: {shown(why)}")
    if found.not_remade:
        print(f"records not made again from the sources: {shown(found.not_remade)}")
    print(
        f"{found.chunks:,} chunks of {found.documents:,} documents; {found.recounted:,} recounted with tiktoken; "
        f"{found.compared:,} documents compared with their source, {found.remade:,} made again from it; "
        f"{len(found.mismatches):,} mismatches"
    )
    if found.mismatches:
        raise typer.Exit(GATE_FAILED)
