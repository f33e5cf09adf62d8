"""A ledger that is as it was made passes, and whatever is altered in it is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkledger import LedgerError, Settings, ingest, open_ledger, verify
from chunkledger.records.schema import COLUMNS
from chunkledger.verification import Verification
from ledgers import SAMPLE_CORPUS, Row, cli, damaged, prose, rows_of, sections, write

SETTINGS = Settings(max_tokens=200, min_tokens=120, slot_tokens=1200, overlap_tokens=60)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of some documents of the sample corpus in which every column has values; never altered."""
    folder = tmp_path_factory.mktemp("sample")
    for name in ("finance/rates.md", "api/errors.md", "ja/onboarding.md", "notes/standup.txt"):
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLE_CORPUS / name, folder / "docs" / name)
    ingest([folder / "docs"], folder / "ledger", SETTINGS)
    return folder


@pytest.fixture
def copy(sample: Path, tmp_path: Path) -> Path:
    """A copy of that ledger's table, of the same sources."""
    shutil.copytree(sample / "ledger", tmp_path / "ledger")
    return tmp_path / "ledger"


def _columns(found: Verification) -> set[str]:
    return {mismatch.column.partition("[")[0] for mismatch in found.mismatches}


def _longer(value: Any) -> Any:  # noqa: ANN401 (a value of any column)
    return f"{value}x" if isinstance(value, str) else value + 1


def _last_longer(values: list[Any]) -> list[Any]:
    return [*values[:-1], _longer(values[-1])]


def _swapped_kind(values: list[str]) -> list[str]:
    return ["table_row" if values[0] != "table_row" else "paragraph", *values[1:]]


def _another(column: str, value: Any) -> Any:  # noqa: ANN401
    """A value that the column could have, but should not have here."""
    plausible: dict[str, Callable[[], Any]] = {
        "chunk_id": lambda: f"{'0' if value[0] != '0' else '1'}{value[1:]}",
        "doc_sha256": lambda: value[::-1],
        "kind": lambda: "code" if value != "code" else "prose",
        "flags": lambda: [*value, "over_max"],
        "flag_cause": lambda: "html" if value != "html" else "code",
        "boundary_kinds": lambda: _swapped_kind(value),
        "template": lambda: "markdown/1",
        "encoding": lambda: "cl100k_base",
        "metadata": lambda: json.dumps({"owner": "somebody else"}),
        "gap_after": lambda: f"{value}\n",
        "parent_id": lambda: "0" * 36,
        "role": lambda: "parent",
    }
    if column in plausible:
        return plausible[column]()
    return _last_longer(value) if isinstance(value, list) else _longer(value)


def _alter(column: str) -> Callable[[list[Row]], None]:
    """Damage to one value of the column, in a chunk in the middle of a document."""

    def damage(rows: list[Row]) -> None:
        row = next(row for row in rows[1:] if (row[column] or column == "parent_id") and row["chunk_index"])
        row[column] = _another(column, row[column])

    return damage


def test_clean_ledger_has_nothing_wrong(tmp_path: Path) -> None:
    """Every record of the sample corpus is recounted, compared and made again, and nothing differs."""
    run = ingest([SAMPLE_CORPUS], tmp_path / "ledger")
    found = verify(tmp_path / "ledger")
    assert found == Verification(
        chunks=run.chunks, recounted=run.chunks, documents=run.ok, compared=run.ok, remade=run.ok
    )


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_harmony"])
@pytest.mark.parametrize("template", ["xml/1", "markdown/1"])
def test_clean_ledger_of_any_settings_has_nothing_wrong(tmp_path: Path, encoding: str, template: str) -> None:
    """Small chunks with overlap, in every encoding and template, are what they say."""
    settings = Settings(encoding=encoding, template=template, max_tokens=90, overlap_tokens=30, split_headings=6)
    files = {
        "a.md": "# A\n\n| a | b |\n|---|---|\n" + "".join(f"| {number} | x |\n" for number in range(60)),
        "b.md": f"/etc\n\n- one\n- two\n\n```py\n{'x = 1' * 40}\n```\n\n<chunk n=1>\n\n### [1] a\n\n* * *\n\n"
        f"{prose(20)}",
        "c.txt": "\ufeff分词器把文本切成词元。\r\n\r\n" * 40,
    }
    ingest([write(tmp_path / "docs", files)], tmp_path / "ledger", settings)
    found = verify(tmp_path / "ledger")
    assert (found.mismatches, found.compared, found.remade) == ([], 3, 3)


