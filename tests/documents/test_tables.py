"""Tables of documents: what each row gives, JSON Lines or Parquet, and what is wrong with which row."""

from __future__ import annotations

import datetime
import decimal
import json
import tempfile
import tracemalloc
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.documents import tables
from chunkledger.documents.arrow_values import decoded_size
from chunkledger.documents.entries import Listing
from chunkledger.documents.listing import listed
from chunkledger.documents.parquet_file import batches, opened_table
from chunkledger.documents.reading import Read, documents_of
from chunkledger.documents.sources import Selection, source_of
from chunkledger.documents.tables import rows_in, with_rows
from chunkledger.engines.units import planned_units
from chunkledger.model import Finding
from ledgers import write

SETTINGS = Settings()
REPEATED = 300
ROWS = [
    {"id": "b.md", "text": "# B\n\nTwo.\n", "lang": "en", "year": 2026},
    {"id": "a", "text": "One.\r\nHalf.\r", "lang": "fr", "year": 2025},
    {"id": "c/d.rst", "text": "Three \u6f22.", "lang": None, "year": None},
]


def _jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _parquet(path: Path, rows: list[dict[str, Any]] | pa.Table, **options: Any) -> Path:  # noqa: ANN401
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)
    pq.write_table(table, path, **options)
    return path


def _listing(*sources: Path | str, made: Settings = SETTINGS, **selection: Any) -> Listing:  # noqa: ANN401
    chosen = Selection(format=made.format, **selection)
    found = listed([source_of(str(source)) for source in sources], chosen)
    with_rows(found, [(table, rows_in(table, made, chosen)) for table in found.tables])
    return found


def _reads(listing: Listing, made: Settings = SETTINGS, longest: int = 1_000_000) -> list[Read]:
    return list(documents_of(listing.entries, made, longest))


def _told(listing: Listing) -> list[tuple[str, str]]:
    return [(finding.doc_id, finding.message) for finding in listing.findings]


@pytest.mark.parametrize("name", ["faq.jsonl", "faq.ndjson", "faq.parquet"])
def test_row_is_a_document(tmp_path: Path, name: str) -> None:
    """Id and text by their columns, the rest as metadata; the suffix of the id says how the text is read."""
    if name.endswith(".parquet"):
        _parquet(tmp_path / name, ROWS)
    else:
        write(tmp_path, {name: _jsonl(ROWS)})
    listing = _listing(tmp_path / name)
    assert [(entry.table, entry.row, entry.origin) for entry in listing.entries] == [
        (name, number, name) for number in (1, 2, 3)
    ]
    found = [read.document for read in _reads(listing)]
    assert [(document.doc_id, document.text, document.format) for document in found if document] == [
        ("b.md", "# B\n\nTwo.\n", "markdown"),
        ("a", "One.\r\nHalf.\r", "plain"),
        ("c/d.rst", "Three \u6f22.", "rst"),
    ]
    assert [dict(document.metadata) for document in found if document] == [
        {"lang": row["lang"], "year": row["year"]} for row in ROWS
    ]


def test_both_kinds_of_table_give_the_same(tmp_path: Path) -> None:
    """Text, metadata and hash do not depend on the file format, so that a corpus may change it without a new chunk."""
    write(tmp_path, {"a/t.jsonl": _jsonl(ROWS), "b/none": ""})
    _parquet(tmp_path / "b" / "t.parquet", ROWS)
    lines, columns = (_reads(_listing(tmp_path / name)) for name in ("a/t.jsonl", "b/t.parquet"))
    assert [read.document for read in lines] == [read.document for read in columns]


def test_name_of_the_source_prefixes_rows(tmp_path: Path) -> None:
    """As it does for files."""
    write(tmp_path, {"t.jsonl": _jsonl(ROWS)})
    listing = _listing(f"hb={tmp_path}/t.jsonl")
    assert [entry.doc_id for entry in listing.entries] == ["hb/b.md", "hb/a", "hb/c/d.rst"]
    assert [read.document.doc_id for read in _reads(listing) if read.document] == ["hb/b.md", "hb/a", "hb/c/d.rst"]


