"""An outlier of every cause is planted in the sample corpus, and in what another splitter made of it; each is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkledger.outliers.advice import meanings
from chunkledger.records.cut_away import looks_like
from ledgers import SAMPLE_CORPUS, cli
from other_splitter import OTHER_SPLITTER, written

OWN = {
    "table": ("finance/rates.md", "52-62"),
    "code": ("engineering/alarm-codes.md", "1-37"),
    "list": ("policies/security.md", "98-155"),
    "html": ("support/status-widget.md", "12-38"),
    "front_matter": ("legal/moved-pages.md", "1-39"),
    "unbroken_prose": ("legal/terms.md", "91-122"),
    "grapheme": ("inbox/label-proof.txt", "7"),
    "short_document": ("inbox/utf16.txt", "1-3"),
    "short_section": ("engineering/alarm-codes.md", "39-41"),
}
GIVEN = {
    "table": ("policies/travel.md", "135-203"),
    "code": ("api/webhooks.md", "71-79"),
    "list": ("policies/travel.md", "16-61"),
    "html": ("support/status-widget.md", "8-40"),
    "front_matter": ("legal/moved-pages.md", "1-39"),
    "unbroken_prose": ("engineering/postmortem-inc-0417.md", "34-38"),
    "foreign": ("engineering/runbook.md", "56-137"),
    "grapheme": ("inbox/label-proof.txt", "7"),
    "short_document": ("lab/rotterdam-0418", "chunk 0"),
    "short_section": ("engineering/alarm-codes.md", "39-41"),
}


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Ledgers of both."""
    made = tmp_path_factory.mktemp("planted")
    cli("ingest", SAMPLE_CORPUS, "--out", made / "own", "--slot-tokens", "4000")
    given = ["--chunks", "--documents", SAMPLE_CORPUS, "--slot-tokens", "4000"]
    assert cli("ingest", OTHER_SPLITTER, "--out", made / "given", *given).code == 0
    return {"own": made / "own", "given": made / "given"}


def test_the_table_of_chunks_is_that_of_the_sample_corpus() -> None:
    """What is kept of the other splitter is what it makes; `python tests/other_splitter.py` writes it anew."""
    assert OTHER_SPLITTER.read_text("utf-8") == written()


@pytest.mark.parametrize(("name", "planted"), [("own", OWN), ("given", GIVEN)])
def test_each_is_named_with_cause_document_and_lines(
    ledgers: dict[str, Path], name: str, planted: dict[str, tuple[str, str]]
) -> None:
    """The report of programs and of people both name it."""
    found = json.loads(cli("report", ledgers[name], "--format", "json", "--top", "100").out)
    places = {
        (place["cause"], place["doc_id"], _lines(place))
        for flag in found["flags"]
        for held in flag["held_by"]
        for place in held["places"]
    } | {
        (place["cause"], place["doc_id"], _lines(place)) for held in found["worst"] for place in held["places"]
    }  # fmt: skip
    assert {(cause, *where) for cause, where in planted.items()} <= places
    printed = cli("report", ledgers[name], "--top", "100").out
    for doc_id, lines in planted.values():
        assert doc_id in printed
        assert lines in printed


def _lines(place: dict[str, Any]) -> str:
    start, end = place["line_start"], place["line_end"]
    if start is None:
        return f"chunk {place['chunk_index']}"
    return f"{start}" if start == end else f"{start}-{end}"


def test_every_cause_is_planted() -> None:
    """No cause that there is has been forgotten; only another splitter can be to blame itself."""
    assert set(GIVEN) == set(meanings())
    assert set(OWN) == set(meanings()) - {"foreign"}


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("nd of a row | 3 |\n" + "| CL-1 | Not found |\n" * 6 + "| CL-2 | Ha", "table"),
        ("  return x\n" + "    if (a) {\n      b();\n    }\n" * 4 + "    c", "code"),
        ("key: 1\n" * 8, "code"),
        ("We went home.\nIt was late, and cold.\nNobody spoke (much).\nThen it rained.\n" * 3, None),
        ("- one;\n- two;\n- three\n" * 3, None),
        ("| a |", None),
        ("", None),
        (" \n\n", None),
        ("```\nx = 1;\n```\n" * 4, None),
    ],
)
def test_structure_that_was_cut_away(text: str, looks: str | None) -> None:
    """Rows without their header are a table for who reads them, and lines without their fence are code."""
    assert looks_like(text) == looks
