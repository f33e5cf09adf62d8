"""What is unchanged is neither read nor split, and what has changed is found out cheaply and surely."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import LedgerError, Run, Settings, SettingsError, SourceError, ingest, open_ledger, plan_ingest
from chunkledger.documents import files, tables
from chunkledger.documents.entries import Entries
from chunkledger.documents.sources import Entry, Selection
from chunkledger.engines import units
from chunkledger.planning import anew, placement, states
from chunkledger.planning.matching import Matched
from chunkledger.store.changes import ChangeCounts
from chunkledger.store.documents_table import DocumentState, documents_table
from chunkledger.store.runs import runs
from ledgers import Row, names_below, prose, rows_of, sections, write

SMALL = Settings(max_tokens=200, split_headings=6)
OLD = 1_700_000_000


def _age(folder: Path, seconds: int = OLD) -> None:
    """Give every file a time that is long ago, so that its stamp can be trusted."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (seconds, seconds))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Four documents in `docs`, written long ago, and a ledger of them."""
    write(tmp_path / "docs", {f"{name}.md": sections(3) for name in "abcd"})
    _age(tmp_path / "docs")
    ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL)
    return tmp_path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are read from now on, in order."""
    found: list[str] = []

    right = files.content

    def content(path: str, most: int) -> bytes:
        found.append(Path(path).name)
        return right(path, most)

    monkeypatch.setattr(files, "content", content)
    return found


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the documents that are parsed and counted from now on."""
    found: list[str] = []
    right = units.records_of

    def records_of(documents: Sequence[units.Document], *more: object) -> object:
        found.extend(document.doc_id for document in documents)
        return right(documents, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(units, "records_of", records_of)
    return found


def _run(folder: Path, settings: Settings = SMALL, **more: object) -> Run:
    return ingest([folder / "docs"], folder / "ledger", settings, **more)  # type: ignore[arg-type]


def _changed(run: Run) -> int:
    return run.changes.add + run.changes.move + run.changes.update + run.changes.delete


def test_unchanged_file_is_not_even_opened(corpus: Path, read: list[str], split: list[str]) -> None:
    """A stat tells that it is what it was."""
    run = _run(corpus)
    assert (read, split, run.unchanged, run.changes) == ([], [], 4, ChangeCounts(keep=12))


def test_unchanged_run_writes_no_part(corpus: Path) -> None:
    """Nothing is added; the run is one more commit, with its table of documents and its report."""
    before = names_below(corpus / "ledger")
    _run(corpus)
    new = {name.partition("/")[0] for name in names_below(corpus / "ledger") - before}
    assert new == {"_delta_log", "_documents", "_runs"}


def test_tokenizer_is_not_asked_where_nothing_is_to_be_counted(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables take longer to load than all the rest of such a run."""
    monkeypatch.setattr("chunkledger.engines.local.disagreements", lambda encoding: pytest.fail("it was asked"))
    assert _run(corpus).unchanged == 4


def test_touched_file_is_read_and_not_split(corpus: Path, read: list[str], split: list[str]) -> None:
    """Another time with the same content costs a hash once."""
    _age(corpus / "docs", OLD + 1)
    assert (_run(corpus).unchanged, read, split) == (4, ["a.md", "b.md", "c.md", "d.md"], [])
    read.clear()
    assert (_run(corpus).unchanged, read) == (4, [])


def test_file_of_another_size_is_read_once(corpus: Path, read: list[str], split: list[str]) -> None:
    """There is nothing to compare its hash with."""
    write(corpus / "docs", {"b.md": sections(4)})
    run = _run(corpus)
    assert (read, split, run.changes) == (["b.md"], ["b.md"], ChangeCounts(add=1, update=1, keep=11))


def test_file_that_was_replaced_is_noticed(corpus: Path, split: list[str]) -> None:
    """Another file of the same size and time is another inode."""
    text = (corpus / "docs" / "b.md").read_text().replace("w1 of year 2 was 14", "w1 of year 2 was 15")
    write(corpus, {"new.md": text})
    os.utime(corpus / "new.md", (OLD, OLD))
    (corpus / "new.md").replace(corpus / "docs" / "b.md")
    assert (_changed(_run(corpus)), split) == (2, ["b.md"])


def test_file_that_was_written_in_the_moment_of_the_run_is_read_again(corpus: Path, split: list[str]) -> None:
    """Regression guard for a race: a second write in the same tick of the clock changes neither size nor time."""
    path = corpus / "docs" / "b.md"
    path.write_text(path.read_text().replace("w1 of year 2 was 14", "w1 of year 2 was 15"))
    status = path.stat()
    _run(corpus)
    path.write_text(path.read_text().replace("w1 of year 2 was 15", "w1 of year 2 was 16"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_ino) == (status.st_size, status.st_ino)
    split.clear()
    assert (_changed(_run(corpus)), split) == (2, ["b.md"])


def test_rehash_finds_what_no_stamp_tells(corpus: Path, read: list[str], split: list[str]) -> None:
    """A change that somebody hid from the clock is found when everything is read."""
    path = corpus / "docs" / "b.md"
    path.write_text(path.read_text().replace("w1 of year 2 was 14", "w1 of year 2 was 15"))
    os.utime(path, (OLD, OLD))
    assert (_changed(_run(corpus)), split) == (0, [])
    assert (_changed(_run(corpus, rehash=True)), split) == (2, ["b.md"])
    assert read.count("a.md") == 1


def test_renamed_document_is_recognised(corpus: Path) -> None:
    """Its chunks are told by what they were called, and their vectors can stay where the embed text is equal."""
    before = {row["chunk_id"]: row for row in rows_of(corpus / "ledger")}
    (corpus / "docs" / "b.md").rename(corpus / "docs" / "e.md")
    run = _run(corpus)
    assert (run.renamed, run.changes) == (1, ChangeCounts(add=3, delete=3, keep=9))
    rows = open_ledger(corpus / "ledger").feed(1).to_pylist()
    added = [row for row in rows if row["operation"] == "add"]
    assert [before[row["previous_chunk_id"]]["text"] for row in added] == [row["text"] for row in added]
    assert {(row["operation"], row["embed_needed"]) for row in rows} == {("add", False), ("delete", False)}


def test_copied_document_is_no_renamed_one(corpus: Path) -> None:
    """The one that it was copied from is still there."""
    shutil.copy(corpus / "docs" / "b.md", corpus / "docs" / "e.md")
    assert (_run(corpus).renamed, open_ledger(corpus / "ledger").feed(1).column("embed_needed").to_pylist()) == (
        0,
        [True] * 3,
    )


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_rows_are_recognised(tmp_path: Path, split: list[str], suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that has not changed is not read; of one that has, the rows that have are split."""
    rows: list[Row] = [{"id": f"r{number}", "text": prose(3, f"w{number}"), "n": number} for number in range(5)]
    path = tmp_path / "docs" / f"t.{suffix}"
    asked: list[str] = []
    right = tables.rows_in
    monkeypatch.setattr("chunkledger.engines.local.rows_in", lambda t, *more: asked.append(t.doc_id) or right(t, *more))

    def save() -> None:
        path.parent.mkdir(exist_ok=True)
        if suffix == "jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            pq.write_table(pa.Table.from_pylist(rows), path)
        os.utime(path, (OLD + len(asked), OLD + len(asked)))

    save()
    _run(tmp_path)
    assert (sorted(split), asked) == ([f"r{number}" for number in range(5)], [f"t.{suffix}"])
    split.clear()
    asked.clear()
    assert (_run(tmp_path).unchanged, split, asked) == (5, [], [])
    rows[1]["n"] = 9
    rows[2]["text"] = prose(3, "v2")
    rows.insert(0, rows.pop())
    asked.append("")
    save()
    assert (_run(tmp_path).unchanged, sorted(split)) == (3, ["r1", "r2"])
    ingest([tmp_path / "docs"], tmp_path / "fresh", SMALL)
    assert rows_of(tmp_path / "ledger") == rows_of(tmp_path / "fresh")


def test_table_with_a_bad_row_is_read_again(tmp_path: Path) -> None:
    """What failed is tried again, and everything that can be told of the table is told again."""
    write(tmp_path / "docs", {"t.jsonl": '{"id": "a", "text": "One."}\n{"id": "b", "text": null}\n'})
    _age(tmp_path / "docs")
    assert [(run.ok, run.failed, run.unchanged) for run in (_run(tmp_path), _run(tmp_path))] == [(1, 1, 0), (1, 1, 1)]


def test_findings_of_unchanged_documents_are_told_again(tmp_path: Path) -> None:
    """A run says of every document what there is to say, whether it was read or not."""
    write(tmp_path / "docs", {"a.md": b"One\x00.\n", "b.md": " \n", "c.md": "One.\n"})
    _age(tmp_path / "docs")
    runs = [_run(tmp_path) for _ in range(2)]
    assert runs[0].findings == runs[1].findings
    assert [(run.ok, run.skipped, run.failed) for run in runs] == [(2, 1, 0)] * 2
    assert runs[1].unchanged == 3


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(max_tokens=90, split_headings=6), "max_tokens 200 -> 90"),
        (Settings(max_tokens=200, split_headings=6, further_encodings=("cl100k_base",)), "further_encodings none -> "),
        (Settings(max_tokens=200, split_headings=6, slot_tokens=7), "slot_tokens 6000 -> 7"),
    ],
)
def test_other_settings_split_everything_and_say_so_before(
    corpus: Path, split: list[str], settings: Settings, why: str
) -> None:
    """The operator can stop a run that was not meant."""
    told: list[tuple[str, int]] = []
    run = _run(corpus, settings, notify=lambda message: told.append((message, len(split))))
    assert (sorted(split), run.unchanged) == (["a.md", "b.md", "c.md", "d.md"], 0)
    [(message, done)] = told
    assert (message.startswith(why), message.endswith("all 4 documents are split anew"), done) == (True, True, 0)


