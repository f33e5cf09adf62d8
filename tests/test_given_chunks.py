"""Chunks that another splitter has cut: taken over as they are, counted, placed, flagged, fed and packed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunkledger import Settings, ingest, open_ledger
from chunkledger.counting.reference import reference_counts
from chunkledger.documents.sources import Selection
from chunkledger.errors import SettingsError, SourceError
from chunkledger.packer import order, pack, render
from chunkledger.records.recount import document_mismatches
from chunkledger.verification import verify
from ledgers import SAMPLE_CORPUS, Outcome, cli, prose, rows_of, write
from markdown_texts import texts

Given = dict[str, Any]
OFFSETS = ("char_start", "char_end", "line_start", "line_end", "joined_tokens")
TABLE_ROWS = ("lab/", "support/")
GUIDE = "# Guide\n\nHow to travel.\n\n## Rates\n\nTen a day.\n"


def _table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _taken(root: Path, rows: Sequence[Mapping[str, Any]], *more: str | Path) -> tuple[Outcome, Path]:
    """What ingest says of these chunks, and the ledger."""
    table = _table(root / "chunks.jsonl", rows)
    return cli("ingest", table, "--chunks", "--out", root / "ledger", *more), root / "ledger"


def _cut(text: str, doc_id: str = "a.md") -> list[Given]:
    """One chunk for each line of a text, with offsets."""
    rows: list[Given] = []
    place = 0
    for line in text.splitlines(keepends=True):
        rows.append({"doc_id": doc_id, "text": line, "char_start": place, "char_end": place + len(line)})
        place += len(line)
    return rows


@st.composite
def _cuttings(draw: st.DrawFn) -> tuple[dict[str, str], list[Given]]:
    """Documents, and chunks of them: cut anywhere, with overlaps and holes, some without offsets or with wrong ones."""
    documents = {f"d{number}.md": text for number, text in enumerate(draw(st.lists(texts, min_size=1, max_size=3)))}
    rows: list[Given] = []
    for doc_id, text in documents.items():
        place = 0
        while place < len(text):
            end = min(len(text), place + draw(st.integers(1, 60)))
            row: Given = {"doc_id": doc_id, "text": text[place:end], "page": draw(st.integers(1, 3))}
            said = draw(st.sampled_from(["both", "start", "end", "nothing", "wrong"]))
            row |= {"both": {"char_start": place, "char_end": end}, "start": {"char_start": place}}.get(said, {})
            row |= {"end": {"char_end": end}, "wrong": {"char_start": place + 1}}.get(said, {})
            rows.append(row)
            place = max(place + 1, end + draw(st.sampled_from([0, 0, 0, -1, -9, 5])))
    if draw(st.booleans()):
        rows = draw(st.permutations(rows))
    return documents, rows


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    cutting=_cuttings(),
    template=st.sampled_from(["xml/1", "markdown/1"]),
    encoding=st.sampled_from(["o200k_base", "cl100k_base"]),
    with_documents=st.booleans(),
    seed=st.randoms(use_true_random=False),
)
def test_every_count_and_offset_is_true(
    tmp_path_factory: pytest.TempPathFactory,
    cutting: tuple[dict[str, str], list[Given]],
    template: str,
    encoding: str,
    with_documents: bool,
    seed: Any,  # noqa: ANN401 (a random.Random)
) -> None:
    """Texts stay as they were, in their order; what is counted is what tiktoken counts, whole and packed."""
    root = tmp_path_factory.mktemp("given")
    documents, rows = cutting
    write(root / "docs", {name: text.encode("utf-8", "surrogatepass") for name, text in documents.items()})
    table = _table(root / "chunks.jsonl", rows)
    further = tuple(name for name in ("o200k_base", "cl100k_base") if name != encoding)
    chosen = Settings(
        chunks=True, template=template, encoding=encoding, further_encodings=further, max_tokens=20, slot_tokens=400
    )
    run = ingest([table], root / "ledger", chosen, selection=_checked(root, with_documents))
    assert not run.failed
    ledger = open_ledger(root / "ledger")
    records = ledger.chunks().to_pylist()
    texts_of = {doc_id: [row["text"] for row in rows if row["doc_id"] == doc_id] for doc_id in documents}
    assert {doc_id: [row["text"] for row in records if row["doc_id"] == doc_id] for doc_id in documents} == texts_of
    found = verify(ledger)
    assert (found.mismatches, found.remade) == ([], len({row["doc_id"] for row in rows}))
    if with_documents:
        for row in records:
            if row["char_start"] is not None:
                assert documents[row["doc_id"]][row["char_start"] : row["char_end"]] == row["text"]
    for row, following in pairwise(records):
        if row["joined_tokens"] is not None:
            own = row["text"] + row["gap_after"]
            if following["overlap_chars"]:
                own = own[: following["char_start"] - row["char_start"]]
            both = own + following["text"]
            assert following["doc_id"] == row["doc_id"]
            [count] = reference_counts([f"{both}\n"], encoding).tolist()
            assert row["joined_tokens"] + following["body_tokens"] == count
    for size in (60, 400):
        hits = seed.sample(records, min(9, len(records)))
        packed = order(pack(hits, size, encoding=encoding, truncate="any"), "document")
        assert packed.used_tokens == int(reference_counts([render(packed)], encoding)[0])


def _checked(root: Path, with_documents: bool) -> Selection | None:
    return Selection(documents=str(root / "docs")) if with_documents else None


def test_without_offsets_nothing_is_made_up(tmp_path: Path) -> None:
    """Places and what depends on them are null, gaps are empty, and nothing is searched for in the documents."""
    write(tmp_path / "docs", {"a.md": GUIDE})
    rows = [{"doc_id": "a.md", "text": line["text"]} for line in _cut(GUIDE)]
    done, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert done.code == 0
    assert [[row[name] for name in OFFSETS] for row in rows_of(ledger)] == [[None] * 5] * len(rows)
    assert {(row["gap_after"], row["overlap_chars"], *row["heading_path"]) for row in rows_of(ledger)} == {("", 0)}


def test_documents_give_lines_and_gaps(tmp_path: Path) -> None:
    """With the documents a chunk has its lines, the blanks behind it, and its overlap."""
    write(tmp_path / "docs", {"a.md": GUIDE})
    rows = [
        {"doc_id": "a.md", "text": "# Guide\n\nHow to travel.", "char_start": 0},
        {"doc_id": "a.md", "text": "travel.\n\n## Rates", "char_end": 33},
        {"doc_id": "a.md", "text": "a day.", "char_start": 39, "char_end": 45},
    ]
    _, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    places = ("char_start", "char_end", "line_start", "line_end", "gap_after", "overlap_chars")
    assert [[row[name] for name in places] for row in rows_of(ledger)] == [
        [0, 23, 1, 3, "", 0],
        [16, 33, 3, 5, "", 7],
        [39, 45, 7, 7, "\n", 0],
    ]


def test_wrong_offsets_are_told_and_left_out(tmp_path: Path) -> None:
    """A span that does not hold the text is no offset; the chunk stays, and the run is not failed for it."""
    write(tmp_path / "docs", {"a.md": GUIDE})
    rows = _cut(GUIDE)
    rows[2] |= {"char_start": -1, "char_end": None}
    rows[4] |= {"char_start": 0, "char_end": None}
    done, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert done.code == 0
    assert [row["char_start"] is None for row in rows_of(ledger)] == [n in (2, 4) for n in range(len(rows))]
    assert "noted: a.md: row 1 of chunks.jsonl: the offsets of 2 of its 7 chunks are not where" in done.err
    assert "characters of the document are in no chunk" in done.err


def test_offsets_that_contradict_each_other_are_left_out(tmp_path: Path) -> None:
    """Without documents, too, a span must be as long as its text, and an overlap must repeat what was before."""
    rows = [
        {"doc_id": "a", "text": "One two", "char_start": 0, "char_end": 7},
        {"doc_id": "a", "text": "two three", "char_start": 4},
        {"doc_id": "a", "text": "four", "char_start": 12},
        {"doc_id": "a", "text": "five", "char_start": 30, "char_end": 33},
        {"doc_id": "a", "text": "six", "char_start": 10**30},
    ]
    _, ledger = _taken(tmp_path, rows)
    assert [(row["char_start"], row["overlap_chars"]) for row in rows_of(ledger)] == [
        (0, 0),
        (4, 3),
        (None, 0),
        (None, 0),
        (None, 0),
    ]


def test_a_bad_row_takes_its_document_along(tmp_path: Path) -> None:
    """A document that would lack a chunk fails, is named with the row, and keeps its chunks; the others go on."""
    rows = [{"doc_id": "a", "text": "One."}, {"doc_id": "b", "text": "Two."}, {"doc_id": "b", "text": "Three."}]
    assert _taken(tmp_path, rows)[0].code == 0
    bad = [{"doc_id": "a", "text": "One more."}, {"doc_id": "b", "text": 2}, {"doc_id": "b", "text": "Three."}]
    done, ledger = _taken(tmp_path, [*bad, {"doc_id": "c", "text": "x", "char_start": "zero"}])
    assert done.code == 3
    assert "failed: b: row 2 of chunks.jsonl: 'text' is a number, not text; without it" in done.err
    assert "failed: c: row 4 of chunks.jsonl: 'char_start' is text, not a whole number" in done.err
    assert [row["text"] for row in rows_of(ledger)] == ["One more.", "Two.", "Three."]


def test_empty_texts_are_told_and_blank_ones_stay(tmp_path: Path) -> None:
    """A chunk without text is none; one of blanks is in the ledger as it is, and flagged."""
    rows = [{"doc_id": "a", "text": text} for text in ("", " \n\n", "x", "")]
    done, ledger = _taken(tmp_path, rows)
    assert [(row["text"], row["flags"], row["flag_cause"]) for row in rows_of(ledger)] == [
        (" \n\n", ["under_min"], "short_section"),
        ("x", ["under_min"], "short_section"),
    ]
    assert "2 of its chunks have no text (the first is number 1), and are left out" in done.err


def test_texts_are_kept_byte_for_byte(tmp_path: Path) -> None:
    """Byte order marks, line ends and blanks at both ends are part of the text; NUL is repaired, and told."""
    texts_given = ["\ufeffOne.\r\n", "\n\n  Two. \t\n", "Thr\x00ee."]
    done, ledger = _taken(tmp_path, [{"doc_id": "a", "text": text} for text in texts_given])
    assert [row["text"] for row in rows_of(ledger)] == [*texts_given[:2], "Thr\ufffdee."]
    assert "1 NUL or surrogate characters replaced by U+FFFD" in done.err


def test_rows_may_lie_anywhere_and_in_parquet(tmp_path: Path) -> None:
    """Rows of a document are found wherever they are, in their order; both kinds of tables give the same records."""
    rows = [{"doc_id": f"d{n % 3}.md", "text": f"Chunk {n}.\n", "char_start": n, "page": n} for n in range(30)]
    table = _table(tmp_path / "a" / "chunks.jsonl", rows)
    (tmp_path / "b").mkdir()
    columns = pa.Table.from_pylist(rows)
    starts = pa.array([float(row["char_start"]) for row in rows])  # as pandas has a column of which some are missing
    pq.write_table(columns.set_column(2, "char_start", starts), tmp_path / "b" / "chunks.parquet", row_group_size=4)
    found = []
    for source, name in ((table, "one"), (tmp_path / "b" / "chunks.parquet", "two")):
        assert cli("ingest", source, "--chunks", "--out", tmp_path / name).code == 0
        found.append([{**row, "doc_sha256": ""} for row in rows_of(tmp_path / name)])
    assert found[0] == found[1]
    assert [row["text"] for row in found[0] if row["doc_id"] == "d1.md"] == [f"Chunk {n}.\n" for n in range(1, 30, 3)]
    assert [json.loads(row["metadata"]) for row in found[0]][:2] == [{"page": 0}, {"page": 3}]


def test_the_next_night_takes_what_changed(tmp_path: Path) -> None:
    """Only documents whose rows changed are read again; ids of equal texts stay; what is gone is deleted."""
    rows = [{"doc_id": f"d{n}", "text": f"Part {part} of {n}."} for n in range(4) for part in range(3)]
    assert _taken(tmp_path, rows)[0].code == 0
    changed = [
        row | {"text": "Another."} if row["text"] == "Part 1 of 2." else row for row in rows if row["doc_id"] != "d3"
    ]
    done, ledger = _taken(tmp_path, changed)
    assert done.code == 0
    assert " add=1 keep=8 move=0 update=0 delete=4 " in done.err
    again, _ = _taken(tmp_path, changed)
    assert " add=0 keep=9 move=0 update=0 delete=0 " in again.err
    fresh = cli("ingest", tmp_path / "chunks.jsonl", "--chunks", "--out", tmp_path / "fresh")
    assert fresh.code == 0
    assert rows_of(tmp_path / "fresh") == rows_of(ledger)


def test_a_document_that_changed_is_compared_again(tmp_path: Path) -> None:
    """That the table is the same does not say that its offsets still are right."""
    write(tmp_path / "docs", {"a.md": GUIDE, "b.md": "Other.\n"})
    rows = [*_cut(GUIDE), *_cut("Other.\n", "b.md")]
    assert _taken(tmp_path, rows, "--documents", tmp_path / "docs")[0].code == 0
    write(tmp_path / "docs", {"a.md": "!" + GUIDE})
    done, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert done.code == 0
    found = rows_of(ledger)
    assert {row["char_start"] for row in found if row["doc_id"] == "a.md" and row["text"].strip()} == {None}
    assert " keep=1 " in done.err
    again, _ = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert " keep=8 " in again.err


def test_a_table_that_is_what_it_was_does_not_speak_for_its_documents(tmp_path: Path) -> None:
    """A table that nobody touched for years is compared with documents that changed since the last run."""
    docs = write(tmp_path / "docs", {"a.md": GUIDE, "b.md": "Other.\n"})
    table = _table(tmp_path / "chunks.jsonl", [*_cut(GUIDE), *_cut("Other.\n", "b.md")])
    os.utime(table, (1_000_000_000, 1_000_000_000))
    given = ["--chunks", "--documents", docs, "--out", tmp_path / "ledger"]
    assert cli("ingest", table, *given).code == 0
    (docs / "a.md").write_text("!" + GUIDE, "utf-8")
    done = cli("ingest", table, *given)
    assert "a.md: row 1 of chunks.jsonl: the offsets of " in done.err
    assert {row["char_start"] for row in rows_of(tmp_path / "ledger") if row["text"] == "# Guide\n"} == {None}
    assert " keep=8 " in cli("ingest", table, *given).err


def test_documents_that_come_later_are_looked_up(tmp_path: Path) -> None:
    """A table whose documents were not there is read again when they are, though it is what it was."""
    docs = write(tmp_path / "docs", {"other.md": "Other.\n"})
    table = _table(tmp_path / "chunks.jsonl", _cut(GUIDE))
    os.utime(table, (1_000_000_000, 1_000_000_000))
    given = ["--chunks", "--documents", docs, "--out", tmp_path / "ledger"]
    assert cli("ingest", table, *given).code == 0
    assert {row["line_start"] for row in rows_of(tmp_path / "ledger")} == {None}
    write(docs, {"a.md": GUIDE})
    assert cli("ingest", table, *given).code == 0
    assert [row["line_start"] for row in rows_of(tmp_path / "ledger")] == list(range(1, 8))


def test_blocks_are_joined_only_where_counts_add_up(tmp_path: Path) -> None:
    """Blank lines must stay with what is before them; where a chunk begins with one, neighbours are not merged."""
    paragraphs = [f"{part}\n\n" for part in GUIDE.strip().split("\n\n")]
    starts = [sum(map(len, paragraphs[:place])) for place in range(len(paragraphs))]
    rows = [{"doc_id": "a.md", "text": text, "char_start": at} for text, at in zip(paragraphs, starts, strict=True)]
    _, ledger = _taken(tmp_path, rows)
    assert [row["joined_tokens"] is None for row in rows_of(ledger)] == [False, False, False, True]
    _, ledger = _taken(tmp_path / "lines", _cut(GUIDE))
    assert {row["joined_tokens"] for row in rows_of(ledger)} == {None}


def test_blanks_before_a_text_are_no_place_to_cut(tmp_path: Path) -> None:
    """What stands before the first line that holds something is no unit that could be shown alone."""
    _, ledger = _taken(tmp_path, [{"doc_id": "a.md", "text": " \n\nOne.\n\nTwo.\n"}])
    [row] = rows_of(ledger)
    assert [
        (row["text"][:place], kind) for place, kind in zip(row["boundary_chars"], row["boundary_kinds"], strict=True)
    ] == [(" \n\nOne.\n\n", "paragraph")]


def test_a_gap_that_is_not_there_is_found(tmp_path: Path) -> None:
    """What a record says of its neighbour is checked, and text that was left out is no mistake."""
    write(tmp_path / "docs", {"a.md": GUIDE})
    _, ledger = _taken(tmp_path, [row for row in _cut(GUIDE) if row["text"].strip()], "--documents", tmp_path / "docs")
    rows = rows_of(ledger)
    assert list(document_mismatches(rows, given=True)) == []
    wrong = [rows[0] | {"gap_after": "\n\n\n"}, *rows[1:]]
    assert [each.column for each in document_mismatches(wrong, given=True)] == ["char_start"]
    holed = [row for row in rows if row["chunk_index"] != 1]
    holed = [row | {"chunk_index": place, "gap_after": "", "joined_tokens": None} for place, row in enumerate(holed)]
    assert list(document_mismatches(holed, given=True)) == []


def test_documents_that_are_not_there(tmp_path: Path) -> None:
    """An id without a document keeps its offsets unchecked; ids are looked up, and never become paths."""
    write(tmp_path / "docs", {"a.md": "Other.\n"})
    write(tmp_path, {"secret.md": "Secret.\n"})
    rows = _cut("Secret.\n", "../secret.md")
    done, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert [(row["char_start"], row["line_start"]) for row in rows_of(ledger)] == [(0, None)]
    assert "no document of its id is below --documents, so that its offsets are not checked" in done.err


def test_documents_are_found_below_the_name_of_a_source(tmp_path: Path) -> None:
    """A name that prefixes ids of a table is no part of those of the documents."""
    docs = write(tmp_path / "docs", {"a.md": GUIDE})
    table = _table(tmp_path / "chunks.jsonl", _cut(GUIDE))
    done = cli("ingest", f"kb={table}", "--chunks", "--documents", docs, "--out", tmp_path / "ledger")
    assert (done.code, "not checked" in done.err) == (0, False)
    found = rows_of(tmp_path / "ledger")
    assert {row["doc_id"] for row in found} == {"kb/a.md"}
    assert [row["line_start"] for row in found] == list(range(1, 8))


def test_settings_that_would_be_passed_over_are_refused(tmp_path: Path) -> None:
    """What chunks that are already cut can't have is a usage error, and so are documents without chunks."""
    for name in ("overlap_tokens", "parent_tokens", "split_headings"):
        with pytest.raises(SettingsError, match=f"{name} is"):
            Settings(chunks=True, **{name: 600 if name == "parent_tokens" else 5})
    table = _table(tmp_path / "chunks.jsonl", [{"doc_id": "a", "text": "One."}])
    with pytest.raises(SettingsError, match="it goes with chunks"):
        ingest([table], tmp_path / "ledger", Settings(), selection=Selection(documents=str(tmp_path)))
    with pytest.raises(SourceError, match="no such file or folder"):
        ingest([table], tmp_path / "ledger", Settings(chunks=True), selection=Selection(documents="nowhere"))


