"""Hits are read as stores and frameworks give them: keys, attributes, or nested beside the text."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from chunkledger.packer import pack, render
from packer.builders import Row, row

COLUMNS: Row = row("c-1", 20, heading_path=["A"], context="", char_start=0, char_end=4)
NESTED: Row = {name: value for name, value in COLUMNS.items() if name != "chunk_id"}
RENDERED = '<chunk n="1" source="a.md" section="A">\nTen.\n</chunk>\n'


class Items:
    """An object that has items but no attributes for them, as some clients' results are."""

    def __init__(self, items: Row) -> None:
        """Hold these items."""
        self._items = items

    def keys(self) -> list[str]:
        """Their names."""
        return list(self._items)

    def __getitem__(self, name: str) -> object:
        return self._items[name]


SHAPES: dict[str, Any] = {
    "ledger row": COLUMNS | {"text": "Ten.", "metadata": "{}"},
    "mapping": MappingProxyType(COLUMNS | {"text": "Ten."}),
    "attributes": SimpleNamespace(**COLUMNS, text="Ten.", metadata="{}"),
    "items": Items(COLUMNS | {"text": "Ten."}),
    "LangChain": SimpleNamespace(id="c-1", page_content="Ten.", metadata=NESTED),
    "LangChain with score": (SimpleNamespace(id="c-1", page_content="Ten.", metadata=NESTED), 0.83),
    "score with LangChain": (0.83, SimpleNamespace(id="c-1", page_content="Ten.", metadata=NESTED)),
    "LlamaIndex": SimpleNamespace(id_="c-1", text="Ten.", metadata=NESTED, score=0.83),
    "Haystack": SimpleNamespace(id="c-1", content="Ten.", meta=NESTED, score=0.83),
    "Qdrant": SimpleNamespace(id="c-1", score=0.83, payload=NESTED | {"text": "Ten."}),
    "Qdrant over HTTP": {"id": "c-1", "score": 0.83, "payload": NESTED | {"text": "Ten."}},
    "Pinecone": {"id": "c-1", "score": 0.83, "metadata": NESTED | {"text": "Ten."}},
    "Weaviate": SimpleNamespace(uuid="c-1", properties=NESTED | {"text": "Ten."}),
    "Haystack as a dict": NESTED | {"id": "c-1", "content": "Ten.", "score": 0.8},
    "LangChain in Milvus": {"id": "c-1", "entity": {"text": "Ten.", "metadata": NESTED}},
    "LangChain in Qdrant": SimpleNamespace(id="c-1", payload={"page_content": "Ten.", "metadata": NESTED}),
    "three deep": {"id": "c-1", "payload": {"entity": {"content": "Ten.", "meta": NESTED}}},
    "SQL of LangChain": {"langchain_id": 7, "id": "c-1", "content": "Ten.", "langchain_metadata": NESTED},
    "Elasticsearch": {"_id": "c-1", "_score": 9.1, "_source": NESTED | {"text": "Ten."}},
    "Milvus": {"id": "c-1", "distance": 0.1, "entity": NESTED | {"text": "Ten."}},
    "chunk_id inside": SimpleNamespace(id="other", page_content="Ten.", metadata=COLUMNS),
}


@pytest.mark.parametrize("name", SHAPES)
def test_hit_is_read_as_it_comes(name: str) -> None:
    """The same chunk in every shape is packed and rendered alike."""
    packed = pack([SHAPES[name]], 100, encoding="o200k_base")
    assert (packed.chunk_ids, packed.used_tokens, render(packed)) == (["c-1"], 20, RENDERED)


def test_own_columns_go_before_nested_ones() -> None:
    """A row whose metadata happens to hold counts is still read from its own columns."""
    hit = COLUMNS | {"metadata": {"rendered_tokens": 999, "chunk_id": "other"}}
    packed = pack([hit], 100, encoding="o200k_base")
    assert (packed.chunk_ids, packed.used_tokens) == (["c-1"], 20)


def test_id_of_another_type_is_text() -> None:
    """An id that a client hands out as an object (a UUID) is used as its text."""
    hit = SimpleNamespace(id=12, page_content="Ten.", metadata=NESTED)
    assert pack([hit], 100, encoding="o200k_base").chunk_ids == ["12"]


def test_hit_without_counts_is_named_with_its_id() -> None:
    """A document that never passed through ingest is told apart by its own id."""
    with pytest.raises(
        ValueError, match=r"rank 2 \(chunk_id 'd-9'\): it has no cached counts \(it is a dict\): .* count"
    ):
        pack([COLUMNS, {"id": "d-9", "page_content": "Ten.", "metadata": {"page": 3}}], 100, encoding="o200k_base")


def test_columns_need_not_all_be_there() -> None:
    """What a store left out because it was empty is empty."""
    needed: Row = {name: COLUMNS[name] for name in ("chunk_id", "doc_id", "encoding", "template", "rendered_tokens")}
    packed = pack([needed | {"text": "Ten.", "context": ""}], 100, encoding="o200k_base")
    assert render(packed) == '<chunk n="1" source="a.md">\nTen.\n</chunk>\n'


def test_lists_of_strings_are_numbers() -> None:
    """A store that keeps lists of strings only gives them back as such."""
    lists = {"boundary_chars": ["2"], "boundary_kinds": ["section"], "boundary_rendered_tokens": ["15"]}
    assert pack([COLUMNS | {"rendered_tokens": 200} | lists], 100, encoding="o200k_base").used_tokens == 15


@pytest.mark.parametrize("hits", ["c-1", b"c-1", {"chunk_id": "c-1"}, None, pa.table({"chunk_id": ["c-1"]})])
def test_ranking_that_is_no_list_of_hits_is_named(hits: Any) -> None:  # noqa: ANN401
    """A single hit, a string or a table is told apart from a list of hits."""
    with pytest.raises(
        ValueError, match=r"hits is a \w+; it must be a list of hits in rank order \(of a table, its rows"
    ):
        pack(hits, 100, encoding="o200k_base")