def test_bad_lines_are_findings_with_their_number(tmp_path: Path) -> None:
    """Blank lines count as lines and are no rows; everything else is read."""
    lines = [
        b'\xef\xbb\xbf{"id": "a", "text": "One."}',
        b"",
        b"{not json}",
        b'["a", "b"]',
        b'{"id": "b", "text": null}',
        b'{"id": "c", "text": "caf\xe9"}',
        b'{"text": "no id"}',
        b"[" * 100_000,
        b'{"id": ' + b"9" * 5000 + b', "text": "x"}',
        b'{"id": "d", "text": "Two.", "score": NaN}',
        b'{"id": "e", "text": " \\n"}',
        b'{"id": "f", "text": "a\\u0000b\\ud800"}',
        b'{"id": "g", "text": "last"}',
    ]
    write(tmp_path, {"t.jsonl": b"\n".join(lines)})
    listing = _listing(tmp_path / "t.jsonl")
    assert [entry.doc_id for entry in listing.entries] == ["a", "d", "e", "f", "g"]
    told = _told(listing)
    offset = sum(len(line) + 1 for line in lines[:5])
    assert told[0] == ("b", "row 5 of t.jsonl: 'text' is null, not text")
    assert [(doc_id, reason.partition(" (line 1")[0].partition(":")[0]) for doc_id, reason in told[1:]] == [
        ("t.jsonl", f"row {number}") for number in (3, 4, 6, 7, 8, 9)
    ]
    assert told[1][1].startswith("row 3: is not JSON: Expecting property name")
    assert told[2][1] == "row 4: is not a JSON object"
    assert told[3][1].startswith(f"row 6: (at byte {offset:,} of the file) byte 24 (0xe9) is not UTF-8")
    assert told[4][1] == "row 7: has no 'id'; it has text"
    assert told[5][1].startswith("row 8: is nested deeper than 64")
    assert listing.unseen == {"t.jsonl"}
    findings = [read.finding for read in _reads(listing)]
    assert findings == [
        None,
        None,
        Finding("e", "skipped", "empty", 11, "t.jsonl"),
        Finding("f", "ok", "2 NUL or surrogate characters replaced by U+FFFD", 12, "t.jsonl"),
        None,
    ]


def test_line_in_another_encoding(tmp_path: Path) -> None:
    """A line that is not UTF-8 is read in the encoding that was named."""
    write(tmp_path, {"t.jsonl": '{"id": "a", "text": "caf\u00e9"}\n'.encode("cp1252")})
    made = Settings(source_encoding="cp1252")
    [read] = _reads(_listing(tmp_path / "t.jsonl", made=made), made)
    assert read.document is not None
    assert read.document.text == "caf\u00e9"


