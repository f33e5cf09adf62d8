"""`chunkledger slot` and `chunkledger pack`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import typer

from chunkledger.cli.output import cell, console, note, result, table
from chunkledger.cli.packing_options import CountedIn, Duplicates, MaxChunks, Merge, OnMiss, Sentences, Truncate
from chunkledger.errors import LedgerError, SettingsError
from chunkledger.packer import BOUNDARY_KINDS, STRUCTURAL_KINDS, Slot, ceiling, order, pack, render
from chunkledger.store.ledger import Ledger, open_ledger


def slot_command(
    window: Annotated[int, typer.Option(help="The model's context window, in tokens.")],
    system: Annotated[int, typer.Option(help="System prompt.")] = 0,
    tools: Annotated[int, typer.Option(help="Tool definitions.")] = 0,
    history: Annotated[int, typer.Option(help="Turns of the conversation so far.")] = 0,
    question: Annotated[int, typer.Option(help="The user's question.")] = 0,
    reserved_output: Annotated[int, typer.Option(help="What the answer may take; it shares the window.")] = 0,
    framing: Annotated[int, typer.Option(help="Role markers and text around the chunks.")] = 0,
    margin: Annotated[str, typer.Option(help="Held back: tokens, or a share of the window as in 0.02.")] = "0",
    cap: Annotated[int | None, typer.Option(help="Most tokens of the slot, however much is left.")] = None,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens of one chunk, for the ceiling.")] = 512,
    overhead_tokens: Annotated[int, typer.Option(min=0, help="Tokens that a chunk's header and closing add.")] = 40,
) -> None:
    """Compute the slot: the tokens that are left for retrieved chunks, itemised, and how many chunks it holds."""
    slot = Slot(
        window=window,
        system=system,
        tools=tools,
        history=history,
        question=question,
        reserved_output=reserved_output,
        framing=framing,
        margin=_margin(margin),
        cap=cap,
    )
    rows = table("term", "tokens", right=("tokens",))
    for name, tokens in slot.breakdown():
        rows.add_row(cell(name), cell(tokens))
    console().print(rows)
    most = ceiling(slot.tokens, chunk_tokens, overhead_tokens)
    print(f"at most {most:,} chunks of {chunk_tokens:,} + {overhead_tokens:,} tokens")


def pack_command(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER")],
    ids: Annotated[
        str, typer.Option("--ids", metavar="FILE", help="Ranked chunk ids, one a line; - is standard input.")
    ],
    slot_tokens: Annotated[int, typer.Option(min=1, help="Size of the slot.")],
    order_by: Annotated[
        Literal["rank", "document", "edges"] | None,
        typer.Option("--order", help="Order of what --render prints; rank where left out."),
    ] = None,
    max_chunks: MaxChunks = None,
    on_miss: OnMiss = "skip",
    truncate: Truncate = "floor",
    sentences: Sentences = False,
    merge: Merge = True,
    duplicates: Duplicates = "text",
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A field of yours for the log line: query, intent, k."),
    ] = None,
    encoding: CountedIn = None,
    parents: Annotated[bool, typer.Option("--parents", help="Pack the parents of the chunks that were found.")] = False,
    render_block: Annotated[
        bool, typer.Option("--render", help="Print the rendered block; the log goes to stderr.")
    ] = False,
) -> None:
    """Fill a slot with a ranked list of ids, by the counts in LEDGER, and print the log as one JSON line."""
    if order_by and not render_block:
        raise SettingsError("--order says how --render prints the blocks; give --render too")
    fields = dict(_field(each) for each in field or ())
    opened = open_ledger(ledger)
    settings = opened.settings()
    if encoding not in (None, *settings.encodings):
        raise SettingsError(
            f"--encoding {encoding}: {ledger} is counted in {', '.join(settings.encodings)}; "
            "`chunkledger recount` adds an encoding"
        )
    if parents and not settings.parent_tokens:
        raise SettingsError(f"--parents: {ledger} has none; ingest with --parent-tokens makes them")
    hits = _rows(opened, _ranked_ids(ids), parents=parents)
    packed = pack(
        hits,
        slot_tokens,
        encoding=encoding or settings.encoding,
        max_chunks=max_chunks,
        on_miss=on_miss,
        truncate=truncate,
        boundary_kinds=BOUNDARY_KINDS if sentences else STRUCTURAL_KINDS,
        merge=merge,
        duplicates=duplicates,
        log_fields=fields,
        emit=False,
    )
    log = packed.log.as_json()
    if not render_block:
        print(log)
        return
    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
    sys.stdout.write(result(render(order(packed, order_by or "rank"))))
    note(log)


def _margin(value: str) -> int | float:
    try:
        return int(value) if value.lstrip("+-").replace("_", "").isdigit() else float(value)
    except ValueError:
        raise SettingsError(f"--margin must be tokens (200) or a share of the window (0.02), not {value!r}") from None


def _ranked_ids(source: str) -> list[str]:
    if source == "-":
        text = sys.stdin.read()
    else:
        try:
            text = Path(source).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as failure:
            why = getattr(failure, "strerror", None) or failure
            raise SettingsError(f"--ids {source} can't be read: {why}") from failure
    return [line.strip().lower() for line in text.splitlines() if line.strip()]  # canonical UUIDs are lower case


def _field(given: str) -> tuple[str, object]:
    """A field of the caller: a value that is JSON is taken as such, so that numbers and true are no text."""
    name, separator, value = given.partition("=")
    if not name or not separator:
        raise SettingsError(f"--field must be NAME=VALUE, not {given!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _rows(ledger: Ledger, ids: Sequence[str], *, parents: bool) -> list[dict[str, Any]]:
    """The records of these ids, in their order, or the parents of theirs, each once.

    Raises:
        LedgerError: the ledger has no chunk of that id.
    """
    wanted = pa.array(list(dict.fromkeys(ids)), pa.string())
    found: dict[str, dict[str, Any]] = {}
    for records in ledger.iter_tables(role="all"):
        chosen = records.filter(pc.is_in(records.column("chunk_id"), wanted))
        found |= {row["chunk_id"]: row for row in chosen.to_pylist()}
    missing = [chunk_id for chunk_id in ids if chunk_id not in found]
    if missing:
        raise LedgerError(f"{ledger.root} has no chunk {missing[0]} ({len(missing)} of {len(ids)} ids are not in it)")
    if parents:
        of_chunk = [found[chunk_id]["parent_id"] or chunk_id for chunk_id in ids]
        return _rows(ledger, list(dict.fromkeys(of_chunk)), parents=False)
    return [found[chunk_id] for chunk_id in ids]
