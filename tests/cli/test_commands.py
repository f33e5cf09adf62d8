"""Every command explains itself, keeps results apart from narration, and ends in a code that says how it went."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chunkledger import Settings, ingest
from chunkledger.cli import app
from chunkledger.records.schema import COLUMNS, SCHEMA
from chunkledger.store.log import opened
from ledgers import COMMAND, SAMPLE_CORPUS, cli, command, damaged, large_corpus, names_below, rows_of, sections, write

OPTIONS = {
    "ingest": [
        "--out",
        "--encoding",
        "--parent-tokens",
        "--max-tokens",
        "--target-tokens",
        "--min-tokens",
        "--slot-tokens",
        "--slot-chunks",
        "--overlap-tokens",
        "--split-headings",
        "--no-heading-context",
        "--template",
        "--format",
        "--language",
        "--chunks",
        "--documents",
        "--jobs",
        "--include",
        "--exclude",
        "--max-document-bytes",
        "--max-delete",
        "--rehash",
        "--wait",
        "--dry-run",
        "--quiet",
        "--log-format",
    ],
    "report": ["--format", "--where", "--top", "--group-by", "--run", "--against", "--fail-over", "--window", "--html"],
    "show": ["--chunk", "--format", "--run"],
    "export": ["--format", "--role", "--encoding", "--to", "--run"],
    "feed": ["--since", "--cursor", "--ack", "--ack-run", "--run", "--role", "--format", "--to"],
    "runs": ["--last", "--format"],
    "vacuum": ["--keep-days", "--wait", "--dry-run"],
    "doctor": ["--format"],
    "slot": [
        "--window",
        "--system",
        "--tools",
        "--history",
        "--question",
        "--reserved-output",
        "--framing",
        "--margin",
    ],
    "pack": [
        "--ids",
        "--slot-tokens",
        "--order",
        "--max-chunks",
        "--on-miss",
        "--truncate",
        "--sentences",
        "--no-merge",
        "--duplicates",
        "--field",
        "--encoding",
        "--parents",
        "--render",
    ],
    "simulate": [
        "--slot-tokens",
        "--k",
        "--log",
        "--requests",
        "--seed",
        "--max-chunks",
        "--on-miss",
        "--truncate",
        "--sentences",
        "--no-merge",
        "--duplicates",
        "--encoding",
        "--parents",
        "--run",
        "--format",
        "--top",
    ],
    "whatif": [
        "--against",
        "--sweep",
        "--encoding",
        "--max-tokens",
        "--target-tokens",
        "--min-tokens",
        "--slot-tokens",
        "--slot-chunks",
        "--overlap-tokens",
        "--parent-tokens",
        "--split-headings",
        "--no-heading-context",
        "--template",
        "--read-as",
        "--language",
        "--source-encoding",
        "--id-column",
        "--text-column",
        "--include",
        "--exclude",
        "--max-document-bytes",
        "--k",
        "--requests",
        "--seed",
        "--jobs",
        "--format",
        "--quiet",
    ],
    "diagnose": [
        "--ledger",
        "--format",
        "--top",
        "--empty",
        "--mostly-empty",
        "--outlier-size",
        "--outliers",
        "--truncated",
        "--floor",
        "--drift",
        "--gain",
        "--answered",
    ],
    "curve": ["--format", "--least-gain"],
    "verify": ["--sample", "--run"],
    "recount": ["--encoding", "--wait", "--quiet", "--log-format"],
    "schema": [],
    "init": ["--to", "--force", "--print"],
    "config show": ["--format"],
}
READERS = ("report", "export", "verify", "pack", "simulate", "whatif")
DONE = re.compile(
    r"^DONE run=\d+ documents=\d+ ok=\d+ skipped=\d+ failed=\d+ chunks=\d+ add=\d+ keep=\d+ move=\d+ update=\d+ "
    r"delete=\d+ flagged=\d+ seconds=\d+\.\d$",
    re.MULTILINE,
)


def _reading(name: str, ledger: Path) -> list[str | Path]:
    more: list[str | Path] = ["--ids", os.devnull, "--slot-tokens", "100"] if name == "pack" else []
    return [name, "--against", ledger] if name == "whatif" else [name, ledger, *more]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of the sample corpus."""
    made = tmp_path_factory.mktemp("ledger")
    ingest([SAMPLE_CORPUS], made)
    return made


