"""Every way of reading a ledger gives the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from chunkledger import LedgerError, Settings, ingest, open_ledger
from chunkledger.records.schema import COLUMNS, SCHEMA, SCHEMA_VERSION
from ledgers import SAMPLE_CORPUS, Row, write

COMPARED = ("chunk_id", "doc_id", "chunk_index", "text", "heading_path", "joined_tokens", "boundary_chars", "flags")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, in chunks small enough that every column has values."""
    made = tmp_path_factory.mktemp("ledger")
    settings = Settings(max_tokens=200, min_tokens=100, slot_tokens=1200, overlap_tokens=20)
    ingest([SAMPLE_CORPUS], made, settings, jobs=1)
    return made


@pytest.fixture(scope="module")
def rows(ledger: Path) -> list[Row]:
    """Its records, by our own reader."""
    found: list[Row] = open_ledger(ledger).chunks().to_pylist()
    return found


def _compared(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The compared columns, by document and place; lists as lists."""
    values = [tuple(_plain(row[name]) for name in COMPARED) for row in rows]
    return sorted(values, key=lambda row: (row[1], row[2]))


def _plain(value: Any) -> Any:  # noqa: ANN401 (a cell of any reader)
    if hasattr(value, "tolist"):
        return value.tolist()
    return None if value is None or value != value else value


def test_records_are_in_document_order(rows: list[Row]) -> None:
    """By document id, and within a document by place."""
    places = [(row["doc_id"], row["chunk_index"]) for row in rows]
    assert places == sorted(places)
    assert len(set(places)) == len(rows) > 100


def test_every_column_has_a_value_somewhere(rows: list[Row]) -> None:
    """The sample shows every column at work, but for parents, which are not made yet."""
    assert {name for name in COLUMNS if not any(row[name] for row in rows)} == {"parent_id"}


def test_chosen_columns_come_in_the_order_asked_for(ledger: Path, rows: list[Row]) -> None:
    """Columns are those asked for; records are as many."""
    found = open_ledger(ledger).chunks(["text", "doc_id"])
    assert found.column_names == ["text", "doc_id"]
    assert found.to_pylist() == [{"text": row["text"], "doc_id": row["doc_id"]} for row in rows]


def test_role_may_be_asked_for(ledger: Path, rows: list[Row]) -> None:
    """The column that readers filter by can be shown too."""
    assert open_ledger(ledger).chunks(["role"]).column("role").to_pylist() == ["chunk"] * len(rows)


def test_unknown_column_is_named(ledger: Path) -> None:
    """The message says which columns there are."""
    with pytest.raises(LedgerError) as raised:
        open_ledger(ledger).chunks(["text", "tokens", "size"])
    assert str(raised.value) == f"no such column: tokens, size; there are {', '.join(COLUMNS)}"


def test_scan_gives_the_same(ledger: Path, rows: list[Row]) -> None:
    """The LazyFrame holds the same records."""
    assert _compared(open_ledger(ledger).scan().collect().to_dicts()) == _compared(rows)


def test_polars_gives_the_same(ledger: Path, rows: list[Row]) -> None:
    """`polars.scan_delta` reads a ledger as it is."""
    assert _compared(pl.scan_delta(str(ledger)).collect().to_dicts()) == _compared(rows)


def test_pandas_gives_the_same(ledger: Path, rows: list[Row]) -> None:
    """`DeltaTable.to_pandas` reads a ledger as it is."""
    assert _compared(DeltaTable(ledger).to_pandas().to_dict("records")) == _compared(rows)


def test_duckdb_gives_the_same(ledger: Path, rows: list[Row]) -> None:
    """DuckDB over the files of the table's version reads a ledger as it is."""
    with duckdb.connect() as connection:
        reader = connection.read_parquet(DeltaTable(ledger).file_uris())
        found = [dict(zip(reader.columns, row, strict=True)) for row in reader.fetchall()]
    assert _compared(found) == _compared(rows)


def test_parts_give_the_same(ledger: Path, rows: list[Row]) -> None:
    """Part by part, the records are the same and in the same order."""
    assert [row for part in open_ledger(ledger).iter_tables() for row in part.to_pylist()] == rows


def test_part_has_exactly_the_schema(ledger: Path) -> None:
    """Names, types, nullability and field metadata of a part are those of the schema, which its footer numbers."""
    [path] = open_ledger(ledger).part_paths()
    found = pq.ParquetFile(path).schema_arrow
    assert found.remove_metadata() == SCHEMA.remove_metadata()
    assert found.metadata[b"chunkledger.schema_version"] == str(SCHEMA_VERSION).encode()
    assert [field.metadata[b"description"] for field in found] == [field.metadata[b"description"] for field in SCHEMA]


def test_part_is_compressed_and_indexed(ledger: Path) -> None:
    """Parts are zstd, with a page index, and statistics on what readers look for."""
    [path] = open_ledger(ledger).part_paths()
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = {group.column(index).path_in_schema: group.column(index) for index in range(group.num_columns)}
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert set(columns["text"].encodings) == {"RLE", "DELTA_LENGTH_BYTE_ARRAY"}
    assert columns["doc_id"].has_offset_index
    assert columns["chunk_id"].statistics.has_min_max


def test_ledger_stays_at_its_version(tmp_path: Path) -> None:
    """What is opened is read as it was, whatever is published later."""
    source = write(tmp_path / "docs", {"a.md": "One.\n"})
    ingest([source], tmp_path / "ledger", jobs=1)
    opened = open_ledger(tmp_path / "ledger")
    ingest([write(source, {"a.md": "Two.\n"})], tmp_path / "ledger", jobs=1)
    assert (opened.run, opened.chunks(["text"]).to_pylist()) == (1, [{"text": "One."}])
    assert opened.scan().collect()["text"].to_list() == ["One."]
    assert open_ledger(tmp_path / "ledger").chunks(["text"]).to_pylist() == [{"text": "Two."}]


def test_ledger_does_not_move_with_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is one of the moment when the ledger was opened."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger", jobs=1)
    monkeypatch.chdir(tmp_path)
    opened = open_ledger("ledger")
    monkeypatch.chdir(tmp_path / "docs")
    assert (opened.chunks().num_rows, opened.report()["run"], opened.documents().num_rows) == (1, 1, 1)


