"""What operators do by the command line: dry runs, logs, feeds, runs, vacuum, doctor."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from chunkledger import open_ledger
from chunkledger.cli import progress
from chunkledger.cli.output import use_log_format
from chunkledger.runs.making import Step
from chunkledger.store.cursors import cursor
from chunkledger.store.lock import locked
from disagreeing import counting_wrong
from ledgers import COMMAND, Outcome, cli, command, names_below, prose, rows_of, sections, write

SMALL = ("--max-tokens", "200", "--split-headings", "6")


def _ingest(folder: Path, *arguments: str | Path) -> Outcome:
    return cli("ingest", folder / "docs", "--out", folder / "ledger", *SMALL, *arguments)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder `docs` of two documents, and a ledger of them."""
    write(tmp_path / "docs", {"a.md": sections(3), "b.md": sections(2)})
    assert _ingest(tmp_path).code == 0
    return tmp_path


def _objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_dry_run_writes_nothing(corpus: Path) -> None:
    """It tells on standard output what would be done, and ends as the run would, without a DONE line."""
    before = names_below(corpus)
    write(corpus / "docs", {"b.md": sections(3), "c.md": "One.\n", "d.png": ""})
    (corpus / "docs" / "a.md").unlink()
    done = _ingest(corpus, "--dry-run")
    assert (done.code, done.err, names_below(corpus / "ledger")) == (
        0,
        "",
        {name.removeprefix("ledger/") for name in before if name.startswith("ledger/")},
    )
    assert re.sub(r"[\d.]+ MB", "… MB", done.out).splitlines() == [
        "run 2 would read 2 documents, … MB: 1 new, 1 changed",
        "unchanged: 0; read to tell what is: 0 documents",
        "new: c.md",
        "changed: b.md",
        "would be deleted: a.md",
        "skipped: d.png: an image (.png)",
    ]


def test_dry_run_for_programs(corpus: Path) -> None:
    """One object, with every document."""
    write(corpus / "docs", {"c.md": "One.\n", "d.docx": ""})
    done = _ingest(corpus, "--dry-run", "--log-format", "json")
    [plan] = _objects(done.out)
    assert (done.code, plan["run"], plan["new"], plan["unchanged"], plan["refused"]) == (3, 2, ["c.md"], 2, "")
    assert list(plan) == [
        "run", "anew", "new", "again", "changed", "unchanged", "hashed", "gone", "kept", "bytes_to_read", "findings",
        "refused",
    ]  # fmt: skip


def test_dry_run_ends_with_4_where_the_run_would_stop(tmp_path: Path) -> None:
    """And says why."""
    write(tmp_path / "docs", {f"{number:02}.md": "One.\n" for number in range(20)})
    _ingest(tmp_path)
    for path in list((tmp_path / "docs").iterdir())[:15]:
        path.unlink()
    done = _ingest(tmp_path, "--dry-run")
    assert (done.code, "error: the run would stop before it publishes: 15 of the" in done.err) == (4, True)
    assert (_ingest(tmp_path).code, len(rows_of(tmp_path / "ledger"))) == (4, 20)
    assert _ingest(tmp_path, "--max-delete", "75%").code == 0


@pytest.mark.parametrize("share", ["much", "-1", "101%", "1.5"])
def test_share_that_can_not_be(corpus: Path, share: str) -> None:
    """The message names the option."""
    done = _ingest(corpus, "--max-delete", share)
    assert (done.code, "--max-delete must be a share from 0 to 1, or from 0% to 100%" in done.err) == (2, True)


def test_other_settings_are_told_before(corpus: Path) -> None:
    """Before the work, and not in a quiet run."""
    first = cli("ingest", corpus / "docs", "--out", corpus / "ledger", "--max-tokens", "90").err.splitlines()[0]
    assert first == "max_tokens 200 -> 90, split_headings 6 -> 0: all 2 documents are split anew"
    assert len(_ingest(corpus, "--quiet").err.splitlines()) == 1