@pytest.mark.parametrize(
    ("encoding", "mark", "seen"),
    [
        ("utf-16-le", "\ufeff", "utf-16"),
        ("utf-16-be", "\ufeff", "utf-16"),
        ("utf-32-le", "\ufeff", "utf-32"),
        ("utf-16-le", "", "utf-16-le"),
        ("utf-16-be", "", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("source_encoding", [None, "utf-16-le"])
def test_wide_lines_fail_as_a_table(
    tmp_path: Path, encoding: str, mark: str, seen: str, source_encoding: str | None
) -> None:
    """Lines of UTF-16 can't be told apart by bytes, whatever is known of them; and the table is told, not each line."""
    write(tmp_path, {"t.jsonl": (mark + '{"id": "a", "text": "x"}\n' * 3).encode(encoding)})
    listing = _listing(tmp_path / "t.jsonl", made=Settings(source_encoding=source_encoding))
    assert (_told(listing), listing.unseen) == ([("t.jsonl", f"is {seen}, it seems; save it as UTF-8")], {"t.jsonl"})


def test_line_that_is_all_structure_is_not_parsed(tmp_path: Path) -> None:
    """Regression: a line of 20 MB of empty objects took 44 s and a gigabyte, for metadata that is not kept."""
    inside = f'{{"id": "a", "text": "x", "m": [{", ".join(["{}"] * 200_000)}]}}'
    over = f'{{"id": "b", "text": "x", "m": [{",".join(["{}"] * 400_000)}]}}'
    text = json.dumps({"id": "c", "text": "[{" * 600_000})
    write(tmp_path, {"t.jsonl": f"{inside}\n{over}\n{text}\n"})
    listing = _listing(tmp_path / "t.jsonl")
    assert [entry.doc_id for entry in listing.entries] == ["a", "c"]
    assert _told(listing) == [
        (
            "t.jsonl",
            "row 2: holds 1,200,014 characters beside its strings; up to 1,048,576 are taken; leave out what need not "
            "be metadata",
        )
    ]


def test_number_of_many_digits_is_text(tmp_path: Path) -> None:
    """It is JSON, but Python makes no number of it; the other numbers of the row stay what they are."""
    write(tmp_path, {"t.jsonl": f'{{"id": "a", "text": "x", "big": {"9" * 5000}, "n": 7}}\n'})
    [read] = _reads(_listing(tmp_path / "t.jsonl"))
    assert read.document is not None
    assert dict(read.document.metadata) == {"big": "9" * 5000, "n": 7}


@pytest.mark.parametrize(
    ("name", "content"), [("t.jsonl", ""), ("t.jsonl", "\n \n"), ("t.jsonl", "\ufeff\n"), ("t.parquet", None)]
)
def test_table_without_rows_is_skipped(tmp_path: Path, name: str, content: str | None) -> None:
    """Regression: nothing named a table that had been emptied, and its documents were gone without a word."""
    if content is None:
        _parquet(tmp_path / name, pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}))
    else:
        write(tmp_path, {name: content})
    assert _listing(tmp_path).findings == [Finding(name, "skipped", "empty: it has no rows")]


def test_id_of_a_row_that_failed_is_taken(tmp_path: Path) -> None:
    """Regression: a later row of the same id took its place, though it keeps its chunks."""
    write(
        tmp_path,
        {
            "a.jsonl": '{"id": "k", "text": null}\n{"id": "k", "text": "x"}\n{"id": "big.md", "text": "x"}\n',
            "b.jsonl": '{"id": "k", "text": "y"}\n{"id": "n", "text": "z"}\n',
            "big.md": "x" * 2000,
        },
    )
    listing = _listing(tmp_path, max_document_bytes=1000)
    assert [entry.doc_id for entry in listing.entries] == ["n"]
    assert _told(listing) == [
        ("a.jsonl", "row 2: the id 'k' is that of row 1 of a.jsonl already"),
        ("a.jsonl", "row 3: the id 'big.md' is that of a file already"),
        ("b.jsonl", "row 1: the id 'k' is that of row 1 of a.jsonl already"),
        ("big.md", "2,000 bytes, over the limit of 1,000; raise --max-document-bytes"),
        ("k", "row 1 of a.jsonl: 'text' is null, not text"),
    ]


def test_repeated_ids_beyond_a_number_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a table of one id had as many findings as rows."""
    monkeypatch.setattr(tables, "MOST_BAD_ROWS", 2)
    write(tmp_path, {"t.jsonl": '{"id": "k", "text": "x"}\n' * 6})
    assert [reason for _, reason in _told(_listing(tmp_path))] == [
        "3 more rows have an id that is taken",
        "row 2: the id 'k' is that of row 1 of t.jsonl already",
        "row 3: the id 'k' is that of row 1 of t.jsonl already",
    ]


def _repeated(value: str) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * REPEATED, pa.int32()), [value])


def _lists(values: pa.Array, each: int) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([each * place for place in range(REPEATED + 1)], pa.int32()), values)


@pytest.mark.parametrize("schema", [True, False], ids=["dictionary", "plain"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: _repeated("m" * 2_000_000),
        lambda: _lists(_repeated("m" * 2_000_000), 1),
        lambda: pa.StructArray.from_arrays([_repeated("m" * 2_000_000)], ["s"]),
    ],
    ids=["string", "list", "struct"],
)
def test_what_a_file_stores_once_is_not_held_once_a_row(
    tmp_path: Path, make: Callable[[], pa.Array], schema: bool
) -> None:
    """Regression: 100 KB of Parquet, of which each row repeats megabytes, took gigabytes; one kind failed whole."""
    ids = [f"d{number}" for number in range(REPEATED)]
    table = pa.table({"id": ids, "text": ["One."] * REPEATED, "n": list(range(REPEATED)), "m": make()})
    path = _parquet(tmp_path / "t.parquet", table, dictionary_pagesize_limit=1 << 26, store_schema=schema)
    assert path.stat().st_size < 200_000
    del table
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        reads = _reads(_listing(path))
        peak = pool.max_memory()
    finally:
        pa.set_memory_pool(before)
    assert peak < 40_000_000
    assert [read.entry.doc_id for read in reads] == ids
    assert {read.finding.reason for read in reads if read.finding} == {
        "its metadata is left out: it takes over 65,536 bytes"
    }
    assert sum(read.finding is not None for read in reads) == REPEATED


def test_document_of_a_row_that_is_too_large_fails(tmp_path: Path) -> None:
    """The limit is on the text, whatever JSON takes for it."""
    rows = [{"id": "a", "text": "x" * 100}, {"id": "b", "text": "x" * 101}]
    write(tmp_path, {"t.jsonl": _jsonl(rows)})
    _parquet(tmp_path / "u.parquet", [{**row, "id": row["id"] + "2"} for row in rows])
    listing = _listing(tmp_path, max_document_bytes=100)
    assert [entry.doc_id for entry in listing.entries] == ["a", "a2"]
    reason = "101 bytes, over the limit of 100; raise --max-document-bytes"
    assert _told(listing) == [("b", f"row 2 of t.jsonl: {reason}"), ("b2", f"row 2 of u.parquet: {reason}")]


def test_endless_line_is_not_held_in_memory(tmp_path: Path) -> None:
    """A line that no document of the allowed size needs is passed over piece by piece; the next row is found."""
    with (tmp_path / "t.jsonl").open("wb") as file:
        file.write(b'{"id": "a", "text": "')
        for _ in range(64):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n{"id": "b", "text": "Two."}\n')
    tracemalloc.start()
    try:
        listing = _listing(tmp_path / "t.jsonl", max_document_bytes=1000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16_000_000
    assert _told(listing) == [("t.jsonl", "row 1: has over 1,054,576 bytes; raise --max-document-bytes")]
    assert [read.document.text for read in _reads(listing, longest=1000) if read.document] == ["Two."]


def test_bad_rows_of_parquet_are_findings_with_their_number(tmp_path: Path) -> None:
    """Null ids and texts, and bytes that are not UTF-8, are told by row."""
    ids = pa.array(["a", None, "c", "d", ""])
    texts = pa.array([b"One.", b"x", None, b"caf\xe9", b"y"], pa.binary())
    _parquet(tmp_path / "t.parquet", pa.table({"id": ids, "text": texts}))
    listing = _listing(tmp_path / "t.parquet")
    assert _told(listing) == [
        ("t.parquet", "row 2: 'id' is null, not text or a whole number"),
        ("t.parquet", "row 5: 'id' is empty"),
    ]
    first, third, fourth = _reads(listing)
    assert first.document is not None
    assert (third.finding, third.sha256) == (Finding("c", "failed", "'text' is null, not text", 3, "t.parquet"), "")
    assert fourth.finding is not None
    assert fourth.finding.message.startswith("row 4 of t.parquet: 'text': byte 3 (0xe9) is not UTF-8")


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_every_type_of_text_is_read(tmp_path: Path, kind: pa.DataType) -> None:
    """Text may be stored in any of Arrow's ways."""
    values = ["One.", "Two \u6f22.", "One."]
    texts = pa.array(values).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values).cast(kind)
    _parquet(tmp_path / "t.parquet", pa.table({"id": pa.array([3, 1, 2], pa.uint16()), "text": texts}))
    found = [read.document for read in _reads(_listing(tmp_path / "t.parquet"))]
    assert [(document.doc_id, document.text) for document in found if document] == [
        ("3", "One."), ("1", "Two \u6f22."), ("2", "One."),
    ]  # fmt: skip


