"""CPU, memory and growth of `chunkledger ingest` over hostile documents, and whether what it wrote is right.

`python benchmarks/hostile.py [--only TEXT] [--suffix .md] [--encoding E] [--max-tokens N] [--overlap-tokens N]
[--export] [--check]`. Each document is ingested, at full size and at half, by a process of its own with one job; its
user and system time and its largest resident set are those that the system reports when it ends. `--check` recounts
every record with tiktoken, as `chunkledger verify` does. The limits are 10 CPU seconds, and 300 MB and 40 times the
document's size.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from chunkledger.store.ledger import open_ledger
from chunkledger.verification import verify

sys.path[0] = str(Path(__file__).parent.parent / "tests")
from hostile import KINDS, LARGE, Hostile  # noqa: E402 (a module of the tests)

MOST_SECONDS = 10.0
MOST_MEGABYTES, MEGABYTES_PER_MEGABYTE = 300, 40
START_SECONDS = 1.2
"""Imports, vocabularies and the self-test, which say nothing about growth."""
MAX_DOCUMENT_BYTES = 64_000_000
_LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(f"\\n{os.waitstatus_to_exitcode(status)} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}", end="")
"""
"""A small process to start a command from: the system counts the starter's own memory to the peak of what it starts."""


@dataclass(frozen=True)
class Measured:
    """What one command took: exit code, CPU seconds, megabytes at the peak, and what it wrote to standard error."""

    code: int
    seconds: float
    megabytes: float
    errors: str


def main() -> int:
    """Print a line for each document; exit 1 where a limit is broken or a record is wrong."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="", help="kinds whose name holds this text")
    arguments.add_argument("--suffix", choices=[".md", ".txt"], action="append")
    arguments.add_argument("--encoding", choices=["cl100k_base", "o200k_base"], action="append")
    arguments.add_argument("--max-tokens", type=int, default=512)
    arguments.add_argument("--overlap-tokens", type=int, default=0)
    arguments.add_argument("--export", action="store_true", help="measure the export too")
    arguments.add_argument("--check", action="store_true", help="recount every record with tiktoken")
    arguments.add_argument("--whole", action="store_true", help="leave out the half size")
    options = arguments.parse_args()
    bad = 0
    for name, kind in {**KINDS, **LARGE}.items():
        if options.only not in name:
            continue
        for suffix in options.suffix or [".md", ".txt"]:
            for encoding in options.encoding or ["cl100k_base", "o200k_base"]:
                bad += _line(f"{name}{suffix}", kind, suffix, encoding, options)
    print(f"{bad} over a limit or wrong" if bad else "all within the limits")
    return int(bad > 0)


def _line(title: str, kind: Hostile, suffix: str, encoding: str, options: argparse.Namespace) -> bool:
    """Measure one document, print its line, and say whether anything is wrong with it."""
    flags = [f"--max-tokens={options.max_tokens}", f"--overlap-tokens={options.overlap_tokens}"]
    flags += [f"--encoding={encoding}", f"--max-document-bytes={MAX_DOCUMENT_BYTES}", "--jobs=1"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        half = None if options.whole else _ingested(root / "half", kind.make(kind.full // 2), suffix, flags)
        text = kind.make(kind.full)
        size = len(text.encode()) / 1e6
        whole = _ingested(root / "whole", text, suffix, flags)
        notes = [] if whole.code == 0 else [f"exit {whole.code}: {whole.errors[-300:]}"]
        if whole.seconds > MOST_SECONDS:
            notes.append("TIME")
        if whole.megabytes > MOST_MEGABYTES + MEGABYTES_PER_MEGABYTE * size:
            notes.append("MEMORY")
        chunks = over = 0
        if whole.code == 0:
            chunks, over = _chunks(root / "whole" / "ledger")
            if options.export:
                notes += _exported(root / "whole")
            if options.check:
                notes += [str(mismatch)[:300] for mismatch in verify(root / "whole" / "ledger").mismatches[:3]]
    growth = f"{(whole.seconds - START_SECONDS) / max(0.05, half.seconds - START_SECONDS):4.1f}x" if half else ""
    memory = whole.megabytes
    line = f"{title:<46}{encoding:<12}{size:6.2f} MB{whole.seconds:7.2f} s {growth}{memory:6.0f} MB{chunks:8,} chunks"
    print(f"{line} {f'{over} over_max ' if over else ''}{'; '.join(notes)}", flush=True)
    return bool(notes)


def _ingested(root: Path, text: str, suffix: str, flags: list[str]) -> Measured:
    corpus = root / "corpus"
    corpus.mkdir(parents=True)
    (corpus / f"hostile{suffix}").write_bytes(text.encode())
    return _command("ingest", str(corpus), "--out", str(root / "ledger"), *flags)


def _exported(root: Path) -> list[str]:
    done = _command("export", str(root / "ledger"), "--to", str(root / "export.jsonl"))
    return (
        [] if done.code == 0 and done.seconds <= MOST_SECONDS else [f"export: exit {done.code}, {done.seconds:.1f} s"]
    )


def _command(*arguments: str) -> Measured:
    command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, sys.executable, "-m", "chunkledger", *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    code, seconds, kilobytes = done.stdout.decode().rsplit("\n", 1)[-1].split()
    return Measured(int(code), float(seconds), float(kilobytes) / 1024, done.stderr.decode(errors="replace"))


def _chunks(ledger: Path) -> tuple[int, int]:
    table = open_ledger(ledger).chunks()
    return len(table), sum("over_max" in flags for flags in table.column("flags").to_pylist())


if __name__ == "__main__":
    sys.exit(main())