def test_narration_as_json(tmp_path: Path) -> None:
    """Every line is an object with the same four keys first; the last one has the counts and the DONE line."""
    write(tmp_path / "docs", {"a.md": "One.\n", "b\x1b[31m.docx": "", "c.png": ""})
    done = _ingest(tmp_path, "--log-format", "json")
    lines = _objects(done.err)
    assert (done.code, done.out, [line["event"] for line in lines]) == (3, "", ["finding", "finding", "note", "done"])
    assert all(list(line)[:4] == ["time", "level", "event", "message"] for line in lines)
    assert "\x1b" not in done.err
    assert list(lines[0])[4:] == ["doc_id", "status", "reason", "row"]
    assert (lines[0]["level"], lines[0]["doc_id"]) == ("warning", "b\x1b[31m.docx")
    assert lines[-1]["message"].startswith("DONE run=1 documents=3 ok=1 skipped=1 failed=1 ")
    assert {"run", "documents", "ok", "chunks", "add", "unchanged", "seconds"} <= set(lines[-1])


def test_error_as_json(tmp_path: Path) -> None:
    """What goes wrong is an object too, with the exit code of always; the next command narrates as text again."""
    done = cli("ingest", tmp_path / "nowhere", "--out", tmp_path / "ledger", "--log-format", "json")
    [line] = _objects(done.err)
    assert (done.code, line["level"], line["event"]) == (2, "error", "error")
    assert cli("report", tmp_path / "nowhere").err.startswith("error: no ledger in ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "--log-format", "json"], "Missing argument 'SOURCE...'."),
        (["ingest", "a", "--out", "b", "--log-format=json", "--nightly"], "No such option: --nightly"),
        (
            ["ingest", "a", "--out", "b", "--max-delete", "abc", "--log-format", "json"],
            "--max-delete must be a share from 0 to 1, or from 0% to 100%, not 'abc'",
        ),
        (["ingset", "--log-format", "json"], "No such command 'ingset'. Did you mean 'ingest', 'init'?"),
    ],
)
def test_command_line_that_is_wrong_as_json(arguments: list[str], said: str) -> None:
    """Regression: it was told as text, which ends a reader of objects."""
    done = command(*arguments)
    [line] = _objects(done.err)
    assert (done.code, done.out, line["level"], line["event"], line["message"]) == (2, "", "error", "error", said)


def test_exit_code_and_results_where_lines_are_json(tmp_path: Path) -> None:
    """The way in which errors are told changes nothing else."""
    write(tmp_path / "docs", {"a.md": "One.\n", "b.docx": ""})
    arguments = ("ingest", str(tmp_path / "docs"), "--out", str(tmp_path / "ledger"))
    assert [command(*arguments, f"--log-format={chosen}").code for chosen in ("json", "text")] == [3, 3]
    assert command("ingest", "--log-format", "json", "--help").out.startswith("Usage: chunkledger ingest ")


def test_counting_with_tiktoken_alone_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs time every night until somebody looks."""
    write(tmp_path / "docs", {"a.md": "I don't.\n"})
    counting_wrong(monkeypatch, lambda text: "n't" in text)
    lines = _objects(_ingest(tmp_path, "--log-format", "json").err)
    assert [line["level"] for line in lines if line["event"] == "notice"] == ["warning"]


def test_bar_on_a_terminal(tmp_path: Path) -> None:
    """Documents, megabytes, chunks a second; nothing of it is left in a file."""
    write(tmp_path / "docs", {"a.md": sections(3)})
    master, slave = pty.openpty()
    arguments = [*COMMAND, "ingest", str(tmp_path / "docs"), "--out", str(tmp_path / "ledger"), "--jobs", "0"]
    environment = os.environ | {"COLUMNS": "160", "TERM": "xterm"}
    with subprocess.Popen(arguments, stderr=slave, stdout=slave, env=environment) as process:
        os.close(slave)
        seen = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        assert process.wait(60) == 0
    os.close(master)
    text = seen.decode()
    assert "1 of 1 documents" in text
    assert re.search(r"[\d.]+ of [\d.]+ MB", text)
    assert "chunks/s" in text
    assert "DONE run=1 " in text


def test_line_a_minute_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """How far it is, how fast, and how long it still takes; before the first document, that it is looking."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.01)
    use_log_format("text")
    told = threading.Event()
    right = progress.told

    def spy(*arguments: Any, **more: Any) -> None:  # noqa: ANN401 (whatever it is told)
        right(*arguments, **more)
        told.set()

    monkeypatch.setattr(progress, "told", spy)
    with progress.progress(quiet=False, log_format="text") as steps:
        assert told.wait(10)
        steps(Step(0, 4, 0, 8_000_000, 0))
        steps(Step(1, 4, 2_000_000, 8_000_000, 900))
        told.clear()
        assert told.wait(10)
        steps(Step(4, 4, 8_000_000, 8_000_000, 3600))
        told.clear()
        assert told.wait(10)
    lines = list(
        dict.fromkeys(
            re.sub(r"[\d,]+ (chunks|s|min) ?", r"N \1 ", line) for line in capsys.readouterr().err.splitlines()
        )
    )
    assert lines[0] == "progress: looking at the sources"
    assert any(
        re.match(r"progress: 1 of 4 documents, 2\.0 of 8\.0 MB, [\d,]* ?(N )?chunks ?/s, .* left", line)
        for line in lines
    )
    assert lines[-1].startswith("progress: 4 of 4 documents, 8.0 of 8.0 MB, ")
    assert lines[-1].endswith(", publishing")


