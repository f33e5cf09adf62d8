"""`diagnose` and `curve` show what a log says, as tables and as JSON."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from chunkledger import Settings, ingest
from chunkledger.packer import pack
from ledgers import cli, command, rows_of, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One table that is too large for any slot, and some prose."""
    folder = tmp_path_factory.mktemp("diagnosing")
    table = "| a | b |\n|---|---|\n" + "".join(f"| {number} | {number * 7} |\n" for number in range(60))
    text = "".join(f"## Part {number}\n\nThe rate of year {number} is {number * 31} crowns.\n\n" for number in range(8))
    write(folder / "docs", {"table.md": f"# Rates\n\n{table}", "text.md": text})
    settings = Settings(max_tokens=600, min_tokens=10, slot_tokens=300, split_headings=6)
    ingest([folder / "docs"], folder / "ledger", settings)
    return folder / "ledger"


@pytest.fixture(scope="module")
def log(ledger: Path) -> Path:
    """Requests whose table never fits."""
    rows = sorted(rows_of(ledger), key=lambda row: row["doc_id"], reverse=True)
    lines = [
        json.dumps(pack(rows, 300, encoding="o200k_base", emit=False).log.as_dict(intent="rates")) for _ in range(10)
    ]
    path = ledger.parent / "log.jsonl"
    path.write_text("\n".join(["service started", *lines, ""]), encoding="utf-8")
    return path


def test_findings_are_shown_with_figures_and_advice(log: Path) -> None:
    """Each finding has its figures, its threshold and what to do."""
    done = cli("diagnose", log)
    assert (done.code, done.err) == (0, "1 line left out; line 1: it holds no JSON object\n")
    assert done.out.startswith("10 requests\n\n")
    assert "FOUND: outliers_never_fit\nin 10 of 10 requests (100%) an outlier that never fits" in done.out
    assert "to do: `chunkledger report LEDGER` tells which structure makes them" in done.out
    assert "ok: floor_over_slot\n" in done.out
    assert "not judged: tokens_drift\n" in done.out


def test_ledger_names_document_lines_and_cause(ledger: Path, log: Path) -> None:
    """With a ledger the chunks that never fit have a place and a cause."""
    done = cli("diagnose", log, "--ledger", ledger)
    (line,) = [line for line in done.out.splitlines() if "table.md" in line]
    assert line.split()[1:4] == ["10", str(_table(ledger)["rendered_tokens"]), "table.md"]
    assert "table, 60 rows (over_slot, over_share)" in line


def _table(ledger: Path) -> dict[str, object]:
    return next(row for row in rows_of(ledger) if row["doc_id"] == "table.md")


def test_chunk_of_another_ledger_is_told(log: Path, tmp_path: Path) -> None:
    """A chunk that has gone is no error."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    ingest([tmp_path / "docs"], tmp_path / "ledger", Settings())
    assert "not in this ledger" in cli("diagnose", log, "--ledger", tmp_path / "ledger").out


def test_diagnosis_as_json(ledger: Path, log: Path) -> None:
    """Programs get every figure, and the chunks with what the ledger knows."""
    found = json.loads(cli("diagnose", log, "--ledger", ledger, "--format", "json").out)
    assert (found["requests"], found["left_out"]) == (10, 1)
    outliers = next(each for each in found["findings"] if each["name"] == "outliers_never_fit")
    assert (outliers["holds"], outliers["threshold"]) == (True, {"outliers": 0.05, "outlier_size": 2.0})
    assert [(chunk["doc_id"], chunk["flag_cause"], chunk["skipped"]) for chunk in outliers["chunks"]] == [
        ("table.md", "table", 10)
    ]


def test_thresholds_can_be_set(log: Path) -> None:
    """Every named threshold is an option."""
    strict = cli("diagnose", log, "--outliers", "1", "--mostly-empty", "1", "--format", "json")
    assert [each["name"] for each in json.loads(strict.out)["findings"] if each["holds"]] == []
    done = cli("diagnose", log, "--empty", "2")
    assert (done.code, done.err) == (2, "error: the threshold empty is 2.0; it must be from 0 to 1\n")


def test_log_may_be_standard_input(log: Path) -> None:
    """A log can be piped in, whatever stands before its records."""
    done = cli("diagnose", "-", stdin="2026-03-01 INFO " + log.read_text("utf-8").splitlines()[1])
    assert done.out.startswith("1 request\n")


def test_rotated_logs_are_one_log(log: Path, tmp_path: Path) -> None:
    """Several files, packed or not, are read one after the other."""
    packed = tmp_path / "log.jsonl.1.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    assert cli("diagnose", packed, log).out.startswith("20 requests\n")
    packed.write_bytes(gzip.compress(log.read_bytes())[:-20])
    done = cli("diagnose", packed)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {packed} can't be read: ")


def test_chunk_without_a_flag_says_for_which_slot(ledger: Path) -> None:
    """A floor over a smaller slot than the ledger's is no flag; its kind and that slot are shown."""
    row = next(row for row in rows_of(ledger) if row["doc_id"] == "text.md")
    line = json.dumps(pack([row], row["rendered_tokens"] - 1, encoding="o200k_base", truncate="never").log.as_dict())
    done = cli("diagnose", "-", "--ledger", ledger, stdin=line)
    (shown,) = [each for each in done.out.splitlines() if "text.md" in each]
    assert str(row["rendered_tokens"]) in shown.split()
    assert shown.rstrip().endswith("prose; no flag at its ledger's slot of 300")


