"""The chunks that a page lists are the worst, and of each flag and cause some; their texts keep within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.page import texts
from chunkledger.outliers.page.offenders import MOST_ROWS, Offender, offenders_of
from chunkledger.outliers.page.shown import script_json
from chunkledger.outliers.page.texts import MOST_BYTES, MOST_DOCUMENTS, Shown, texts_of
from chunkledger.outliers.selected import selected
from chunkledger.store.ledger import Ledger
from ledgers import SAMPLE_CORPUS, Row, prose, rows_of, sections, write


def _row(number: int, **values: object) -> Row:
    base = {
        "doc_id": f"d{number:06}.md", "chunk_index": 0, "line_start": 1, "line_end": 2, "kind": "prose",
        "token_count": 400, "embed_tokens": 400, "rendered_tokens": 800 + number, "flags": ["over_share"],
        "flag_cause": "table", "flag_detail": "3 rows",
    }  # fmt: skip
    return base | values


def _listed(rows: list[Row]) -> tuple[Offender, ...]:
    return offenders_of(pl.DataFrame(rows))


def test_the_worst_come_first() -> None:
    """Over the slot, over the limit, over the share, each the largest first; then what is too small, the smallest."""
    rows = [
        _row(1, flags=["under_min"], token_count=9, rendered_tokens=30),
        _row(2, flags=["over_share"]),
        _row(3, flags=["over_slot", "over_share"]),
        _row(4, flags=["over_max"], rendered_tokens=5),
        _row(5, flags=[], flag_cause=None),
        _row(6, flags=["under_min"], token_count=3, rendered_tokens=90),
        _row(7, flags=["over_share"]),
        _row(8, flags=["over_slot", "over_share"]),
    ]
    assert [int(row.doc_id[1:7]) for row in _listed(rows)] == [8, 3, 4, 7, 2, 6, 1]


def test_no_kind_of_outlier_is_hidden_by_another() -> None:
    """Of very many, so many are listed as fit, with the worst of each flag and cause among them."""
    rows = [_row(number) for number in range(3 * MOST_ROWS)]
    rows += [_row(0, doc_id=f"s{number}", flags=["under_min"], flag_cause="short_section") for number in range(50)]
    rows += [_row(0, doc_id="g", flags=["over_max"], flag_cause="grapheme", rendered_tokens=4)]
    found = _listed(rows)
    assert (len(found), found[0].doc_id, found[1].rendered_tokens) == (MOST_ROWS, "g", 800 + 3 * MOST_ROWS - 1)
    assert sum(row.flag_cause == "short_section" for row in found) == 20


def _page_texts(ledger: Ledger) -> tuple[Shown, ...]:
    frame = selected(ledger)
    return texts_of(ledger, frame, offenders_of(frame))


def test_a_small_ledger_is_on_the_page_whole(tmp_path: Path) -> None:
    """Every document can be read, and its pieces are its text."""
    ingest([SAMPLE_CORPUS], tmp_path, Settings(max_tokens=400, overlap_tokens=40))
    rows = rows_of(tmp_path)
    found = _page_texts(open_ledger(tmp_path))
    assert [shown.doc_id for shown in found] == sorted({row["doc_id"] for row in rows})
    held = [(shown.doc_id, chunk["index"], _text(chunk)) for shown in found for chunk in shown.held]
    assert held == [(row["doc_id"], row["chunk_index"], row["text"]) for row in rows]


def _text(chunk: dict[str, Any]) -> str:
    """The text that pieces make up."""
    parts = [piece if isinstance(piece, str) else piece[1] for piece in chunk["pieces"] if piece[0] not in _NO_TEXT]
    return "".join(parts)


_NO_TEXT = ("cut", "left")


def test_cut_points_stand_between_the_pieces(tmp_path: Path) -> None:
    """With kind and cached counts, in their order."""
    ingest([write(tmp_path / "docs", {"a.md": sections(5)})], tmp_path / "ledger")
    [shown] = _page_texts(open_ledger(tmp_path / "ledger"))
    for row, chunk in zip(rows_of(tmp_path / "ledger"), shown.held, strict=True):
        names = ("kinds", "tokens", "rendered_tokens")
        expected = zip(*(row[f"boundary_{name}"] for name in names), strict=True)
        pieces: Any = chunk["pieces"]
        assert [tuple(piece[1:]) for piece in pieces if piece[0] == "cut"] == list(expected)


def test_a_huge_chunk_is_shortened_and_says_by_how_much(tmp_path: Path) -> None:
    """Beginning and end are there; between them stands how many characters and lines are not."""
    text = "".join(f"Line {number} of a very long text.\n" for number in range(20_000)).strip()
    ingest([write(tmp_path / "docs", {"a.txt": text})], tmp_path / "ledger", Settings(max_tokens=1_000_000))
    [shown] = _page_texts(open_ledger(tmp_path / "ledger"))
    pieces: Any = shown.held[0]["pieces"]
    [[_, characters, lines]] = [piece for piece in pieces if piece[0] == "left"]
    kept = _text(shown.held[0])
    assert (len(kept) + characters, kept.count("\n") + lines) == (len(text), text.count("\n"))
    assert text.startswith(kept[:8000])
    assert text.endswith(kept[8000:])
    assert len(script_json(shown.held)) < 40_000


def test_of_a_long_document_only_what_is_around_its_outliers(tmp_path: Path) -> None:
    """A window of chunks around each flagged one, and how many there are in all."""
    long = sections(300, sentences=3) + "\n## Short\n\nx\n"
    ingest(
        [write(tmp_path / "docs", {"a.md": long})],
        tmp_path / "ledger",
        Settings(max_tokens=80, min_tokens=20, split_headings=2),
    )
    rows = rows_of(tmp_path / "ledger")
    flagged = [row["chunk_index"] for row in rows if row["flags"]]
    [shown] = _page_texts(open_ledger(tmp_path / "ledger"))
    near = {index for place in flagged for index in range(place - 2, place + 3)}
    assert 0 < len(flagged) < 20
    assert (shown.chunks, [chunk["index"] for chunk in shown.held]) == (len(rows), sorted(near & set(range(len(rows)))))


def test_texts_are_bounded(tmp_path: Path) -> None:
    """However much there is of it, and however it is escaped: bytes and documents stay within what is set."""
    body = "<&>" * 60 + prose(60) + "\n"
    files: dict[str, str | bytes] = {
        f"d{number:04}.md": f"# <{number}>\n\n{body}" for number in range(MOST_DOCUMENTS + 50)
    }
    ingest([write(tmp_path / "docs", files)], tmp_path / "ledger", Settings(max_tokens=4000, slot_tokens=4000))
    found = _page_texts(open_ledger(tmp_path / "ledger"))
    assert 10 < len(found) <= MOST_DOCUMENTS
    assert len(script_json([shown.held for shown in found]).encode()) < MOST_BYTES


def test_documents_that_would_be_too_much_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planned by counts is checked again by bytes."""
    ingest([write(tmp_path / "docs", {"a.md": "\x01" * 900, "b.md": "One.\n"})], tmp_path / "ledger")
    monkeypatch.setattr(texts, "MOST_BYTES", 1000)
    assert [shown.doc_id for shown in _page_texts(open_ledger(tmp_path / "ledger"))] == ["b.md"]


@pytest.mark.parametrize(
    "text", ["</script><!-- ]]>", "\u2028\u2029", "\x00\x1b\x9b\u202e\U0001f600\ue000\U000f0000", '"\\']
)
def test_json_stays_in_its_element(text: str) -> None:
    """It is ASCII where something would not show, holds no markup, and says the same."""
    written = script_json({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert written.isprintable()
    assert set(written) & set("<>&") == set()