def test_further_columns_of_any_type(tmp_path: Path) -> None:
    """Dates, decimals, lists and structs become JSON; bytes are left out; what Python can't hold loses nothing else."""
    table = pa.table(
        {
            "id": ["a"],
            "text": ["One."],
            "day": pa.array([datetime.date(2026, 3, 1)]),
            "moment": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")),
            "price": pa.array([decimal.Decimal("1.50")]),
            "tags": pa.array([["x", "y"]]),
            "place": pa.array([{"city": "Turku"}]),
            "image": pa.array([b"\x89PNG"]),
            "far": pa.array([[253_402_300_800_000]], pa.list_(pa.timestamp("ms"))),
        }
    )
    [read] = _reads(_listing(_parquet(tmp_path / "t.parquet", table)))
    assert read.document is not None
    assert dict(read.document.metadata) == {
        "day": "2026-03-01",
        "moment": "2023-11-14T22:13:20.123456789",
        "price": "1.50",
        "tags": ["x", "y"],
        "place": {"city": "Turku"},
        "far": ["10000-01-01T00:00:00"],
    }


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.timestamp("us"), 1, "1970-01-01T00:00:00.000001"),
        (pa.timestamp("s", "Europe/Helsinki"), 86_400, "1970-01-02T00:00:00Z"),
        (pa.timestamp("ns", "No/Such/Zone"), 1_500_000_000, "1970-01-01T00:00:01.5Z"),
        (pa.timestamp("ms"), -(2**62), "-146136543-09-08T08:23:32.096"),
        (pa.date32(), 20_000, "2024-10-04"),
        (pa.date32(), 10_000_000, "29349-01-26"),
        (pa.time32("ms"), 3_600_001, "01:00:00.001"),
        (pa.time64("ns"), 1, "00:00:00.000000001"),
        (pa.duration("ms"), -1500, "PT-1.5S"),
        (pa.duration("s"), 86_400, "PT86400S"),
    ],
)
def test_times_are_iso_8601(tmp_path: Path, kind: pa.DataType, value: int, expected: str) -> None:
    """Alone, in lists, in structs, in maps and as a dictionary; whatever year, zone and precision."""
    of = pa.array([value], pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    table = pa.table(
        {
            "id": ["a"],
            "text": ["One."],
            "alone": of,
            "list": pa.ListArray.from_arrays([0, 1], of),
            "struct": pa.StructArray.from_arrays([of], ["at"]),
            "map": pa.MapArray.from_arrays([0, 1], ["k"], of),
            # Arrow forgets that a dictionary in Parquet was one of durations.
            "dictionary": of if pa.types.is_duration(kind) else of.dictionary_encode(),
        }
    )
    [read] = _reads(_listing(_parquet(tmp_path / "t.parquet", table)))
    assert read.document is not None
    assert dict(read.document.metadata) == {
        "alone": expected,
        "list": [expected],
        "struct": {"at": expected},
        "map": [["k", expected]],
        "dictionary": expected,
    }


def _extended(path: Path, **options: Any) -> Path:  # noqa: ANN401
    """A table with columns of JSON and of UUIDs, as DuckDB writes them too."""
    uuids = [uuid.UUID(int=number) for number in range(REPEATED)]
    table = pa.table(
        {
            "id": pa.array([each.bytes for each in uuids], pa.uuid()),
            "text": ["One."] * REPEATED,
            "json": pa.array([None, *['{"a": 1}'] * (REPEATED - 1)], pa.json_()),
            "also": pa.array([None, *[each.bytes for each in uuids[1:]]], pa.uuid()),
            "deep": pa.StructArray.from_arrays([pa.array([each.bytes for each in uuids], pa.uuid())], ["of"]),
        }
    )
    return _parquet(path, table, **options)


@pytest.mark.parametrize("schema", [True, False])
def test_extension_types_are_read_as_what_they_hold(tmp_path: Path, schema: bool) -> None:
    """Regression: a dictionary of JSON made the whole table fail; and UUIDs, which many ids are, were none."""
    reads = _reads(_listing(_extended(tmp_path / "t.parquet", store_schema=schema)))
    first, second = (dict(read.document.metadata) for read in reads[:2] if read.document)
    assert [read.entry.doc_id for read in reads] == [str(uuid.UUID(int=number)) for number in range(REPEATED)]
    assert (first["json"], first["also"]) == (None, None)
    assert (second["json"], second["also"]) == ('{"a": 1}', str(uuid.UUID(int=1)))


def test_json_that_is_repeated_is_not_held_once_a_row(tmp_path: Path) -> None:
    """Strings of an extension type stay a dictionary as others do."""
    big = f'{{"a": "{"m" * 1_000_000}"}}'
    table = pa.table({"id": ["a"] * 50, "text": ["One."] * 50, "json": pa.array([big] * 50, pa.json_())})
    path = _parquet(tmp_path / "t.parquet", table, dictionary_pagesize_limit=1 << 26)
    with path.open("rb") as file:
        opened = opened_table(file)
        assert sum(batch.nbytes for batch in batches(opened, 0, ["id", "text", "json"])) < 3_000_000


def test_numbers_that_are_none_are_no_text_and_no_id(tmp_path: Path) -> None:
    """Regression: NaN, as some writers have it for what is missing, became a text that says so."""
    write(tmp_path, {"t.jsonl": '{"id": "a", "text": NaN}\n{"id": Infinity, "text": "x"}\n{"id": "b", "text": "x"}\n'})
    listing = _listing(tmp_path / "t.jsonl")
    assert [entry.doc_id for entry in listing.entries] == ["b"]
    assert _told(listing) == [
        ("a", "row 1 of t.jsonl: 'text' is a number, not text"),
        ("t.jsonl", "row 2: 'id' is a number, not text or a whole number"),
    ]


def test_everything_that_is_done_to_a_row_is_told(tmp_path: Path) -> None:
    """Regression: where a text was repaired, nothing told of the metadata that was left out."""
    write(tmp_path, {"t.jsonl": _jsonl([{"id": "a", "text": "a\0", "m": "x" * 70_000}])})
    [read] = _reads(_listing(tmp_path / "t.jsonl"))
    assert read.finding is not None
    assert read.finding.reason == (
        "1 NUL or surrogate characters replaced by U+FFFD; its metadata is left out: it takes over 65,536 bytes"
    )


def test_value_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    """A string that is not UTF-8 in one row's list changes nothing in another's; both have what they have alone."""
    strings = pa.Array.from_buffers(pa.string(), 3, pa.array([b"x", b"\xff", b"y"]).buffers())
    column = pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, 1, 2, 3], strings), [1, 2, 3]], ["of", "n"])
    table = pa.table({"id": ["a", "b", "c"], "text": ["One."] * 3, "deep": column})
    listing = _listing(_parquet(tmp_path / "t.parquet", table))
    together = _reads(listing)
    alone = [read for entry in listing.entries for read in documents_of([entry], SETTINGS, 1000)]
    assert together == alone
    assert [read.document.metadata["deep"] for read in together if read.document] == [
        {"of": ["x"], "n": 1},
        {"of": ["\ufffd"], "n": 2},
        {"of": ["y"], "n": 3},
    ]