@pytest.mark.parametrize("column", COLUMNS)
def test_altered_value_of_every_column_is_found(copy: Path, column: str) -> None:
    """One value of one record that is not what it was made as is found, under its own name or that of a count."""
    damaged(copy, _alter(column))
    found = verify(copy)
    revealed_by = {"role": "chunks", "doc_id": "chunk_id"}.get(column, column)
    assert revealed_by in _columns(found)


@pytest.mark.parametrize("column", ["rendered_tokens", "kind", "text", "role"])
def test_altered_value_ends_in_exit_code_1(copy: Path, column: str) -> None:
    """The command names what is wrong on standard output and ends with 1."""
    damaged(copy, _alter(column))
    done = cli("verify", copy)
    assert (done.code, done.err) == (1, "")
    assert " should be " in done.out


@pytest.mark.parametrize(
    "column",
    [
        "token_count",
        "embed_tokens",
        "rendered_tokens",
        "body_tokens",
        "joined_tokens",
        "boundary_chars",
        "boundary_tokens",
        "boundary_rendered_tokens",
        "chunk_id",
        "chunk_index",
        "char_start",
        "char_end",
        "overlap_chars",
        "text",
        "heading_path",
        "context",
        "embed_prefix",
        "flags",
        "template",
        "encoding",
        "encoding_sha256",
        "settings_sha256",
        "doc_sha256",
    ],
)
def test_sources_are_not_needed_to_find_it(copy: Path, column: str) -> None:
    """Counts, ids, offsets, flags and fingerprints are checked without the sources, by recounting alone."""
    _reported(copy, lambda report: report["sources"][0].update(path="/nowhere"))
    damaged(copy, _alter(column))
    found = verify(copy)
    assert found.compared == 0
    assert found.mismatches != []


@pytest.mark.parametrize("column", ["line_start", "line_end", "char_start", "char_end", "joined_tokens", "flag_cause"])
def test_value_that_is_gone_is_found(copy: Path, column: str) -> None:
    """Regression: a null in place of an offset ended in a traceback, one in place of joined_tokens was not found."""
    damaged(copy, lambda rows: next(row for row in rows[1:] if row[column]).update({column: None}))
    assert column in _columns(verify(copy))


@pytest.mark.parametrize("column", ["boundary_chars", "boundary_kinds", "boundary_tokens", "boundary_rendered_tokens"])
def test_lists_that_are_not_parallel_are_found(copy: Path, column: str) -> None:
    """Regression: a boundary list that was cut short ended in a usage error."""
    damaged(copy, lambda rows: next(row for row in rows if len(row[column]) > 1)[column].pop())
    assert _columns(verify(copy)) & {column, "boundary_kinds"} != set()


@pytest.mark.parametrize("column", ["template", "encoding"])
def test_name_that_nobody_knows_is_found(copy: Path, column: str) -> None:
    """Regression: an unknown template or encoding ended in a usage error or a traceback."""
    damaged(copy, lambda rows: rows[3].update({column: "unheard-of"}))
    assert column in _columns(verify(copy))


