"""The report's figures are those that a slow look at every record gives."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.summary import PERCENTILES, SIZES, SUMMARY_VERSION, Summary, summary
from ledgers import Row, cli, prose, rows_of, write

SETTINGS = Settings(max_tokens=300, min_tokens=120, slot_tokens=1600, slot_chunks=8)
TABLE = "| a | b |\n|---|---|\n" + "".join(f"| {number} | some words here |\n" for number in range(200))


@pytest.fixture(scope="module")
def found(ledger: Path) -> Summary:
    """Its report."""
    return summary(open_ledger(ledger), top=5, places=2)


def test_totals(found: Summary, rows: list[Row]) -> None:
    """Documents, chunks, flagged chunks and tokens are counted over all records."""
    assert (found.run, found.documents, found.chunks) == (1, len({row["doc_id"] for row in rows}), len(rows))
    assert found.flagged == sum(bool(row["flags"]) for row in rows) > 10
    assert found.tokens == sum(row["token_count"] for row in rows)
    assert found.rendered_tokens == sum(row["rendered_tokens"] for row in rows)
    assert found.settings == SETTINGS.as_dict() | {"target_tokens": 285}


@pytest.mark.parametrize("size", SIZES)
def test_percentiles_are_sizes_that_there_are(found: Summary, rows: list[Row], size: str) -> None:
    """At a percentile stands the smallest size that at least that share of the steps between chunks is below."""
    ordered = sorted(row[size] for row in rows)
    expected = {f"p{share}": ordered[math.ceil((len(rows) - 1) * share / 100)] for share in PERCENTILES if share < 100}
    assert found.percentiles[size] == expected | {"max": ordered[-1]}


def test_flags_by_cause(found: Summary, rows: list[Row]) -> None:
    """A chunk with two flags counts for both; the most frequent come first."""
    pairs = [(flag, row["flag_cause"], row["doc_id"]) for row in rows for flag in row["flags"]]
    chunks = Counter((flag, cause) for flag, cause, _ in pairs)
    documents = Counter((flag, cause) for flag, cause, _ in set(pairs))
    expected = sorted(((*pair, chunks[pair], documents[pair]) for pair in chunks), key=lambda row: (-row[2], row[:2]))
    assert [(entry.flag, entry.cause, entry.chunks, entry.documents) for entry in found.flags] == expected
    assert len(expected) > 2


def test_worst_documents(found: Summary, rows: list[Row]) -> None:
    """Documents with the most flagged chunks come first; equals by id."""
    flagged = Counter(row["doc_id"] for row in rows if row["flags"])
    of_all = Counter(row["doc_id"] for row in rows)
    expected = sorted(((count, doc_id) for doc_id, count in flagged.items()), key=lambda pair: (-pair[0], pair[1]))[:5]
    assert [(entry.doc_id, entry.flagged, entry.chunks) for entry in found.worst] == [
        (doc_id, count, of_all[doc_id]) for count, doc_id in expected
    ]


def test_places_are_the_largest_flagged_chunks(found: Summary, rows: list[Row]) -> None:
    """Of a document the largest chunks that are too big are shown; where none is, the smallest."""
    for document in found.worst:
        mine = [row for row in rows if row["doc_id"] == document.doc_id and row["flags"]]
        too_big = [row for row in mine if row["flags"] != ["under_min"]]
        sign = -1 if too_big else 1
        expected = sorted(too_big or mine, key=lambda row: (sign * row["rendered_tokens"], row["chunk_index"]))[:2]
        assert [
            (place.chunk_index, place.line_start, place.line_end, place.rendered_tokens, list(place.flags))
            for place in document.places
        ] == [
            (row["chunk_index"], row["line_start"], row["line_end"], row["rendered_tokens"], row["flags"])
            for row in expected
        ]
        assert [(place.cause, place.detail) for place in document.places] == [
            (row["flag_cause"], row["flag_detail"]) for row in expected
        ]


def test_equal_places_are_in_document_order(tmp_path: Path) -> None:
    """Regression: of chunks of equal size any could have been shown."""
    text = "\n".join(f"## S{number}\n\nSame words here.\n" for number in range(8))
    settings = Settings(max_tokens=20, split_headings=6)
    ingest([write(tmp_path / "docs", {"a.md": text})], tmp_path / "ledger", settings)
    [document] = summary(open_ledger(tmp_path / "ledger"), places=4).worst
    assert [place.chunk_index for place in document.places] == [0, 1, 2, 3]


def test_json_has_every_figure(ledger: Path) -> None:
    """The JSON output is the report's values, and the window that they were compared with."""
    done = cli("report", ledger, "--format", "json", "--window", "50000")
    values = summary(open_ledger(ledger), name=str(ledger))
    more = {"window": 50000, "fits_whole": values.fits_whole(50000), "gates": []}
    expected = json.loads(json.dumps(values.as_dict())) | more
    assert (done.code, done.err, json.loads(done.out)) == (0, "", expected)
    assert json.loads(done.out)["summary_version"] == SUMMARY_VERSION


