"""How a what-if is shown: two sides of one case, or a line for each of several; to people, as CSV, as Markdown."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from rich.measure import Measurement
from rich.table import Table

from chunkledger.cli.output import cell, console, shown, table
from chunkledger.whatif.figures import FLAGS, SIZES
from chunkledger.whatif.outcome import Case, Figures, Fill, FlagCount, WhatIf

Number = float | int | None

_SHARES = ("p5", "p50", "p95", "max")
_CSV_NAMES = {
    "what if": "what_if", "p50": "rendered_tokens_p50", "p95": "rendered_tokens_p95",
    "max": "rendered_tokens_max", "to embed": "embed_tokens_needed",
}  # fmt: skip
"""Columns whose names say too little where nothing stands beside them."""
_OWN = "*"
_WIDEST = 1000


class _Row(NamedTuple):
    """A figure on both sides.

    Attributes:
        name: of it.
        now: in the ledger; None where it has none.
        then: in the case.
        form: how people read it.
    """

    name: str
    now: Number
    then: Number
    form: str = ","


def show(found: WhatIf, output: Literal["table", "csv", "md"]) -> None:
    """Print it to standard output."""
    is_sweep = len(found.cases) > 1
    if output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        names, *lines = _sweep_cells(found, _plain) if is_sweep else _side_cells(found, _plain)
        writer.writerows([[_CSV_NAMES.get(name, name) for name in names], *lines])
        return
    if output == "md":
        for line in _markdown(_sweep_cells(found, _read) if is_sweep else _side_cells(found, _read)):
            print(line)
        return
    out = console()
    out.print(_origin(found), soft_wrap=True)
    out.print()
    cells = _without_zeros(_sweep_cells(found, _read)) if is_sweep else _side_cells(found, _read)
    rows = _rich(cells)
    # Figures that are cut would be wrong ones: a narrow terminal breaks the lines.
    width = Measurement.get(out, out.options.update(width=_WIDEST), rows).maximum
    out.print(rows, width=max(out.width, width), crop=False)
    for line in _notes(found):
        out.print(line, soft_wrap=True)


def _without_zeros(cells: list[list[str]]) -> list[list[str]]:
    """The table of a sweep without flags that no chunk has, and without what people read elsewhere."""
    names, *lines = cells
    left_out = {
        place for place, name in enumerate(names) if name in FLAGS and not any(line[place] != "0" for line in lines)
    }
    left_out.add(names.index("tokens"))
    return [[value for place, value in enumerate(line) if place not in left_out] for line in cells]


def _origin(found: WhatIf) -> str:
    lists = f"{found.lists['requests']:,} ranked lists of {found.lists['k']:,} hits from seed {found.lists['seed']}"
    if len(found.cases) > 1:
        return f"run {found.run} beside {len(found.cases):,} cases; slots are filled by {lists}"
    is_foreign = bool(found.settings["chunks"])
    untold = ("further_encodings", "chunks", *(("id_column", "text_column") if is_foreign else ()))
    other = ["chunks cut elsewhere -> cut here"] if is_foreign else []
    other += [
        f"{name} {_said(found.settings[name])} -> {_said(value)}"
        for name, value in found.cases[0].settings.items()
        if value != found.settings[name] and name not in untold
    ]
    what = ", ".join(other) or "the settings are the ledger's own"
    return f"run {found.run}, and what if: {what}\nslots are filled by {lists}"


def _said(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else shown(str(value))


def _notes(found: WhatIf) -> list[str]:
    """What people should know of the figures."""
    documents = found.cases[0].documents
    changed = "not comparable" if documents.changed is None else f"{documents.changed:,} changed"
    same = "under ids of the ledger" if documents.changed is None else "the same"
    lines = [
        f"\ndocuments: {documents.same:,} {same}, {changed}, {documents.new:,} new, {documents.gone:,} gone, "
        f"{documents.failed:,} failed"
    ]
    if documents.changed or documents.new or documents.gone:
        lines.append(
            "these are not the documents that the ledger was made of, so not all of this comes from the settings"
        )
    if len(found.cases) > 1:
        lines.append(
            f"now: the ledger as it is; {_OWN}: its own settings; p50, p95, max: rendered_tokens; stay, go, come: ids; "
            "to embed: tokens"
        )
    return lines


def _side_cells(found: WhatIf, form: Callable[[Number, str], str]) -> list[list[str]]:
    """The table of one case: a header, and a line for each figure."""
    [case] = found.cases
    cells = [["figure", "now", "what if", "change"]]
    for row in _rows(found.before, case):
        change = None if row.now is None or row.then is None else row.then - row.now
        cells.append([row.name, form(row.now, row.form), form(row.then, row.form), form(change, f"+{row.form}")])
    return cells


def _rows(before: Figures, case: Case) -> list[_Row]:
    after = case.figures
    totals = ("documents", "chunks", "parents", "tokens", "embed_tokens", "rendered_tokens")
    rows = [_Row(name, getattr(before, name), getattr(after, name)) for name in totals]
    for size in SIZES:
        ours, theirs = before.percentiles[size], after.percentiles[size]
        rows += [_Row(f"{size} {share}", ours.get(share), theirs.get(share)) for share in _SHARES]
    rows.append(_Row("flagged", before.flagged, after.flagged))
    rows += _cause_rows(before.causes, after.causes)
    rows += _fill_rows(case.fill_before, case.fill, int(case.settings["slot_tokens"]))
    changes = case.changes
    rows += [
        _Row("ids that stay", None, changes.stay),
        _Row("ids that go", None, changes.go),
        _Row("ids that come", None, changes.come),
        _Row("chunks to embed", None, changes.embed),
        _Row("tokens to embed", None, changes.embed_tokens),
    ]
    return rows


def _cause_rows(before: Sequence[FlagCount], after: Sequence[FlagCount]) -> list[_Row]:
    ours, theirs = ({(each.flag, each.cause): each.chunks for each in side} for side in (before, after))
    both = sorted({*ours, *theirs}, key=lambda each: (-max(ours.get(each, 0), theirs.get(each, 0)), each))
    return [_Row(f"{flag} {cause}", ours.get((flag, cause), 0), theirs.get((flag, cause), 0)) for flag, cause in both]


def _fill_rows(before: Fill | None, after: Fill | None, slot: int) -> list[_Row]:
    def row(name: str, read: Callable[[Fill], float], form: str) -> _Row:
        return _Row(name, None if before is None else read(before), None if after is None else read(after), form)

    return [
        row(f"fill of a slot of {slot}", lambda each: each.fill.mean, ".1%"),
        row("fill p5", lambda each: each.fill.p5, ".1%"),
        row("chunks packed", lambda each: each.packed.mean, ".1f"),
        row("requests that skip with room", lambda each: each.skipped_with_room, ".1%"),
    ]


def _sweep_cells(found: WhatIf, form: Callable[[Number, str], str]) -> list[list[str]]:
    """The table of a sweep: a header, the ledger as it is, and a line for each case."""
    swept = list(found.cases[0].values)
    cells = [
        [*swept, "case", "chunks", "tokens", "p50", "p95", "max", *FLAGS, "stay", "go", "come", "to embed", "fill"]
    ]
    own = [form(_number(found.settings.get(name)), ",") for name in swept]
    cells.append([*own, "now", *_figures(found.before, form), *[""] * 4, form(_mean(found.fill), ".1%")])
    for case in found.cases:
        changes = (case.changes.stay, case.changes.go, case.changes.come, case.changes.embed_tokens)
        cells.append(
            [
                *(form(value, ",") for value in case.values.values()),
                _OWN if case.is_own else "",
                *_figures(case.figures, form),
                *(form(value, ",") for value in changes),
                form(_mean(case.fill), ".1%"),
            ]
        )
    return cells


def _figures(figures: Figures, form: Callable[[Number, str], str]) -> list[str]:
    sizes = figures.percentiles["rendered_tokens"]
    values = (figures.chunks, figures.tokens, *(sizes.get(share) for share in ("p50", "p95", "max")))
    return [form(value, ",") for value in (*values, *figures.flags.values())]


def _mean(fill: Fill | None) -> Number:
    return None if fill is None else fill.fill.mean


def _number(value: Any) -> Number:  # noqa: ANN401 (of a setting)
    return value if isinstance(value, int) else None


def _plain(value: Number, form: str) -> str:
    """For programs: shares as fractions."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(value: Number, form: str) -> str:
    if value is None:
        return ""
    if form.startswith("+") and form.endswith("%"):
        return f"{round(100 * value, 1) + 0.0:+.1f}"  # points, not per cent of what was; + 0.0 makes no -0.0
    return format(value, form)


def _rich(cells: Sequence[Sequence[str]]) -> Table:
    names, *lines = cells
    is_text = [not any(line[place][:1].isdigit() for line in lines) for place in range(len(names))]
    rows = table(*names)
    for column, text in zip(rows.columns, is_text, strict=True):
        column.justify = "left" if text else "right"
        column.no_wrap = True
    if names[0] == "figure":
        rows.columns[-1].justify = "right"
    for line in lines:
        rows.add_row(*map(cell, line))
    return rows


def _markdown(cells: Sequence[Sequence[str]]) -> list[str]:
    names, *lines = cells
    under = ["---", *["--:"] * (len(names) - 1)]
    return [f"| {' | '.join(line)} |" for line in (names, under, *lines)]