@pytest.mark.parametrize("depth", [63, 64, 65, 120, 200, 300, 470, 985, 5000])
def test_depth_of_metadata_is_limited_the_same_for_every_caller(tmp_path: Path, depth: int) -> None:
    """Python's parser gives up at a depth that depends on its caller, and so would what is told of a row."""
    write(tmp_path, {"t.jsonl": f'{{"id": "a", "text": "One.", "deep": {"[" * depth}{"]" * depth}}}\n'})

    def told(frames: int) -> list[tuple[str, str]]:
        return _told(_listing(tmp_path / "t.jsonl")) if frames == 0 else told(frames - 1)

    expected = [] if depth <= 64 else [("a" if depth < 128 else "t.jsonl", "is nested deeper than 64")]
    for frames in (0, 300):
        assert [(doc_id, reason.partition(": ")[2]) for doc_id, reason in told(frames)] == expected


def test_brackets_in_strings_are_no_depth(tmp_path: Path) -> None:
    """Text about code may hold any number of them; a string that does not end takes no longer than one that does."""
    rows = [{"id": "a", "text": '[{"' * 1000}, {"id": "b", "text": "\\[" * 1000, "deep": [[]] * 1000}]
    write(tmp_path, {"t.jsonl": _jsonl(rows) + '{"' + '\\"[' * 200_000})
    listing = _listing(tmp_path / "t.jsonl")
    assert [entry.doc_id for entry in listing.entries] == ["a", "b"]
    assert [reason[:20] for _, reason in _told(listing)] == ["row 3: is not JSON: "]