def test_quiet_run_has_no_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors and the DONE line only."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.001)
    with progress.progress(quiet=True, log_format="text") as steps:
        steps(Step(1, 1, 1, 1, 1))
    assert capsys.readouterr().err == ""


def test_second_run_at_once_is_refused(corpus: Path) -> None:
    """Exit code 4 at once, with who holds the lock and what to do; or after the wait."""
    with locked(str(corpus / "ledger")):
        done = _ingest(corpus)
        waited = _ingest(corpus, "--wait", "1")
        others = [cli("recount", corpus / "ledger", "--encoding", "cl100k_base"), cli("vacuum", corpus / "ledger")]
    assert (done.code, waited.code, [other.code for other in others]) == (4, 4, [4, 4])
    assert f"another run is at work (process {os.getpid()} on " in done.err
    assert done.err.endswith("; --wait SECONDS waits for it\n")
    assert waited.err.endswith(" after 1 s\n")
    assert open_ledger(corpus / "ledger").run == 1


def _feed(corpus: Path, *arguments: str | Path) -> tuple[list[dict[str, Any]], str]:
    done = cli("feed", corpus / "ledger", *arguments)
    assert done.code == 0
    return _objects(done.out), done.err


def test_feed_since_a_run(corpus: Path) -> None:
    """An object a line; the run that is reached is told, with how much of what."""
    write(corpus / "docs", {"b.md": sections(3), "c.md": "One.\n"})
    _ingest(corpus)
    rows, told = _feed(corpus, "--since", "1")
    assert sorted((row["operation"], row["doc_id"]) for row in rows) == [
        ("add", "b.md"), ("add", "c.md"), ("update", "b.md"),
    ]  # fmt: skip
    assert list(rows[0])[:5] == ["operation", "embed_needed", "previous_chunk_id", "chunk_id", "doc_id"]
    assert told == "FEED since=1 run=2 add=2 move=0 update=1 delete=0 embed=2\n"
    assert (
        _feed(corpus, "--since", "0", "--run", "1")[1] == "FEED since=0 run=1 add=5 move=0 update=0 delete=0 embed=5\n"
    )


def test_cursor_moves_on_ack_alone(corpus: Path) -> None:
    """Read as often as one likes; once acknowledged, only what came later is told."""
    for _ in range(2):
        assert len(_feed(corpus, "--cursor", "search")[0]) == 5
    assert cursor(open_ledger(corpus / "ledger"), "search") == 0
    assert len(_feed(corpus, "--cursor", "search", "--ack")[0]) == 5
    assert (cursor(open_ledger(corpus / "ledger"), "search"), _feed(corpus, "--cursor", "search")[0]) == (1, [])
    write(corpus / "docs", {"c.md": "One.\n"})
    _ingest(corpus)
    assert [row["doc_id"] for row in _feed(corpus, "--cursor", "search")[0]] == ["c.md"]
    assert _feed(corpus, "--cursor", "search", "--ack-run", "2") == ([], "cursor search: run 1 -> 2\n")
    assert _feed(corpus, "--cursor", "search")[0] == []


