"""The README's examples of other splitters, run with these: `make test-splitters`, in an environment of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chunkledger import open_ledger
from chunkledger.counting.reference import reference_counts
from chunkledger.packer import pack, render
from chunkledger.verification import verify
from ledgers import SAMPLE_CORPUS, Outcome, Row, cli
from readme_blocks import blocks

SPLITTERS = ("langchain", "chonkie")
LARGE = ["--max-tokens", "600", "--slot-tokens", "4000"]


@pytest.fixture(scope="module", params=SPLITTERS)
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], Outcome, Path]:
    """The chunks that an example makes, what ingest says of them, and the ledger."""
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copytree(SAMPLE_CORPUS, folder / "sample_corpus")
    for name in ("blank.md", "empty.md"):
        (folder / "sample_corpus" / "inbox" / name).unlink()
    [example] = [block for block in blocks("py") if block.startswith(f"# {request.param}\n")]
    done = subprocess.run([sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    table = folder / f"{request.param}.jsonl"
    rows = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    given = ["--chunks", "--documents", folder / "sample_corpus", *LARGE]
    return rows, cli("ingest", table, *given, "--out", folder / "ledger"), folder / "ledger"


def test_texts_and_offsets_are_theirs(taken: tuple[list[Row], Outcome, Path]) -> None:
    """Every chunk is there, byte for byte; its offset is the one that was given, or was told to be none."""
    rows, done, ledger = taken
    assert done.code == 0
    records = open_ledger(ledger).chunks().to_pylist()
    by_document: dict[str, list[Row]] = {}
    for row in rows:
        by_document.setdefault(row["doc_id"], []).append(row)
    assert {row["doc_id"] for row in records} == set(by_document)
    wrong = 0
    for record in records:
        row = by_document[record["doc_id"]][record["chunk_index"]]
        assert record["text"] == row["text"]
        wrong += record["char_start"] is None
        assert record["char_start"] in (row["char_start"], None)
    assert wrong == 0 or "of its" in done.err


def test_counts_are_exact(taken: tuple[list[Row], Outcome, Path]) -> None:
    """All is recounted with tiktoken, alone and packed."""
    found = verify(taken[2])
    assert (found.mismatches, found.recounted) == ([], found.chunks)
    hits = open_ledger(taken[2]).chunks().to_pylist()[:40]
    packed = pack(hits, 3000, encoding="o200k_base")
    assert packed.used_tokens == int(reference_counts([render(packed)], "o200k_base")[0])


def test_the_report_says_what_is_to_blame(taken: tuple[list[Row], Outcome, Path]) -> None:
    """Their chunks of up to some 1,400 tokens have causes, lines, and advice."""
    found = json.loads(cli("report", taken[2], "--format", "json").out)
    assert found["percentiles"]["token_count"]["max"] > 600
    assert {"table", "code"} <= {each["cause"] for each in found["advice"]}
    assert all(place["line_start"] for held in found["worst"] for place in held["places"])
    assert all("chunkledger whatif" in each["command"] for each in found["advice"])