@pytest.mark.parametrize(("what", "value"), [("SCHEMA_VERSION", 9), ("MAKERS", ("pyromark", "tiktoken"))])
def test_another_schema_or_version_splits_everything(
    corpus: Path, split: list[str], monkeypatch: pytest.MonkeyPatch, what: str, value: object
) -> None:
    """What another release would make of a document may be another thing."""
    if what == "MAKERS":
        monkeypatch.setattr(anew, "installed", lambda name: "99")
    else:
        monkeypatch.setattr(anew, what, value)
    told: list[str] = []
    assert _run(corpus, notify=told.append).changes == ChangeCounts(keep=12)
    assert (len(split), len(told)) == (4, 1)


def test_other_selection_reads_the_tables_again(tmp_path: Path) -> None:
    """A row that was not wanted is not known, though its table is what it was."""
    write(tmp_path / "docs", {"t.jsonl": '{"id": "a", "text": "One."}\n{"id": "b", "text": "Two."}\n'})
    _age(tmp_path / "docs")
    _run(tmp_path, selection=Selection(exclude=("b",)))
    assert (_run(tmp_path).changes, len(rows_of(tmp_path / "ledger"))) == (ChangeCounts(add=1, keep=1), 2)


def _many(folder: Path, count: int) -> None:
    write(folder / "docs", {f"{number:03}.md": "One.\n" for number in range(count)})
    _age(folder / "docs")