@pytest.mark.parametrize("command", ["diagnose", "curve"])
def test_log_that_is_not_there_is_a_usage_error(command: str, tmp_path: Path) -> None:
    """The path is named."""
    done = cli(command, tmp_path / "nowhere")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {tmp_path / 'nowhere'} can't be read: No such file or directory\n"


@pytest.mark.parametrize("command", ["diagnose", "curve"])
def test_log_that_holds_nothing_is_a_usage_error(command: str) -> None:
    """What was looked for is said."""
    done = cli(command, "-", stdin="\x00\x1b[31m\xff\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: the log holds no record ")


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """Two intents, three Ks, a hundred queries each."""
    right = {("faq", 1): 50, ("faq", 3): 80, ("faq", 5): 80, ("api\x1b[31m", 1): 40, ("api\x1b[31m", 3): 40}
    lines = [
        json.dumps({"k": k, "intent": intent, "answered_correctly": number < count, "prompt_tokens": 100 + 400 * k})
        for (intent, k), count in right.items()
        for number in range(100)
    ]
    path = tmp_path / "evaluation.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_curve_is_a_table_with_a_plot(evaluation: Path) -> None:
    """One line for each K with its bar, the stop rule below; text of the log shows no controls."""
    done = cli("curve", evaluation)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    start = lines.index("faq")
    assert [line.split()[:6] for line in lines[start + 2 : start + 5]] == [
        ["1", "100", "50.0%", "500", "█" * 20],
        ["3", "100", "80.0%", "+30.0", "+15.00", "1,300"],
        ["5", "100", "80.0%", "+0.0", "+0.00", "2,100"],
    ]
    assert lines[start + 5] == "stop at k = 3: the next chunk adds less than a point"
    assert "api\\x1b[31m" in lines
    assert "\x1b" not in done.out


def test_curve_as_json(evaluation: Path) -> None:
    """The same figures for programs, with the threshold."""
    found = json.loads(cli("curve", evaluation, "--format", "json", "--least-gain", "20").out)
    assert (found["least_gain"], found["left_out"]) == (20.0, 0)
    faq = next(curve for curve in found["curves"] if curve["intent"] == "faq")
    assert (faq["stop_k"], [step["right"] for step in faq["steps"]]) == (1, [0.5, 0.8, 0.8])
    assert faq["steps"][1]["tokens_per_right"] == pytest.approx(800 / 0.3)


def test_bars_are_ascii_where_the_output_is(evaluation: Path) -> None:
    """A bar is made of what the output can print."""
    done = command("curve", evaluation, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.code, "\\u2588" in done.out, "#" * 20 in done.out) == (0, False, True)


def test_figures_are_whole_on_a_narrow_terminal(evaluation: Path) -> None:
    """Where there is little room the bars get shorter, and no figure is folded."""
    lines = cli("curve", evaluation).out.splitlines()
    assert max(map(len, lines)) <= 120