def test_table_has_the_figures(ledger: Path, found: Summary) -> None:
    """The printed report holds totals, sizes, flags and documents."""
    done = cli("report", ledger)
    words = [line.split() for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(
        f"run 1: {found.documents} documents, {found.chunks} chunks, {found.flagged} flagged "
        f"({found.flagged / found.chunks:.1%})\n"
        "o200k_base: limit 300, target 285, least 120\nslot 1,600 for 8 chunks, 200 each\n"
    )
    for size in SIZES:
        assert [size, *(f"{value:,}" for value in found.percentiles[size].values())] in words
    for entry in found.flags:
        share = f"{entry.chunks / found.chunks:.1%}"
        assert [entry.flag, entry.cause, f"{entry.chunks}", share, f"{entry.documents}"] in [line[:5] for line in words]
    for document in found.worst:
        assert [document.doc_id, f"{document.flagged}", f"{document.chunks}"] in [line[:3] for line in words]


def test_top_limits_the_documents(ledger: Path) -> None:
    """Only so many documents are named."""
    done = cli("report", ledger, "--format", "json", "--top", "2")
    assert len(json.loads(done.out)["worst"]) == 2


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (
            1_000_000_000,
            r"rendered [\d,]+, 0% of a window of 1,[\d,]+: the whole corpus would fit, retrieval may not be",
        ),
        (0, r"rendered [\d,]+, 100% of a window of [\d,]+: the whole corpus would fit, retrieval may not be needed"),
        (-1, r"rendered [\d,]+, 1\.0 times a window of [\d,]+$"),
        (-40_000, r"rendered [\d,]+, \d+\.\d times a window of [\d,]+$"),
    ],
)
def test_window_that_holds_everything_is_told(ledger: Path, found: Summary, more: int, line: str) -> None:
    """Where the whole corpus fits, the report says so, in one line, up to the very token."""
    done = cli("report", ledger, "--window", f"{found.rendered_tokens + more}")
    assert re.search(line, done.out, re.MULTILINE) is not None
    assert ("would fit" in done.out) == (more >= 0) == found.fits_whole(found.rendered_tokens + more)


def test_ledger_without_flags_says_none(tmp_path: Path) -> None:
    """A clean ledger's tables of flags and documents are the word none."""
    settings = Settings(min_tokens=0)
    ingest([write(tmp_path / "docs", {"a.md": prose(3)})], tmp_path / "ledger", settings)
    values = summary(open_ledger(tmp_path / "ledger"))
    assert (values.flagged, values.flags, values.worst) == (0, (), ())
    titles = "Flags by cause\nnone\n\nDocuments with the most flagged chunks\nnone\n"
    assert titles in cli("report", tmp_path / "ledger").out
    assert "What to change" not in cli("report", tmp_path / "ledger").out


def test_empty_ledger_has_an_empty_report(tmp_path: Path) -> None:
    """No records are no sizes, and nothing fails."""
    ingest([write(tmp_path / "docs", {})], tmp_path / "ledger")
    values = summary(open_ledger(tmp_path / "ledger"))
    assert (values.documents, values.chunks, values.tokens, values.rendered_tokens) == (0, 0, 0, 0)
    assert values.percentiles == {size: {} for size in SIZES}
    done = cli("report", tmp_path / "ledger")
    assert (done.code, "0 documents, 0 chunks, 0 flagged" in done.out) == (0, True)
    assert done.out.endswith("no chunk: the ledger is empty\n")
    assert "would fit" not in done.out


def test_cause_and_detail_are_shown(tmp_path: Path) -> None:
    """A table over the limits is named with its lines, its rows and its flags."""
    settings = Settings(max_tokens=4000, slot_tokens=900, slot_chunks=2)
    ingest([write(tmp_path / "docs", {"t.md": TABLE})], tmp_path / "ledger", settings)
    [row] = rows_of(tmp_path / "ledger")
    line = [
        "t.md",
        "1",
        "1",
        "1-202",
        f"{row['rendered_tokens']:,}",
        "table,",
        "200",
        "rows",
        "(over_slot,",
        "over_share)",
    ]
    assert line in [found.split() for found in cli("report", tmp_path / "ledger").out.splitlines()]


def test_hostile_names_are_shown_escaped(tmp_path: Path) -> None:
    """Controls, bidi marks and markup in a document id reach the terminal as text."""
    name = "[bold]a[/bold]\x1b[31m\u202egnp.\nb:smile:.md"
    ingest([write(tmp_path / "docs", {name: "Short.\n"})], tmp_path / "ledger")
    done = cli("report", tmp_path / "ledger")
    assert "[bold]a[/bold]\\x1b[31m\\u202egnp.\\nb:smile:.md" in done.out
    assert [char for char in done.out if not char.isprintable() and char != "\n"] == []