def test_commands_are_those_that_are_tested() -> None:
    """No command is left out here."""
    grouped = {
        f"{group.name} {entry.name}"
        for group in app.registered_groups
        for entry in (group.typer_instance.registered_commands if group.typer_instance else ())
    }
    assert {entry.name for entry in app.registered_commands} | grouped == set(OPTIONS)
    named = {tuple(name.split()) for name in OPTIONS}
    assert all(re.search(rf"^  {name}\b", cli(*groups, "--help").out, re.MULTILINE) for *groups, name in named)


@pytest.mark.parametrize("name", OPTIONS)
def test_help_names_every_option(name: str) -> None:
    """Help goes to standard output and names the options of the contract."""
    done = cli(*name.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert [option for option in OPTIONS[name] if option not in done.out] == []


def test_help_names_the_exit_codes() -> None:
    """Whoever runs the command at night finds its codes in its help."""
    text = " ".join(cli("--help").out.split())
    assert (
        "Exit codes: 0 done; 1 a check failed; 2 usage or settings; 3 some documents failed, the rest is published; 4 "
        "nothing published, or output not written; 130, 143 interrupted." in text
    )


def test_no_command_is_help() -> None:
    """Without a command the help is shown, as a usage error."""
    done = cli()
    assert done.code == 2
    assert "Usage: " in done.out + done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["ingest"],
        ["ingest", "docs"],
        ["ingest", "docs", "--out", "l", "--max-tokens", "many"],
        ["ingest", "docs", "--out", "l", "--jobs", "-1"],
        ["ingest", "nowhere", "--out", "l"],
        ["ingest", "docs", "--out", "l", "--max-tokens", "1"],
        ["ingest", "docs", "--out", "l", "--encoding", "gpt2"],
        ["ingest", "docs", "--out", "l", "--template", "xml"],
        ["ingest", "docs", "--out", "l", "--format", "html"],
        ["ingest", "docs", "--out", "l", "--source-encoding", "base64"],
        ["ingest", "docs", "--out", "l", "--id-column", ""],
        ["ingest", "docs", "--out", "l", "--id-column", "text"],
        ["ingest", "docs/*.rst", "--out", "l"],
        ["ingest", "docs", "--out", "l", "--overlap-tokens", "512"],
        ["slot"],
        ["slot", "--window", "100", "--system", "100"],
        ["slot", "--window", "100", "--margin", "much"],
        ["slot", "--window", "100", "--margin", "1.5"],
        ["report", "nowhere"],
        ["report", "nowhere", "--format", "yaml"],
        ["verify", "nowhere", "--sample", "0"],
        ["config"],
        ["config", "show", "--format", "yaml"],
        ["init", "nowhere"],
        ["init", "docs", "--to", "docs/a.md"],
        ["init", "docs", "--to", "nowhere/chunkledger.toml"],
    ],
)
def test_usage_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """What can't be is told on standard error, with code 2, and nothing is made."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    monkeypatch.chdir(tmp_path)
    done = cli(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err != ""
    assert names_below(tmp_path) == {"docs/a.md"}


@pytest.mark.parametrize("name", READERS)
def test_no_ledger_is_a_usage_error(tmp_path: Path, name: str) -> None:
    """A folder that is no ledger is named, with how to make one."""
    done = cli(*_reading(name, tmp_path))
    expected = f"error: no ledger in {tmp_path}; `chunkledger ingest SOURCE --out {tmp_path}` makes one\n"
    assert (done.code, done.out, done.err) == (2, "", expected)


@pytest.mark.parametrize("name", READERS)
def test_damaged_ledger_is_told(tmp_path: Path, name: str) -> None:
    """Regression: a part that is gone ended in a traceback."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger")
    [part] = (tmp_path / "ledger").glob("*.parquet")
    part.unlink()
    done = cli(*_reading(name, tmp_path / "ledger"))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {part} can't be read: ")


