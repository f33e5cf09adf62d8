"""The laws that hold for every document under every setting, recounted with tiktoken."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
import regex
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chunkledger.model import Document
from chunkledger.packer import BOUNDARY_KINDS, order, pack, render
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.schema import SCHEMA
from chunkledger.settings import Settings
from laws import mismatches
from markdown_texts import all_settings, document, markdown_texts, texts
from recounting import block_by_hand, defused_by_hand, merged_by_hand, tokens

Row = dict[str, Any]

many = hypothesis_settings(max_examples=100)
some = hypothesis_settings(many, max_examples=40)
plain_or_not = st.sampled_from([False, False, False, True])


def rows_of(text: str, settings: Settings, *, plain: bool = False) -> list[Row]:
    """The records of one document."""
    rows: list[Row] = chunk_batch([document(text, plain=plain)], settings).to_pylist()
    return rows


def with_occurrence(rows: list[Row]) -> dict[tuple[str, int], str]:
    """The id of each text, by how often the text was there before."""
    found: dict[tuple[str, int], str] = {}
    for row in rows:
        occurrence = sum(text == row["text"] for text, _ in found)
        found[row["text"], occurrence] = row["chunk_id"]
    return found


@many
@given(texts, all_settings(), plain_or_not)
def test_chunks_are_slices_that_give_the_document_back(text: str, settings: Settings, plain: bool) -> None:
    """Every text is the slice at its offsets, and leading blanks, texts without overlap and gaps are the document."""
    rows = rows_of(text, settings, plain=plain)
    assert [text[row["char_start"] : row["char_end"]] for row in rows] == [row["text"] for row in rows]
    lead = text[: rows[0]["char_start"]] if rows else text
    parts = [row["text"][row["overlap_chars"] :] + row["gap_after"] for row in rows]
    assert lead + "".join(parts) == text
    assert [blank for blank in [lead, *(row["gap_after"] for row in rows)] if blank.strip()] == []
    assert [row["text"] for row in rows if not row["text"].strip() or row["text"] != row["text"].rstrip()] == []


@many
@given(texts, all_settings(), plain_or_not)
def test_every_count_is_that_of_its_string(text: str, settings: Settings, plain: bool) -> None:
    """Every count column is what tiktoken counts for the string that it is of."""
    rows = rows_of(text, settings, plain=plain)
    for row in rows:
        strings = (row["text"], row["embed_prefix"] + row["text"], block_by_hand(row, row["text"]))
        counts = [row[name] for name in ("token_count", "embed_tokens", "rendered_tokens")]
        assert counts == [tokens(string, settings.encoding) for string in strings]
        cuts = [row["text"][:place] for place in row["boundary_chars"]]
        assert row["boundary_tokens"] == [tokens(cut, settings.encoding) for cut in cuts]
        blocks = [block_by_hand(row, cut, truncated=True) for cut in cuts]
        assert row["boundary_rendered_tokens"] == [tokens(block, settings.encoding) for block in blocks]


@many
@given(texts, all_settings(), plain_or_not)
def test_verification_finds_nothing(text: str, settings: Settings, plain: bool) -> None:
    """The recount that `verify` runs over a ledger finds no mismatch, joined counts, ids and boundaries included."""
    assert mismatches(rows_of(text, settings, plain=plain)) == []


@many
@given(texts, all_settings(max_tokens=st.integers(2, 12) | st.integers(12, 200)), plain_or_not)
def test_the_limit_holds_but_for_single_graphemes(text: str, settings: Settings, plain: bool) -> None:
    """An embed text is over the maximum only where it is one grapheme cluster and nothing else, and that is flagged."""
    for row in rows_of(text, settings, plain=plain):
        over = tokens(row["embed_prefix"] + row["text"], settings.encoding) > settings.max_tokens
        assert ("over_max" in row["flags"]) == over
        if over:
            assert regex.findall(r"\X", row["text"]) == [row["text"]]
        assert 2 * tokens(row["embed_prefix"], settings.encoding) <= settings.max_tokens


@many
@given(texts, all_settings(max_tokens=st.integers(3, 60)), plain_or_not)
def test_chunks_go_forward(text: str, settings: Settings, plain: bool) -> None:
    """Starts and ends strictly ascend, and each overlap lies behind the start of what was new in the chunk before."""
    rows = rows_of(text, settings, plain=plain)
    for before, row in pairwise(rows):
        assert before["char_start"] < row["char_start"]
        assert before["char_end"] < row["char_end"]
        assert row["overlap_chars"] == max(0, before["char_end"] - row["char_start"])
        assert row["char_start"] + row["overlap_chars"] >= before["char_end"]
    assert [row["chunk_index"] for row in rows] == list(range(len(rows)))


@many
@given(texts, all_settings(max_tokens=st.integers(3, 60)), plain_or_not)
def test_what_is_repeated_is_within_the_overlap(text: str, settings: Settings, plain: bool) -> None:
    """What a chunk repeats has at most `overlap_tokens` tokens, counted as a string of its own."""
    repeated = [row["text"][: row["overlap_chars"]] for row in rows_of(text, settings, plain=plain)]
    assert [part for part in repeated if tokens(part, settings.encoding) > settings.overlap_tokens] == []


@some
@given(st.lists(texts, max_size=4), all_settings())
def test_records_do_not_depend_on_company(several: list[str], settings: Settings) -> None:
    """Twice the same documents, alone or together, give the same records."""
    documents = [document(text, f"docs/{number}.md") for number, text in enumerate(several)]
    together = chunk_batch(documents, settings)
    alone = [chunk_batch([entry], settings) for entry in documents]
    assert together == chunk_batch(documents, settings)
    assert together.to_pylist() == [row for batch in alone for row in batch.to_pylist()]


@pytest.mark.parametrize("unit", ["abcdefgh", "word ", "漢字かな", "A sentence of words. ", "code = 1\n", "a, b; "])
def test_cuts_do_not_depend_on_how_many_tokens_stand_before(unit: str) -> None:
    """A document that must be cut finely is cut the same behind any other document, and behind any section."""
    settings = Settings(encoding="cl100k_base", max_tokens=96, min_tokens=0, split_headings=1)
    text = f"# A\n\n{unit * 300}\n"
    alone = rows_of(text, settings)
    for count in range(8):
        before = "word " * count
        rows = chunk_batch([document(before, "docs/0.md"), document(text)], settings).to_pylist()
        assert rows[bool(count) :] == alone
        edited = rows_of(f"# 0\n\n{before}\n\n{text}", settings)[1:]
        assert [row["chunk_id"] for row in edited] == [row["chunk_id"] for row in alone]


@some
@given(texts, all_settings())
def test_both_engines_give_the_same_records(text: str, settings: Settings) -> None:
    """Records counted by toktok are those counted by tiktoken."""
    fast, slow = (chunk_batch([document(text)], settings, engine=engine) for engine in ("toktok", "tiktoken"))
    assert fast.to_pylist() == slow.to_pylist()


@some
@given(markdown_texts, markdown_texts, all_settings(max_tokens=st.integers(8, 60)))
def test_ids_are_unique_and_stay(added: str, text: str, settings: Settings) -> None:
    """No id is there twice, and a text that survives an edit elsewhere keeps its id."""
    before, after = rows_of(text, settings), rows_of(f"{added}\n\n{text}", settings)
    assert len({row["chunk_id"] for row in after}) == len(after)
    ids, ids_after = with_occurrence(before), with_occurrence(after)
    kept = ids.keys() & ids_after.keys()
    assert {key: ids[key] for key in kept} == {key: ids_after[key] for key in kept}


def test_a_paragraph_at_the_top_changes_one_chunk() -> None:
    """After an edit in the first section every other section's chunk is the same record but for its place."""
    sections = [f"## Part {number}\n\nThe rate is {number} a day, paid late.\n\n" for number in range(6)]
    settings = Settings(split_headings=2)
    before = rows_of("".join(sections), settings)
    after = rows_of("A word before all.\n\n" + "".join(sections), settings)
    assert len(before) == 6
    assert [row["chunk_id"] for row in after[1:]] == [row["chunk_id"] for row in before]


