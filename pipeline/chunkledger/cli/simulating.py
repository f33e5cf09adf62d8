"""`chunkledger simulate`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from chunkledger.cli.logs import log_lines
from chunkledger.cli.output import counted, note
from chunkledger.cli.packing_options import CountedIn, Duplicates, MaxChunks, Merge, OnMiss, Sentences, Truncate
from chunkledger.cli.ranges import whole_numbers
from chunkledger.cli.simulation_tables import show
from chunkledger.errors import SettingsError
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Logged, Seeded
from chunkledger.simulation.simulating import simulate
from chunkledger.store.ledger import open_ledger


def simulate_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    slot_tokens: Annotated[
        str | None,
        typer.Option(metavar="N", help="Size of the slot; several as 4000,6000 or 3000..8000:1000. [LEDGER's own]"),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option("--k", metavar="K", help="Hits of a list to offer; several as N. [40; of a log all]"),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Ranked lists: lines with ranked_ids, of a service's log or bare lists of ids; .gz, - is standard "
            "input. Again for more. [lists at random]",
        ),
    ] = None,
    requests: Annotated[int | None, typer.Option(min=1, help="How many lists at random. [1000]")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Which lists at random. [0]")] = None,
    max_chunks: MaxChunks = None,
    on_miss: OnMiss = "skip",
    truncate: Truncate = "floor",
    sentences: Sentences = False,
    merge: Merge = True,
    duplicates: Duplicates = "text",
    encoding: CountedIn = None,
    parents: Annotated[bool, typer.Option("--parents", help="Pack the parents of the hits.")] = False,
    run: Annotated[int | None, typer.Option(min=1, metavar="RUN", help="Read this run. [the last one]")] = None,
    format: Annotated[Literal["table", "json"], typer.Option(help="For people, or for programs.")] = "table",
    top: Annotated[int, typer.Option(min=1, help="How many chunks to name.")] = 10,
) -> None:
    """Pack ranked lists by the counts in LEDGER, and tell what is at fault: the splitter, the budget or K.

    The packer is the one that serves, and its records are judged as `chunkledger diagnose` judges a log. Lists at
    random take every chunk alike: they show what sizes do, not what a retriever finds. To replay real ones, log the ids
    of all hits with each request: pack(..., log_fields={"ranked_ids": [...]}).
    """
    opened = open_ledger(ledger, run)
    options: dict[str, Any] = {
        "max_chunks": max_chunks,
        "on_miss": on_miss,
        "truncate": truncate,
        "sentences": sentences,
        "merge": merge,
        "duplicates": duplicates,
    }
    found = simulate(
        opened,
        _packings(slot_tokens, k, opened.settings().slot_tokens, options),
        _rankings(log, requests, seed),
        encoding=encoding,
        parents=parents,
        top=top,
    )
    _tell_left_out(found.rankings)
    if format == "json":
        print(json.dumps(found.as_dict(), indent=1))
    else:
        show(found)


def _packings(slot_tokens: str | None, k: str | None, own: int, options: Mapping[str, Any]) -> list[Packing]:
    slots: Sequence[int] = (own,) if slot_tokens is None else whole_numbers(slot_tokens, "--slot-tokens")
    ks: Sequence[int | None] = (None,) if k is None else whole_numbers(k, "--k")
    return [Packing(slot_tokens=slot, k=each, **options) for slot, each in itertools.product(slots, ks)]


def _rankings(log: Sequence[str] | None, requests: int | None, seed: int | None) -> Seeded | Logged:
    if log:
        if requests is not None or seed is not None:
            raise SettingsError("--requests and --seed make lists at random; leave them out where --log gives lists")
        return Logged(log_lines(log))
    default = Seeded()
    return Seeded(default.requests if requests is None else requests, default.seed if seed is None else seed)


def _tell_left_out(rankings: Mapping[str, Any]) -> None:
    if lines := rankings.get("left_out"):
        note(f"{counted(lines, 'line')} left out; {rankings['first_left_out']}")
    if ids := rankings.get("unknown_ids"):
        left_out = rankings["unknown_requests"]
        lists = f"; {counted(left_out, 'list')} of nothing else left out" if left_out else ""
        note(f"{counted(ids, 'chunk')} of the log not in the ledger, {counted(rankings['unknown_hits'], 'hit')}{lists}")