def test_code_0_and_the_done_line(tmp_path: Path) -> None:
    """A run that took everything ends with 0, its DONE line last on standard error, nothing on standard output."""
    write(tmp_path / "docs", {"a.md": sections(2), "b.png": ""})
    done = command("ingest", tmp_path / "docs", "--out", tmp_path / "ledger")
    assert (done.code, done.out, len(DONE.findall(done.err))) == (0, "", 1)
    assert DONE.match(done.err.splitlines()[-1]) is not None
    assert done.err.splitlines()[:-1] == [
        "skipped: b.png: an image (.png)",
        f"read it with: chunkledger report {tmp_path / 'ledger'}, or polars.scan_delta('{tmp_path / 'ledger'}')",
    ]


def test_code_1_where_a_check_fails(tmp_path: Path) -> None:
    """A ledger with a wrong count does not pass."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger")
    damaged(tmp_path / "ledger", lambda rows: rows[0].update(token_count=99))
    done = command("verify", tmp_path / "ledger")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert "a.md chunk 0: token_count is 99, should be 2" in lines
    assert lines[-1] == (
        "1 chunks of 1 documents; 1 recounted with tiktoken; 1 documents compared with their source, "
        f"1 made again from it; "
        f"{len(lines) - 1} mismatches"
    )


def test_code_3_where_a_document_failed(tmp_path: Path) -> None:
    """Failed documents are named; the rest is published, and the table says both."""
    write(tmp_path / "docs", {"a.md": "One.\n", "b.md": b"\xff", "c.pdf": ""})
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger")
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines()[:2] == [
        "failed: b.md: byte 0 (0xff) is not UTF-8; save the file as UTF-8, or give --source-encoding",
        "failed: c.pdf: .pdf must be converted to Markdown or plain text first",
    ]
    assert "DONE run=1 documents=3 ok=1 skipped=0 failed=2 chunks=1 add=1 " in done.err
    assert [row["doc_id"] for row in rows_of(tmp_path / "ledger")] == ["a.md"]


@pytest.mark.parametrize("out", ["file", "a#b", "table"])
def test_code_4_where_nothing_was_published(tmp_path: Path, out: str) -> None:
    """What can't become a ledger is told as nothing published, and no DONE line is written."""
    write(tmp_path, {"docs/a.md": "One.\n", "file": "x", "table/_delta_log/00000000000000000000.json": "{}\n"})
    before = names_below(tmp_path)
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / out)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("error: nothing was published: ")
    assert (DONE.search(done.err), names_below(tmp_path)) == (None, before)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of several units in `docs`."""
    folder = tmp_path_factory.mktemp("large")
    large_corpus(folder / "docs")
    return folder


@pytest.fixture
def own_ledger(tmp_path: Path) -> Path:
    """A ledger of something else, of the test's own: what one test does to it must not fail the next one."""
    ingest([write(tmp_path / "first", {"a.md": "One.\n"})], tmp_path / "ledger")
    return tmp_path / "ledger"


