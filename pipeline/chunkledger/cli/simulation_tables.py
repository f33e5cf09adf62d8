"""How a simulation is shown to people."""

from __future__ import annotations

from rich.table import Table

from chunkledger.cli.output import cell, console, counted, table
from chunkledger.simulation.outcome import Simulated, Simulation, Spread, WorstChunk

_AT_FAULT = {
    "nothing": "nothing is at fault",
    "splitter": "the splitter is at fault",
    "budget": "the budget is at fault",
    "k": "K is at fault",
}
_FIGURES = ("mean", "p5", "p50", "p95")


def show(found: Simulated) -> None:
    """Print it: one packing in full, or a line for each of several."""
    out = console()
    out.print(_origin(found), soft_wrap=True)
    if len(found.simulations) > 1:
        out.print()
        out.print(_side_by_side(found))
        return
    [only] = found.simulations
    out.print(_verdict(only), soft_wrap=True)
    for title, rows in (
        ("What a request gets", _spreads(only)),
        ("What became of the hits", _counts(only)),
        ("Why space was left", _space_left(only)),
    ):
        out.print(f"\n{title}", style="bold")
        out.print(rows)
    for finding in only.findings:
        if finding.holds:
            out.print(f"\nFOUND: {finding.name}", style="bold")
            out.print(f"{finding.says}\nto do: {finding.advice}", soft_wrap=True)
    if only.worst:
        out.print("\nChunks that did not fit most often", style="bold")
        out.print(_worst(only))


def _origin(found: Simulated) -> str:
    origin = "a log" if found.rankings["from"] == "log" else f"seed {found.rankings['seed']}, every chunk alike"
    lists = counted(found.rankings["requests"], "ranked list")
    parents = ", their parents packed" if found.parents else ""
    return f"run {found.run}: {found.chunks:,} chunks; {lists} from {origin}{parents}; {found.encoding}"


def _verdict(one: Simulation) -> str:
    k = "all hits" if one.packing.k is None else f"{one.packing.k:,} hits"
    lines = [f"slot {one.packing.slot_tokens:,}, {k} offered: {_AT_FAULT[one.verdict.at_fault]}"]
    lines += [
        f"{fault.what}, in {fault.share:.0%} of requests: {fault.says} ({', '.join(fault.because)})"
        for fault in one.verdict.faults
    ]
    return "\n".join(lines)


def _spreads(one: Simulation) -> Table:
    rows = table("", *_FIGURES, right=_FIGURES)
    for name, spread, form in (
        ("share of the slot used", one.fill, ".1%"),
        ("tokens used", one.used, ",.0f"),
        ("chunks packed", one.packed, ",.1f"),
    ):
        rows.add_row(name, *_figures(spread, form))
    return rows


def _figures(spread: Spread, form: str) -> list[str]:
    return [format(getattr(spread, name), form) for name in _FIGURES]


def _counts(one: Simulation) -> Table:
    names = ("hits", "a request", "requests with any")
    rows = table("", *names, right=names)
    for name, count in one.counts.items():
        share = f"{count.requests / one.requests:.1%}"
        rows.add_row(cell(name), cell(count.total), cell(f"{count.total / one.requests:,.2f}"), cell(share))
    return rows


def _space_left(one: Simulation) -> Table:
    rows = table("", "requests", "share", "tokens left", right=("requests", "share", "tokens left"))
    for reason in one.space_left:
        left = f"{reason.tokens / reason.requests:,.0f}"
        rows.add_row(cell(reason.reason), cell(reason.requests), cell(f"{reason.share:.1%}"), cell(left))
    return rows


def _worst(one: Simulation) -> Table:
    right = ("rank 1", "with room", "tokens")
    rows = table("chunk_id", *right, "document", "lines", "cause", right=right)
    rows.columns[0].no_wrap = True
    for chunk in one.worst:
        figures = (chunk.floor, chunk.skipped_with_room, chunk.rendered_tokens)
        rows.add_row(
            cell(chunk.chunk_id), *map(cell, figures), cell(chunk.doc_id), cell(_lines(chunk)), cell(_cause(chunk))
        )
    return rows


def _lines(chunk: WorstChunk) -> str:
    return "" if chunk.line_start is None else f"{chunk.line_start}-{chunk.line_end}"


def _cause(chunk: WorstChunk) -> str:
    return f"{chunk.cause}, {chunk.detail} ({', '.join(chunk.flags)})" if chunk.flags else f"{chunk.kind}; no flag"


def _side_by_side(found: Simulated) -> Table:
    right = ("slot", "k", "fill", "p5", "packed", "with room", "cut", "rank 1 over")
    rows = table(*right, "left because", "at fault", right=right)
    for one in found.simulations:
        reason = one.space_left[0]
        faults = ", ".join(f"{fault.what} {fault.share:.0%}" for fault in one.verdict.faults)
        rows.add_row(
            cell(one.packing.slot_tokens),
            cell(one.packing.k or "all"),
            cell(f"{one.fill.mean:.1%}"),
            cell(f"{one.fill.p5:.1%}"),
            cell(f"{one.packed.mean:,.1f}"),
            *(
                cell(f"{one.counts[name].requests / one.requests:.1%}")
                for name in ("skipped_with_room", "truncated", "floor_over_slot")
            ),
            cell(f"{reason.reason} {reason.share:.0%}"),
            cell(faults or one.verdict.at_fault),
        )
    return rows
