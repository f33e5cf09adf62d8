"""Reading the ledger's columns from hits: mappings or objects, checked once, at the edge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .slot import whole_number

BOUNDARY_KINDS = ("section", "paragraph", "list_item", "table_row", "code_group", "sentence")
"""What may end at a boundary, as the ledger's column `boundary_kinds` says it."""

Column = Callable[[str], object]
"""A function from the name of a column to its value in one hit; None stands for a missing column."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns that packing reads, as parallel lists in rank order.

    Attributes:
        hits: the hits themselves, untouched.
        chunk_ids: their chunk ids.
        doc_ids: their document ids.
        tokens: tokens of each as a whole block with a number below 1,000.
        template: the one template of all of them; "" where there is no hit and none was asked for.
    """

    hits: list[object]
    chunk_ids: list[str]
    doc_ids: list[str]
    tokens: list[int]
    template: str


def column_of(hit: object) -> Column:
    """How to read one hit: mappings (and whatever else has `keys`, like `sqlite3.Row`) by key, the rest by attribute.

    >>> column_of({"doc_id": "a.md"})("doc_id")
    'a.md'
    """
    if isinstance(hit, (dict, Mapping)):  # dict first: it answers ten times sooner than the abstract class
        return hit.get
    if hasattr(hit, "keys"):
        columns: dict[str, object] = dict(hit)  # type: ignore[call-overload]
        return columns.get
    return lambda name: getattr(hit, name, None)


def fault(rank: int, column: Column, what: object) -> ValueError:
    """The error that says what is wrong with the hit at `rank`.

    >>> fault(3, {"chunk_id": "c-7"}.get, "its text is missing")
    ValueError("hit at rank 3 (chunk_id 'c-7'): its text is missing")
    """
    return ValueError(f"hit at rank {rank} (chunk_id {column('chunk_id')!r}): {what}")


def read_rows(hits: Iterable[object], encoding: str, template: str | None) -> Rows:
    """The columns of all hits, checked; `template` None takes that of the first hit.

    Hits that a pass never reaches are checked too: whether a ranking is faulty must not depend on the slot.

    Raises:
        ValueError: a hit lacks a column, was counted for another encoding or template, or has a count or boundaries
            that can't be; the message names rank and chunk_id and says what would work.

    >>> row = {"chunk_id": "c-1", "doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 9}
    >>> read_rows([row], "o200k_base", None).tokens
    [9]
    """
    ranked = list(hits)
    chunk_ids, doc_ids, tokens = [], [], []
    for rank, hit in enumerate(ranked, 1):
        column = column_of(hit)
        try:
            template = template or string(column, "template")
            _check_counted_for(column, encoding, template)
            chunk_ids.append(string(column, "chunk_id"))
            doc_ids.append(string(column, "doc_id"))
            tokens.append(_rendered_tokens(column))
            boundaries(column)
        except ValueError as error:
            raise fault(rank, column, error) from None
    return Rows(ranked, chunk_ids, doc_ids, tokens, template or "")


def string(column: Column, name: str) -> str:
    """The value of a column that must be there and be a string.

    Raises:
        ValueError: it is not.
    """
    value = column(name)
    if isinstance(value, str):
        return value
    if value is None:
        raise ValueError(f"column {name} is missing or null; hits must carry it as the ledger does")
    raise ValueError(f"column {name} is {value!r}; it must be a string, as in the ledger")


def boundaries(column: Column) -> tuple[list[int], list[object], list[int]]:
    """Where one chunk may be cut: offsets into its text, what ends there, tokens of the block cut there.

    Missing columns are no boundaries.

    Raises:
        ValueError: the lists are not parallel, the offsets not positive and ascending, or a count not positive.

    >>> boundaries({"boundary_chars": [4], "boundary_kinds": ["section"], "boundary_rendered_tokens": [21]}.get)
    ([4], ['section'], [21])
    """
    chars, tokens = _whole_numbers(column, "boundary_chars"), _whole_numbers(column, "boundary_rendered_tokens")
    kinds = _values(column, "boundary_kinds")
    if not len(chars) == len(kinds) == len(tokens):
        raise ValueError(
            f"boundary_chars, boundary_kinds and boundary_rendered_tokens have {len(chars)}, {len(kinds)} and "
            f"{len(tokens)} values; they are parallel: give all three as the ledger has them, or none"
        )
    if chars and (chars[0] <= 0 or not all(map(operator.lt, chars, chars[1:]))):
        raise ValueError(f"boundary_chars is {chars}; it must be positive and ascending, as in the ledger")
    if tokens and min(tokens) <= 0:
        raise ValueError(f"boundary_rendered_tokens is {tokens}; every count must be positive, as in the ledger")
    return chars, kinds, tokens


def _check_counted_for(column: Column, encoding: str, template: str) -> None:
    if column("encoding") != encoding:
        counted = string(column, "encoding")
        raise ValueError(
            f"its tokens are counts of encoding {counted!r}, but {encoding!r} was asked for; "
            f"pack with encoding={counted!r} or recount the ledger"
        )
    if column("template") != template:
        raise ValueError(
            f"its tokens are counts of template {string(column, 'template')!r}, but {template!r} was asked for or is "
            "that of rank 1; pack hits of one template, or ingest again with one"
        )


def _rendered_tokens(column: Column) -> int:
    value = column("rendered_tokens")
    if type(value) is int and value > 0:
        return value
    if value is None:
        raise ValueError("column rendered_tokens is missing or null; hits must carry it as the ledger does")
    return whole_number("rendered_tokens", value, at_least=1)


def _values(column: Column, name: str) -> list[object]:
    value = column(name)
    if value is None:
        return []
    try:
        return value.tolist() if hasattr(value, "tolist") else list(value)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be a list, as in the ledger, or null") from None


def _whole_numbers(column: Column, name: str) -> list[int]:
    values = _values(column, name)
    try:
        return list(map(operator.index, values))  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name} is {values!r}; it must be whole numbers, as in the ledger") from None
