"""A view of a document holds what its records hold, and its pieces are its text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.views import ChunkView, Cut, DocumentView, Stretch, document_view, document_views
from chunkledger.records.schema import SCHEMA
from ledgers import SAMPLE_CORPUS, Row, damaged, rows_of, sections, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, its chunks with overlap."""
    made = tmp_path_factory.mktemp("ledger")
    ingest([SAMPLE_CORPUS], made, Settings(max_tokens=200, overlap_tokens=40))
    return made


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A ledger of one document of several chunks."""
    ingest([write(tmp_path / "docs", {"a.md": sections(4)})], tmp_path / "ledger", Settings(max_tokens=200))
    return tmp_path / "ledger"


def _view(ledger: Path, doc_id: str) -> DocumentView:
    found = document_view(open_ledger(ledger), doc_id)
    assert found is not None
    return found


def test_every_document_is_seen_as_its_records_have_it(ledger: Path) -> None:
    """Texts, places, counts, flags and cut points are the columns of the records."""
    rows = rows_of(ledger)
    views = list(document_views(open_ledger(ledger), dict.fromkeys({row["doc_id"] for row in rows})))
    seen = [(view.doc_id, chunk) for view in views for chunk in view.chunks]
    assert [_as_seen(row) for row in rows] == [_as_seen(_as_row(doc_id, chunk)) for doc_id, chunk in seen]
    assert len(seen) > 100


def _as_row(doc_id: str, chunk: ChunkView) -> Row:
    boundaries = {
        "chars": [cut.at for cut in chunk.cuts],
        "kinds": [cut.kind for cut in chunk.cuts],
        "tokens": [cut.token_count for cut in chunk.cuts],
        "rendered_tokens": [cut.rendered_tokens for cut in chunk.cuts],
    }
    own = {name: getattr(chunk, name) for name in SCHEMA.names if hasattr(chunk, name)}
    return {"doc_id": doc_id, **own, **{f"boundary_{name}": values for name, values in boundaries.items()}}


def _as_seen(row: Row) -> Row:
    names = [name for name in SCHEMA.names if name.startswith("boundary_") or name in ChunkView.__dataclass_fields__]
    return {name: list(row[name]) if isinstance(row[name], tuple) else row[name] for name in ["doc_id", *names]}


def test_pieces_make_up_the_text(ledger: Path) -> None:
    """Stretches between cut points are the text; those that repeat are the overlap, cuts stand at their offsets."""
    view = _view(ledger, "faq.md")
    assert any(chunk.overlap_chars for chunk in view.chunks)
    for chunk in view.chunks:
        text, repeated, cuts = "", "", []
        for piece in chunk.pieces():
            if isinstance(piece, Cut):
                cuts.append((len(text), piece))
            else:
                text += piece.text
                repeated += piece.text if piece.repeats else ""
        assert (text, repeated) == (chunk.text, chunk.text[: chunk.overlap_chars])
        assert cuts == [(cut.at, cut) for cut in chunk.cuts]


def test_a_cut_where_the_overlap_ends() -> None:
    """No empty stretch stands between the two."""
    chunk = _chunk("ab\ncd", overlap_chars=3, cuts=(Cut(3, "section", 1, 2),))
    assert list(chunk.pieces()) == [Stretch("ab\n", True), Cut(3, "section", 1, 2), Stretch("cd", False)]


def _chunk(text: str, *, overlap_chars: int, cuts: tuple[Cut, ...]) -> ChunkView:
    return ChunkView(
        chunk_index=0, chunk_id="", text=text, gap_after="", overlap_chars=overlap_chars, char_start=0,
        char_end=len(text), line_start=1, line_end=1, kind="prose", token_count=1, embed_tokens=1, rendered_tokens=1,
        heading_path=(), context="", flags=(), flag_cause=None, flag_detail=None, unheld_before=0, cuts=cuts,
    )  # fmt: skip


def test_only_the_chunks_that_are_wanted(ledger: Path) -> None:
    """Of a document some chunks can be had, of several documents each its own."""
    views = document_views(open_ledger(ledger), {"faq.md": {1, 3}, "glossary.md": {0}, "nowhere.md": None})
    assert [(view.doc_id, [chunk.chunk_index for chunk in view.chunks]) for view in views] == [
        ("faq.md", [1, 3]),
        ("glossary.md", [0]),
    ]


def test_no_such_document(ledger: Path) -> None:
    """A document that the ledger does not have is None."""
    assert document_view(open_ledger(ledger), "faq") is None


def test_only_parts_that_may_hold_the_document_are_read(small: Path) -> None:
    """A part of other documents may even be gone."""
    opened = open_ledger(small)
    [part] = opened.part_paths()
    Path(part).unlink()
    assert document_view(opened, "b.md") is None


def test_nothing_is_lost_between_our_own_chunks(ledger: Path) -> None:
    """Texts and gaps account for every character after the first chunk's start."""
    assert {chunk.unheld_before for chunk in _view(ledger, "faq.md").chunks} == {0}


def test_what_no_chunk_holds_is_counted(small: Path) -> None:
    """Of chunks that another splitter has cut, with offsets, some text may be in none of them."""
    damaged(small, lambda rows: rows.pop(1))
    damaged(small, lambda rows: [row.update(chunk_index=number) for number, row in enumerate(rows)])
    rows = rows_of(small)
    between = rows[1]["char_start"] - rows[0]["char_end"] - len(rows[0]["gap_after"])
    assert between > 100
    assert [chunk.unheld_before for chunk in _view(small, "a.md").chunks[:2]] == [0, between]


def test_chunks_without_offsets(small: Path) -> None:
    """Where nothing is known of their places, texts are shown one after the other."""
    _without_offsets(small)
    view = _view(small, "a.md")
    assert [chunk.text for chunk in view.chunks] == [row["text"] for row in rows_of(small)]
    assert {(chunk.char_start, chunk.line_start, chunk.unheld_before) for chunk in view.chunks} == {(None, None, None)}


def _without_offsets(ledger: Path) -> None:
    [path] = open_ledger(ledger).part_paths()
    rows = pq.ParquetFile(path).read().to_pylist()
    for row in rows:
        row |= {"char_start": None, "char_end": None, "line_start": None, "line_end": None, "gap_after": ""}
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)


def test_view_as_json(ledger: Path) -> None:
    """It has a version, and its keys are names of values."""
    found = _view(ledger, "glossary.md").as_dict()
    assert list(found) == ["view_version", "doc_id", "chunks"]
    chunks = found["chunks"]
    assert isinstance(chunks, tuple)
    assert chunks[0]["cuts"][0].keys() == {"at", "kind", "token_count", "rendered_tokens"}
