"""One run publishes its sources' chunks in one commit, counts what changed, and leaves nothing else behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import tiktoken
import toktok
from deltalake import DeltaTable

import chunkledger
from chunkledger import LedgerError, Run, Settings, SourceError, ingest, open_ledger, verify
from chunkledger.documents.sources import Selection
from chunkledger.runs.making import Step
from chunkledger.store.changes import ChangeCounts
from chunkledger.store.layout import content_hash
from disagreeing import Splitting, counting_wrong
from ledgers import SAMPLE_CORPUS, Row, large_corpus, names_below, prose, rows_of, sections, write

SMALL = Settings(max_tokens=200, split_headings=6)
DONE = re.compile(
    r"DONE run=\d+ documents=\d+ ok=\d+ skipped=\d+ failed=\d+ chunks=\d+ add=\d+ keep=\d+ move=\d+ update=\d+ "
    r"delete=\d+ flagged=\d+ seconds=\d+\.\d"
)
KEPT = {"add": 0, "keep": 0, "move": 0, "update": 0, "delete": 0}


def _run(folder: Path, settings: Settings = SMALL) -> Run:
    return ingest([folder / "docs"], folder / "ledger", settings)


def _changes(**counts: int) -> ChangeCounts:
    return ChangeCounts(**(KEPT | counts))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder whose `docs` give ten chunks in two documents, and a ledger of them."""
    write(tmp_path / "docs", {"a.md": sections(6), "b.md": sections(4)})
    run = _run(tmp_path)
    assert (run.chunks, run.changes) == (10, _changes(add=10))
    return tmp_path


def test_run_says_what_it_did(tmp_path: Path) -> None:
    """The counts of a run agree with the ledger it published."""
    run = ingest([SAMPLE_CORPUS], tmp_path / "ledger", Settings(min_tokens=300))
    rows = rows_of(tmp_path / "ledger")
    assert (run.number, run.chunks, run.changes) == (1, len(rows), _changes(add=len(rows)))
    assert (run.documents, run.ok, run.skipped, run.failed, run.exit_code) == (44, 37, 4, 3, 3)
    assert run.ok == len({row["doc_id"] for row in rows})
    assert run.flagged == sum(bool(row["flags"]) for row in rows) > 0
    assert run.tokens == sum(row["token_count"] for row in rows)
    assert (run.engine, run.notices) == ("toktok", ())
    assert DONE.fullmatch(run.done_line())


def test_findings_are_in_order_and_say_why(tmp_path: Path) -> None:
    """What is not in the ledger is told, in order of its id."""
    run = ingest([SAMPLE_CORPUS], tmp_path / "ledger")
    assert [(finding.doc_id, finding.status) for finding in run.findings] == [
        ("inbox/.draft.md", "skipped"),
        ("inbox/blank.md", "skipped"),
        ("inbox/empty.md", "skipped"),
        ("inbox/latin1.txt", "failed"),
        ("inbox/logo.png", "skipped"),
        ("inbox/scan.docx", "failed"),
        ("support/lost-in-transit.md", "failed"),
    ]


def test_repaired_document_counts_as_taken(tmp_path: Path) -> None:
    """A document with NUL bytes is ok, is in, and is told."""
    write(tmp_path / "docs", {"a.md": b"One\x00two.\n"})
    run = _run(tmp_path)
    assert (run.ok, run.failed, run.exit_code, [finding.status for finding in run.findings]) == (1, 0, 0, ["ok"])
    assert rows_of(tmp_path / "ledger")[0]["text"] == "One\ufffdtwo."


def test_nothing_changed_is_all_kept(corpus: Path) -> None:
    """A second run is one more commit, and changes no record."""
    before = rows_of(corpus / "ledger")
    run = _run(corpus)
    assert (run.number, run.changes, DeltaTable(corpus / "ledger").version()) == (2, _changes(keep=10), 1)
    assert run.unchanged == 2
    assert rows_of(corpus / "ledger") == before


def test_edit_touches_one_chunk(corpus: Path) -> None:
    """A word changed without a change of length takes one chunk away and gives one."""
    path = corpus / "docs" / "a.md"
    path.write_text(path.read_text().replace("The w3 of year 2 was 14", "The w3 of year 2 was 15"))
    assert _run(corpus).changes == _changes(add=1, delete=1, keep=9)


def test_edit_that_moves_what_follows(corpus: Path) -> None:
    """Chunks behind an edit that changes a length have moved; those before it and of other documents have not."""
    path = corpus / "docs" / "a.md"
    path.write_text(path.read_text().replace("The w3 of year 2 was 14", "The w3 of year 2 was 9,999"))
    assert _run(corpus).changes == _changes(add=1, delete=1, keep=7, move=2)


