"""Counts in several encodings: of one run, and added to a ledger later."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from chunkledger import LedgerError, Settings, SettingsError, ingest, open_ledger, verify
from chunkledger.packer.counts import open_counts
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.recount import count_mismatches
from chunkledger.records.schema import COUNT_COLUMNS, SCHEMA
from chunkledger.recounting import recount
from chunkledger.store.count_index import write_count_index
from chunkledger.store.runs import runs
from disagreeing import counting_wrong
from ledgers import SAMPLE_CORPUS, cli, names_below, sections, write
from markdown_texts import all_settings, document, texts

Row = dict[str, Any]
many = hypothesis_settings(max_examples=60)
BOTH = Settings(
    max_tokens=120, overlap_tokens=20, parent_tokens=400, encoding="cl100k_base", further_encodings=("o200k_base",)
)
FIRST = replace(BOTH, further_encodings=())


def _rows(ledger: Path) -> list[Row]:
    rows: list[Row] = open_ledger(ledger).chunks(role="all").to_pylist()
    return rows


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of the sample corpus in two encodings."""
    folder = tmp_path_factory.mktemp("both")
    ingest([SAMPLE_CORPUS], folder / "ledger", BOTH)
    return folder / "ledger"


@many
@given(texts, all_settings())
def test_further_encodings_add_columns_and_change_none(text: str, settings: Settings) -> None:
    """Every count of every encoding is that of its string, and the other columns are what they are without it."""
    [other] = {"cl100k_base", "o200k_base"} - {settings.encoding}
    alone = chunk_batch([document(text)], settings).to_pylist()
    rows = chunk_batch([document(text)], replace(settings, further_encodings=(other,))).to_pylist()
    assert [{name: row[name] for name in SCHEMA.names} for row in rows] == alone
    assert list(count_mismatches(rows, {})) == []


@many
@given(texts, all_settings())
def test_counts_do_not_depend_on_which_encoding_cut(text: str, settings: Settings) -> None:
    """Where both encodings cut alike, the counts of one as a further encoding are those that it has as the first."""
    whole = replace(settings, max_tokens=100_000, target_tokens=None, overlap_tokens=0, split_headings=6)
    [other] = {"cl100k_base", "o200k_base"} - {settings.encoding}
    rows = chunk_batch([document(text)], replace(whole, further_encodings=(other,))).to_pylist()
    first = chunk_batch([document(text)], replace(whole, encoding=other)).to_pylist()
    columns = [name for name in COUNT_COLUMNS if name != "embed_tokens"]
    assert [[row[f"{name}_{other}"] for name in columns] for row in rows] == [
        [row[name] for name in columns] for row in first
    ]


def test_recounted_ledger_is_that_of_one_run(both: Path, tmp_path: Path) -> None:
    """Every column, of parents too, and after a later ingest that does not ask for the encoding."""
    ledger = tmp_path / "ledger"
    before = ingest([SAMPLE_CORPUS], ledger, FIRST)
    ids = [row["chunk_id"] for row in _rows(ledger)]
    run = recount(ledger, "o200k_base")
    assert (run.number, run.chunks, run.changes.update) == (2, before.chunks, before.chunks)
    assert [row["chunk_id"] for row in _rows(ledger)] == ids
    assert _rows(ledger) == _rows(both)
    assert DeltaTable(str(ledger)).schema().to_json() == DeltaTable(str(both)).schema().to_json()
    assert verify(ledger).mismatches == []
    later = ingest([SAMPLE_CORPUS], ledger, FIRST)
    assert (later.changes.keep, _rows(ledger)) == (before.chunks, _rows(both))


def test_another_encoding_for_the_limits_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    """The ledger is then what a fresh run makes; an encoding that was further stays, and is named once."""
    write(tmp_path / "docs", {"a.md": sections(2)})
    for settings, encodings in (
        (FIRST, ("cl100k_base",)),
        (replace(FIRST, encoding="o200k_base"), ("o200k_base",)),
        (BOTH, ("cl100k_base", "o200k_base")),
        (FIRST, ("cl100k_base", "o200k_base")),
        (replace(FIRST, encoding="o200k_base"), ("o200k_base",)),
    ):
        ingest([tmp_path / "docs"], tmp_path / "ledger", settings)
        ledger = open_ledger(tmp_path / "ledger")
        assert (ledger.settings().encodings, verify(tmp_path / "ledger").mismatches) == (encodings, [])
    ingest([tmp_path / "docs"], tmp_path / "fresh", replace(FIRST, encoding="o200k_base"))
    assert _rows(tmp_path / "ledger") == _rows(tmp_path / "fresh")