def test_lines_that_end_in_carriage_returns_are_told(tmp_path: Path) -> None:
    """As old Macs wrote them: the whole file is one line, and the reason says so."""
    write(tmp_path, {"t.jsonl": _jsonl(ROWS).replace("\n", "\r")})
    [(_, reason)] = _told(_listing(tmp_path / "t.jsonl"))
    assert reason.startswith("row 1: is not JSON: Extra data")
    assert reason.endswith("; lines must end in a newline, and these end in carriage returns alone")


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_row_weighs_what_its_metadata_takes(tmp_path: Path, name: str) -> None:
    """Units are divided by it, so that none holds more than it should; Parquet stores what is repeated only once."""
    rows = [{"id": str(number), "text": "x" * 4000, "note": "n" * 50_000} for number in range(40)]
    if name == "t.parquet":
        path = _parquet(tmp_path / name, rows)
        assert path.stat().st_size < 60_000
    else:
        path = write(tmp_path, {name: _jsonl(rows)}) / name
    assert {entry.size for entry in _listing(path).entries} == {4000}
    assert all(150_000 <= entry.weight <= 160_000 for entry in _listing(path).entries)
    assert [len(unit.entries) for unit in planned_units(_listing(path).entries, 1)] == [27, 13]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no parquet at all", "is no Parquet file that can be read: "),
        (b"", "is no Parquet file that can be read: "),
        (
            pa.table({"key": ["a"], "body": ["x"]}),
            "has not one column 'id'; it has key, body; name it with --id-column",
        ),
        (pa.table({"id": ["a"], "text": [1]}), "column 'text' is int64, which is no text"),
        (pa.table({"id": [1.5], "text": ["x"]}), "column 'id' is double, which is no id"),
    ],
)
def test_table_that_is_none_fails_as_a_whole(tmp_path: Path, content: bytes | pa.Table, reason: str) -> None:
    """The finding goes by the id of the table's file, and what it held is not known to be gone."""
    if isinstance(content, bytes):
        write(tmp_path, {"t.parquet": content})
    else:
        _parquet(tmp_path / "t.parquet", content)
    listing = _listing(tmp_path)
    [(doc_id, told)] = _told(listing)
    assert (listing.entries, listing.unseen, doc_id) == ([], {"t.parquet"}, "t.parquet")
    assert told.startswith(reason)