def test_deleted_section_moves_what_follows(corpus: Path) -> None:
    """What is deleted is deleted, and what stood behind it has moved."""
    path = corpus / "docs" / "a.md"
    text = path.read_text()
    path.write_text(text[: text.index("## Section 2")] + text[text.index("## Section 3") :])
    assert _run(corpus).changes == _changes(delete=1, keep=6, move=3)


def test_text_at_the_top_moves_the_whole_document(corpus: Path) -> None:
    """Ids do not change for what stands elsewhere in the document."""
    path = corpus / "docs" / "a.md"
    path.write_text(f"# New\n\n{prose(12)}\n\n{path.read_text()}")
    changes = _run(corpus).changes
    assert (changes.delete, changes.move, changes.keep) == (0, 6, 4)
    assert changes.add > 0


def test_renamed_document_is_another_one(corpus: Path) -> None:
    """A document's id is part of its chunks' ids."""
    (corpus / "docs" / "a.md").rename(corpus / "docs" / "c.md")
    assert _run(corpus).changes == _changes(add=6, delete=6, keep=4)


def test_deleted_document_is_gone(corpus: Path) -> None:
    """What is no longer in the sources is no longer in the ledger."""
    (corpus / "docs" / "a.md").unlink()
    assert _run(corpus).changes == _changes(delete=6, keep=4)
    assert {row["doc_id"] for row in rows_of(corpus / "ledger")} == {"b.md"}


def test_settings_that_change_no_cut_update(corpus: Path) -> None:
    """A template changes counts, not ids; a setting that no value depends on changes only the fingerprint."""
    assert _run(corpus, Settings(max_tokens=200, split_headings=6, template="markdown/1")).changes == _changes(
        update=10
    )
    assert _run(
        corpus, Settings(max_tokens=200, split_headings=6, template="markdown/1", slot_tokens=6001)
    ).changes == _changes(keep=10)


def test_settings_that_move_cuts_make_other_chunks(corpus: Path) -> None:
    """Under another limit the texts are others."""
    changes = _run(corpus, Settings(max_tokens=60)).changes
    assert (changes.delete, changes.keep) == (10, 0)
    assert changes.add > 10


