"""The columns that packing reads from hits, checked once, at the edge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from .checks import check_boundaries, check_counts, check_encoding
from .cuts import BOUNDARY_COLUMNS
from .hits import Column, Nested, column_of, counted_beside, fault
from .values import counted, needed, string

TYPE_CHECKING = False  # importing typing takes longer than importing the packer
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Value = TypeVar("Value")

_INT, _INT_OR_NONE, _STR = {int}, {int, type(None)}, {str}
_NAMES = (
    "doc_id", "doc_sha256", "role", "settings_sha256", "encoding", "template", "rendered_tokens", "token_count",
    "body_tokens", "joined_tokens", "chunk_index", "char_start", "char_end", *BOUNDARY_COLUMNS, "chunk_id", "text",
)  # fmt: skip
_COUNTS = {
    "body_tokens": 1, "token_count": 1, "joined_tokens": 1, "chunk_index": 0, "char_start": 0, "char_end": 0,
}  # fmt: skip
"""Columns of whole numbers that may be missing, and the least that each can be."""
_all_of = operator.itemgetter(*_NAMES)
_all_nested = operator.itemgetter(*_NAMES[:-2])


class Rows:
    """The columns that packing reads, as parallel lists in rank order.

    A plain class, because making a dataclass takes half a millisecond of every service's start.

    Attributes:
        hits: the hits themselves, untouched.
        chunk_ids: their chunk ids.
        doc_ids: their document ids.
        documents: which document each is of: its id, and where hits of one id are of several versions, the version.
        lines: which sequence of chunks each belongs to: of its document, its role and the settings it was made with.
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
        "_beside", "_largest_gap", "_read", "bodies", "chunk_ids", "doc_ids", "documents", "ends", "hits", "indexes",
        "joined", "lines", "shifts", "starts", "template", "tokens",
    )  # fmt: skip

    def __init__(self, hits: list[object], encoding: str = "") -> None:
        self.hits = hits
        first = column_of(hits[0]) if hits and encoding else None
        self._beside = encoding if first and counted_beside(first, encoding) else ""
        columns = zip(*map(self._record, range(len(hits))), strict=True) if self._beside else _transposed(hits)
        self._read = dict(zip(_NAMES, columns, strict=True))
        self._check_counted()
        self.chunk_ids = self._strings("chunk_id")
        self.doc_ids = self._strings("doc_id")
        self.documents = self.doc_ids
        shas, roles, settings = map(self.values, ("doc_sha256", "role", "settings_sha256"))
        if _has_versions(self.doc_ids, shas):
            self.documents = _keys(self.doc_ids, shas)
        self.lines = self.documents
        if shas and (roles.count(roles[0]) < len(roles) or settings.count(settings[0]) < len(settings)):
            self.lines = _keys(self.documents, roles, settings)
        if not self._are_plain_counts():
            for name, at_least in _COUNTS.items():
                self._read[name] = self.counts(name, at_least=at_least)
        self.bodies: Sequence[int | None] = self.values("body_tokens")
        self.joined: Sequence[int | None] = self.values("joined_tokens")
        self.indexes: Sequence[int | None] = self.values("chunk_index")
        self.starts: Sequence[int | None] = self.values("char_start")
        self.ends: Sequence[int | None] = self.values("char_end")
        self.tokens: Sequence[int] = ()
        self._largest_gap: int | None = None
        self.shifts: dict[int, int] = {}
        self.template = ""

    def nested_documents(self) -> set[str]:
        """Those documents in which the span of one hit holds that of another."""
        spans = sorted(
            (document, start, -end)
            for document, start, end in zip(self.documents, self.starts, self.ends, strict=True)
            if start is not None and end is not None
        )
        nested: set[str] = set()
        last, reach = "", 0
        for document, _, negative_end in spans:
            if document == last and -negative_end <= reach:
                nested.add(document)
            reach = max(reach, -negative_end) if document == last else -negative_end
            last = document
        return nested

    @property
    def largest_gap(self) -> int:
        """The most tokens by which a gap costs more than the line end that stands in its place at a block's end."""
        if self._largest_gap is None:
            pairs = zip(self.joined, self.bodies, strict=True)
            gaps = (joined - body for joined, body in pairs if joined and body and joined > body)
            self._largest_gap = max(gaps, default=0)
        return self._largest_gap

    def _check_counted(self) -> None:
        rendered, texts = self.values("rendered_tokens"), self.values("token_count")
        if None in rendered:
            for place, counts in enumerate(zip(rendered, texts, strict=True)):
                if counts == (None, None):
                    what = (
                        f"it has no cached counts (it is a {type(self.hits[place]).__name__}): hits must carry the "
                        "ledger's columns, themselves or in their metadata, meta or payload, or get them by id from a "
                        "count index (chunkledger.packer.counts)"
                    )
                    raise fault(place + 1, self.column(place), what)

    def _are_plain_counts(self) -> bool:
        """Whether all whole numbers are what they can be; sums tell it in half the time of looking at each type."""
        try:
            for name, at_least in _COUNTS.items():
                values: Sequence[Any] = self._read[name]
                there = [value for value in values if value is not None] if None in values else values
                if there and (type(sum(there)) is not int or min(there) < at_least):
                    return False
        except (TypeError, ValueError):  # something that has no sum, or, as an array, no single truth
            return False
        return True

    def values(self, name: str) -> Sequence[Any]:
        """One column, as it is."""
        return self._read[name]

    def column(self, place: int) -> Column:
        """How to read the columns of one hit."""
        column = column_of(self.hits[place])
        return (counted_beside(column, self._beside) or column) if self._beside else column

    def _record(self, place: int) -> tuple[object, ...]:
        return tuple(map(self.column(place), _NAMES))

    def at(self, place: int, read: Callable[[Column], Value]) -> Value:
        """What `read` makes of the columns of one hit.

        Raises:
            ValueError: as `read` does, with the hit named.
        """
        try:
            return read(self.column(place))
        except ValueError as error:
            raise fault(place + 1, self.column(place), error) from None

    def contradiction(self, place: int, what: str) -> ValueError:
        """The error that says which columns of a hit can't belong to one chunk."""
        why = f"{what}; they contradict each other: take all columns from one ledger"
        return fault(place + 1, self.column(place), why)

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
        encoding: what all of them must have been counted with, as their own encoding or beside it.
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
    if hits is None or isinstance(hits, (str, bytes, Mapping)) or hasattr(hits, "columns"):
        raise ValueError(
            f"hits is a {type(hits).__name__}; it must be a list of hits in rank order (of a table, its rows: "
            "`.to_dict('records')`, `.to_dicts()`, `.to_pylist()`)"
        )
    rows = Rows(list(hits), encoding)
    check_encoding(rows, encoding)
    if overhead_tokens is None:
        _take_exact(rows, template)
    else:
        _take_estimates(rows, template, overhead_tokens)
    check_counts(rows)
    check_boundaries(rows)
    return rows


