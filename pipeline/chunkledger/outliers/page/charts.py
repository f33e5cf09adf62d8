"""Figures -> drawings; the only module that knows the chart library.

They are drawn when the page is made, as SVG: the page then has no script that draws, so that its policy can forbid
every other script, and it prints as it is seen. Colours are variables of the page's style sheet, which makes the dark
page of the same drawing.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl
import vl_convert

from chunkledger.outliers.page.figures import Distribution, Group
from chunkledger.outliers.page.shown import visible

_WIDTH = 360
"""Of a drawing: as wide as a phone's page, and as a third of a large one's, so that text has its size on both."""
_LEFT, _RIGHT = 40, 14
_PLOT = _WIDTH - _LEFT - _RIGHT
_LINE_HEIGHT = 15
_ROW_HEIGHT = 36
_BAR_HEIGHT = 10
_FONT = "system-ui, sans-serif"
_INK, _MUTED, _RULE, _FINE, _OVER, _FAR = (
    f"var(--{name})" for name in ("ink", "muted", "rule", "bar", "bar-over", "bar-far")
)
_MOST_NAME = 44
_SHORT_NUMBER = "format(datum.value, datum.value < 10000 ? ',' : '.3~s')"


def histogram_svg(found: Distribution) -> str:
    """Bars of one size, coloured by whether they suit, with the lines that they are held against above them."""
    height = 150
    bars = pl.DataFrame(
        {
            "above": [bar.above for bar in found.bars],
            "up_to": [bar.up_to for bar in found.bars],
            "chunks": [bar.chunks for bar in found.bars],
            "colour": [_colour(found, bar.up_to) for bar in found.bars],
            "label": [f"{bar.above + 1:,} to {bar.up_to:,} tokens: {_counted(bar.chunks)}" for bar in found.bars],
        }
    )
    x = alt.X(
        "above:Q",
        title=None,
        scale=_scale(found),
        axis=_axis(labelExpr=_SHORT_NUMBER, tickCount=6, tickMinStep=1, grid=False),
    )
    y = alt.Y(
        "chunks:Q",
        title=None,
        axis=_axis(labelExpr=_SHORT_NUMBER, tickCount=4, tickMinStep=1),
        scale=alt.Scale(nice=True),
    )
    drawn = (
        alt.Chart(bars)
        .transform_filter("datum.chunks > 0")
        .mark_bar(stroke="var(--page)", strokeWidth=0.5)
        .encode(x=x, x2="up_to:Q", y=y, y2=alt.datum(0), color=_as_is("colour"), description="label:N")
    )
    rows = len(found.lines) * _LINE_HEIGHT
    layers = [drawn, *_lines(found, height, named=True), *_beyond(found, height)]
    return _svg(alt.layer(*layers), height, top=rows + 8, bottom=22)


def shares_svg(found: Distribution) -> str:
    """The share of the chunks up to each size, to stand below the bars."""
    height = 70
    points = pl.DataFrame(
        {"tokens": [point for point, _ in found.shares], "share": [share for _, share in found.shares]}
    )
    x = alt.X(
        "tokens:Q",
        title=None,
        scale=_scale(found),
        axis=_axis(labelExpr=_SHORT_NUMBER, tickCount=6, tickMinStep=1, grid=False),
    )
    y = alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=_axis(format=".0%", values=[0, 0.5, 1]))
    drawn = (
        alt.Chart(points)
        .mark_line(color=_FINE, strokeWidth=1.5, interpolate="step-after", description="share of the chunks by size")
        .encode(x=x, y=y)
    )
    return _svg(alt.layer(drawn, *_lines(found, height, named=False)), height, top=8, bottom=22)


def groups_svg(found: Sequence[Group]) -> str:
    """Tokens of each group, those in flagged chunks set apart, each bar below its name."""
    total = sum(group.tokens for group in found) or 1
    rows = [
        {
            "row": row * _ROW_HEIGHT,
            "from": start,
            "to": end,
            "colour": colour,
            "label": f"{visible(group.name)}: {tokens:,} tokens in chunks that {what}",
        }
        for row, group in enumerate(found)
        for start, end, colour, tokens, what in (
            (0, group.flagged_tokens, _OVER, group.flagged_tokens, "are flagged"),
            (group.flagged_tokens, group.tokens, _FINE, group.tokens - group.flagged_tokens, "suit"),
        )
        if tokens
    ]
    names = pl.DataFrame(
        {
            "row": [row * _ROW_HEIGHT for row in range(len(found))],
            "name": [_short(visible(group.name)) for group in found],
            "share": [f"{group.tokens:,}  ·  {group.tokens / total:.0%}" for group in found],
        }
    )
    place = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[0, len(found) * _ROW_HEIGHT], reverse=True, nice=False))
    drawn = (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar(height=_BAR_HEIGHT, yOffset=22)
        .encode(
            x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, max(group.tokens for group in found) or 1])),
            x2="to:Q",
            y=place,
            color=_as_is("colour"),
            description="label:N",
        )
    )
    text = alt.Chart(names).encode(y=place)
    name = text.mark_text(align="left", baseline="top", dy=1, color=_INK, fontSize=12, limit=_WIDTH * 2 // 3)
    share = text.mark_text(align="right", baseline="top", dy=1, color=_MUTED, fontSize=12)
    layers = [drawn, name.encode(x=alt.value(0), text="name:N"), share.encode(x=alt.value(_WIDTH - 2), text="share:N")]
    return _svg(alt.layer(*layers), len(found) * _ROW_HEIGHT, top=2, bottom=2, left=0, right=2)


def _lines(found: Distribution, height: int, *, named: bool) -> list[alt.Chart]:
    """A rule for each line within reach, its name in a row of its own above the plot; of others the name alone."""
    layers = []
    # The largest at the top: its rule then passes by the names below, which stand to the left of theirs.
    for row, line in enumerate(sorted(found.lines, key=lambda line: -line.tokens)):
        top = -_LINE_HEIGHT * (len(found.lines) - row) if named else 0
        within = line.tokens <= found.reaches
        is_bound = line == found.lines[0]
        colour = _INK if is_bound else _MUTED
        one = alt.Chart(pl.DataFrame({"tokens": [min(line.tokens, found.reaches)]}))
        x = alt.X("tokens:Q", scale=_scale(found))
        if within:
            mark = one.mark_rule(color=colour, strokeDash=[1, 0] if is_bound else [3, 3], aria=False)
            layers.append(mark.encode(x=x, y=alt.value(top + 2), y2=alt.value(height)))
        if named:
            on_left = line.tokens > found.reaches * 0.3
            label = one.mark_text(
                align="right" if on_left else "left", baseline="top", dx=-4 if on_left else 4, fontSize=11,
                color=colour, fontWeight=600 if is_bound else 400,
            )  # fmt: skip
            text = f"{line.name} {line.tokens:,}{'' if within else ' →'}"
            layers.append(label.encode(x=x, y=alt.value(top), text=alt.value(text)))
    return layers


def _beyond(found: Distribution, height: int) -> list[alt.Chart]:
    """What is said of chunks that are larger than the drawing reaches."""
    if not found.beyond:
        return []
    text = [f"{_counted(found.beyond)} over {found.reaches:,},", f"the largest {found.largest:,} →"]
    # Its outline is of the page's colour, and drawn first (page.css says so), because bars may stand behind it.
    label = alt.Chart(pl.DataFrame({"tokens": [found.reaches]})).mark_text(
        align="right", baseline="bottom", dx=-2, lineHeight=13, color="var(--bad)", fontSize=11, fontWeight=600,
        stroke="var(--page)", strokeWidth=5, strokeJoin="round",
    )  # fmt: skip
    return [label.encode(x=alt.X("tokens:Q", scale=_scale(found)), y=alt.value(height - 18), text=alt.value(text))]


def _colour(found: Distribution, up_to: int) -> str:
    if up_to <= found.lines[0].tokens:
        return _FINE
    farther = [line.tokens for line in found.lines[1:] if line.tokens > found.lines[0].tokens]
    return _FAR if farther and up_to > min(farther) else _OVER


def _counted(chunks: int) -> str:
    return f"{chunks:,} chunk{'' if chunks == 1 else 's'}"


def _short(name: str) -> str:
    """A name whose beginning and end tell it from others; it is cut by pixels again when it is drawn."""
    return name if len(name) <= _MOST_NAME else f"{name[:14]}…{name[-_MOST_NAME + 15 :]}"


def _scale(found: Distribution) -> alt.Scale:
    return alt.Scale(domain=[0, found.reaches], nice=False)


def _axis(**options: object) -> alt.Axis:
    grid = {"grid": True, "gridColor": _RULE, "domainColor": _RULE, "tickColor": _RULE, "labelColor": _MUTED}
    return alt.Axis(**grid | {"labelFontSize": 11, "tickSize": 4, "labelFlush": False} | options)


def _as_is(column: str) -> alt.Color:
    return alt.Color(f"{column}:N", scale=None, legend=None)


def _svg(chart: alt.LayerChart, height: int, *, top: int, bottom: int, left: int = _LEFT, right: int = _RIGHT) -> str:
    """The drawing as an `svg` element, of the same width whatever is in it."""
    sized = chart.properties(
        width=_WIDTH - left - right,
        height=height,
        autosize="none",
        padding={"left": left, "right": right, "top": top, "bottom": bottom},
    )
    made: str = vl_convert.vegalite_to_svg(
        sized.configure(font=_FONT, background="transparent", view={"stroke": None}).to_json()
    )
    return made