def test_empty_ledger_is_readable(tmp_path: Path) -> None:
    """A folder without documents gives a ledger without records that every reader takes."""
    ingest([write(tmp_path / "docs", {})], tmp_path / "ledger", jobs=1)
    opened = open_ledger(tmp_path / "ledger")
    assert opened.chunks().schema.names == list(COLUMNS)
    assert (opened.chunks().num_rows, opened.chunks(["text"]).schema.names) == (0, ["text"])
    assert (opened.scan().collect().shape, list(opened.iter_tables())) == ((0, len(COLUMNS)), [])
    assert pl.scan_delta(str(tmp_path / "ledger")).collect().shape == (0, len(COLUMNS))
    assert opened.documents().num_rows == 0


def test_no_ledger_is_an_error_that_says_how_to_make_one(tmp_path: Path) -> None:
    """An empty folder is not an empty ledger."""
    with pytest.raises(LedgerError) as raised:
        open_ledger(tmp_path)
    assert str(raised.value) == f"no ledger in {tmp_path}; `chunkledger ingest SOURCE --out {tmp_path}` makes one"


@pytest.mark.parametrize("lost", ["part", "documents", "report"])
@pytest.mark.parametrize("damage", ["gone", "cut short"])
def test_damaged_file_is_named(tmp_path: Path, lost: str, damage: str) -> None:
    """Regression: a file that was lost or cut short since its commit ended in a traceback."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger", jobs=1)
    opened = open_ledger(tmp_path / "ledger")
    folder = {"part": "", "documents": "_documents", "report": "_runs"}[lost]
    [path] = [path for path in (tmp_path / "ledger" / folder).iterdir() if path.is_file() and path.name != "_lock"]
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:20])
    read = {"part": opened.chunks, "documents": opened.documents, "report": opened.report}[lost]
    with pytest.raises(
        LedgerError, match=r"can't be read: .*; put it back, or ingest again into a new folder"
    ) as raised:
        read()
    assert str(raised.value).startswith(str(path))


def test_parents_are_not_chunks(tmp_path: Path) -> None:
    """Records of another role are in the table, but no reader of chunks shows them."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n", "b.md": "Two.\n"})], tmp_path / "ledger", jobs=1)
    opened = open_ledger(tmp_path / "ledger")
    [path] = opened.part_paths()
    table = pq.ParquetFile(path).read()
    role = pa.array(["parent", "chunk"])
    pq.write_table(table.set_column(SCHEMA.get_field_index("role"), SCHEMA.field("role"), role), path)
    assert opened.chunks(["doc_id"]).to_pylist() == [{"doc_id": "b.md"}]
    assert opened.scan().collect()["doc_id"].to_list() == ["b.md"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{}", "it is no report of version 2, the one that this release reads"),
        ('{"report_version": 2, "settings": {}}', "it lacks sources, selection, versions, schema_version, engine"),
        ("not JSON", "Expecting value"),
    ],
)
def test_damaged_report_is_told(tmp_path: Path, content: str, why: str) -> None:
    """A report that is not what a run writes is an error that says why, and not a traceback."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger", jobs=1)
    [path] = (tmp_path / "ledger" / "_runs").iterdir()
    path.write_text(content, "utf-8")
    with pytest.raises(LedgerError) as caught:
        open_ledger(tmp_path / "ledger").report()
    assert why in str(caught.value)


def test_settings_of_another_release_are_told(tmp_path: Path) -> None:
    """Settings that this release does not know are an error that names them."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger", jobs=1)
    [path] = (tmp_path / "ledger" / "_runs").iterdir()
    report = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(report | {"settings": {"max_pages": 3}}), "utf-8")
    with pytest.raises(LedgerError, match=r"settings are not those of this release: .*max_pages"):
        open_ledger(tmp_path / "ledger").settings()