@settings(max_examples=100, derandomize=True)
@given(st.integers(0, 4000), st.binary(min_size=1, max_size=8))
def test_damaged_parquet_is_a_finding_or_other_rows(place: int, damage: bytes) -> None:
    """Damage anywhere in the file raises nothing.

    The same damage each time: there is some at which pyarrow aborts the process, this one too. A run reads tables in
    workers for that, which is tested with them.
    """
    file = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(ROWS * 20), file, row_group_size=20)
    content = bytearray(file.getvalue().to_pybytes())
    content[place % len(content) : place % len(content) + len(damage)] = damage
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), {"t.parquet": bytes(content)})
        listing = _listing(folder)
        assert len(_reads(listing)) == len(listing.entries)


def test_id_that_is_taken_is_a_finding(tmp_path: Path) -> None:
    """A row can't take the place of a file or of another row: the first one stays, and the run goes on."""
    write(
        tmp_path,
        {
            "a.md": "A file.\n",
            "t.jsonl": _jsonl([{"id": "a.md", "text": "x"}, {"id": "b", "text": "y"}, {"id": "b", "text": "z"}]),
            "u.jsonl": _jsonl([{"id": "b", "text": "w"}]),
        },
    )
    listing = _listing(tmp_path)
    assert [(entry.doc_id, entry.table) for entry in listing.entries] == [("a.md", ""), ("b", "t.jsonl")]
    assert _told(listing) == [
        ("t.jsonl", "row 1: the id 'a.md' is that of a file already"),
        ("t.jsonl", "row 3: the id 'b' is that of row 2 of t.jsonl already"),
        ("u.jsonl", "row 1: the id 'b' is that of row 2 of t.jsonl already"),
    ]
    assert listing.unseen == set()


def test_globs_choose_rows(tmp_path: Path) -> None:
    """Rows are chosen by their own id or by their table's, and shut out by either."""
    write(tmp_path, {"t.jsonl": _jsonl(ROWS), "u.jsonl": _jsonl([{"id": "z", "text": "x"}])})
    for selection, ids in (
        ({"include": ("*.md",)}, ["b.md"]),
        ({"include": ("u.jsonl",)}, ["z"]),
        ({"exclude": ("u.*",)}, ["b.md", "a", "c/d.rst"]),
        ({"exclude": ("c/*", "z")}, ["b.md", "a"]),
    ):
        assert [entry.doc_id for entry in _listing(tmp_path, **selection).entries] == ids