def test_cursor_does_not_move_where_the_output_ends_early(corpus: Path) -> None:
    """A reader that has gone has not got everything."""
    write(corpus / "docs", {"z.md": prose(20_000)})
    _ingest(corpus)
    arguments = [*COMMAND, "feed", str(corpus / "ledger"), "--cursor", "search", "--ack"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        process.wait(60)
    assert cursor(open_ledger(corpus / "ledger"), "search") == 0


def test_cursor_that_can_not_be_written_is_no_mistake_of_the_caller(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk ends with 4, as for a run."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("chunkledger.store.cursors.write_file", full)
    done = cli("feed", corpus / "ledger", "--cursor", "search", "--ack-run", "1")
    assert (done.code, "_cursors/search.json can't be written: No space left" in done.err) == (4, True)


def test_moving_a_cursor_writes_nothing(corpus: Path) -> None:
    """Regression: what was asked for beside it was passed over without a word."""
    for more in (["--ack"], ["--to", "rows"]):
        done = cli("feed", corpus / "ledger", "--cursor", "search", "--ack-run", "1", *more)
        assert (done.code, "--ack-run writes nothing but the cursor" in done.err) == (2, True)
    assert cursor(open_ledger(corpus / "ledger"), "search") == 0


@pytest.mark.parametrize("to", ["/dev/stdout", "/dev/fd/1", "/dev/fd/9", "/proc/self/fd/9"])
def test_what_a_shell_has_opened_is_written_to(corpus: Path, to: str) -> None:
    """Regression: a pipe of the shell was no file that there is, and a file of its own was put in another's place."""
    wanted = cli("feed", corpus / "ledger", "--since", "0").out
    script = '(echo first; "$@" 9>&1; echo last) > "$0.group"; "$@" 9>&1 | cat > "$0.pipe"'
    call = [*COMMAND, "feed", str(corpus / "ledger"), "--since", "0", "--to", to]
    subprocess.run(["bash", "-c", script, str(corpus / "out"), *call], check=True, stderr=subprocess.DEVNULL)
    assert (corpus / "out.pipe").read_text("utf-8") == wanted
    if "9" not in to:
        assert (corpus / "out.group").read_text("utf-8") == f"first\n{wanted}last\n"


def test_feed_as_parquet(corpus: Path, tmp_path: Path) -> None:
    """The same rows, in a file that is there whole or not at all."""
    rows, _ = _feed(corpus, "--since", "0")
    _feed(corpus, "--since", "0", "--format", "parquet", "--to", tmp_path / "feed.parquet")
    assert pq.ParquetFile(tmp_path / "feed.parquet").read().to_pylist() == rows
    _feed(corpus, "--since", "0", "--to", tmp_path / "feed.jsonl")
    assert _objects((tmp_path / "feed.jsonl").read_text()) == rows
    assert {path.name for path in tmp_path.iterdir()} == {"docs", "ledger", "feed.parquet", "feed.jsonl"}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--since", "0", "--cursor", "a"),
        ("--since", "0", "--ack"),
        ("--since", "9"),
        ("--cursor", "../a"),
        ("--cursor", "a", "--ack-run", "9"),
        ("--since", "0", "--format", "parquet"),
        ("--since", "0", "--run", "9"),
    ],
)
def test_feed_usage_errors(corpus: Path, arguments: tuple[str, ...]) -> None:
    """What can't be is told, with code 2."""
    done = cli("feed", corpus / "ledger", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


def test_runs_are_listed(corpus: Path) -> None:
    """For people a row each, and why one published nothing; for programs an object a line."""
    write(corpus / "docs", {f"{number:02}.md": "One.\n" for number in range(20)})
    _ingest(corpus)
    for number in range(20):
        (corpus / "docs" / f"{number:02}.md").unlink()
    assert _ingest(corpus).code == 4
    done = cli("runs", corpus / "ledger")
    lines = done.out.splitlines()
    assert (done.code, [line.split()[:2] for line in lines[1:4]]) == (
        0,
        [["1", "published"], ["2", "published"], ["3", "failed"]],
    )
    assert re.match(r"run 3, .*: 20 of the ledger's 22 documents \(91%\) are not in the sources now", lines[4])
    found = _objects(cli("runs", corpus / "ledger", "--last", "2", "--format", "json").out)
    assert [(record["run"], record["outcome"]) for record in found] == [(2, "published"), (3, "failed")]
    assert found[0]["report"]["counts"]["add"] == 20
    assert set(found[1]) == {"run", "outcome", "started", "committed", "error", "report"}


def test_older_run_is_exported(corpus: Path) -> None:
    """A version in the command line is the number of a run."""
    write(corpus / "docs", {"b.md": "One.\n"})
    _ingest(corpus)
    exported = [len(_objects(cli("export", corpus / "ledger", "--run", run).out)) for run in ("1", "2")]
    reported = [
        json.loads(cli("report", corpus / "ledger", "--format", "json", "--run", run).out) for run in ("1", "2")
    ]
    assert (exported, [found["run"] for found in reported]) == ([5, 4], [1, 2])
    assert "\n5 chunks of 2 documents" in cli("verify", corpus / "ledger", "--run", "1").out
    assert cli("export", corpus / "ledger", "--run", "3").code == 2


def test_vacuum_on_the_command_line(corpus: Path) -> None:
    """What is removed goes to standard output, a name a line; a dry run removes nothing."""
    write(corpus / "docs", {"b.md": "One.\n"})
    _ingest(corpus)
    before = names_below(corpus / "ledger")
    dry = cli("vacuum", corpus / "ledger", "--keep-days", "0", "--dry-run")
    assert (dry.code, names_below(corpus / "ledger")) == (0, before)
    done = cli("vacuum", corpus / "ledger", "--keep-days", "0")
    assert (done.out, names_below(corpus / "ledger")) == (dry.out, before - set(dry.out.splitlines()))
    assert done.err == (
        "1 part and 1 other file removed; runs from 2 can be read, the feed tells what changed since run 1\n"
    )
    assert cli("vacuum", corpus / "ledger").err.startswith("0 parts and 0 other files removed")


def test_doctor_finds_nothing(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line a check, and code 0."""
    monkeypatch.chdir(corpus)
    write(corpus, {"chunkledger.toml": "max_tokens = 200\nsplit_headings = 6\n"})
    done = cli("doctor", "ledger", "--format", "json")
    checks = {check["name"]: check["verdict"] for check in json.loads(done.out)}
    names = ("versions", "settings", "tokenizer", "table", "lock", "disk", "next run")
    assert (done.code, checks) == (0, dict.fromkeys(names, "ok"))
    assert "o200k_base: its tables are the published ones" in cli("doctor").out


def test_doctor_finds_what_is_bad(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code 1 for what would fail; what costs time, or somebody should know, is told."""
    monkeypatch.chdir(corpus)
    counting_wrong(monkeypatch, lambda text: "n't" in text)
    done = cli("doctor", "ledger", "--format", "json")
    checks = {check["name"]: check["verdict"] for check in json.loads(done.out)}
    assert (done.code, checks["tokenizer"], checks["next run"]) == (0, "look", "look")
    write(corpus, {"chunkledger.toml": "max_pages = 3\n"})
    Path(open_ledger("ledger").part_paths()[0]).unlink()
    done = cli("doctor", "ledger", "--format", "json")
    checks = {check["name"]: check["verdict"] for check in json.loads(done.out)}
    assert (done.code, checks["settings"], checks["table"]) == (1, "bad", "bad")


def test_wait_from_the_settings(corpus: Path) -> None:
    """A cron line need not carry every option."""
    done = command(
        "ingest", corpus / "docs", "--out", corpus / "ledger", *SMALL,
        env=os.environ | {"CHUNKLEDGER_WAIT": "x", "CHUNKLEDGER_JOBS": "0"},
    )  # fmt: skip
    assert (done.code, "CHUNKLEDGER_WAIT: wait must be a whole number" in done.err) == (2, True)


def test_feed_into_a_pipe_leaves_it_one(corpus: Path, tmp_path: Path) -> None:
    """Regression: what stood at --to, a pipe or a device, was replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert cli("feed", corpus / "ledger", "--since", "0", "--to", pipe).code == 0
        out, _ = reader.communicate(timeout=30)
    assert (len(_objects(out)), pipe.is_fifo()) == (5, True)


def test_feed_is_not_written_into_the_ledger(corpus: Path) -> None:
    """Regression: an entry of its log could be replaced."""
    before = names_below(corpus / "ledger")
    done = cli("feed", corpus / "ledger", "--since", "0", "--to", corpus / "ledger" / "_delta_log" / f"{0:020}.json")
    assert (done.code, "lies in the ledger" in done.err, names_below(corpus / "ledger")) == (2, True, before)
    missing = cli("feed", corpus / "ledger", "--since", "0", "--to", corpus / "nowhere" / "f.jsonl")
    assert (missing.code, missing.err) == (2, f"error: {corpus / 'nowhere' / 'f.jsonl'}: No such file or directory\n")


def test_doctor_finds_folders_that_can_not_be_written(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: only the root was tried."""
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("_runs"))
    done = cli("doctor", corpus / "ledger", "--format", "json")
    [disk] = [check for check in json.loads(done.out) if check["name"] == "disk"]
    assert (done.code, disk["verdict"], disk["detail"].startswith("_runs in ")) == (1, "bad", True)