@some
@given(st.lists(texts | st.sampled_from(["", " \n\n", "\u3000"]), max_size=3), all_settings())
def test_the_schema_is_fixed(several: list[str], settings: Settings) -> None:
    """Whatever the documents, none or blank ones too, the records have the one schema."""
    batch = chunk_batch([document(text, f"{number}.md") for number, text in enumerate(several)], settings)
    assert batch.schema.equals(SCHEMA, check_metadata=True)
    assert batch.validate(full=True) is None
    table = pa.Table.from_batches([batch])
    assert [name for name in SCHEMA.names if not SCHEMA.field(name).nullable and table[name].null_count] == []


def test_no_documents_give_no_records() -> None:
    """No documents, and blank documents, give zero records with the whole schema."""
    for documents in ([], [document("")], [document("\n\n \t"), document("\u3000\n", "b.md")]):
        batch = chunk_batch(documents, Settings())
        assert (batch.num_rows, batch.schema) == (0, SCHEMA)


@many
@given(
    st.lists(texts, min_size=1, max_size=3),
    all_settings(max_tokens=st.integers(8, 120)),
    st.sampled_from(["cl100k_base", "o200k_base", "o200k_harmony"]),
    st.data(),
)
def test_a_packed_prompt_has_the_tokens_that_were_added_up(
    several: list[str], settings: Settings, encoding: str, data: st.DataObject
) -> None:
    """Chunks in any order, cut to any slot, render to exactly the tokens that the packer says."""
    settings = Settings(**(settings.as_dict() | {"encoding": encoding}))  # type: ignore[arg-type]
    documents = [document(text, f"docs/página {number}.md") for number, text in enumerate(several)]
    rows = chunk_batch(documents, settings).to_pylist()
    hits = data.draw(st.permutations(rows)) if len(rows) < 12 else rows[::-1]
    whole = pack(hits, 10**9, encoding=encoding)
    assert whole.used_tokens == tokens(render(whole), encoding)
    slot = data.draw(st.integers(1, max(1, whole.used_tokens)))
    packed = order(pack(hits, slot, encoding=encoding, boundary_kinds=sorted(BOUNDARY_KINDS)), "edges")
    assert packed.used_tokens == tokens(render(packed), encoding)


