"""Chunk ids are canonical UUIDs, unique, and stable."""

from __future__ import annotations

import uuid

from hypothesis import given
from hypothesis import strategies as st

from chunkledger.records.ids import chunk_ids

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=6)


@given(texts)
def test_ids_are_canonical_uuids(several: list[str]) -> None:
    """Each id is the canonical text of a UUID of version 8."""
    for chunk_id in chunk_ids("a.md", "chunk", several):
        parsed = uuid.UUID(chunk_id)
        assert (str(parsed), parsed.version, parsed.variant) == (chunk_id, 8, uuid.RFC_4122)


@given(texts)
def test_ids_are_unique_and_do_not_depend_on_other_texts(several: list[str]) -> None:
    """Equal texts have different ids; a text's id is that of its occurrence, whatever stands between."""
    ids = chunk_ids("a.md", "chunk", several)
    assert len(set(ids)) == len(ids)
    for index, text in enumerate(several):
        equal = several[: index + 1].count(text)
        assert chunk_ids("a.md", "chunk", [text] * equal)[-1] == ids[index]


def test_document_and_role_are_part_of_the_id() -> None:
    """The same text in another document, or as a parent, has another id, and parts can't be shifted between them."""
    keys = [("a.md", "chunk"), ("b.md", "chunk"), ("a.md", "parent"), ("a.m", "dchunk")]
    assert len({chunk_ids(doc_id, role, ["Ten."])[0] for doc_id, role in keys}) == 4


def test_an_id_never_changes() -> None:
    """Ids in ledgers must stay: this one was made by the first release."""
    assert chunk_ids("docs/a.md", "chunk", ["Größe.", "Größe."]) == [
        "abea66cf-46fb-8446-8a09-91166282f6f9",
        "ddc6f605-0864-812f-a730-e11c37085962",
    ]
