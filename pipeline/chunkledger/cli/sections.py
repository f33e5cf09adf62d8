"""The outlier report as sections: what a terminal and Markdown both show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chunkledger.cli.output import bar, counted
from chunkledger.outliers.gates import Gate
from chunkledger.outliers.histogram import Line
from chunkledger.outliers.nights import Nights
from chunkledger.outliers.places import Held, Place
from chunkledger.outliers.summary import Summary
from chunkledger.settings import Settings

_BAR_WIDTH = 28
_DRAWN = ("embed_tokens", "rendered_tokens")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report.

    Attributes:
        title: of it.
        lines: that stand above its table.
        columns: names of the table's columns; none where it has no table.
        rows: cells as text or numbers.
        right: columns of figures.
    """

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    right: Sequence[str] = ()


def sections(found: Summary, window: int) -> Iterator[Section]:
    """The report in its order: how many, how large, what is to blame and what to do, where, since when."""
    yield Section("", list(_totals(found, window)))
    if not found.chunks:
        return
    names = list(found.percentiles["token_count"])
    rows = [[size, *values.values()] for size, values in found.percentiles.items()]
    yield Section("Sizes in tokens", (), ["", *names], rows, names)
    yield _spread(found)
    yield _flags(found)
    if found.advice:
        yield Section("What to change", list(_advice(found)))
    yield _documents("Documents with the most flagged chunks", found.worst)
    yield _atypical(found)
    if found.group_by is not None:
        yield _groups(found)
    if found.against is not None:
        yield from _nights(found.against, found.run)


def _totals(found: Summary, window: int) -> Iterator[str]:
    settings = _settings(found)
    if found.where is not None:
        yield f"where {found.where}"
    share = f" ({found.flagged / found.chunks:.1%})" if found.chunks else ""
    yield (
        f"run {found.run}: {counted(found.documents, 'document')}, {counted(found.chunks, 'chunk')}, "
        f"{found.flagged:,} flagged{share}"
    )
    if found.over_slot:
        yield f"{counted(found.over_slot, 'chunk')} larger than the slot alone: can never be packed whole"
    yield (
        f"{settings.encoding}: limit {settings.max_tokens:,}, target {settings.target:,}, least {settings.min_tokens:,}"
    )
    yield f"slot {settings.slot_tokens:,} for {settings.slot_chunks} chunks, {settings.share_tokens:,} each"
    if found.on_limits:
        yield found.on_limits
    if not found.chunks:
        yield "no chunk" + (" meets the condition" if found.where else ": the ledger is empty")
        return
    yield f"{found.tokens:,} tokens of text; rendered {found.rendered_tokens:,}, {_of_window(found, window)}"


def _of_window(found: Summary, window: int) -> str:
    share = found.rendered_tokens / window
    if not found.fits_whole(window):
        return f"{share:.1f} times a window of {window:,}"
    what = "the whole corpus would fit, retrieval may not be needed" if found.where is None else "they would fit whole"
    return f"{share:.0%} of a window of {window:,}: {what}"


def _settings(found: Summary) -> Settings:
    return Settings(**dict(found.settings))  # type: ignore[arg-type]


def _spread(found: Summary) -> Section:
    """How many chunks there are of each size, as bars, with the sizes that settings name."""
    most = max(max(each.chunks.values()) for each in found.histogram)
    rows: list[list[object]] = []
    for each in found.histogram:
        row: list[object] = [f"{each.start:,}-{each.end - 1:,}"]
        for size, count in each.chunks.items():
            marks = [_mark(line) for line in found.lines if line.size == size and each.start <= line.tokens < each.end]
            row += [count, " ".join([bar(count / most, _BAR_WIDTH), *marks]).strip()]
        rows.append(row)
    beyond = [line for line in found.lines if line.tokens >= found.histogram[-1].end]
    rows += [
        ["", *(part for size in _DRAWN for part in ("", _mark(line) if line.size == size else ""))] for line in beyond
    ]
    columns = ["tokens", "embedded", "", "rendered", ""]
    return Section("How sizes are spread", (), columns, rows, ["tokens", "embedded", "rendered"])


def _mark(line: Line) -> str:
    return f"< {line.name} {line.tokens:,}"


def _flags(found: Summary) -> Section:
    if not found.flags:
        return Section("Flags by cause", ["none"])
    columns = ["flag", "cause", "chunks", "of all", "documents", "most in", "lines"]
    rows: list[list[object]] = []
    for entry in found.flags:
        head: list[object] = [
            entry.flag,
            entry.cause,
            entry.chunks,
            f"{entry.chunks / found.chunks:.1%}",
            entry.documents,
        ]
        for place, held in enumerate(entry.held_by):
            rows.append([*(head if place == 0 else [""] * len(head)), held.doc_id, _lines_of(held)])
    return Section("Flags by cause", (), columns, rows, ["chunks", "of all", "documents"])


