"""What can't be: counts of another encoding, counts and boundaries that can't belong to one chunk."""

from __future__ import annotations

import operator
from collections.abc import Container, Sequence

from .cuts import BOUNDARY_COLUMNS, MARKER_TOKENS, boundaries, look_right
from .hits import Column
from .values import string

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from .rows import Rows


def check_encoding(rows: Rows, encoding: str) -> None:
    """Refuse a hit that was not counted in this encoding.

    Raises:
        ValueError: there is one; it is named.
    """

    def check(column: Column) -> None:
        counted_with = string(column, "encoding")
        if counted_with != encoding:
            raise ValueError(
                f"its tokens are counts of encoding {counted_with!r}, but {encoding!r} was asked for; "
                f"pack with encoding={counted_with!r}, or add the other with `chunkledger recount`"
            )

    found = rows.values("encoding")
    if found.count(encoding) < len(found):
        for place in range(len(found)):
            rows.at(place, check)


def check_counts(rows: Rows) -> None:
    """Refuse counts that can't belong to one chunk: a block is more than its text, a span is not empty.

    Raises:
        ValueError: a hit has such counts; it is named.
    """
    texts = rows.values("token_count")
    for name, parts in (("body_tokens", rows.bodies), ("token_count", texts)):
        if (place := _first_not_below(parts, rows.tokens, rows.shifts)) is not None:
            what = f"{name} is {parts[place]} and rendered_tokens, which holds it, is {rows.tokens[place]}"
            raise rows.contradiction(place, what)
    if _first_not_below(texts, rows.bodies, (), at_most=True) is not None:
        # A line end can save a few tokens of what stands before it, never this many.
        most = [None if body is None else body + body // 8 + 9 for body in rows.bodies]
        if (place := _first_not_below(texts, most, ())) is not None:
            body = f"body_tokens, of the same text and a line end, is {rows.bodies[place]}"
            raise rows.contradiction(place, f"token_count is {texts[place]} and {body}")
    if (place := _first_not_below(rows.starts, rows.ends, ())) is not None:
        what = f"char_start is {rows.starts[place]} and char_end is {rows.ends[place]}"
        raise rows.contradiction(place, what)


def check_boundaries(rows: Rows) -> None:
    """Refuse boundaries that are not parallel, lie outside of their text or cost more than all of it.

    Raises:
        ValueError: a hit has such boundaries; it is named.
    """
    chars, kinds, tokens = map(rows.values, BOUNDARY_COLUMNS)
    if not look_right(chars, kinds, tokens, rows):
        for place in range(len(rows.hits)):
            _, _, costs = rows.at(place, boundaries)
            if costs and place not in rows.shifts and costs[-1] > rows.tokens[place] + MARKER_TOKENS:
                whole = f"rendered_tokens, of the whole block, is {rows.tokens[place]}"
                raise rows.contradiction(place, f"boundary_rendered_tokens has {costs[-1]} and {whole}")


def _first_not_below(
    smaller: Sequence[int | None],
    larger: Sequence[int | None],
    left_out: Container[int],
    *,
    at_most: bool = False,
) -> int | None:
    """The first place at which both have a value and the smaller is not the smaller one, or, at most, equal."""
    right = operator.le if at_most else operator.lt
    try:
        if all(map(right, smaller, larger)):  # type: ignore[arg-type]
            return None
    except TypeError:
        pass  # some are None
    for place, (small, large) in enumerate(zip(smaller, larger, strict=True)):
        if small is not None and large is not None and not right(small, large) and place not in left_out:
            return place
    return None