def _transposed(hits: list[object]) -> Iterable[Sequence[object]]:
    """The columns of `_NAMES`."""
    if not hits:
        return [()] * len(_NAMES)
    try:
        # One call for all columns of a hit that is a whole row halves the time of packing.
        records = [_all_of(hit) for hit in hits if type(hit) is dict]
    except KeyError:
        records = []
    if len(records) < len(hits):
        records = list(map(_record, hits))
    return zip(*records, strict=True)


def _record(hit: object) -> tuple[object, ...]:
    """The values of `_NAMES` in one hit, in one call where it or what is nested in it is a whole row."""
    column = column_of(hit)
    try:
        if type(hit) is dict:
            return _all_of(hit)  # type: ignore[no-any-return]
        if type(column) is Nested and type(row := getattr(column.inner, "__self__", None)) is dict:
            return (*_all_nested(row), column("chunk_id"), column("text"))
    except KeyError:
        pass
    return tuple(map(column, _NAMES))


def _has_versions(doc_ids: Sequence[str], shas: Sequence[object]) -> bool:
    try:
        return len(set(zip(doc_ids, shas, strict=True))) > len(set(doc_ids))
    except TypeError:  # no hash of a file, but something that has none
        return len(set(zip(doc_ids, map(str, shas), strict=True))) > len(set(doc_ids))


def _keys(*columns: Sequence[object]) -> list[str]:
    return ["\0".join(map(str, values)) for values in zip(*columns, strict=True)]


def _take_exact(rows: Rows, template: str | None) -> None:
    """Fill in what each hit costs where all were counted for the template of the prompt."""
    found = rows.values("template")
    wanted = template or (rows.at(0, lambda column: string(column, "template")) if found else "")

    why = "was asked for" if template else "is that of rank 1"

    def check(column: Column) -> None:
        counted_for = string(column, "template")
        if counted_for != wanted:
            raise ValueError(
                f"its tokens are counts of template {counted_for!r}, but {wanted!r} {why}; pack hits of one template, "
                "ingest again with one, or pass overhead_tokens for an estimate"
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
    for place, counted_for in enumerate(rows.values("template")):
        if template and counted_for == template:
            costs.append(rows.at(place, lambda column: needed(column, "rendered_tokens")))
            continue
        text_tokens = rows.at(place, lambda column: needed(column, "token_count"))
        rendered = rows.at(place, lambda column: counted(column, "rendered_tokens", 1))
        tokens = text_tokens + overhead_tokens
        costs.append(tokens)
        bodies[place] = text_tokens
        rows.shifts[place] = tokens - (rendered or tokens)
    rows.tokens, rows.bodies = costs, bodies