@pytest.mark.parametrize(("deleted", "allowed"), [(10, True), (11, False), (30, False)])
def test_many_deletes_stop_the_run(tmp_path: Path, deleted: int, allowed: bool) -> None:
    """More than a tenth, and more than ten documents, are not deleted unless somebody says so; nothing is published."""
    _many(tmp_path, 60)
    _run(tmp_path)
    before = rows_of(tmp_path / "ledger")
    for number in range(deleted):
        (tmp_path / "docs" / f"{number:03}.md").unlink()
    if allowed:
        assert _run(tmp_path).changes.delete == deleted
        return
    with pytest.raises(LedgerError) as caught:
        _run(tmp_path)
    told = (
        f"{deleted} of the ledger's 60 documents ({deleted / 60:.0%}) are not in the sources now, and at most 10% may"
    )
    assert str(caught.value).startswith(told)
    assert "000.md, 001.md, 002.md, 003.md, 004.md and " in str(caught.value)
    assert (rows_of(tmp_path / "ledger"), open_ledger(tmp_path / "ledger").run) == (before, 1)
    assert (_run(tmp_path, max_delete=1.0).changes.delete, len(rows_of(tmp_path / "ledger"))) == (deleted, 60 - deleted)


def test_documents_that_were_emptied_count_as_deleted(tmp_path: Path) -> None:
    """A copy that broke off leaves files without content, which are no documents any more."""
    _many(tmp_path, 60)
    _run(tmp_path)
    for number in range(12):
        (tmp_path / "docs" / f"{number:03}.md").write_text("")
    message = "12 of the ledger's 60 documents (20%) are empty now, and at most 10% may go in one run: "
    with pytest.raises(LedgerError, match=re.escape(message)):
        _run(tmp_path)
    assert open_ledger(tmp_path / "ledger").run == 1
    (tmp_path / "docs" / "011.md").unlink()
    message = "12 of the ledger's 60 documents (20%) would be deleted: 1 are not in the sources now, 11 are empty now"
    with pytest.raises(LedgerError, match=re.escape(message)):
        _run(tmp_path)
    # Blanks are found when they are read.
    for number in range(11):
        (tmp_path / "docs" / f"{number:03}.md").write_text(" \n")
    with pytest.raises(LedgerError, match=re.escape(message)):
        _run(tmp_path)
    assert open_ledger(tmp_path / "ledger").run == 1


