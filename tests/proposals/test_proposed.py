"""A setting is proposed where the source calls for it, and only set where nothing is left to choose."""

from __future__ import annotations

import pytest

from chunkledger.documents.columns import Columns
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, MOST_DOCUMENT_BYTES
from chunkledger.proposals.clutter import Clutter
from chunkledger.proposals.proposed import Proposal, proposals
from chunkledger.proposals.survey import Survey

NOTHING = Survey((), {}, (), {}, {}, (), 0, 0)
USUAL = Columns(("id", "text"), ("id", "text"))
OTHER = Columns(("doc_id", "url", "body"), ("url", "title", "body"))


def _of(**found: object) -> dict[str, Proposal]:
    values = {name: getattr(NOTHING, name) for name in NOTHING.__dataclass_fields__}
    return proposals(Survey(**values | found))


def test_nothing_is_proposed_for_nothing() -> None:
    """A source that the defaults suit has no proposals."""
    assert (_of(), _of(columns={"a.jsonl": USUAL, "b.jsonl": None})) == ({}, {})


@pytest.mark.parametrize("size", [MAX_DOCUMENT_BYTES + 1, 9_999_999, 50_000_000, MOST_DOCUMENT_BYTES])
def test_limit_holds_the_largest_document(size: int) -> None:
    """The limit is one that settings take, and at most twice what is needed."""
    found = _of(large=(("a.txt", size), ("b.txt", MAX_DOCUMENT_BYTES + 1)))["max_document_bytes"]
    assert isinstance(found.value, int)
    assert size <= found.value <= min(2 * size, MOST_DOCUMENT_BYTES)
    assert found.reasons[0].startswith(f"over the default: a.txt ({size:,} bytes), b.txt (")


def test_encoding_is_never_set() -> None:
    """An encoding is a guess: it is named with the files, for somebody to look."""
    found = _of(not_text={"cp1252": ("a.txt", "b.txt"), "unknown": ("c.txt",), "binary": ("d.md",)})["source_encoding"]
    assert (found.value, found.candidates[0]) == (None, "cp1252")
    assert [reason.rpartition(": ")[2] for reason in found.reasons[1:]] == ["a.txt, b.txt", "c.txt", "d.md"]


@pytest.mark.parametrize(
    ("tables", "values"),
    [
        ([OTHER], {"id_column": "doc_id", "text_column": "body"}),
        ([OTHER, Columns(("DOC", "doc_id"), ("body",))], {"id_column": "doc_id", "text_column": "body"}),
        ([Columns(("id", "url"), ("Content", "url"))], {"text_column": "Content"}),
        ([Columns(("n",), ("story",))], {"id_column": "n", "text_column": "story"}),
        ([Columns(("id", "doc_id"), ("passage",))], {"text_column": "passage"}),
    ],
)
def test_columns_that_fit_all_tables_are_set(tables: list[Columns], values: dict[str, str]) -> None:
    """One pair with usual names, or one pair at all, is taken; a default that fits needs no line."""
    found = _of(columns={f"{number}.jsonl": each for number, each in enumerate(tables)})
    assert {name: each.value for name, each in found.items()} == values


@pytest.mark.parametrize(
    ("tables", "ids", "texts"),
    [
        ([Columns(("a", "b"), ("body",))], ("a", "b"), ("body",)),
        ([Columns(("key",), ("body", "content"))], ("key",), ("body", "content")),
        ([USUAL, OTHER], (), ()),
        ([Columns(("x",), ("x",))], ("x",), ("x",)),
        ([Columns((), ("text",))], (), ()),
    ],
)
def test_columns_that_leave_a_choice_are_not_set(
    tables: list[Columns], ids: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    """Where several columns can be meant, or none fits all tables, people choose."""
    found = _of(columns={f"{number}.jsonl": each for number, each in enumerate(tables)})
    assert [found[name].value for name in ("id_column", "text_column")] == [None, None]
    assert (found["id_column"].candidates, found["text_column"].candidates) == (ids, texts)


def test_doubtful_folders_are_not_shut_out() -> None:
    """Only folders that are clutter for certain are excluded; the others are to choose."""
    sure, doubtful = Clutter(("a/*", "*/a/*"), "packages", 3, True), Clutter(("build/*",), "build output", 1, False)
    found = _of(clutter=(sure, doubtful))["exclude"]
    assert (found.value, found.candidates) == (["a/*", "*/a/*"], (["a/*", "*/a/*", "build/*"],))
    assert _of(clutter=(doubtful,))["exclude"].value is None
    assert _of(clutter=(sure,))["exclude"].candidates == ()


def test_long_lists_of_names_are_cut() -> None:
    """A thousand files make no line of a thousand names."""
    [_, reason] = _of(not_text={"cp1252": tuple(f"{number}.txt" for number in range(1000))})["source_encoding"].reasons
    assert reason.endswith(": 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 995 more")