def _lines_of(held: Held) -> str:
    more = held.flagged - len(held.places)
    return ", ".join(place.where for place in held.places) + (f", {more:,} more" if more else "")


def _advice(found: Summary) -> Iterator[str]:
    for each in found.advice:
        yield f"{each.cause} ({counted(each.chunks, 'chunk')} in {counted(each.documents, 'document')}): {each.what}"
        if each.command:
            yield f"    try: {each.command}"


def _documents(title: str, documents: Sequence[Held]) -> Section:
    if not documents:
        return Section(title, ["none"])
    columns = ["document", "flagged", "chunks", "lines", "tokens", "cause"]
    rows: list[list[object]] = []
    for held in documents:
        for number, place in enumerate(held.places):
            head: list[object] = [held.doc_id, held.flagged, held.chunks] if number == 0 else ["", "", ""]
            rows.append([*head, place.where, place.rendered_tokens, _why(place)])
    return Section(title, (), columns, rows, ["flagged", "chunks", "tokens"])


def _why(place: Place) -> str:
    return f"{place.cause}, {place.detail} ({', '.join(place.flags)})" if place.flags else ""


def _atypical(found: Summary) -> Section:
    title, typical = "Sizes unlike the others", found.atypical.typical
    if typical is None:
        return Section(title, ["none can be told: there are too few chunks, or all are of one size"])
    said = (
        f"rendered sizes from {typical.least:,} to {typical.most:,} are typical (median {typical.median:,}); "
        f"{typical.below:,} are below, {typical.above:,} above"
    )
    places = [*found.atypical.largest, *found.atypical.smallest]
    if not places:
        return Section(title, [said])
    rows = [[place.doc_id, place.where, place.rendered_tokens, _why(place)] for place in places]
    return Section(title, [said], ["document", "lines", "tokens", "cause"], rows, ["tokens"])


def _groups(found: Summary) -> Section:
    columns = ["", "documents", "chunks", "flagged", "of them", "over slot", "tokens", "p50", "p95", "max"]
    rows = [
        [
            group.name,
            group.documents,
            group.chunks,
            group.flagged,
            f"{group.flagged / group.chunks:.1%}",
            group.over_slot,
            group.tokens,
            group.p50,
            group.p95,
            group.max,
        ]
        for group in found.groups
    ]
    more = found.groups_in_all - len(found.groups)
    lines = [f"{more:,} more; --top shows them"] if more > 0 else []
    return Section(f"By {found.group_by}", lines, columns, rows, columns[1:])


def _nights(nights: Nights, run: int) -> Iterator[Section]:
    changed = [f"{name}: {then} -> {now}" for name, (then, now) in nights.settings.items()]
    names = ("documents", "chunks", "flagged", "over_slot")
    rows: list[Sequence[object]] = [
        [name.replace("_", " "), change.before, change.now, _difference(change.before, change.now)]
        for name, change in ((name, getattr(nights, name)) for name in names)
    ]
    rows += [
        [f"rendered {name}", change.before, change.now, _difference(change.before, change.now)]
        for name, change in nights.percentiles.items()
        if name in ("p50", "p95", "max")
    ]
    rows += [
        [f"{each.flag}, {each.cause}", each.before, each.now, _difference(each.before, each.now)]
        for each in nights.flags
    ]
    columns = ["", f"run {nights.run}", f"run {run}", "change"]
    yield Section(f"Since run {nights.run}", changed, columns, rows, columns[1:])
    said = f"{counted(nights.worse_in_all, 'document')} got worse, {nights.better_in_all:,} better"
    worse: list[Sequence[object]] = []
    for document in nights.worse:
        first: list[object] = [document.doc_id, "new" if document.is_new else document.before, document.now]
        for number, place in enumerate(document.places):
            head = first if number == 0 else ["", "", ""]
            worse.append([*head, place.where, place.rendered_tokens, _why(place)])
    columns = ["document", "flagged then", "now", "lines", "tokens", "cause"]
    right = ["flagged then", "now", "tokens"]
    yield Section("Documents that got worse", [said], columns if worse else [], worse, right)


def _difference(before: int, now: int) -> str:
    return f"{now - before:+,}" if now != before else ""


def gate_lines(gates: Sequence[Gate]) -> Iterator[tuple[str, Gate]]:
    """Each gate in words."""
    for gate in gates:
        verb = "is within" if gate.holds else "is over"
        yield f"{gate.name}: {gate.count:,} of {gate.of:,} ({gate.share:.2%}) {verb} {gate.most:.2%}", gate


def as_json(gates: Sequence[Gate]) -> list[Mapping[str, object]]:
    """The gates for programs."""
    return [
        {"name": gate.name, "most": gate.most, "count": gate.count, "of": gate.of, "holds": gate.holds}
        for gate in gates
    ]
