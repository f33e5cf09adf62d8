"""`whatif` shows both sides, or a line for each value of a sweep, as tables, CSV, Markdown and JSON."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest

from chunkledger import Settings, ingest
from chunkledger.simulation.rankings import Seeded
from chunkledger.whatif.asking import what_if
from chunkledger.whatif.outcome import WHATIF_VERSION
from ledgers import cli, prose, sections, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of documents in `docs` beside it."""
    folder = tmp_path_factory.mktemp("whatif")
    write(folder / "docs", {"a.md": sections(6), "b.md": prose(60), "c.md": "# C\n\nShort.\n"})
    ingest([folder / "docs"], folder / "ledger", Settings(max_tokens=300, slot_tokens=900))
    return folder / "ledger"


def test_both_sides_of_one_case(ledger: Path) -> None:
    """What was asked, then each figure now, then, and its change; what documents have changed."""
    done = cli("whatif", "--against", ledger, "--max-tokens", "150", "--requests", "20")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [
        "run 1, and what if: max_tokens 300 -> 150",
        "slots are filled by 20 ranked lists of 40 hits from seed 0",
    ]
    assert lines[3].split() == ["figure", "now", "what", "if", "change"]
    found = what_if(ledger, (), {"max_tokens": 150}, rankings=Seeded(20))
    [case] = found.cases
    rows = {re.split(r"  +", line)[0]: re.split(r"  +", line.rstrip())[1:] for line in lines[4:]}
    now, then = found.before.chunks, case.figures.chunks
    assert rows["chunks"] == [str(now), str(then), f"+{then - now}"]
    assert rows["ids that stay"] == [str(case.changes.stay)]
    assert rows["tokens to embed"] == [f"{case.changes.embed_tokens:,}"]
    assert case.fill is not None
    assert case.fill_before is not None
    assert rows["fill of a slot of 900"][:2] == [f"{case.fill_before.fill.mean:.1%}", f"{case.fill.fill.mean:.1%}"]
    assert lines[-1] == "documents: 3 the same, 0 changed, 0 new, 0 gone, 0 failed"


def test_line_for_each_value_of_a_sweep(ledger: Path) -> None:
    """The ledger as it is stands first, its own settings are marked, progress goes to standard error."""
    done = cli("whatif", "--against", ledger, "--sweep", "max_tokens=150..300:75", "--requests", "20")
    assert done.code == 0
    assert done.err.splitlines() == [f"splitting {n} of 3: max_tokens {75 + 75 * n}" for n in (1, 2, 3)]
    lines = done.out.splitlines()
    table = [line.split() for line in lines[2:7]]
    assert table[0][:3] == ["max_tokens", "case", "chunks"]
    assert [row[0] for row in table[1:]] == ["300", "150", "225", "300"]
    assert [row[1] for row in table[1:]] == ["now", *[row[1] for row in table[2:4]], "*"]
    assert lines[-1].startswith("now: the ledger as it is; *: its own settings; ")
    quiet = cli("whatif", "--against", ledger, "--sweep", "max_tokens=150..300:75", "--requests", "20", "-q")
    assert (quiet.out, quiet.err) == (done.out, "")


def test_csv_and_markdown(ledger: Path) -> None:
    """Programs get plain figures, pages get a table; both the same ones."""
    for more in (["--slot-chunks", "2"], ["--sweep", "slot-chunks=2,8", "--sweep", "min_tokens=50"]):
        asked = ["whatif", "--against", ledger, "--requests", "20", "-q", *more, "--format"]
        rows = list(csv.reader(cli(*asked, "csv").out.splitlines()))
        lines = [line.strip("| ").split(" | ") for line in cli(*asked, "md").out.splitlines()]
        assert len({len(row) for row in rows}) == 1
        assert len(lines) == len(rows) + 1
        assert set(lines[1]) == {"---", "--:"}
        assert all(lines[0])
        [chunks] = {
            value for row in rows[1:] for name, value in zip(rows[0], row, strict=True) if name == "chunks"
        } or {row[1] for row in rows if row[0] == "chunks"}
        assert int(chunks) > 3