def test_plan_counts_documents_that_were_emptied_as_the_run_does(tmp_path: Path) -> None:
    """Regression: the plan named them, and did not stop where the run did."""
    _many(tmp_path, 60)
    _run(tmp_path)
    for number in range(12):
        (tmp_path / "docs" / f"{number:03}.md").write_text("")
    write(tmp_path / "docs", {"new.md": ""})
    plan = plan_ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL)
    assert (len(plan.gone), plan.new, plan.changed) == (12, {}, {})
    assert [(found.doc_id, found.status, found.reason) for found in plan.findings] == [("new.md", "skipped", "empty")]
    with pytest.raises(LedgerError) as raised:
        _run(tmp_path)
    assert plan.refused == str(raised.value)


def test_renamed_folder_deletes_nothing(tmp_path: Path) -> None:
    """Every document is there under another name, and none is lost."""
    write(tmp_path / "docs", {f"a/{number:03}.md": prose(number + 1) for number in range(40)})
    _age(tmp_path / "docs")
    _run(tmp_path)
    (tmp_path / "docs" / "a").rename(tmp_path / "docs" / "b")
    run = _run(tmp_path)
    assert (run.renamed, {row["doc_id"][:2] for row in rows_of(tmp_path / "ledger")}, run.ok) == (40, {"b/"}, 40)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_share_that_can_not_be_is_refused(tmp_path: Path, share: float) -> None:
    """Nothing is done before it is told."""
    _many(tmp_path, 1)
    with pytest.raises(SettingsError, match="max_delete must be a share from 0 to 1"):
        _run(tmp_path, max_delete=share)
    assert not (tmp_path / "ledger").exists()


def test_plan_writes_nothing_and_says_what_a_run_would_do(corpus: Path, split: list[str]) -> None:
    """What a plan says is what the run then does."""
    (corpus / "docs" / "a.md").unlink()
    write(corpus / "docs", {"b.md": sections(4), "e.md": sections(1), "f.docx": ""})
    before = names_below(corpus)
    plan = plan_ingest([corpus / "docs"], corpus / "ledger", SMALL)
    assert (names_below(corpus), split) == (before, [])
    assert (plan.run, plan.anew, plan.unchanged, plan.gone, plan.kept) == (2, "", 2, ("a.md",), ())
    assert (list(plan.new), list(plan.changed), plan.refused) == (["e.md"], ["b.md"], "")
    assert plan.to_read == sum((corpus / "docs" / name).stat().st_size for name in ("b.md", "e.md"))
    assert [(finding.doc_id, finding.status) for finding in plan.findings] == [("f.docx", "failed")]
    run = _run(corpus)
    assert (run.number, run.unchanged, sorted(split)) == (plan.run, plan.unchanged, ["b.md", "e.md"])