def test_what_keeps_its_chunks_can_be_recounted(tmp_path: Path) -> None:
    """A document that failed, whose text is known from its chunks alone, is counted as well."""
    write(tmp_path / "docs", {"a.md": "\n\n  \n" + sections(3), "b.md": sections(2)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", FIRST)
    write(tmp_path / "docs", {"a.md": b"\xe5"})
    ingest([tmp_path / "docs"], tmp_path / "ledger", FIRST)
    recount(tmp_path / "ledger", "o200k_base")
    assert {row["doc_id"] for row in _rows(tmp_path / "ledger")} == {"a.md", "b.md"}
    assert verify(tmp_path / "ledger").mismatches == []


def test_what_cannot_be_recounted_changes_nothing(both: Path) -> None:
    """An encoding that is not known, or counted already, is a usage error."""
    before = names_below(both)
    for encoding, message in (("gpt2", "encoding 'gpt2' is not known"), ("o200k_base", "is counted in o200k_base")):
        with pytest.raises(SettingsError, match=message):
            recount(both, encoding)
        assert cli("recount", both, "--encoding", encoding).code == 2
    assert names_below(both) == before


def test_recount_on_the_command_line(tmp_path: Path) -> None:
    """It ends with the line that every run ends with, and writes nothing to standard output."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", "--encoding", "cl100k_base")
    done = cli("recount", tmp_path / "ledger", "--encoding", "o200k_base")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("every chunk is an update in the feed")
    assert done.err.splitlines()[1].startswith(
        "DONE run=2 documents=1 ok=1 skipped=0 failed=0 chunks=1 add=0 keep=0 move=0 update=1 "
    )
    exported = cli("export", tmp_path / "ledger").out
    assert '"token_count_o200k_base": 2' in exported


def test_several_encodings_on_the_command_line(tmp_path: Path) -> None:
    """The first is that of the limits."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    several = ("--encoding", "cl100k_base", "--encoding", "o200k_harmony", "--encoding", "o200k_base")
    assert cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", *several).code == 0
    assert open_ledger(tmp_path / "ledger").settings().encodings == ("cl100k_base", "o200k_harmony", "o200k_base")


def test_count_index_of_a_further_encoding(both: Path, tmp_path: Path) -> None:
    """It holds the counts of that encoding under the plain names, and parents beside chunks."""
    assert write_count_index(open_ledger(both), tmp_path / "counts.sqlite", "o200k_base") == len(_rows(both))
    with open_counts(tmp_path / "counts.sqlite") as counts:
        assert counts.encoding == "o200k_base"
        for row in _rows(both):
            [found] = counts.rows([row["chunk_id"]])
            assert found["rendered_tokens"] == row["rendered_tokens_o200k_base"]
            assert (found["role"], found["parent_id"]) == (row["role"], row["parent_id"])
    with pytest.raises(SettingsError, match="is not counted in 'o200k_harmony', but in cl100k_base, o200k_base"):
        write_count_index(open_ledger(both), tmp_path / "other.sqlite", "o200k_harmony")


def test_wrong_count_is_found_before_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What toktok counts wrong for one document alone is counted with tiktoken, which the run says."""
    write(tmp_path / "docs", {"a.md": sections(3), "zebra.md": sections(2)})
    for name in ("ledger", "right"):
        ingest([tmp_path / "docs"], tmp_path / name, FIRST)
    recount(tmp_path / "right", "o200k_base")
    counting_wrong(monkeypatch, lambda text: 'source="zebra.md"' in text)
    run = recount(tmp_path / "ledger", "o200k_base")
    assert (run.engine, len(run.notices)) == ("tiktoken", 1)
    assert "with tiktoken alone: the cross-check found zebra.md chunk 0: rendered_tokens_o200k_base" in run.notices[0]
    assert _rows(tmp_path / "ledger") == _rows(tmp_path / "right")
    parts = {name for name in names_below(tmp_path / "ledger") if name.startswith("part-00002")}
    assert parts == {Path(path).name for path in open_ledger(tmp_path / "ledger").part_paths()}


def test_self_test_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer that the self-test finds wrong is not used, and the run says why."""
    write(tmp_path / "docs", {"a.md": sections(3)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", FIRST)
    counting_wrong(monkeypatch, lambda text: "n't" in text)
    run = recount(tmp_path / "ledger", "o200k_base")
    assert run.engine == "tiktoken"
    assert run.notices[0].startswith("toktok disagrees with tiktoken")
    assert "self-test" in run.notices[0]


def test_ledger_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is an error of the ledger that names it, and the ledger stays as it was."""
    write(tmp_path / "docs", {"a.md": sections(3)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", FIRST)
    before = _rows(tmp_path / "ledger")

    def full(root: str, name: str, content: bytes | str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)

    monkeypatch.setattr("chunkledger.recounting.write_file", full)
    with pytest.raises(LedgerError, match="ledger can't be written: No space left on device"):
        recount(tmp_path / "ledger", "o200k_base")
    assert _rows(tmp_path / "ledger") == before


def test_run_that_is_given_up_leaves_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: `chunkledger runs` did not know of a recount that had failed."""
    write(tmp_path / "docs", {"a.md": sections(3)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", FIRST)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "part")

    monkeypatch.setattr("chunkledger.recounting.settle", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        recount(tmp_path / "ledger", "o200k_base")
    last, given_up = runs(str(tmp_path / "ledger"))
    assert (last.run, last.outcome, given_up.run, given_up.outcome) == (1, "published", 2, "failed")
    assert "No space left on device" in (given_up.error or "")
    assert not [name for name in names_below(tmp_path / "ledger") if "00002" in name and not name.startswith("_runs/")]
