"""Ledger -> the page, as one string of HTML; the only module that knows the template engine."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from chunkledger.outliers.advice import Advice
from chunkledger.outliers.page import charts
from chunkledger.outliers.page.figures import Distribution, Group, figures_of
from chunkledger.outliers.page.offenders import Offender, offenders_of
from chunkledger.outliers.page.shown import script_json, short, visible
from chunkledger.outliers.page.texts import Shown, texts_of
from chunkledger.outliers.page.words import called, keys, verdict
from chunkledger.outliers.selected import selected
from chunkledger.outliers.summary import FlagCount, Summary
from chunkledger.store.ledger import Ledger

_FOLDER = Path(__file__).parent
_MOST_WORST = 8
_MOST_CAUSES = 8
_SIZES = {"rendered_tokens": "What the slot pays", "embed_tokens": "What is embedded"}
_MEANINGS = {
    "rendered_tokens": "Tokens of each chunk as it stands in a prompt, header and all, against its share of the slot.",
    "embed_tokens": "Tokens of each chunk with its heading path, against the limit that it was cut for.",
}


@dataclass(frozen=True, slots=True)
class _Figure:
    """One figure: its drawings, what they say in words, and the same as a table."""

    title: str
    meaning: str
    drawings: tuple[Markup, ...]
    said: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def page_of(ledger: Ledger, found: Summary) -> str:
    """The report of a ledger as one HTML file.

    Args:
        ledger: which is reported on.
        found: its report.
    """
    frame = selected(ledger, found.where)
    settings = ledger.settings()
    offenders = offenders_of(frame)
    texts = texts_of(ledger, frame, offenders)
    drawn = figures_of(frame, settings)
    figures = [[_distribution_figure(each)] for each in drawn.distributions]
    if figures:
        named = (("By kind", "kind", drawn.kinds), ("By folder", "folder", drawn.folders))
        figures.append([_groups_figure(*each) for each in named if len(each[2]) > 1 or each[1] == "kind"])
    script, style = (_FOLDER.joinpath(name).read_text("utf-8") for name in ("page.js", "page.css"))
    page: str = _environment().get_template("page.html.j2").render(
        name=visible(ledger.root.replace("\\", "/").rstrip("/").rpartition("/")[2]),
        found=found,
        settings=settings,
        verdict=verdict(found, settings),
        keys=keys(found, settings),
        causes=_causes(found),
        most=max((entry.chunks for entry in found.flags), default=0),
        worst=found.worst[:_MOST_WORST],
        figures=figures,
        listed=len(offenders),
        texts=texts,
        data=Markup(script_json(_data(ledger, found.flagged, offenders, texts))),  # noqa: S704 (escaped for its place)
        script=Markup(script),  # noqa: S704 (our own file)
        style=Markup(style),  # noqa: S704 (our own file)
        script_hash=_hash(script),
        style_hash=_hash(style),
    )  # fmt: skip
    return page


def _causes(found: Summary) -> list[tuple[FlagCount, str, Advice | None]]:
    """What is to blame, what people call it, and what to change, which is said once for each cause."""
    left = {each.cause: each for each in found.advice}
    return [(entry, called(entry.cause), left.pop(entry.cause, None)) for entry in found.flags[:_MOST_CAUSES]]


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"count": _count, "visible": visible, "short": short}
    return made


def _count(number: int) -> str:
    return f"{number:,}"


def _hash(text: str) -> str:
    """As a Content-Security-Policy names an element that may run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(ledger: Ledger, flagged: int, offenders: Sequence[Offender], texts: Sequence[Shown]) -> Mapping[str, object]:
    """What the script works on; documents are named by their place in `ids`."""
    places = {doc_id: place for place, doc_id in enumerate(dict.fromkeys(row.doc_id for row in offenders))}
    for shown in texts:
        places.setdefault(shown.doc_id, len(places))
    return {
        "ledger": ledger.root.rstrip("/").rpartition("/")[2],
        "flagged": flagged,
        "ids": list(places),
        "rows": [
            [
                places[row.doc_id], row.chunk_index, row.line_start, row.line_end, row.kind, row.token_count,
                row.embed_tokens, row.rendered_tokens, row.flags, row.flag_cause, row.flag_detail,
            ]
            for row in offenders
        ],
        "texts": {places[shown.doc_id]: {"chunks": shown.chunks, "held": shown.held} for shown in texts},
    }  # fmt: skip


def _distribution_figure(found: Distribution) -> _Figure:
    bound = found.lines[0]
    said = (
        f"{_share(found.within)} of the chunks are within the {bound.name} of {bound.tokens:,} tokens; "
        f"the largest has {found.largest:,}"
    )
    rows: list[tuple[object, ...]] = [
        (f"{bar.above + 1:,} to {bar.up_to:,}", bar.chunks) for bar in found.bars if bar.chunks
    ]
    if found.beyond:
        rows.append((f"more than {found.reaches:,}", found.beyond))
    return _Figure(
        title=_SIZES[found.column],
        meaning=_MEANINGS[found.column],
        drawings=(Markup(charts.histogram_svg(found)), Markup(charts.shares_svg(found))),  # noqa: S704 (escaped)
        said=said,
        columns=("tokens", "chunks"),
        rows=tuple(rows),
    )


def _share(share: float) -> str:
    """In per cent, never rounded up to all or down to none.

    >>> [_share(share) for share in (1.0, 0.99999, 0.5, 0.00001, 0.0)]
    ['100%', '99.9%', '50%', '0.1%', '0%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    return f"{min(99.9, max(0.1, share * 100)):.1f}%".replace(".0%", "%")


def _groups_figure(title: str, name: str, found: Sequence[Group]) -> _Figure:
    first = found[0]
    total = sum(group.tokens for group in found) or 1
    return _Figure(
        title=title,
        meaning="",
        drawings=(Markup(charts.groups_svg(found)),),  # noqa: S704 (escaped by the library)
        said=f"Most tokens: {visible(short(first.name))}, {_share(first.tokens / total)} of {total:,}",
        columns=(name, "chunks", "tokens", "flagged chunks", "tokens in them"),
        rows=tuple((visible(short(g.name)), g.chunks, g.tokens, g.flagged, g.flagged_tokens) for g in found),
    )