@contextmanager
def _started(arguments: list[str | Path]) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; killed where a test is done with it before it has ended.

    A shell lets what it starts in the background ignore SIGINT, and the command keeps to that; here it must not.
    """
    pipe = subprocess.PIPE
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=pipe, stderr=pipe, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_interrupted_run_changes_nothing(
    large: Path, own_ledger: Path, number: str, code: int, word: str, jobs: int
) -> None:
    """A run that is stopped in the middle ends soon, with its code, and the ledger is as the last commit left it."""
    before = (rows_of(own_ledger), opened(str(own_ledger)).version())  # type: ignore[union-attr]
    arguments = ["ingest", large / "docs", "--out", own_ledger, "--max-tokens", "2000", "--jobs", str(jobs)]
    with _started(arguments) as process:
        while not list(own_ledger.glob("part-00002-*")):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.02)
        process.send_signal(getattr(signal, number))
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.splitlines()[1:]) == (code, "", [f"error: {word}"])
    assert (rows_of(own_ledger), opened(str(own_ledger)).version()) == before  # type: ignore[union-attr]
    assert list(own_ledger.glob("part-00002-*")) == []
    [left] = [name for name in names_below(own_ledger) if re.match(r"_[a-z]+/00002", name)]
    assert json.loads((own_ledger / left).read_text())["error"] == word


def test_workers_that_are_killed_do_not_show(large: Path) -> None:
    """Whoever kills the workers in the middle of a run: others do their work, and the export is the same."""
    arguments: list[str | Path] = ["ingest", large / "docs", "--max-tokens", "2000", "--out"]
    assert cli(*arguments, large / "quiet").code == 0
    ledger = large / "killed"
    with _started([*arguments, ledger, "--jobs", "2"]) as process:
        while not list(ledger.glob("part-00001-*")):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.02)
        killed = _workers(process.pid)
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, len(killed) > 0) == (0, True)
    assert "failed=0" in err.splitlines()[-1]
    assert rows_of(ledger) == rows_of(large / "quiet")


def test_workers_end_with_a_driver_that_is_killed(large: Path, own_ledger: Path) -> None:
    """Regression: workers of a driver that was killed waited for work for ever."""
    arguments = ["ingest", large / "docs", "--out", own_ledger, "--max-tokens", "2000", "--jobs", "2"]
    # Both ends of the pipe are closed only when the driver and every worker are gone.
    with _started(arguments) as process:
        while not _workers(process.pid):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.02)
        process.kill()
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (-signal.SIGKILL, "")


def _workers(driver: int) -> list[int]:
    """Worker processes of a driver: children that were spawned by multiprocessing."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            if parent == driver and b"spawn_main" in status.with_name("cmdline").read_bytes():
                found.append(int(status.parent.name))
        except OSError:
            continue
    return found


def test_quiet_writes_failures_and_the_done_line(tmp_path: Path) -> None:
    """Narration, skipped and repaired files are left out."""
    write(tmp_path / "docs", {"a.md": "a\x00b", "b.md": b"\xff", "c.png": ""})
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", "--quiet")
    lines = done.err.splitlines()
    assert (done.code, done.out, len(lines)) == (3, "", 2)
    assert lines[0] == "failed: b.md: byte 0 (0xff) is not UTF-8; save the file as UTF-8, or give --source-encoding"
    assert DONE.match(lines[1]) is not None


def test_long_lists_of_findings_are_cut(tmp_path: Path) -> None:
    """A corpus of pictures does not scroll the summary away."""
    write(tmp_path / "docs", {f"{number:02}.png": "" for number in range(23)})
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger")
    assert len(done.err.splitlines()) == 20 + 1 + 2
    report = f"all are in the run's table below {tmp_path / 'ledger'}/_documents"
    assert f"skipped: 3 more; {report}" in done.err.splitlines()


def test_names_are_shown_escaped(tmp_path: Path) -> None:
    """A file name can't write to the terminal."""
    write(tmp_path / "docs", {"\x1b[31m\u202e\n.md": b"\xff"})
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", "--quiet")
    assert done.err.splitlines()[0].startswith("failed: \\x1b[31m\\u202e\\n.md: byte 0")


def test_several_sources_and_globs(tmp_path: Path) -> None:
    """Options that may be given more than once are all used."""
    write(tmp_path, {"one/a.md": "x", "one/b.md": "x", "one/c.txt": "x", "two/a.md": "x"})
    arguments = [tmp_path / "one", f"two={tmp_path / 'two'}", "--out", tmp_path / "ledger"]
    globs = ["--include", "*.md", "--include", "*.txt", "--exclude", "b*", "--exclude", "*/b*"]
    assert cli("ingest", *arguments, *globs).code == 0
    assert [row["doc_id"] for row in rows_of(tmp_path / "ledger")] == ["a.md", "c.txt", "two/a.md"]