def test_a_document_in_two_tables_is_not_taken_by_halves(tmp_path: Path) -> None:
    """Neither table has all of its chunks, so it fails and is named with both; the others go on."""
    _table(tmp_path / "in" / "one.jsonl", [{"doc_id": "a", "text": "One."}, {"doc_id": "b", "text": "Two."}])
    _table(tmp_path / "in" / "two.jsonl", [{"doc_id": "a", "text": "Three."}, {"doc_id": "c", "text": "Four."}])
    for name in ("one", "two"):
        os.utime(tmp_path / "in" / f"{name}.jsonl", (1_000_000_000, 1_000_000_000))
    done = cli("ingest", tmp_path / "in", "--chunks", "--out", tmp_path / "ledger")
    assert done.code == 3
    assert (
        "failed: a: row 1 of one.jsonl: its chunks lie in one.jsonl and two.jsonl; put them into one table" in done.err
    )
    assert [row["text"] for row in rows_of(tmp_path / "ledger")] == ["Two.", "Four."]
    _table(tmp_path / "in" / "two.jsonl", [{"doc_id": "c", "text": "Four."}])
    assert cli("ingest", tmp_path / "in", "--chunks", "--out", tmp_path / "ledger").code == 0
    assert [row["text"] for row in rows_of(tmp_path / "ledger")] == ["One.", "Two.", "Four."]