def test_only_what_is_wrong_is_told(copy: Path) -> None:
    """One count that is off is one mismatch, told once, with what it should be."""
    damaged(copy, lambda rows: rows[3].update(token_count=rows[3]["token_count"] + 1))
    row = rows_of(copy)[3]
    [mismatch] = verify(copy).mismatches
    expected = f"token_count is {row['token_count']}, should be {row['token_count'] - 1}"
    assert str(mismatch) == f"{row['doc_id']} chunk {row['chunk_index']}: {expected}"


def test_removed_record_is_found(copy: Path) -> None:
    """A chunk that is missing breaks the chain of its document, and the ledger has one too few."""
    damaged(copy, lambda rows: rows.pop(3))
    assert {"chunk_index", "char_start", "text", "chunks"} <= _columns(verify(copy))


def test_removed_document_is_found(copy: Path) -> None:
    """A whole document that is missing leaves no broken chain, but too few records."""

    def damage(rows: list[Row]) -> None:
        rows[:] = [row for row in rows if row["doc_id"] != "notes/standup.txt"]

    gone = sum(row["doc_id"] == "notes/standup.txt" for row in rows_of(copy))
    damaged(copy, damage)
    [mismatch] = verify(copy).mismatches
    assert (mismatch.column, mismatch.expected, mismatch.stored) == (
        "chunks",
        len(rows_of(copy)) + gone,
        len(rows_of(copy)),
    )


def test_duplicated_record_is_found(copy: Path) -> None:
    """A chunk that is there twice is not unique."""
    damaged(copy, lambda rows: rows.insert(3, dict(rows[3])))
    found = verify(copy)
    assert any(mismatch.expected == "unique" for mismatch in found.mismatches)
    assert "chunks" in _columns(found)


