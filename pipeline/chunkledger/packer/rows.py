"""The columns that packing reads from hits, checked once, at the edge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain

from .cuts import BOUNDARY_COLUMNS, are_parallel, boundaries
from .hits import Column, columns_of, fault
from .values import counted, needed, string

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Value = TypeVar("Value")

_INT, _INT_OR_NONE, _STR = {int}, {int, type(None)}, {str}
_NAMES = (
    "chunk_id", "doc_id", "role", "encoding", "template", "rendered_tokens", "token_count", "body_tokens",
    "joined_tokens", "chunk_index", "char_start", "char_end", "text", *BOUNDARY_COLUMNS,
)  # fmt: skip
_COUNTS = {
    "body_tokens": 1, "token_count": 1, "joined_tokens": 1, "chunk_index": 0, "char_start": 0, "char_end": 0,
}  # fmt: skip
"""Columns of whole numbers that may be missing, and the least that each can be."""
_all_of = operator.itemgetter(*_NAMES)


class Rows:
    """The columns that packing reads, as parallel lists in rank order.

    A plain class, because making a dataclass takes half a millisecond of every service's start.

    Attributes:
        hits: the hits themselves, untouched.
        columns: how to read each.
        chunk_ids: their chunk ids.
        doc_ids: their document ids.
        lines: which sequence of chunks each belongs to: that of its role in its document.
        tokens: what each costs as a whole block with a number below 1,000.
        bodies: tokens of each text and the newline behind it; None where unknown.
        joined: tokens that each adds to a block that goes on with its successor; None where that is not exact.
        indexes: their places in their documents; None where unknown.
        starts: code points of their documents at which their texts start; None where unknown.
        ends: code points behind their texts; None where unknown.
        shifts: by place, what is added to the counts of a block that is an estimate; no entry where they are exact.
        template: the template that the prompt is rendered in; "" where it is the caller's own, or unknown.
    """

    __slots__ = (
        "_read", "bodies", "chunk_ids", "columns", "doc_ids", "ends", "hits", "indexes", "joined", "lines", "shifts",
        "starts", "template", "tokens",
    )  # fmt: skip

    def __init__(self, hits: list[object]) -> None:
        self.hits = hits
        self.columns = columns_of(hits)
        self._read = dict(zip(_NAMES, _transposed(hits, self.columns), strict=True))
        self._check_counted()
        self.chunk_ids = self._strings("chunk_id")
        self.doc_ids = self._strings("doc_id")
        roles = self.values("role")
        self.lines = self.doc_ids
        if roles.count("chunk") < len(roles):
            self.lines = [_line(doc_id, role) for doc_id, role in zip(self.doc_ids, roles, strict=True)]
        if not self._are_plain_counts():
            for name, at_least in _COUNTS.items():
                self._read[name] = self.counts(name, at_least=at_least)
        self.bodies: Sequence[int | None] = self.values("body_tokens")
        self.joined: Sequence[int | None] = self.values("joined_tokens")
        self.indexes: Sequence[int | None] = self.values("chunk_index")
        self.starts: Sequence[int | None] = self.values("char_start")
        self.ends: Sequence[int | None] = self.values("char_end")
        self.tokens: Sequence[int] = ()
        self.shifts: dict[int, int] = {}
        self.template = ""

    def _check_counted(self) -> None:
        rendered, texts = self.values("rendered_tokens"), self.values("token_count")
        if None in rendered:
            for place, counts in enumerate(zip(rendered, texts, strict=True)):
                if counts == (None, None):
                    what = (
                        "it has no cached counts: hits must carry the ledger's columns, themselves or in their "
                        "metadata, meta or payload, or get them by id from a count index (chunkledger.packer.counts)"
                    )
                    raise fault(place + 1, self.columns[place], what)

    def _are_plain_counts(self) -> bool:
        """Whether all whole numbers are what they can be; one look at all columns takes half of one at each."""
        columns = [self._read[name] for name in _COUNTS]
        if not set(map(type, chain(*columns))) <= _INT_OR_NONE:
            return False
        positive = [column for column, at_least in zip(columns, _COUNTS.values(), strict=True) if at_least]
        least: int = min(filter(None, chain(*columns)), default=1)  # type: ignore[type-var, assignment]
        return least > 0 and not any(0 in column for column in positive)

    def values(self, name: str) -> Sequence[Any]:
        """One column, as it is."""
        return self._read[name]

    def at(self, place: int, read: Callable[[Column], Value]) -> Value:
        """What `read` makes of the columns of one hit.

        Raises:
            ValueError: as `read` does, with the hit named.
        """
        try:
            return read(self.columns[place])
        except ValueError as error:
            raise fault(place + 1, self.columns[place], error) from None

    def body(self, place: int) -> int:
        """Tokens of the text of a chunk that has neighbours in its block, which needs all its counts."""
        return self.bodies[place]  # type: ignore[return-value]

    def joint(self, place: int) -> int:
        """Tokens that such a chunk adds where the block goes on behind it."""
        return self.joined[place]  # type: ignore[return-value]

    def around(self, place: int) -> int:
        """Tokens of the header, context and closing of such a chunk."""
        return self.tokens[place] - self.body(place)

    def counts(self, name: str, *, at_least: int) -> Sequence[int | None]:
        """A column of whole numbers; None where a hit has none.

        Raises:
            ValueError: a hit has something else there.
        """
        values = self.values(name)
        kinds = set(map(type, values))
        if kinds <= _INT_OR_NONE:
            there = values if kinds == _INT else [value for value in values if value is not None]
            if min(there, default=at_least) >= at_least:
                return values
        return [self.at(place, lambda column: counted(column, name, at_least)) for place in range(len(values))]

    def _strings(self, name: str) -> Sequence[str]:
        values = self.values(name)
        if set(map(type, values)) <= _STR:
            return values
        return [self.at(place, lambda column: string(column, name)) for place in range(len(values))]


def read_rows(hits: Iterable[object], encoding: str, template: str | None, overhead_tokens: int | None) -> Rows:
    """The columns of all hits, checked.

    Hits that a pass never reaches are checked too: whether a ranking is faulty must not depend on the slot. Only what
    stands in the lists of boundaries is looked at where a chunk is cut, because all of them would double the time.

    Args:
        hits: in rank order.
        encoding: what all of them must have been counted with.
        template: what all of them must have been counted for; None takes that of the first.
        overhead_tokens: where it is given, hits that were counted for another template cost their token_count and
            this; where `template` is None, all of them do.

    Raises:
        ValueError: a hit lacks a column, was counted for another encoding or template, or has counts or boundaries
            that can't be or contradict each other; the message names rank and chunk_id and says what would work.

    >>> row = {"chunk_id": "c-1", "doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 9}
    >>> read_rows([row], "o200k_base", None, None).tokens
    (9,)
    """
    rows = Rows(list(hits))
    _check_encoding(rows, encoding)
    if overhead_tokens is None:
        _take_exact(rows, template)
    else:
        _take_estimates(rows, template, overhead_tokens)
    _check_counts(rows)
    chars, kinds, tokens = map(rows.values, BOUNDARY_COLUMNS)
    if not are_parallel(chars, kinds, tokens, rows.starts, rows.ends):
        for place in range(len(rows.hits)):
            rows.at(place, boundaries)
    return rows


def _transposed(hits: list[object], columns: list[Column]) -> Iterable[Sequence[object]]:
    """The columns of `_NAMES`."""
    if not hits:
        return [()] * len(_NAMES)
    try:
        # One call for all columns of a hit that is a whole row halves the time of packing.
        records = [_all_of(hit) for hit in hits if type(hit) is dict]
    except KeyError:
        records = []
    if len(records) < len(hits):
        records = [tuple(map(column, _NAMES)) for column in columns]
    return zip(*records, strict=True)


def _line(doc_id: str, role: object) -> str:
    return doc_id if role in ("chunk", None) else f"{role}\0{doc_id}"


def _check_encoding(rows: Rows, encoding: str) -> None:
    def check(column: Column) -> None:
        counted_with = string(column, "encoding")
        if counted_with != encoding:
            raise ValueError(
                f"its tokens are counts of encoding {counted_with!r}, but {encoding!r} was asked for; "
                f"pack with encoding={counted_with!r} or recount the ledger"
            )

    found = rows.values("encoding")
    if found.count(encoding) < len(found):
        for place in range(len(found)):
            rows.at(place, check)


def _take_exact(rows: Rows, template: str | None) -> None:
    """Fill in what each hit costs where all were counted for the template of the prompt."""
    found = rows.values("template")
    wanted = template or (rows.at(0, lambda column: string(column, "template")) if found else "")

    def check(column: Column) -> None:
        counted_for = string(column, "template")
        if counted_for != wanted:
            raise ValueError(
                f"its tokens are counts of template {counted_for!r}, but {wanted!r} was asked for or is that of rank "
                "1; pack hits of one template, ingest again with one, or pass overhead_tokens for an estimate"
            )

    if found.count(wanted) < len(found):
        for place in range(len(found)):
            rows.at(place, check)
    rows.template = wanted
    tokens = rows.counts("rendered_tokens", at_least=1)
    if None in tokens:
        rows.at(tokens.index(None), lambda column: needed(column, "rendered_tokens"))
    rows.tokens = tokens  # type: ignore[assignment]


def _take_estimates(rows: Rows, template: str | None, overhead_tokens: int) -> None:
    """Fill in what each hit costs where some, or all, were not counted for the template of the prompt."""
    rows.template = template or ""
    costs, bodies = [], list(rows.bodies)
    for place, column in enumerate(rows.columns):
        if template and column("template") == template:
            costs.append(rows.at(place, lambda column: needed(column, "rendered_tokens")))
            continue
        text_tokens = rows.at(place, lambda column: needed(column, "token_count"))
        rendered = rows.at(place, lambda column: counted(column, "rendered_tokens", 1))
        tokens = text_tokens + overhead_tokens
        costs.append(tokens)
        bodies[place] = text_tokens
        rows.shifts[place] = tokens - (rendered or tokens)
    rows.tokens, rows.bodies = costs, bodies


def _check_counts(rows: Rows) -> None:
    """Refuse counts that can't belong to one chunk: a block is more than its text, a span is not empty."""
    for name, parts in (("body_tokens", rows.bodies), ("token_count", rows.values("token_count"))):
        if (place := _first_not_below(parts, rows.tokens, rows.shifts)) is not None:
            what = f"{name} is {parts[place]} and rendered_tokens, which holds it, is {rows.tokens[place]}"
            raise _contradiction(rows, place, what)
    if (place := _first_not_below(rows.starts, rows.ends, ())) is not None:
        what = f"char_start is {rows.starts[place]} and char_end is {rows.ends[place]}"
        raise _contradiction(rows, place, what)


def _first_not_below(
    smaller: Sequence[int | None], larger: Sequence[int | None], left_out: Container[int]
) -> int | None:
    """The first place at which both have a value and the smaller is not the smaller one."""
    try:
        if all(map(operator.lt, smaller, larger)):  # type: ignore[arg-type]
            return None
    except TypeError:
        pass  # some are None
    for place, (small, large) in enumerate(zip(smaller, larger, strict=True)):
        if small is not None and large is not None and small >= large and place not in left_out:
            return place
    return None


def _contradiction(rows: Rows, place: int, what: str) -> ValueError:
    return fault(
        place + 1, rows.columns[place], f"{what}; they contradict each other: take all columns from one ledger"
    )