def test_a_ledger_stays_what_it_is(tmp_path: Path) -> None:
    """Who forgets --chunks, or gives it by mistake, would have every chunk cut anew, or deleted: that is refused."""
    rows = [{"doc_id": "a", "id": "a", "text": text} for text in ("One.", "Two.")]
    _, ledger = _taken(tmp_path, rows)
    before = rows_of(ledger)
    for more in ((), ("--dry-run",)):
        done = cli("ingest", tmp_path / "chunks.jsonl", "--out", ledger, *more)
        assert (done.code, "holds chunks that another splitter has cut; give --chunks" in done.err) == (2, True)
    assert rows_of(ledger) == before
    assert cli("ingest", tmp_path / "chunks.jsonl", "--out", tmp_path / "own").code == 3
    done = cli("ingest", tmp_path / "chunks.jsonl", "--chunks", "--out", tmp_path / "own")
    assert (done.code, "holds documents that chunkledger has cut; leave --chunks out" in done.err) == (2, True)


def test_other_files_are_told(tmp_path: Path) -> None:
    """A document beside the tables is no chunk, and is named."""
    write(tmp_path / "in", {"a.md": "One.\n"})
    _table(tmp_path / "in" / "c.jsonl", [{"doc_id": "x", "text": "Two."}])
    done = cli("ingest", tmp_path / "in", "--chunks", "--out", tmp_path / "ledger")
    assert done.code == 0
    assert "skipped: a.md: no table of chunks (.jsonl, .ndjson, .parquet)" in done.err
    assert [row["doc_id"] for row in rows_of(tmp_path / "ledger")] == ["x"]