def test_plan_of_a_first_run(tmp_path: Path) -> None:
    """There need not be a ledger, and there is none afterwards."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    plan = plan_ingest([tmp_path / "docs"], tmp_path / "ledger")
    assert (plan.run, list(plan.new), plan.anew, (tmp_path / "ledger").exists()) == (1, ["a.md"], "", False)


def test_plan_tells_what_would_be_refused(tmp_path: Path) -> None:
    """The guard of deletes holds before anything is written, and the plan says so."""
    _many(tmp_path, 60)
    _run(tmp_path)
    shutil.rmtree(tmp_path / "docs")
    write(tmp_path / "docs", {"000.md": "One.\n"})
    plan = plan_ingest([tmp_path / "docs"], tmp_path / "ledger", Settings(max_tokens=100))
    assert (plan.refused.startswith("59 of the ledger's 60 documents"), plan.anew[:10]) == (True, "max_tokens")


def test_only_touched_parts_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents lie in parts by their ids; one that changes has its own part written, and the others stay."""
    monkeypatch.setattr(placement, "LEAST_PART_BYTES", 2_000)
    write(tmp_path / "docs", {f"{number:02}.md": sections(3) for number in range(20)})
    _age(tmp_path / "docs")
    _run(tmp_path)
    before = set(open_ledger(tmp_path / "ledger").part_paths())
    assert len(before) >= 8
    write(tmp_path / "docs", {"07.md": sections(2)})
    _run(tmp_path)
    after = set(open_ledger(tmp_path / "ledger").part_paths())
    assert (len(before - after), len(after - before)) == (1, 1)
    ingest([tmp_path / "docs"], tmp_path / "fresh", SMALL)
    assert rows_of(tmp_path / "ledger") == rows_of(tmp_path / "fresh")