def test_swapped_records_are_found(copy: Path) -> None:
    """Two chunks of a document in the wrong order are found."""

    def damage(rows: list[Row]) -> None:
        rows[1], rows[2] = rows[2], rows[1]

    damaged(copy, damage)
    assert "chunk_index" in _columns(verify(copy))


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A folder with two documents in `docs`, and a ledger of them."""
    write(tmp_path / "docs", {"a.md": sections(3), "b.md": sections(2)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings(max_tokens=200))
    return tmp_path


@pytest.mark.parametrize("gap", ["\n\n\n", "", "\n\nx"])
def test_gap_between_two_chunks_is_chained(fresh: Path, gap: str) -> None:
    """Blank space between two chunks that is longer, shorter or not blank is found without the source."""
    shutil.rmtree(fresh / "docs")
    damaged(fresh / "ledger", lambda rows: rows[0].update(gap_after=gap))
    assert _columns(verify(fresh / "ledger")) & {"gap_after", "char_start"} != set()


def test_gap_before_an_overlap_is_none(copy: Path) -> None:
    """Where the next chunk repeats the end of this one, there is no blank space between them."""
    index = next(index for index, row in enumerate(rows_of(copy)) if row["overlap_chars"]) - 1
    damaged(copy, lambda rows: rows[index].update(gap_after="\n"))
    assert "gap_after" in _columns(verify(copy))


def test_changed_source_is_told_and_not_compared(fresh: Path) -> None:
    """A document that was edited since is no mismatch; it is counted, with the reason."""
    write(fresh / "docs", {"a.md": "Another.\n"})
    found = verify(fresh / "ledger")
    assert (found.mismatches, found.compared, found.remade) == ([], 1, 1)
    assert found.not_compared == {"a.md": "the source has changed"}
    done = cli("verify", fresh / "ledger")
    assert (done.code, "1 documents not compared with their source: the source has changed\n" in done.out) == (0, True)


def test_source_that_is_gone_is_told(fresh: Path) -> None:
    """A document or a whole source that is gone is counted, with the reason."""
    shutil.rmtree(fresh / "docs")
    found = verify(fresh / "ledger")
    assert (found.mismatches, found.compared) == ([], 0)
    assert found.not_compared == dict.fromkeys(["a.md", "b.md"], "the source is gone")
    done = cli("verify", fresh / "ledger")
    assert (done.code, "2 documents not compared with their source: the source is gone\n" in done.out) == (0, True)


def test_named_and_single_sources_are_found_again(tmp_path: Path) -> None:
    """Documents are compared with the files that their ids stand for."""
    write(tmp_path, {"docs/a/b.md": "One.\n", "c.md": "Two.\n"})
    ingest([f"hb={tmp_path / 'docs'}", tmp_path / "c.md"], tmp_path / "ledger")
    assert (verify(tmp_path / "ledger").compared, verify(tmp_path / "ledger").mismatches) == (2, [])


def test_chosen_format_is_used_again(tmp_path: Path) -> None:
    """A Markdown file that was read as plain text is made again as plain text."""
    write(tmp_path / "docs", {"a.md": f"# Rates\n\n{prose(3)}\n"})
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings(format="plain"))
    found = verify(tmp_path / "ledger")
    assert (found.remade, found.mismatches) == (1, [])


def test_repaired_and_odd_documents_are_compared(tmp_path: Path) -> None:
    """Byte order marks, NUL, CRLF and leading blanks are no differences."""
    files = {"a.md": b"\xef\xbb\xbf\r\n\r\n# A\r\n\x00text\r\n\r\n", "b.txt": b"\n\n  indented\rlast  \n\n"}
    ingest([write(tmp_path / "docs", files)], tmp_path / "ledger")
    found = verify(tmp_path / "ledger")
    assert (found.compared, found.remade, found.mismatches) == (2, 2, [])


def test_ledger_of_other_versions_is_not_made_again(copy: Path) -> None:
    """Records that another version made are recounted and compared, but not made again, and that is said."""
    _reported(copy, lambda report: report["versions"].update(pyromark="0.9.0", toktok_elsewhere="1"))
    damaged(copy, _alter("kind"))
    found = verify(copy)
    assert (found.mismatches, found.remade, found.compared) == ([], 0, 4)
    assert found.not_remade.startswith("the run was made with pyromark 0.9.0 (here ")
    assert "records not made again from the sources: the run was made with pyromark 0.9.0" in cli("verify", copy).out


def _reported(ledger: Path, change: Callable[[dict[str, Any]], object]) -> None:
    [path] = (ledger / "_runs").iterdir()
    report = json.loads(path.read_text("utf-8"))
    change(report)
    path.write_text(json.dumps(report), "utf-8")


@pytest.mark.parametrize("sample_size", [1, 2, 3, 7, 10, 1000])
def test_sample_recounts_at_most_so_many(copy: Path, sample_size: int) -> None:
    """Regression: a sample of seven out of ten recounted all of them."""
    chunks = len(rows_of(copy))
    found = verify(copy, sample=sample_size)
    assert (found.chunks, found.mismatches) == (chunks, [])
    assert 0 < found.recounted <= sample_size
    assert found.recounted == min(chunks, -(-chunks // -(-chunks // sample_size)))


def test_sample_still_checks_everything_else(copy: Path) -> None:
    """Ids, offsets and fingerprints of all records are checked whatever the sample."""
    damaged(copy, lambda rows: rows[5].update(chunk_id=rows[4]["chunk_id"]))
    assert "chunk_id" in _columns(verify(copy, sample=1))


def test_open_ledger_may_be_given(copy: Path) -> None:
    """An open ledger and its folder are the same to verify."""
    assert verify(open_ledger(copy)) == verify(copy)


def test_empty_ledger_passes(tmp_path: Path) -> None:
    """Nothing is wrong with nothing."""
    ingest([write(tmp_path / "docs", {})], tmp_path / "ledger")
    assert verify(tmp_path / "ledger") == Verification()


def test_no_ledger_is_an_error(tmp_path: Path) -> None:
    """A folder that is no ledger can't be verified."""
    with pytest.raises(LedgerError, match="no ledger in"):
        verify(tmp_path)
    assert cli("verify", tmp_path).code == 2
