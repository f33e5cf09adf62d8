"""Small corpora, ledgers made of them, damage done to them, and the command line; for tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from chunkledger.cli import app
from chunkledger.records.schema import SCHEMA
from chunkledger.store.ledger import open_ledger

SAMPLE_CORPUS = Path(__file__).parent.parent / "sample_corpus"
IN_PROCESS = {"CHUNKLEDGER_JOBS": "0"}
COMMAND = (sys.executable, "-m", "chunkledger")

Row = dict[str, Any]


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """The folder with these files in it, by POSIX path below it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    root.mkdir(parents=True, exist_ok=True)
    return root


def prose(sentences: int, word: str = "rate") -> str:
    """A paragraph of that many sentences, no two of them equal."""
    return " ".join(f"The {word} of year {number} was {number * 7 % 1000} crowns." for number in range(sentences))


def sections(count: int, sentences: int = 8) -> str:
    """A Markdown document of that many sections, each under 200 tokens."""
    return "\n".join(f"## Section {number}\n\n{prose(sentences, f'w{number}')}\n" for number in range(count))


def large_corpus(root: Path) -> Path:
    """Nine megabytes of Markdown, which make three units of work."""
    paragraph = "".join(f"Line {number} of the *plan* says what is to be done next.\n" for number in range(40))
    body = "".join(f"## Part {number}\n\n{paragraph}\n" for number in range(60))
    for number in range(9_000_000 // len(body) + 1):
        write(root, {f"d{number:03}.md": f"# Plan {number}\n\n{body}"})
    return root


def rows_of(ledger: Path) -> list[Row]:
    """Every record of a ledger, in document order."""
    found: list[Row] = open_ledger(ledger).chunks().to_pylist()
    return found


def names_below(root: Path) -> set[str]:
    """POSIX paths of all files below a folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def damaged(ledger: Path, damage: Callable[[list[Row]], object]) -> None:
    """Let `damage` alter the records of the ledger's only part, and put them in its place under the same name."""
    [path] = open_ledger(ledger).part_paths()
    rows = pq.ParquetFile(path).read().to_pylist()
    damage(rows)
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)


@dataclass(frozen=True)
class Outcome:
    """What a command did: its exit code, and what it wrote to standard output and standard error."""

    code: int
    out: str
    err: str


def cli(*arguments: str | Path, stdin: str | None = None) -> Outcome:
    r"""Run the command line in this process, without workers; an exception that it lets through is raised here.

    Typer's runner gives the output with every `\r\n` as `\n`.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        done = CliRunner().invoke(
            app, [os.fspath(part) for part in arguments], input=stdin, env=IN_PROCESS, catch_exceptions=False
        )
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return Outcome(done.exit_code, done.stdout, done.stderr)


def command(*arguments: str | Path, **options: Any) -> Outcome:  # noqa: ANN401 (whatever subprocess takes)
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *(os.fspath(part) for part in arguments)],
        **{"capture_output": True, "text": True, "encoding": "utf-8", "check": False, "timeout": 60} | options,
    )
    return Outcome(done.returncode, done.stdout or "", done.stderr or "")