def test_another_encoding_is_counted_later(tmp_path: Path) -> None:
    """Recounting gives what a fresh run with both encodings does."""
    write(tmp_path / "docs", {"a.md": GUIDE})
    rows = [*_cut(GUIDE), {"doc_id": "b", "text": "/usr/bin\n\n* * *"}, {"doc_id": "b", "text": "\n</chunk>"}]
    rows += [{"doc_id": name, "text": text} for name, text in CAUSES.items()]
    rows += [
        {"doc_id": "c.md", "text": "# H\n\npara one.\n\n- aaa\n- bbb\n"},
        {"doc_id": "d.txt", "text": "- a\n\n- b\n"},
    ]
    _, ledger = _taken(tmp_path, rows, "--documents", tmp_path / "docs")
    assert cli("recount", ledger, "--encoding", "cl100k_base").code == 0
    both = ["--encoding", "o200k_base", "--encoding", "cl100k_base", "--documents", tmp_path / "docs"]
    assert cli("ingest", tmp_path / "chunks.jsonl", "--chunks", "--out", tmp_path / "both", *both).code == 0
    assert rows_of(ledger) == rows_of(tmp_path / "both")


def test_other_settings_make_kept_chunks_again(tmp_path: Path) -> None:
    """A document that fails on a night with other settings keeps its chunks, flagged by these."""
    rows = [{"doc_id": "a", "text": prose(20)}, {"doc_id": "b", "text": prose(20)}]
    _taken(tmp_path, rows)
    done, ledger = _taken(tmp_path, [rows[0], {"doc_id": "b", "text": 0}], "--max-tokens", "100")
    assert done.code == 3
    assert [(row["doc_id"], row["text"], row["flags"]) for row in rows_of(ledger)] == [
        (row["doc_id"], row["text"], ["over_max"]) for row in rows
    ]