def test_every_setting_has_a_flag(tmp_path: Path) -> None:
    """Flags arrive where they should."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    flags = (
        "--encoding cl100k_base --max-tokens 300 --target-tokens 200 --min-tokens 10 --slot-tokens 5000 "
        "--slot-chunks 4 --overlap-tokens 30 --split-headings 2 --no-heading-context --template markdown/1 "
        "--format plain --language de"
    )
    assert cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", *flags.split()).code == 0
    expected = Settings(
        encoding="cl100k_base",
        max_tokens=300,
        target_tokens=200,
        min_tokens=10,
        slot_tokens=5000,
        slot_chunks=4,
        overlap_tokens=30,
        split_headings=2,
        heading_context=False,
        template="markdown/1",
        format="plain",
        language="de",
    )
    assert rows_of(tmp_path / "ledger")[0]["settings_sha256"] == expected.sha256()


def test_limit_of_document_size_is_a_flag(tmp_path: Path) -> None:
    """A document over the limit fails."""
    write(tmp_path / "docs", {"a.md": "x" * 11})
    done = cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", "--max-document-bytes", "10")
    assert (done.code, done.err.splitlines()[0]) == (
        3,
        "failed: a.md: 11 bytes, over the limit of 10; raise --max-document-bytes",
    )


def test_schema_lists_every_column() -> None:
    """Every column is there in order, with its type."""
    lines = cli("schema").out.splitlines()
    named = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert named == ["column", *COLUMNS]
    types = {line.split()[0]: line for line in lines}
    assert all(str(SCHEMA.field(name).type).split("<")[0] in types[name] for name in COLUMNS)


@pytest.mark.parametrize(
    "arguments",
    [
        ["schema"],
        ["report", "--format", "json"],
        ["export"],
        ["export", "--format", "csv"],
    ],
)
def test_reader_that_goes_away_is_no_error(ledger: Path, arguments: list[str]) -> None:
    """Regression: output into `head` could end in code 1 or 120, or a traceback."""
    chosen = [arguments[0], *([] if arguments[0] == "schema" else [str(ledger)]), *arguments[1:]]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = command(*chosen, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert (done.code, done.err) == (0, "")


def test_full_disk_is_told() -> None:
    """Regression: output that can't be written ended in a traceback."""
    with Path("/dev/full").open("w") as full:
        done = command("schema", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.code, done.err) == (4, "error: output: No space left on device\n")


def test_terminal_without_a_character_gets_an_escape(tmp_path: Path) -> None:
    """Regression: a document's name that the terminal's encoding lacks ended in a usage error."""
    ingest([write(tmp_path / "docs", {"日本.md": "One.\n"})], tmp_path / "ledger")
    done = command("report", tmp_path / "ledger", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.code, done.err) == (0, "")
    assert "\\u65e5\\u672c.md" in done.out
    assert "\x1b" not in done.out


def _on_a_terminal(arguments: list[str], **environment: str) -> str:
    """What the command writes to a terminal."""
    driver, terminal = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    variables |= {"TERM": "xterm-256color", "COLUMNS": "120", **environment}
    with subprocess.Popen([*COMMAND, *arguments], stdout=terminal, stderr=terminal, env=variables) as process:
        os.close(terminal)
        written = b""
        while True:
            try:
                read = os.read(driver, 65536)
            except OSError:
                break
            if not read:
                break
            written += read
    os.close(driver)
    assert process.returncode == 0
    return written.decode()


def test_no_color_on_a_terminal(ledger: Path) -> None:
    """With NO_COLOR no colour is set, whatever else marks a heading."""
    written = _on_a_terminal(["report", str(ledger)], NO_COLOR="1")
    colours = [code for code in re.findall(r"\x1b\[([0-9;]*)m", written) if set(code.split(";")) - {"", "0", "1"}]
    assert "Sizes in tokens" in written
    assert colours == []


def test_progress_on_a_terminal_leaves_no_trace(tmp_path: Path) -> None:
    """The bar is for terminals, and gone at the end; the DONE line stands."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    written = _on_a_terminal(["ingest", str(tmp_path / "docs"), "--out", str(tmp_path / "ledger")])
    assert DONE.search(written.replace("\r\n", "\n")) is not None
