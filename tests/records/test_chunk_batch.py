"""What a record says about its chunk: kind, flags, lines, boundaries, metadata."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from chunkledger import Chunk, Settings, chunk_text
from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.recount import count_mismatches, document_mismatches
from markdown_texts import FAMILY, document


def chunks(text: str, **options: Any) -> list[Chunk]:  # noqa: ANN401 (settings by name)
    """The chunks of a Markdown text, with room for all of it unless told otherwise."""
    return chunk_text(text, Settings(**({"encoding": "cl100k_base", "max_tokens": 4000} | options)))


def words(count: int) -> str:
    """That many one-token words."""
    return " ".join(["word"] * count)


TABLE = "| a | b |\n|---|---|\n" + "| one two | three |\n" * 300
CODE = "```python\n" + "value = 1 + 2\n" * 300 + "```\n"
LIST = "- one two three four\n" * 300
HTML = "<div>\n" + "<b>one</b>\n" * 300 + "</div>\n"
FRONT = "---\n" + "".join(f"key{number}: some value\n" for number in range(300)) + "---\n"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "detail"),
    [
        (TABLE, "table", "table", "300 rows"),
        (CODE, "code", "code", "302 lines"),
        (LIST, "list", "list", "300 items"),
        (HTML, "html", "html", "302 lines"),
        (FRONT, "front_matter", "front_matter", "302 lines"),
        (words(1200), "prose", "unbroken_prose", "5,999 characters"),
        (f"# Title\n\n{words(40)}\n\n{TABLE}\n{words(40)}\n", "table", "table", "300 rows"),
    ],
)
def test_a_chunk_over_its_share_names_the_structure(text: str, kind: str, cause: str, detail: str) -> None:
    """A chunk over its share of the slot has as cause the kind of block that holds most of it, and says how much."""
    [chunk] = chunks(text)
    found = (chunk.kind, chunk.flags, chunk.flag_cause, chunk.flag_detail)
    assert found == (kind, ["over_share"], cause, detail)


def test_a_chunk_over_the_slot_is_over_its_share_too() -> None:
    """A chunk over the whole slot has both flags."""
    [chunk] = chunks(words(1200), slot_tokens=1000)
    assert chunk.flags == ["over_slot", "over_share"]


def test_flags_are_over_not_at() -> None:
    """A chunk that just fits has no flag; one token less in the setting gives it."""
    [chunk] = chunks(words(100))
    fitting = {"slot_tokens": chunk.rendered_tokens, "slot_chunks": 1, "min_tokens": chunk.token_count}
    tight = [{"slot_tokens": chunk.rendered_tokens - 1}, {"min_tokens": chunk.token_count + 1}]
    assert [chunks(words(100), **(fitting | change))[0].flags for change in ({}, *tight)] == [
        [],
        ["over_slot", "over_share"],
        ["under_min"],
    ]


def test_a_small_chunk_is_a_short_document_or_section() -> None:
    """Under the minimum the cause is a short document for an only chunk, a short section otherwise."""
    [alone] = chunks("Ten.\n")
    assert (alone.flags, alone.flag_cause, alone.flag_detail) == (["under_min"], "short_document", "2 tokens")
    several = chunks(f"# A\n\n{words(60)}\n\n# B\n\nTen.\n", split_headings=1)
    assert [(chunk.flag_cause, chunk.flag_detail) for chunk in several] == [(None, None), ("short_section", "5 tokens")]


def test_a_cluster_over_the_maximum_is_the_cause_itself() -> None:
    """A single grapheme over the maximum has the cause grapheme and its tokens as detail."""
    [chunk] = chunks(FAMILY, max_tokens=5)
    found = (chunk.flags, chunk.flag_cause, chunk.flag_detail)
    assert found == (["over_max", "under_min"], "grapheme", f"{chunk.token_count} tokens")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# Title\n\ntext\n", "prose"),
        ("> quoted\n", "prose"),
        ("- a\n\n  b\n", "list"),
        ("- a\n\n  | a | b |\n  |---|---|\n  | one two three | four |\n", "table"),
        ("1. a\n\n   ```\n   one two three four five\n   ```\n", "code"),
        ("    indented = 1\n", "code"),
        ("<p>a</p>\n", "html"),
        ("---\na: 1\n---\n", "front_matter"),
        ("[a]: https://x.org\n", "prose"),
        ("***\n", "prose"),
        ("text[^1]\n\n[^1]: note\n", "prose"),
    ],
)
def test_kind_is_what_most_of_the_chunk_is(text: str, kind: str) -> None:
    """The kind is that of the blocks which hold most of the tokens; text in items is a list, in quotes prose."""
    [chunk] = chunks(text)
    assert chunk.kind == kind


def test_a_chunk_without_blocks_of_text_is_prose() -> None:
    """An empty quote is prose, whatever the document before it ends with."""
    table = "| a |\n|---|\n"
    rows = chunk_batch([document(table), document(">", "b.md")], Settings()).to_pylist()
    assert [row["kind"] for row in rows] == ["table", "prose"]


def test_a_mark_at_the_start_of_a_document_is_defused() -> None:
    """A mark on a document's first line is one too where the document before it ends without a line end."""
    for text in ("* * *\n\nrate.", "### [1] rate"):
        rows = chunk_batch([document("1"), document(text, "b.md")], Settings(template="markdown/1")).to_pylist()
        assert [str(mismatch) for mismatch in count_mismatches(rows, {})] == []
        assert rows[1:] == chunk_batch([document(text, "b.md")], Settings(template="markdown/1")).to_pylist()


