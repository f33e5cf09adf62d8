"""Where the ledger's columns lie in a hit: in a mapping, in attributes, or in what a store or framework nests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

Column = Callable[[str], object]
"""A function from the name of a column to its value in one hit; None stands for a missing column."""

NESTED = (
    "metadata", "meta", "payload", "properties", "_source", "entity", "fields", "langchain_metadata",
)  # fmt: skip
"""Where stores and frameworks keep what was stored beside a text: LangChain, LlamaIndex and Pinecone, Haystack, Qdrant,
Weaviate, Elasticsearch and OpenSearch, Milvus, Redis, SQL tables of LangChain, in this order."""

COUNTED = frozenset(["token_count", "rendered_tokens", "body_tokens", "joined_tokens", "boundary_rendered_tokens"])
"""Columns of counts, which a further encoding has too."""

_COUNTS = ("rendered_tokens", "token_count")
_OUTSIDE = {
    "chunk_id": ("id", "id_", "_id", "uuid"),
    "text": ("page_content", "content"),
}
"""Columns that may lie elsewhere than the counts, and what frameworks call them in the hit itself."""

_DEEPEST = 3  # a store's result that holds a framework's document that holds metadata


class Nested:
    """Columns that lie in one place, with chunk_id and text wherever they are.

    Attributes:
        inner: the place where the counts lie, or the hit itself where there are none.
        own: the hit itself, and further places.
        stored: what the hit stores itself, as a mapping; asked first, because attributes that are computed, or missing,
            take microseconds.
    """

    __slots__ = ("inner", "own", "stored")

    def __init__(self, inner: Column, own: Sequence[Column], stored: Mapping[str, object] | None = None) -> None:
        self.inner, self.own, self.stored = inner, own, stored

    def __call__(self, name: str) -> object:
        """The value of a column; None where it is missing."""
        value = self.inner(name)
        if value is not None or name not in _OUTSIDE:
            return value
        if self.stored is not None:
            for other in (name, *_OUTSIDE[name]):
                if (value := self.stored.get(other)) is not None:
                    return str(value) if name == "chunk_id" else value
        for read in self.own:
            if (value := read(name)) is not None:
                return str(value) if name == "chunk_id" else value
        # An `id` further in may be that of something else; a `content` is not.
        for read in self.own[:1] if name == "chunk_id" else self.own:
            for other in _OUTSIDE[name]:
                if (value := read(other)) is not None:
                    return str(value) if name == "chunk_id" else value
        return None


def column_of(hit: object) -> Column:
    """How to read one hit.

    Mappings (and whatever else has `keys`, like `sqlite3.Row`) are read by key, the rest by attribute. Where the hit
    itself holds no counts but one of `NESTED` does, the columns are read there; chunk_id and text then may also be
    those of the hit, and where there are no counts at all they are looked for everywhere. A pair of a hit and its
    score, either first, is that hit.

    >>> column_of({"rendered_tokens": 20, "doc_id": "a.md"})("doc_id")
    'a.md'
    >>> column_of({"id": "c-1", "score": 0.9, "payload": {"rendered_tokens": 20, "doc_id": "a.md"}})("chunk_id")
    'c-1'
    """
    if type(hit) is dict and "rendered_tokens" in hit and "chunk_id" in hit:  # as nearly all are
        return hit.get
    if type(hit) is tuple and len(hit) == 2:
        one, other = hit
        return column_of(other if isinstance(one, (int, float)) else one)
    own = _reader(hit)
    # To ask a model for attributes that it lacks takes microseconds, so what it stores is looked up first.
    stored = hit if type(hit) is dict else getattr(hit, "__dict__", None)
    if type(stored) is dict and "rendered_tokens" not in stored:
        for read, places in ((stored.get, NESTED), (own, () if stored is hit else NESTED[:3])):
            for place in places:
                inner = read(place)
                if type(inner) is dict and "rendered_tokens" in inner:
                    return Nested(inner.get, (own,), stored)
    if _has_counts(own):
        return Nested(own, (own,))
    found: list[Column] = []
    for inner in _inside(own, _DEEPEST):
        if _has_counts(inner):
            return Nested(inner, (own, *found))
        found.append(inner)
    return Nested(own, (own, *found))


def counted_beside(column: Column, encoding: str) -> Column | None:
    """How to read the counts that a hit has in this encoding beside those of its own; None where it has none.

    A ledger that was counted in further encodings has a column for each of them, with the encoding's name behind it.

    >>> row = {"encoding": "cl100k_base", "rendered_tokens": 20, "rendered_tokens_o200k_base": 19}
    >>> counted_beside(row.get, "o200k_base")("rendered_tokens")
    19
    """
    if column("encoding") == encoding or column(f"rendered_tokens_{encoding}") is None:
        return None

    def read(name: str) -> object:
        if name == "encoding":
            return encoding
        return column(f"{name}_{encoding}" if name in COUNTED else name)

    return read


def _inside(own: Column, depth: int) -> Iterator[Column]:
    """What is nested in a hit, the outermost first."""
    inner = [_reader(value) for place in NESTED if _is_nested(value := own(place))]
    yield from inner
    if depth > 1:
        for each in inner:
            yield from _inside(each, depth - 1)


def _is_nested(value: object) -> bool:
    return isinstance(value, Mapping) or hasattr(type(value), "keys")


def _has_counts(column: Column) -> bool:
    return any(column(name) is not None for name in _COUNTS)


def _reader(hit: object) -> Column:
    if isinstance(hit, (dict, Mapping)):  # dict first: it answers sooner than the abstract class
        return hit.get
    if hasattr(type(hit), "keys"):
        columns: dict[str, object] = dict(hit)  # type: ignore[call-overload]
        return columns.get
    return lambda name: getattr(hit, name, None)


def fault(rank: int, column: Column, what: object) -> ValueError:
    """The error that says what is wrong with the hit at `rank`.

    >>> fault(3, {"chunk_id": "c-7"}.get, "its text is missing")
    ValueError("hit at rank 3 (chunk_id 'c-7'): its text is missing")
    """
    return ValueError(f"hit at rank {rank} (chunk_id {column('chunk_id')!r}): {what}")
