"""Exports hold every record, whole and in document order, and can be read back."""

from __future__ import annotations

import csv
import errno
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.records.schema import COLUMNS, SCHEMA
from chunkledger.store.ledger import Ledger
from chunkledger.store.parts import Role
from ledgers import SAMPLE_CORPUS, Row, cli, command, rows_of, sections, write

LISTS = {name for name in COLUMNS if str(SCHEMA.field(name).type).startswith("list")}
NUMBERS = {name for name in COLUMNS if str(SCHEMA.field(name).type).startswith("int")}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, and a document that is hard on every format."""
    folder = tmp_path_factory.mktemp("export")
    odd = '"quotes", commas; tabs\t漢🙂\r\nnext\u2028line\x0b\x1b[1m\n\n=1+1\n'
    write(folder / "docs", {'odd, "name".md': f'---\ntitle: \'a, "b"\'\n---\n\n# Ä "q", b\n\n{odd}'})
    settings = Settings(max_tokens=200, min_tokens=120, overlap_tokens=20)
    ingest([SAMPLE_CORPUS, folder / "docs"], folder / "ledger", settings)
    return folder / "ledger"


@pytest.fixture(scope="module")
def rows(ledger: Path) -> list[Row]:
    """Its records."""
    return rows_of(ledger)


def _from_csv(text: str) -> list[Row]:
    """The records of a CSV export, by the rules that its help gives."""
    found: list[Row] = []
    for cells in csv.DictReader(io.StringIO(text, newline="")):
        row: Row = dict(cells)
        for name, cell in cells.items():
            if name in LISTS:
                row[name] = json.loads(cell)
            elif SCHEMA.field(name).nullable and not cell:
                row[name] = None
            elif name in NUMBERS:
                row[name] = int(cell)
        found.append(row)
    return found


def test_jsonl_holds_every_record(ledger: Path, rows: list[Row]) -> None:
    """One JSON object a line, in document order, columns in the schema's order."""
    done = cli("export", ledger)
    lines = done.out.split("\n")
    assert (done.code, done.err, lines[-1]) == (0, "", "")
    assert [json.loads(line) for line in lines[:-1]] == rows
    assert {tuple(json.loads(line)) for line in lines[:-1]} == {COLUMNS}


def test_csv_holds_every_record(ledger: Path, rows: list[Row], tmp_path: Path) -> None:
    """Lists are JSON in their cells; everything else comes back as it was."""
    assert cli("export", ledger, "--format", "csv", "--to", tmp_path / "file").code == 0
    text = (tmp_path / "file").read_bytes().decode()
    assert text.split("\r\n")[0] == ",".join(COLUMNS)
    assert _from_csv(text) == rows


@pytest.mark.parametrize("how", ["jsonl", "csv"])
def test_file_holds_what_standard_output_gets(ledger: Path, tmp_path: Path, how: str) -> None:
    """Written to a file or to a pipe, the bytes are the same, and nothing is printed besides."""
    done = cli("export", ledger, "--format", how, "--to", tmp_path / "file")
    piped = command("export", ledger, "--format", how, text=False, encoding=None, env={"PYTHONIOENCODING": "ascii"})
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (piped.code, piped.err) == (0, "")
    assert (tmp_path / "file").read_bytes() == piped.out


def test_parquet_holds_every_record(ledger: Path, rows: list[Row], tmp_path: Path) -> None:
    """A plain Parquet file with the schema of the ledger."""
    done = cli("export", ledger, "--format", "parquet", "--to", tmp_path / "file.parquet")
    found = pq.ParquetFile(tmp_path / "file.parquet").read()
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (found.schema, found.to_pylist()) == (SCHEMA, rows)
    assert found.equals(open_ledger(ledger).chunks())


def test_parquet_needs_a_file(ledger: Path) -> None:
    """Parquet does not go to standard output."""
    done = cli("export", ledger, "--format", "parquet")
    assert (done.code, done.out, done.err) == (2, "", "error: --format parquet needs --to FILE\n")


@pytest.mark.parametrize("how", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("to", ["nowhere/file", "."])
def test_file_that_cannot_be_written_is_told(ledger: Path, tmp_path: Path, how: str, to: str) -> None:
    """Regression: a file that could not be opened ended in a traceback."""
    done = cli("export", ledger, "--format", how, "--to", tmp_path / to)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert str(tmp_path) in done.err


@pytest.mark.parametrize("how", ["jsonl", "csv"])
def test_empty_ledger_exports_nothing(tmp_path: Path, how: str) -> None:
    """No records are no lines, but for the head of a CSV."""
    ingest([write(tmp_path / "docs", {})], tmp_path / "ledger")
    done = cli("export", tmp_path / "ledger", "--format", how)
    assert (done.code, done.out.splitlines()) == (0, [",".join(COLUMNS)] if how == "csv" else [])


def test_empty_ledger_exports_an_empty_table(tmp_path: Path) -> None:
    """No records are a Parquet file with all columns."""
    ingest([write(tmp_path / "docs", {})], tmp_path / "ledger")
    assert cli("export", tmp_path / "ledger", "--format", "parquet", "--to", tmp_path / "file").code == 0
    assert (pq.read_table(tmp_path / "file").num_rows, pq.read_schema(tmp_path / "file").names) == (0, list(COLUMNS))


@pytest.mark.parametrize("arguments", [("export",), ("feed", "--since", "0")])
def test_destination_that_is_no_file(ledger: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Regression: a URL became a folder `s3:` here; what is in the ledger's folder is the ledger's."""
    command_name, *more = arguments
    done = cli(command_name, ledger, *more, "--to", "s3://bucket/rows.jsonl")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --to takes a file, not s3://bucket/rows.jsonl; leave it out")
    done = cli(command_name, ledger, *more, "--to", ledger / "rows.jsonl")
    assert (done.code, "lies in the ledger" in done.err) == (2, True)
    assert not (ledger / "rows.jsonl").exists()
    assert not Path("s3:").exists()


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_export_that_fails_leaves_the_file_that_was_there(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    """Regression: what read it next found half an export, and no sign that it was one."""
    to = tmp_path / "rows"
    to.write_text("as before", "utf-8")
    real = Ledger.iter_tables

    def failing(ledger: Ledger, *, role: Role) -> Iterator[pa.Table]:
        yield next(real(ledger, role=role))
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Ledger, "iter_tables", failing)
    done = cli("export", ledger, "--format", format, "--to", to)
    assert (done.code, done.err) == (4, f"error: {to}: Input/output error\n")
    assert [(path.name, path.read_text("utf-8")) for path in tmp_path.iterdir()] == [("rows", "as before")]


def test_parquet_is_written_some_thousands_of_records_at_a_time(tmp_path: Path) -> None:
    """A ledger that is larger than memory can be exported."""
    write(tmp_path / "docs", {f"{number:02}.md": sections(40, 5) for number in range(30)})
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings(max_tokens=60, min_tokens=5))
    made = open_ledger(tmp_path / "ledger")
    tables = list(made.iter_tables())
    assert cli("export", tmp_path / "ledger", "--format", "parquet", "--to", tmp_path / "rows").code == 0
    written = pq.ParquetFile(tmp_path / "rows")
    assert written.metadata.num_row_groups == len(tables) > 1
    assert written.read().to_pylist() == made.chunks().to_pylist()