def test_details_count_what_the_chunk_holds() -> None:
    """Rows and lines are those of the chunk, not of the whole block; one is singular."""
    cut = chunks(TABLE, max_tokens=200, slot_tokens=100, slot_chunks=1)
    rows = [int(str(chunk.flag_detail).split()[0]) for chunk in cut if chunk.flag_detail and "row" in chunk.flag_detail]
    assert sum(rows) == 300
    [single] = chunks(f"| a |\n|---|\n| {words(60)} |\n", slot_tokens=50, slot_chunks=1)
    assert single.flag_detail == "1 row"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_with_every_line_end(end: str) -> None:
    """Lines are numbered from 1 as editors do, with CRLF as one end and lone CR as one."""
    text = end.join(["# A", "", "one", "two", "", "# B", "", "three", ""])
    found = chunks(text, split_headings=1)
    assert [(chunk.line_start, chunk.line_end) for chunk in found] == [(1, 4), (6, 8)]
    assert [chunk.text for chunk in found] == [end.join(["# A", "", "one", "two"]), end.join(["# B", "", "three"])]


def test_odd_separators_end_no_line() -> None:
    """U+2028, U+0085, vertical tab and form feed do not end a line."""
    [chunk] = chunks("a\u2028b\x85c\x0bd\x0ce\nf\n")
    assert (chunk.line_start, chunk.line_end) == (1, 2)


def test_boundaries_say_what_ends_there() -> None:
    """Each boundary has the kind of what ends there; none parts a heading from its text or a header from its row."""
    text = "# A\n\npara one\n\n- a\n- b\n\n```\nx\n\ny\n```\n\n| h |\n|---|\n| 1 |\n| 2 |\n\n## B\n\nlast\n"
    [chunk] = chunks(text)
    cuts = [text[place:].split("\n")[0] for place in chunk.boundary_chars]
    assert list(zip(cuts, chunk.boundary_kinds, strict=True)) == [
        ("- a", "paragraph"),
        ("- b", "list_item"),
        ("```", "paragraph"),
        ("y", "code_group"),
        ("| h |", "paragraph"),
        ("| 2 |", "table_row"),
        ("## B", "section"),
    ]


def test_a_chunk_without_structure_has_sentences_as_boundaries() -> None:
    """A single paragraph has its sentence ends as boundaries; with a second paragraph it has that one alone."""
    [single] = chunks("It is late. We go home. Now.\n")
    assert (single.boundary_chars, set(single.boundary_kinds)) == ([11, 23], {"sentence"})
    [double] = chunks("It is late. We go home.\n\nNow.\n")
    assert (double.boundary_chars, double.boundary_kinds) == ([25], ["paragraph"])


def test_a_cut_paragraph_has_sentences_as_boundaries() -> None:
    """A paragraph that had to be cut has sentence boundaries beside those of structure."""
    text = f"{words(8)}.\n\n" + " ".join(f"Sentence {number} has words." for number in range(40))
    kinds = {kind for chunk in chunks(text, max_tokens=60) for kind in chunk.boundary_kinds}
    assert "sentence" in kinds