CAUSES = {
    "table": "| a | b |\n|---|---|\n" + "| one more row | of a table that goes on |\n" * 40,
    "code": "```python\n" + "print('one more line of code', 1, 2)\n" * 40 + "```\n",
    "list": "- one more item of a list that goes on and on\n" * 40,
    "html": "<div>\n" + "<p>One more paragraph of markup.</p>\n" * 40 + "</div>\n",
    "unbroken_prose": prose(40),
    "foreign": "\n\n".join(prose(4, f"w{n}") for n in range(10)),
}


def test_causes_come_from_the_text_alone(tmp_path: Path) -> None:
    """The structure that holds most of a chunk is to blame; the splitter where none is and it could have cut."""
    rows = [{"doc_id": cause, "text": text} for cause, text in CAUSES.items()]
    rows += [{"doc_id": "short_document", "text": "Little."}]
    rows += [{"doc_id": "short_section", "text": prose(12)}, {"doc_id": "short_section", "text": "Little."}]
    _, ledger = _taken(tmp_path, rows, "--max-tokens", "300", "--slot-tokens", "6000")
    found = {row["doc_id"]: (row["flag_cause"], row["flag_detail"]) for row in rows_of(ledger) if row["flags"]}
    assert {doc_id: cause for doc_id, (cause, _) in found.items()} == {doc_id: doc_id for doc_id in found}
    assert set(found) == {*CAUSES, "short_document", "short_section"}
    assert found["foreign"] == ("foreign", "10 paragraphs")
    assert found["table"] == ("table", "40 rows")