def test_rows_are_found_again_in_any_part_of_a_table(tmp_path: Path) -> None:
    """Any run of rows, across the borders of row groups and batches, gives the texts that were listed."""
    rows = [
        {"id": f"{number * 7919 % 1000:03}", "text": f"Row {number}. " * (number % 50 + 1)} for number in range(1000)
    ]
    _parquet(tmp_path / "t.parquet", rows, row_group_size=130)
    listing = _listing(tmp_path)
    for start, end in ((0, 1000), (128, 133), (260, 261), (999, 1000), (5, 700)):
        chosen = listing.entries[start:end]
        found = list(documents_of(chosen, SETTINGS, 100_000))
        assert [read.document.text for read in found if read.document] == [row["text"] for row in rows[start:end]]
    scattered = listing.entries[3::97]
    found = list(documents_of(scattered, SETTINGS, 100_000))
    assert [read.document.text for read in found if read.document] == [row["text"] for row in rows[3::97]]


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_table_that_changed_meanwhile_fails_by_row(tmp_path: Path, name: str) -> None:
    """A row that is not what was listed is left for the next run, and never read under a wrong id."""
    rows = [{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}]
    later = [{"id": "x", "text": "One."}]
    if name.endswith("jsonl"):
        write(tmp_path, {name: _jsonl(rows)})
        listing = _listing(tmp_path)
        write(tmp_path, {name: _jsonl(later)})
    else:
        _parquet(tmp_path / name, rows)
        listing = _listing(tmp_path)
        _parquet(tmp_path / name, later)
    found = _reads(listing)
    assert [(read.document, read.finding and read.finding.status) for read in found] == [(None, "failed")] * 2
    (tmp_path / name).unlink()
    assert [read.finding and read.finding.reason for read in _reads(listing)] == [
        "its table can't be read: No such file or directory"
    ] * 2


def test_bad_rows_beyond_a_number_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no table at all does not give a finding for each of its million lines."""
    monkeypatch.setattr(tables, "MOST_BAD_ROWS", 3)
    write(tmp_path, {"t.jsonl": "not json\n" * 10})
    told = _told(_listing(tmp_path))
    assert len(told) == 4
    assert told[0] == ("t.jsonl", "7 more rows are no documents")


def test_numbers_that_a_file_multiplies_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of one number again and again take next to nothing in the file; other columns are read as ever."""
    monkeypatch.setattr("chunkledger.documents.parquet_file._MOST_REPEATED_BYTES", 1_000_000)
    same, other = (_lists(pa.array(values), 1000) for values in ([7] * 300_000, list(range(300_000))))
    ids = [f"d{number}" for number in range(REPEATED)]
    path = _parquet(tmp_path / "t.parquet", pa.table({"id": ids, "text": ["One."] * REPEATED, "same": same}))
    assert [read.finding is None for read in _reads(_listing(path))] == [False] * REPEATED
    path = _parquet(tmp_path / "u.parquet", pa.table({"id": ids, "text": ["One."] * REPEATED, "other": other}))
    first = _reads(_listing(path))[0].document
    assert first is not None
    assert first.metadata["other"] == list(range(1000))


SHAPES: dict[str, Callable[[str], object]] = {
    "string": lambda value: value,
    "list<string>": lambda value: [value],
    "struct": lambda value: {"s": value, "n": 1},
    "map": lambda value: [("k", value)],
    "list<struct>": lambda value: [{"s": [value]}],
}
TYPES = {
    "string": pa.string(),
    "list<string>": pa.list_(pa.string()),
    "struct": pa.struct([("s", pa.string()), ("n", pa.int64())]),
    "map": pa.map_(pa.string(), pa.string()),
    "list<struct>": pa.list_(pa.struct([("s", pa.list_(pa.string()))])),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dictionary", [True, False])
def test_one_value_that_is_too_large_costs_no_other(tmp_path: Path, shape: str, dictionary: bool) -> None:
    """Regression: a map that was too large took the maps of all rows beside it along."""
    values = [SHAPES[shape](each) for each in ("a", "b" * 900_000, "c")] + [None]
    column = pa.array(values, TYPES[shape])
    assert [decoded_size(column.slice(place, 1)) > 800_000 for place in range(4)] == [False, True, False, False]
    table = pa.table({"id": ["1", "2", "3", "4"], "text": ["One."] * 4, "m": column})
    reads = _reads(_listing(_parquet(tmp_path / "t.parquet", table, use_dictionary=dictionary)))
    assert [read.finding is None for read in reads] == [True, False, True, True]
    found = [read.document.metadata.get("m") for read in reads if read.document]
    expected = [json.loads(json.dumps(each)) for each in (values[0], None, values[2], None)]
    assert found == expected