def test_a_code_line_or_a_single_word_has_no_boundary() -> None:
    """Where nothing ends inside a chunk there is no boundary."""
    assert [
        chunk.boundary_chars for text in ("word", "```\na\nb\n```\n", "# T\n\nword\n") for chunk in chunks(text)
    ] == [
        [],
        [],
        [],
    ]


def test_front_matter_is_metadata_and_text() -> None:
    """Front matter stays in the text, and becomes metadata of every chunk; the source's own metadata goes first."""
    text = "---\ntitle: Rates\npage: 1\n---\n\n# A\n\na\n\n# B\n\nb\n"
    made = Document("a.md", text, "0" * 64, "markdown", {"page": 7, "tags": ["x"]})
    rows = chunk_batch([made], Settings(split_headings=1)).to_pylist()
    assert [json.loads(row["metadata"]) for row in rows] == [{"title": "Rates", "page": 7, "tags": ["x"]}] * len(rows)
    assert rows[0]["text"].startswith("---\ntitle: Rates\n")


def test_metadata_is_sorted_json_in_any_script() -> None:
    """Metadata is JSON with sorted keys, letters as they are, and U+FFFD for what no column can hold."""
    made = Document("a.md", "a", "0" * 64, "plain", {"z": "漢", "a": "\ud800", "path": 1.5})
    [row] = chunk_batch([made], Settings()).to_pylist()
    assert row["metadata"] == '{"a": "\ufffd", "path": 1.5, "z": "漢"}'


def test_a_mark_at_the_end_of_a_document_is_defused() -> None:
    """A closing that ends a document without a newline is one, whatever the next document begins with."""
    documents = [document("Text\n\n* * *"), document("more", "b.md")]
    rows = chunk_batch(documents, Settings(template="markdown/1")).to_pylist()
    assert list(count_mismatches(rows, {})) == []


def test_a_mark_that_a_cut_makes_is_defused() -> None:
    """Where a cut within a line leaves what a template takes for its own mark, the counts are of the defused text."""
    settings = Settings(encoding="cl100k_base", template="markdown/1", max_tokens=6, min_tokens=0)
    text = "alpha\r* * *   beta gamma delta epsilon zeta\n\n* * *     Γειά σου Κόσμε\n\n### [x] beta gamma delta"
    for form in ("plain", "markdown"):
        rows = chunk_batch([document(text, plain=form == "plain")], settings).to_pylist()
        assert [str(mismatch) for mismatch in count_mismatches(rows, {})] == []


def test_the_waist_can_be_sent_to_another_process() -> None:
    """Documents, settings and records can be pickled, and so can the function."""
    sent = pickle.loads(pickle.dumps((chunk_batch, [document("# A\n\na\n")], Settings())))  # noqa: S301 (our own bytes)
    made = sent[0](sent[1], sent[2])
    assert pickle.loads(pickle.dumps(made)) == chunk_batch([document("# A\n\na\n")], Settings())  # noqa: S301


def test_mismatches_are_found() -> None:
    """The recount reports a wrong count, id, offset, gap or boundary, and a joined count of a last chunk."""
    text = "# A\n\none two\n\nthree\n\n# B\n\nfour\n"
    rows = chunk_batch([document(text)], Settings(split_headings=1)).to_pylist()
    changes = {
        "token_count": 99,
        "embed_tokens": 99,
        "rendered_tokens": 99,
        "body_tokens": 99,
        "joined_tokens": 99,
        "boundary_tokens": [99],
        "boundary_rendered_tokens": [99],
        "chunk_id": "x",
        "chunk_index": 9,
        "char_end": 999,
        "gap_after": "text",
        "boundary_chars": [999],
    }
    following = {rows[0]["chunk_id"]: rows[1], rows[1]["chunk_id"]: None}
    assert [*count_mismatches(rows, following), *document_mismatches(rows)] == []
    for column, value in changes.items():
        changed = [rows[0] | {column: value}, rows[1]]
        names = [found.column for found in [*count_mismatches(changed, following), *document_mismatches(changed)]]
        assert any(name.startswith(column) for name in names) or column in ("char_end", "gap_after")
        assert names != []
    last = [rows[0], rows[1] | {"joined_tokens": 3}]
    assert [found.column for found in count_mismatches(last, following)] == ["joined_tokens"]
