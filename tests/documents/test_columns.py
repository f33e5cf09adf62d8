"""The columns that can hold ids and texts are those that `rows_in` takes documents from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.documents.columns import FIRST_BYTES, Columns, columns_of
from chunkledger.documents.sources import Selection, TableFile, source_of
from chunkledger.documents.tables import rows_in

ROWS = [{"n": number, "title": f"T{number}", "body": "One text.", "lang": "en", "rank": 0.5} for number in range(4)]


def _lines(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return str(path)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_columns_that_are_found_can_be_ingested(tmp_path: Path, suffix: str) -> None:
    """With any pair of them every row is a document."""
    path = tmp_path / f"t.{suffix}"
    if suffix == "jsonl":
        _lines(path, ROWS)
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    found = columns_of(str(path))
    assert found is not None
    table = TableFile(path.name, str(path), path.stat().st_size, 0, "", source_of(str(path)))
    for name in found.ids:
        for text in set(found.texts) - {name}:
            rows = rows_in(table, Settings(id_column=name, text_column=text), Selection())
            assert (len(rows.entries), rows.findings) == (len(ROWS), [])


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (ROWS, Columns(("n", "title"), ("title", "body", "lang"))),
        ([{"id": 1, "text": "x"}, {"id": 2, "text": None}, {"id": 3, "text": "z"}], Columns(("id", "text"), ("text",))),
        ([{"id": True, "": "x", "\ud800": "y", "text": " "}], Columns((), ())),
        ([{"id": "a"}, {"id": "a"}, {"id": "a"}], Columns((), ("id",))),
        ([1, [2]], None),
        ([], None),
    ],
)  # fmt: skip
def test_columns_of_lines(tmp_path: Path, rows: list[Any], found: Columns | None) -> None:
    """An id differs from row to row, a text is one in most rows, and both can be named in settings."""
    assert columns_of(_lines(tmp_path / "t.jsonl", rows)) == found


@given(st.binary(max_size=300))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    """A file that is no table has no columns."""
    for suffix in ("jsonl", "parquet"):
        path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
        path.write_bytes(raw)
        found = columns_of(str(path))
        assert found is None or all(isinstance(name, str) for name in (*found.ids, *found.texts))


def test_only_the_beginning_is_read(tmp_path: Path) -> None:
    """A row that is over what is looked at is none; rows before it count."""
    long = {"id": "b", "text": "x" * FIRST_BYTES}
    assert columns_of(_lines(tmp_path / "a.jsonl", [long])) is None
    found = columns_of(_lines(tmp_path / "b.jsonl", [{"key": "a", "body": "x"}, long]))
    assert found == Columns(("key", "body"), ("key", "body"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_table_in_wide_characters_tells_nothing(tmp_path: Path, encoding: str) -> None:
    """JSON Lines are UTF-8 alone, as for ingest."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(ROWS[0]).encode(encoding))
    assert columns_of(str(path)) is None


def test_file_that_is_gone_tells_nothing(tmp_path: Path) -> None:
    """A table that can't be opened is ingest's to tell."""
    assert columns_of(str(tmp_path / "t.jsonl")) is None
