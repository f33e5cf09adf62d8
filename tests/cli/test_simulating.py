"""`simulate` shows what packing comes to, as tables and as JSON, and says what it left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from chunkledger import Settings, ingest
from chunkledger.simulation.outcome import SIMULATION_VERSION
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Logged, Seeded
from chunkledger.simulation.simulating import simulate
from ledgers import cli, rows_of, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that fits no slot beside some prose, under names that are markup and controls."""
    folder = tmp_path_factory.mktemp("simulating")
    table = "| a | b |\n|---|---|\n" + "".join(f"| {number} | {number * 7} |\n" for number in range(60))
    text = "".join(f"## Part {number}\n\nThe rate of year {number} is {number * 31} crowns.\n\n" for number in range(8))
    write(folder / "docs", {"[bold]\x1b[31mtable.md": f"# Rates\n\n{table}", "text.md": text})
    ingest(
        [folder / "docs"], folder / "ledger", Settings(max_tokens=600, min_tokens=10, slot_tokens=300, split_headings=6)
    )
    return folder / "ledger"


def test_one_packing_in_full(ledger: Path) -> None:
    """The verdict with its reasons, what a request gets, what became of the hits, and the chunk that never fits."""
    done = cli("simulate", ledger, "--requests", "200")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "run 1: 9 chunks; 200 ranked lists from seed 0, every chunk alike; o200k_base"
    assert lines[1] == "slot 300, 40 hits offered: the splitter is at fault"
    assert lines[2].startswith("splitter, in ")
    assert "outliers_never_fit, truncation_is_a_habit, floor_over_slot, outliers_skipped_with_room)" in lines[2]
    for title in (
        "What a request gets",
        "What became of the hits",
        "Why space was left",
        "FOUND: outliers_never_fit",
        "FOUND: floor_over_slot",
        "Chunks that did not fit most often",
    ):
        assert title in lines
    (worst,) = [line for line in lines if "table.md" in line]
    assert "[bold]\\x1b[31mtable.md" in worst
    assert "table, 60 rows (over_slot, over_share)" in " ".join(done.out.split())


def test_several_packings_side_by_side(ledger: Path) -> None:
    """A line for each slot and K."""
    done = cli("simulate", ledger, "--slot-tokens", "300..900:300", "--k", "2,40", "--requests", "50")
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()[3:]]
    assert [row[:2] for row in rows] == [[slot, k] for slot in ("300", "600", "900") for k in ("2", "40")]
    assert [row[-2] for row in rows[::2]] == ["splitter", "k", "k"]


def test_json_is_what_the_function_gives(ledger: Path) -> None:
    """Every option reaches the packer, and the version stands first."""
    options = {"max_chunks": 3, "on_miss": "stop", "truncate": "any", "duplicates": "chunk"}
    flags = [each for name, value in options.items() for each in (f"--{name.replace('_', '-')}", str(value))]
    more = ["--sentences", "--no-merge", "--requests", "9", "--seed", "4", "--top", "1", "--run", "1", "--k", "5"]
    done = cli(
        "simulate", ledger, "--format", "json", "--slot-tokens", "200", "--encoding", "o200k_base", *flags, *more
    )
    packing = Packing(slot_tokens=200, k=5, sentences=True, merge=False, **options)  # type: ignore[arg-type]
    expected = simulate(ledger, [packing], Seeded(9, 4), top=1).as_dict()
    assert json.loads(done.out) == json.loads(json.dumps(expected))
    assert next(iter(json.loads(done.out).items())) == ("simulation_version", SIMULATION_VERSION)
    assert cli("simulate", ledger, "--format", "json").out == cli("simulate", ledger, "--format", "json").out


def test_lists_of_a_log(ledger: Path, tmp_path: Path) -> None:
    """Files one after the other, packed ones too; what was left out is told on standard error."""
    ids = [row["chunk_id"] for row in rows_of(ledger)]
    lines = [json.dumps(ids), json.dumps({"ranked_ids": [*ids[:2], "unknown"]}), "service started"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), "utf-8")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as packed:
        packed.write(json.dumps(["x", "y"]))
    done = cli("simulate", ledger, "--log", tmp_path / "a.jsonl", "--log", tmp_path / "b.jsonl.gz", "--format", "json")
    assert done.err.splitlines() == [
        "1 line left out; line 3: it holds neither a list nor an object of JSON",
        "3 chunks of the log not in the ledger, 3 hits; 1 list of nothing else left out",
    ]
    found = json.loads(done.out)
    expected = simulate(ledger, [Packing(slot_tokens=300)], Logged([*lines, '["x", "y"]'])).as_dict()
    assert found == json.loads(json.dumps(expected))
    assert cli("simulate", ledger, "--log", "-", stdin=lines[0]).out.startswith(
        "run 1: 9 chunks; 1 ranked list from a log; o200k_base\nslot 300, all hits offered: "
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--log", "{log}"],
            "the log holds no ranked list (line 1: it has no ranked_ids, but: slot, used); log the ids",
        ),
        (["--log", "-"], "has none of the 1 chunks that the log names; is it the ledger that they are from?"),
        (["--log", "nowhere"], "nowhere can't be read: No such file or directory"),
        (["--log", "{log}", "--seed", "1"], "--requests and --seed make lists at random; leave them out where --log"),
        (["--slot-tokens", "big"], "--slot-tokens must be a whole number, several with commas, or FIRST..LAST:STEP"),
        (["--k", "0"], "k must be a whole number of at least 1, not 0"),
        (["--encoding", "cl100k_base"], "is counted in o200k_base; `chunkledger recount` adds an encoding"),
        (["--parents"], "has no parents; ingest with --parent-tokens makes them"),
        (["--run", "7"], "has no run 7; it has runs up to 1"),
    ],
)
def test_what_cannot_be_simulated(ledger: Path, tmp_path: Path, arguments: list[str], told: str) -> None:
    """It is a usage error that says what would work."""
    write(tmp_path, {"log": '{"slot": 1, "used": 1}\n'})
    done = cli("simulate", ledger, *(each.format(log=tmp_path / "log") for each in arguments), stdin='["x"]')
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1