def test_after_any_history_the_same_as_from_scratch(corpus: Path) -> None:
    """A ledger that went through edits and settings holds what a fresh one holds."""
    _run(corpus, Settings(max_tokens=60))
    write(corpus / "docs", {"a.md": sections(3), "c.md": sections(2)})
    _run(corpus)
    ingest([corpus / "docs"], corpus / "fresh", SMALL)
    assert rows_of(corpus / "ledger") == rows_of(corpus / "fresh")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Run]]:
    """A corpus of several units, ingested by one process and by two."""
    folder = tmp_path_factory.mktemp("large")
    source = large_corpus(folder / "docs")
    settings = Settings(max_tokens=2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkledger.engines.local.BYTES_FOR_A_WORKER", 1_000_000)
        return folder, [ingest([source], folder / f"jobs{jobs}", settings, jobs=jobs) for jobs in (1, 2)]


def test_number_of_processes_does_not_show(large: tuple[Path, list[Run]]) -> None:
    """One process and two write the same parts, so the same records in the same order."""
    folder, runs = large
    paths = [open_ledger(folder / f"jobs{jobs}").part_paths() for jobs in (1, 2)]
    assert [Path(path).name for path in paths[0]] == [Path(path).name for path in paths[1]]
    assert [Path(path).read_bytes() for path in paths[0]] == [Path(path).read_bytes() for path in paths[1]]
    assert (len(paths[0]), runs[0].changes) == (3, runs[1].changes)


def test_parts_follow_each_other_in_document_order(large: tuple[Path, list[Run]]) -> None:
    """Over all parts, records are by document and place."""
    table = open_ledger(large[0] / "jobs2").chunks(["doc_id", "chunk_index"])
    places = list(zip(table.column("doc_id").to_pylist(), table.column("chunk_index").to_pylist(), strict=True))
    assert places == sorted(set(places))


def test_progress_tells_documents(tmp_path: Path) -> None:
    """Progress begins with nothing done, and ends with all documents, all bytes, and the chunks that they gave."""
    told: list[Step] = []
    write(tmp_path / "docs", {"a.md": "x", "b.md": "x"})
    ingest([tmp_path / "docs"], tmp_path / "ledger", progress=told.append)
    assert told == [Step(0, 2, 0, 2, 0), Step(2, 2, 2, 2, 2)]


def test_nothing_but_the_ledger_is_left(corpus: Path) -> None:
    """Below the root are the log, the runs' parts, changes, documents and reports, named after their content."""
    write(corpus / "docs", {"a.md": sections(5)})
    _run(corpus)
    ledger = corpus / "ledger"
    names = names_below(ledger) - {"_lock"}
    patterns = [
        r"part-0000[12]-0000[01]-H\.parquet",
        r"_changes/00002-H\.parquet",
        r"_documents/0000[12]-H\.parquet",
        r"_runs/0000[12]-H\.json",
    ]
    patterns = [pattern.replace("H", "[0-9a-f]{16}") for pattern in patterns] + [r"_delta_log/0{19}[01]\.json"]
    assert sorted(sum(bool(re.fullmatch(pattern, name)) for name in names) for pattern in patterns) == [1, 2, 2, 2, 2]
    assert len(names) == 9
    for name in names - {f"_delta_log/{version:020}.json" for version in (0, 1)}:
        assert content_hash((ledger / name).read_bytes()) in name


def test_table_of_documents_has_every_file(tmp_path: Path) -> None:
    """What a run saw of each file is there, for those that are not in the ledger too."""
    ingest([SAMPLE_CORPUS], tmp_path / "ledger")
    rows = {row["doc_id"]: row for row in open_ledger(tmp_path / "ledger").documents().to_pylist()}
    status = (SAMPLE_CORPUS / "faq.md").stat()
    faq = rows["faq.md"]
    assert len(rows) == 44
    assert (faq["size"], faq["mtime_ns"], faq["status"], faq["reason"]) == (
        status.st_size,
        status.st_mtime_ns,
        "ok",
        "",
    )
    assert {name: row["status"] for name, row in rows.items() if row["status"] != "ok"} == {
        "inbox/.draft.md": "skipped",
        "inbox/blank.md": "skipped",
        "inbox/empty.md": "skipped",
        "inbox/latin1.txt": "failed",
        "inbox/logo.png": "skipped",
        "inbox/scan.docx": "failed",
        "support/lost-in-transit.md": "failed",
    }


def test_report_of_the_run(tmp_path: Path) -> None:
    """The report says what was done with what, in keys that programs may rely on."""
    source = write(tmp_path / "docs", {"a.md": "One.\n", "b.png": "x"})
    ingest([f"hb={source}"], tmp_path / "ledger", SMALL)
    found = open_ledger(tmp_path / "ledger").report()
    assert list(found) == [
        "report_version",
        "run",
        "error",
        "started",
        "sources",
        "selection",
        "settings",
        "versions",
        "schema_version",
        "engine",
        "notices",
        "counts",
        "findings",
        "findings_in_all",
        "seconds",
        "peak_bytes",
    ]
    assert (found["run"], found["sources"]) == (1, [{"name": "hb", "path": str(source), "pattern": ""}])
    assert (found["settings"], found["engine"], found["notices"]) == (SMALL.as_dict(), "toktok", [])
    assert found["versions"]["chunkledger"] == chunkledger.__version__
    assert {"tiktoken", "toktok-rs", "pyromark", "sentencex", "pyarrow"} < set(found["versions"])
    assert found["findings"] == [{"doc_id": "hb/b.png", "status": "skipped", "reason": "an image (.png)", "row": 0}]
    assert found["counts"] == {
        "documents": 2,
        "ok": 1,
        "skipped": 1,
        "failed": 0,
        "kept": 0,
        "unchanged": 0,
        "renamed": 0,
        "chunks": 1,
        "add": 1,
        "keep": 0,
        "move": 0,
        "update": 0,
        "delete": 0,
        "flagged": 1,
        "tokens": 2,
    }
    assert list(found["seconds"]) == [
        "wall", "cpu_look", "cpu_changes", "cpu_read", "cpu_split", "cpu_check", "cpu_write",
    ]  # fmt: skip
    assert (found["error"], found["peak_bytes"]["driver"] > 10_000_000) == (None, True)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", found["started"])


def test_commit_names_the_files_of_its_run(corpus: Path) -> None:
    """Each commit of the log names the table of documents and the report of its own run."""
    _run(corpus)
    commits = [json.loads(entry["chunkledger"]) for entry in DeltaTable(corpus / "ledger").history()]
    assert [found["run"] for found in commits] == [2, 1]
    for found in commits:
        assert json.loads((corpus / "ledger" / found["report"]).read_text())["run"] == found["run"]
        assert pq.ParquetFile(corpus / "ledger" / found["documents"]).read().num_rows == 2


def test_failed_documents_alone_give_an_empty_ledger(tmp_path: Path) -> None:
    """A run in which nothing could be taken is published, and says so."""
    write(tmp_path / "docs", {"a.md": b"\xff", "b.docx": ""})
    run = _run(tmp_path)
    assert (run.documents, run.ok, run.failed, run.chunks, run.exit_code) == (2, 0, 2, 0, 3)
    assert rows_of(tmp_path / "ledger") == []


def test_empty_folder_gives_an_empty_ledger_that_can_grow(tmp_path: Path) -> None:
    """No documents are a ledger without records; the next run adds to it, the one after takes all away."""
    write(tmp_path / "docs", {})
    assert (_run(tmp_path).chunks, rows_of(tmp_path / "ledger")) == (0, [])
    write(tmp_path / "docs", {"a.md": "One.\n"})
    assert _run(tmp_path).changes == _changes(add=1)
    (tmp_path / "docs" / "a.md").unlink()
    assert (_run(tmp_path).changes, rows_of(tmp_path / "ledger")) == (_changes(delete=1), [])


def test_ledger_inside_its_source_is_not_read(tmp_path: Path) -> None:
    """A ledger may lie below the folder that it is of."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    ledger = tmp_path / "docs" / "ledger"
    assert [ingest([tmp_path / "docs"], ledger).chunks for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("out", ["file", "file/ledger"])
def test_file_in_the_ledgers_place_is_an_error(tmp_path: Path, out: str) -> None:
    """Where a file is, no ledger can be, and the file is left alone."""
    write(tmp_path, {"docs/a.md": "One.\n", "file": "mine"})
    with pytest.raises(LedgerError, match=r"is a file; a ledger is a folder|can't be written: Not a directory"):
        ingest([tmp_path / "docs"], tmp_path / out)
    assert (tmp_path / "file").read_text() == "mine"


def test_no_source_is_an_error(tmp_path: Path) -> None:
    """A run without sources would delete everything."""
    with pytest.raises(SourceError, match="no source given"):
        ingest([], tmp_path / "ledger")


def test_source_that_is_not_there_changes_nothing(corpus: Path) -> None:
    """One missing source stops the run before anything is written, but for a report that says so."""
    before = names_below(corpus)
    with pytest.raises(SourceError, match="no such file or folder"):
        ingest([corpus / "docs", corpus / "nowhere"], corpus / "ledger", SMALL)
    [report] = names_below(corpus) - before
    assert report.startswith("ledger/_runs/00002-")
    assert open_ledger(corpus / "ledger").run == 1


def test_format_of_the_settings_counts_with_any_selection(tmp_path: Path) -> None:
    """Regression: with a selection for the globs, the format that the settings chose was not used."""
    write(tmp_path / "docs", {"a.md": "# Rates\n\nTen.\n", "b.md": "x"})
    selection = Selection(include=("a*",))
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings(format="plain"), selection=selection)
    assert [(row["doc_id"], row["heading_path"]) for row in rows_of(tmp_path / "ledger")] == [("a.md", [])]


def test_source_below_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    """Regression: the path of such a source stopped the run at its report."""
    folder = Path(str(tmp_path / "caf\udce9"))
    write(folder, {"a.md": "One.\n"})
    assert ingest([folder], tmp_path / "ledger").chunks == 1
    assert verify(tmp_path / "ledger").compared == 1


# A tokenizer that miscounts must not be believed. toktok is patched where it would be wrong: in what it counts, or in
# where it says that tokens end.


def _right_rows(folder: Path, source: Path) -> list[Row]:
    ingest([source], folder / "right", SMALL)
    return rows_of(folder / "right")


def _check_recounted(folder: Path, run: Run, expected: list[Row], why: str) -> None:
    assert run.engine == "tiktoken"
    assert [notice.partition(": ")[0] for notice in run.notices] == [
        "toktok disagrees with tiktoken, so this run counts with tiktoken alone"
    ]
    assert run.notices[0].partition(": ")[2].startswith(why)
    assert rows_of(folder / "ledger") == expected
    report = open_ledger(folder / "ledger").report()
    assert (report["engine"], report["notices"]) == ("tiktoken", list(run.notices))
    parts = {name for name in names_below(folder / "ledger") if name.startswith("part-")}
    assert parts == {Path(path).name for path in open_ledger(folder / "ledger").part_paths()}


def test_self_test_finds_a_tokenizer_that_counts_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by one for some strings is found before anything is counted, and the run goes on with tiktoken alone."""
    source = write(tmp_path / "docs", {"a.md": sections(3), "b.md": "I don't.\n"})
    expected = _right_rows(tmp_path, source)
    counting_wrong(monkeypatch, lambda text: "n't" in text)
    run = _run(tmp_path)
    _check_recounted(tmp_path, run, expected, "the self-test found ")
    assert verify(tmp_path / "ledger").mismatches == []


def test_cross_check_finds_wrong_counts_of_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that is wrong only for one document's header passes the self-test, and is found before the commit."""
    source = write(tmp_path / "docs", {"a.md": sections(3), "zebra.md": "I do.\n"})
    expected = _right_rows(tmp_path, source)
    counting_wrong(monkeypatch, lambda text: 'source="zebra.md"' in text)
    run = _run(tmp_path)
    _check_recounted(tmp_path, run, expected, "the cross-check found zebra.md chunk 0: rendered_tokens is ")
    assert verify(tmp_path / "ledger").mismatches == []


def test_cross_check_finds_wrong_token_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts may be right and token ends wrong: the same records are found wrong, and recounted."""
    source = write(tmp_path / "docs", {"a.md": sections(3), "b.md": f"A zebra. {prose(4)}\n"})
    expected = _right_rows(tmp_path, source)
    right = toktok._encoding
    monkeypatch.setattr(toktok, "_encoding", lambda name: Splitting(right(name), "A zebra."))
    run = _run(tmp_path)
    _check_recounted(tmp_path, run, expected, "the cross-check found b.md chunk 0: token_count is ")
    assert verify(tmp_path / "ledger", sample=1).recounted == 1


def test_cross_check_looks_at_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong count in the last of several units is found, and every part is made again."""
    files = {f"{name}.md": sections(2) for name in "abc"} | {"z-zebra.md": "I do.\n"}
    source = write(tmp_path / "docs", files)
    expected = _right_rows(tmp_path, source)
    monkeypatch.setattr("chunkledger.planning.placement.LEAST_PART_BYTES", 1)
    counting_wrong(monkeypatch, lambda text: 'source="z-zebra.md"' in text)
    run = _run(tmp_path)
    _check_recounted(tmp_path, run, expected, "the cross-check found z-zebra.md chunk 0: ")
    assert len(open_ledger(tmp_path / "ledger").part_paths()) > 1


def test_counts_that_tiktoken_does_not_confirm_are_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where counting with tiktoken does not mend a wrong count either, nothing is published, and a report says why."""
    write(tmp_path / "docs", {"a.md": "One zebra.\n"})
    right = tiktoken.Encoding.encode_ordinary

    def more_than_its_parts(self: tiktoken.Encoding, text: str) -> list[int]:
        return right(self, text) + [0] * ("zebra" in text and text.startswith("<chunk"))

    monkeypatch.setattr(tiktoken.Encoding, "encode_ordinary", more_than_its_parts)
    with pytest.raises(LedgerError, match=r"chunkledger itself is at fault: a\.md chunk 0: rendered_tokens is"):
        _run(tmp_path)
    names = names_below(tmp_path / "ledger") - {"_lock"}
    [report] = [json.loads((tmp_path / "ledger" / name).read_text()) for name in names]
    assert report["error"].startswith("a count is wrong though tiktoken counted")


def test_ledger_in_the_place_of_its_source_is_an_error(tmp_path: Path) -> None:
    """A folder can't be source and ledger at once: each run would read what the last one wrote."""
    folder = write(tmp_path / "docs", {"a.md": "One.\n"})
    with pytest.raises(SourceError, match="can't be the source itself"):
        ingest([folder], tmp_path / "docs")
    assert names_below(folder) == {"a.md"}


def test_sources_without_a_document_are_told(corpus: Path) -> None:
    """A source that was full and is empty, as where a folder is not mounted, is published and told of."""
    for path in (corpus / "docs").iterdir():
        path.unlink()
    run = _run(corpus)
    assert (run.chunks, run.changes.delete) == (0, 10)
    [notice] = run.notices
    assert notice.startswith("the sources hold no document now, so all 10 chunks are gone from the ledger")


def test_one_source_needs_no_list(tmp_path: Path) -> None:
    """Regression: a path that is a string was read letter by letter."""
    source = write(tmp_path / "docs", {"a.md": "One.\n"})
    for number, given in enumerate((str(source), source, [source])):
        assert ingest(given, tmp_path / str(number)).ok == 1


def test_error_without_a_file_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: where pyarrow gives an error neither number nor file, the message was "None (None)"."""
    write(tmp_path / "docs", {"a.md": "One.\n"})

    def failing(*_: object) -> None:
        raise OSError("ZSTD compression failed: Allocation error")

    monkeypatch.setattr("chunkledger.engines.units.part_content", failing)
    with pytest.raises(LedgerError, match=r"ledger can't be written: ZSTD compression failed: Allocation error$"):
        _run(tmp_path)