@many
@given(texts, all_settings(max_tokens=st.integers(4, 60)), plain_or_not)
def test_neighbours_merge_to_the_joined_count(text: str, settings: Settings, plain: bool) -> None:
    """A block of neighbours has the first one's frame, the joined counts of all but the last, and the last's body."""
    rows = rows_of(text, settings, plain=plain)
    for first in range(len(rows)):
        joined = 0
        for last in range(first + 1, min(first + 5, len(rows))):
            if rows[last - 1]["joined_tokens"] is None:
                break
            joined += rows[last - 1]["joined_tokens"]
            frame = rows[first]["rendered_tokens"] - rows[first]["body_tokens"]
            block = merged_by_hand(rows[first : last + 1], text)
            assert frame + joined + rows[last]["body_tokens"] == tokens(block, settings.encoding)


@some
@given(markdown_texts, all_settings(max_tokens=st.integers(4, 60)))
def test_a_cut_at_the_start_of_a_line_can_be_merged(text: str, settings: Settings) -> None:
    """Only a cut within a line, a `/` under o200k or a defused mark leaves neighbours without a joined count."""
    rows = rows_of(text, settings)
    for row, after in pairwise(rows):
        at_line = text[: after["char_start"]].endswith(("\n", "\r"))
        slash = settings.encoding == "o200k_base" and any(
            part.startswith("/") for part in (row["text"], after["text"], row["context"])
        )
        marked = any(defused_by_hand(row[name], row) != row[name] for name in ("text", "context"))
        if at_line and not slash and not marked:
            assert row["joined_tokens"] is not None
    assert [row["joined_tokens"] for row in rows[-1:]] == [None] * len(rows[-1:])


@some
@given(texts, all_settings())
def test_every_record_names_what_it_was_made_with(text: str, settings: Settings) -> None:
    """Encoding, template, fingerprint of the settings and document stand in every record."""
    rows = rows_of(text, settings)
    names = ("doc_id", "doc_sha256", "role", "encoding", "template", "settings_sha256", "parent_id")
    expected = ("docs/a.md", "0" * 64, "chunk", settings.encoding, settings.template, settings.sha256(), None)
    assert [tuple(row[name] for name in names) for row in rows] == [expected] * len(rows)


@some
@given(texts, all_settings())
def test_line_numbers_are_those_of_an_editor(text: str, settings: Settings) -> None:
    """Lines are counted from 1 and end at LF, CRLF or CR, nowhere else."""
    breaks = [match.end() for match in re.finditer("\r\n|\n|\r", text)]
    for row in rows_of(text, settings):
        first, last = row["char_start"], row["char_end"] - 1
        expected = [1 + sum(place <= at for place in breaks) for at in (first, last)]
        assert [row["line_start"], row["line_end"]] == expected


@some
@given(texts, all_settings(max_tokens=st.integers(8, 100)))
def test_boundaries_are_places_to_cut(text: str, settings: Settings) -> None:
    """Boundaries ascend inside the text: a unit's is the start of a line, a sentence's has no blank before it."""
    for row in rows_of(text, settings):
        places = row["boundary_chars"]
        assert places == sorted(set(places))
        for place, kind in zip(places, row["boundary_kinds"], strict=True):
            before, behind = row["text"][:place], row["text"][place:]
            assert before.strip() != ""
            assert behind.strip() != ""
            if kind == "sentence":
                assert before == before.rstrip()
            else:
                assert before.endswith(("\n", "\r"))
                assert not (before.endswith("\r") and behind.startswith("\n"))


@some
@given(st.lists(texts, min_size=1, max_size=3))
def test_boundaries_and_cuts_do_not_depend_on_template(several: list[str]) -> None:
    """The template changes rendered counts alone: cuts, ids and boundaries stay."""
    documents: list[Document] = [document(text, f"{number}.md") for number, text in enumerate(several)]
    names = ("chunk_id", "char_start", "char_end", "boundary_chars", "boundary_kinds", "boundary_tokens")
    made = [
        chunk_batch(documents, Settings(max_tokens=40, template=template)).select(names).to_pylist()
        for template in ("xml/1", "markdown/1")
    ]
    assert made[0] == made[1]