def test_many_nights_make_no_small_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However documents come and go, the number of parts is that of their size."""
    monkeypatch.setattr(placement, "LEAST_PART_BYTES", 4_000)
    write(tmp_path / "docs", {f"{number:02}.md": sections(3) for number in range(0, 40, 2)})
    _run(tmp_path)
    counts = []
    for night in range(1, 16):
        write(tmp_path / "docs", {f"{night * 7 % 40:02}.md": sections(1 + night % 4), f"x{night}.md": sections(1)})
        (tmp_path / "docs" / f"{night * 2:02}.md").unlink(missing_ok=True)
        _run(tmp_path, max_delete=1.0)
        counts.append(len(open_ledger(tmp_path / "ledger").part_paths()))
    ingest([tmp_path / "docs"], tmp_path / "fresh", SMALL)
    assert rows_of(tmp_path / "ledger") == rows_of(tmp_path / "fresh")
    assert max(counts) <= 2 * len(open_ledger(tmp_path / "fresh").part_paths()) + 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_merge_as_one_process_does(tmp_path: Path, jobs: int) -> None:
    """A part that is written again is the same, byte for byte, whoever writes it."""
    write(tmp_path / "docs", {f"{number:02}.md": sections(3) for number in range(6)})
    for name in ("one", "other"):
        ingest([tmp_path / "docs"], tmp_path / name, SMALL)
    write(tmp_path / "docs", {"03.md": sections(5)})
    ingest([tmp_path / "docs"], tmp_path / "one", SMALL)
    ingest([tmp_path / "docs"], tmp_path / "other", SMALL, jobs=jobs)
    [one, other] = (open_ledger(tmp_path / name).part_paths() for name in ("one", "other"))
    assert [Path(path).read_bytes() for path in one] == [Path(path).read_bytes() for path in other]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_table_of_another_size_is_read(tmp_path: Path, suffix: str) -> None:
    """Regression: of a table time and inode alone were compared, which a copy that keeps times leaves as they were."""
    path = tmp_path / "docs" / f"t.{suffix}"
    path.parent.mkdir()
    for rows in ([{"id": "a", "text": "One."}], [{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}]):
        if suffix == "jsonl":
            with path.open("r+" if path.exists() else "w") as stream:
                stream.write("".join(f"{json.dumps(row)}\n" for row in rows))
        else:
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(rows), sink)
            with path.open("r+b" if path.exists() else "wb") as stream:
                stream.write(sink.getvalue().to_pybytes())
        os.utime(path, (OLD, OLD))
        run = _run(tmp_path)
    assert (run.ok, run.changes) == (2, ChangeCounts(add=1, keep=1))


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_share_of_none_is_none(corpus: Path, share: float) -> None:
    """Regression: ten documents could be deleted though somebody had said that none may."""
    (corpus / "docs" / "a.md").unlink()
    if share:
        assert _run(corpus, max_delete=share).changes.delete == 3
        return
    with pytest.raises(LedgerError, match="1 of the ledger's 4 documents"):
        _run(corpus, max_delete=share)


def test_documents_of_the_same_size_are_not_taken_for_renamed_ones(tmp_path: Path) -> None:
    """Regression: a plan let pass what the run then refused, when everything had been split."""
    write(tmp_path / "docs", {f"{number:02}.md": f"doc {number:02}\n" for number in range(31)})
    _age(tmp_path / "docs")
    _run(tmp_path)
    shutil.rmtree(tmp_path / "docs")
    write(tmp_path / "docs", {f"n{number:02}.md": f"cod {number:02}\n" for number in range(31)})
    assert plan_ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL).refused.startswith("31 of the ledger's 31")
    for path in (tmp_path / "docs").iterdir():
        path.write_text(path.read_text().replace("cod", "doc"))
    assert plan_ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL).refused == ""
    assert _run(tmp_path).renamed == 31


def test_emptied_document_is_foreseen(corpus: Path) -> None:
    """It is no document any more, which its size tells."""
    (corpus / "docs" / "a.md").write_text("")
    plan = plan_ingest([corpus / "docs"], corpus / "ledger", SMALL)
    assert (plan.gone, dict(plan.changed)) == (("a.md",), {})


def test_part_that_is_gone_stops_the_run(corpus: Path) -> None:
    """Regression: every night was green over records that nobody could read."""
    part = Path(open_ledger(corpus / "ledger").part_paths()[0])
    part.rename(part.with_suffix(".away"))
    with pytest.raises(LedgerError, match=r"part-.* is gone; put it back, or ingest again into a new folder"):
        _run(corpus)
    part.with_suffix(".away").rename(part)
    assert _run(corpus).unchanged == 4


def test_run_that_could_not_begin_leaves_a_report(corpus: Path) -> None:
    """Regression: the night in which the folder was not mounted was in no list of runs."""
    with pytest.raises(SourceError):
        ingest([corpus / "nowhere"], corpus / "ledger", SMALL)
    record = runs(str(corpus / "ledger"))[-1]
    assert (record.run, record.outcome, "no such file or folder" in record.error) == (2, "failed", True)


def test_runs_are_listed_where_none_was_published(tmp_path: Path) -> None:
    """Regression: a first run that failed was the only one that nobody could list."""
    write(tmp_path / "docs", {"a.md": "x"})

    def stop(_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(LedgerError):
        _run(tmp_path, progress=stop)
    [record] = runs(str(tmp_path / "ledger"))
    assert (record.run, record.outcome, "No space left" in record.error) == (1, "failed", True)
    with pytest.raises(LedgerError, match="no ledger in"):
        runs(str(tmp_path / "docs"))


def _states(*rows: tuple[str, str]) -> pa.Table:
    made = (DocumentState(doc_id, doc_id, 0, 1, 0, "", "", "ok", "", part=part) for doc_id, part in rows)
    return documents_table(made)


def test_documents_that_are_known_in_another_order_keep_what_is_their_own() -> None:
    """A table that is taken over whole is that of the entries, row for row."""
    entries = Entries([Entry("a", "/a", 1, 5, "5-1", "plain"), Entry("b", "/b", 1, 6, "6-2", "plain")])
    none = np.zeros(0, np.int64)
    matches = Matched(np.array([0, 1]), np.array([1, 0]), none, none, none)
    found = states.carried(entries, matches, _states(("b", "of b"), ("a", "of a")))
    assert found.select(["doc_id", "part", "stamp"]).to_pylist() == [
        {"doc_id": "a", "part": "of a", "stamp": "5-1"},
        {"doc_id": "b", "part": "of b", "stamp": "6-2"},
    ]


def test_one_row_of_a_document_says_where_it_is() -> None:
    """Also where it has several, and its records go into another part."""
    found = states.placed_anew(_states(("a", ""), ("a", "old"), ("b", "stays")), {"a": "new"})
    assert found.column("part").to_pylist() == ["", "new", "stays"]