def test_json_is_what_the_function_gives(ledger: Path, tmp_path: Path) -> None:
    """Every flag reaches the splitter, and the version stands first."""
    docs = write(
        tmp_path / "docs", {"a.md": sections(3), "t.jsonl": '{"key": "k", "body": "A row."}\n', "big.md": prose(99)}
    )
    flags = {
        "encoding": "cl100k_base",
        "max_tokens": 140,
        "target_tokens": 120,
        "min_tokens": 9,
        "slot_tokens": 500,
        "slot_chunks": 3,
        "overlap_tokens": 10,
        "parent_tokens": 400,
        "split_headings": 2,
        "template": "markdown/1",
        "language": "de",
        "source_encoding": "cp1252",
        "id_column": "key",
        "text_column": "body",
    }
    given = [each for name, value in flags.items() for each in (f"--{name.replace('_', '-')}", str(value))]
    more = ["--no-heading-context", "--read-as", "plain", "--exclude", "x*", "--include", "*", "--k", "7"]
    asked = ["whatif", docs, "--against", ledger, *given, *more, "--max-document-bytes", "3000", "--seed", "3"]
    done = cli(*asked, "--requests", "5", "--format", "json")
    found = what_if(
        ledger,
        [str(docs)],
        flags | {"heading_context": False, "format": "plain"},
        selection={"exclude": ("x*",), "include": ("*",), "max_document_bytes": 3000},
        k=7,
        rankings=Seeded(5, 3),
    )
    assert (done.code, found.exit_code) == (3, 3)
    assert done.err.startswith("failed: big.md: ")
    assert json.loads(done.out) == json.loads(json.dumps(found.as_dict()))
    assert next(iter(json.loads(done.out).items())) == ("whatif_version", WHATIF_VERSION)
    assert {name: value for name, value in found.cases[0].settings.items() if name in flags} == flags


def test_settings_files_do_not_count(ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings are the ledger's, whatever lies in the folder; only the jobs are this machine's."""
    write(tmp_path, {"chunkledger.toml": "max_tokens = 77\njobs = 0\n"})
    monkeypatch.chdir(tmp_path)
    done = cli("whatif", "--against", os.path.relpath(ledger), "--format", "json", "--requests", "5")
    assert json.loads(done.out)["cases"][0]["settings"]["max_tokens"] == 300


def test_changed_documents_are_told(tmp_path: Path) -> None:
    """Whoever compares is told that not everything comes from the settings; control characters are escaped."""
    docs = write(tmp_path / "docs", {"a.md": sections(2), "b\x1b[31m.md": "One.\n"})
    ingest([docs], tmp_path / "ledger")
    write(docs, {"a.md": sections(3), "b\x1b[31m.md": b"\xff"})
    done = cli("whatif", "--against", tmp_path / "ledger", "--requests", "5")
    assert done.code == 3
    assert done.err.splitlines()[0].startswith("failed: b\\x1b[31m.md: byte 0 (0xff) is not UTF-8; ")
    assert done.out.splitlines()[0] == "run 1, and what if: the settings are the ledger's own"
    assert done.out.splitlines()[-2:] == [
        "documents: 0 the same, 1 changed, 0 new, 0 gone, 1 failed",
        "these are not the documents that the ledger was made of, so not all of this comes from the settings",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sweep", "max_tokens"], "--sweep must be NAME=RANGE, as max_tokens=256..768:64, not 'max_tokens'; NAME is"),
        (["--sweep", "template=1"], "--sweep must be NAME=RANGE, as max_tokens=256..768:64, not 'template=1'; NAME is"),
        (["--sweep", "max_tokens=x"], "--sweep max_tokens must be a whole number, several with commas, or FIRST..LAST"),
        (["--sweep", "max_tokens=1..9:0"], "--sweep max_tokens: 1..9:0 gives 0 values; there must be 1 to 100"),
        (
            ["--sweep", "max_tokens=90", "--sweep", "max-tokens=80"],
            "--sweep max_tokens is given twice; give its values",
        ),
        (["--sweep", "max_tokens=90", "--max-tokens", "80"], "max_tokens is given as 80 and swept too; leave one of"),
        (["--max-tokens", "1"], "max_tokens must be from 2 to "),
        (["nowhere"], "no such file or folder: nowhere"),
    ],
)
def test_what_cannot_be_asked(ledger: Path, arguments: list[str], told: str) -> None:
    """It is a usage error that says what would work."""
    done = cli("whatif", "--against", ledger, *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert cli("whatif", "--against", ledger.parent / "docs").code == 2