def test_one_chunk_does_not_know_the_next(tmp_path: Path) -> None:
    """A chunk's columns but its place are those that it has alone, whatever stands before and behind it."""
    texts_given = [*CAUSES.values(), "<", "/chunk>", "* * *", "### [1]", "```", "open\n```", "    x", "- a", "  - b"]
    alone = {}
    for place, text in enumerate(texts_given):
        _, ledger = _taken(tmp_path / str(place), [{"doc_id": "a", "text": text}], "--template", "markdown/1")
        alone[hashlib.sha256(text.encode()).hexdigest()] = rows_of(ledger)[0]
    _, ledger = _taken(tmp_path, [{"doc_id": "a", "text": text} for text in texts_given], "--template", "markdown/1")
    other = ("doc_sha256", "chunk_index", "flag_cause")
    for row in rows_of(ledger):
        before = alone[hashlib.sha256(row["text"].encode()).hexdigest()]
        assert {name: row[name] for name in row if name not in other} == {
            name: before[name] for name in row if name not in other
        }


def test_our_own_chunks_given_back_are_in_their_places(tmp_path: Path) -> None:
    """What depends on text and place alone is the same whoever has cut: ids, lines, gaps, counts, what is joined."""
    ingest([SAMPLE_CORPUS], tmp_path / "own", Settings(overlap_tokens=40, max_tokens=200), jobs=0)
    own = {row["chunk_id"]: row for row in rows_of(tmp_path / "own") if not row["doc_id"].startswith(TABLE_ROWS)}
    rows = [{"doc_id": r["doc_id"], "text": r["text"], "char_start": r["char_start"]} for r in own.values()]
    _taken(tmp_path, rows, "--documents", SAMPLE_CORPUS, "--max-tokens", "200")
    found = {row["chunk_id"]: row for row in rows_of(tmp_path / "ledger")}
    same = (
        *("doc_id", "chunk_index", "char_start", "char_end", "line_start", "line_end", "text", "gap_after"),
        *("overlap_chars", "token_count", "body_tokens"),
    )
    assert {key: [row[name] for name in same] for key, row in found.items()} == {
        key: [row[name] for name in same] for key, row in own.items()
    }
    joined = [(found[key]["joined_tokens"], row["joined_tokens"]) for key, row in own.items()]
    assert all(theirs in (ours, None) for theirs, ours in joined)
    assert sum(theirs == ours for theirs, ours in joined) > 0.95 * len(joined)


def test_the_feed_and_the_report_know_them(tmp_path: Path) -> None:
    """What readers of a ledger can do, they can do with chunks that were cut elsewhere."""
    rows = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(CAUSES.values())]
    _, ledger = _taken(tmp_path, rows, "--max-tokens", "300")
    assert cli("report", ledger).code == 0
    assert cli("verify", ledger).code == 0
    assert len(cli("feed", ledger, "--since", "0").out.splitlines()) == len(rows)
    by_document = [len(list(group)) for _, group in groupby(rows_of(ledger), key=lambda row: row["doc_id"])]
    assert by_document == [1] * len(rows)
