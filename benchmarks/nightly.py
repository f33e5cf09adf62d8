"""What a night costs: a first run, one over an unchanged corpus, one in which a hundredth of the documents changed.

`python benchmarks/nightly.py FOLDER [ENCODING]`. Each run is the command line in a process of its own, with its
workers. Start-up is what the same command takes for an unchanged corpus of one document, or for one document that has
changed where there is something to split, and is left out of the other figures. Of a night with changes, what it takes
to read and write the parts that they are in is told apart, as the runs' reports have it. Then jobs=1 and jobs=2 over
the corpus, with all that they take; and jobs=2 where two processes are at work, on as many copies of the corpus as
that takes.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, source_of
from chunkledger.engines.local import BYTES_FOR_A_WORKER

ROUNDS = 3
EACH = 100


class Night(NamedTuple):
    """CPU seconds of one run and its workers, and how many of them went into parts that held what has changed."""

    all: float
    parts: float


def main() -> None:
    """Print CPU seconds, and shares of the first run."""
    folder = sys.argv[1] if len(sys.argv) > 1 else "sample_corpus"
    encoding = sys.argv[2] if len(sys.argv) > 2 else "o200k_base"
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        docs = here / "docs"
        names = _copied(folder, docs)
        _copied("sample_corpus/policies", here / "one", most=1)
        _run(here / "one", here / "small", encoding)
        start = _least(lambda _: _run(here / "one", here / "small", encoding)).all
        [only] = [path.name for path in (here / "one").iterdir()]
        ready = _least(lambda number: _changed(here / "one", [only], number, here / "small", encoding))
        first = _least(lambda _: _run(docs, _fresh(here / "ledger"), encoding)).all - ready.all
        same = _least(lambda _: _run(docs, here / "ledger", encoding)).all - start
        rehashed = _least(lambda _: _run(docs, here / "ledger", encoding, "--rehash")).all - start
        print(
            f"{folder}, {encoding}: {len(names):,} documents; start-up left out: {start:.2f} s of CPU, "
            f"with tokenizers {ready.all:.2f} s"
        )
        print(f"  first run              {first:6.2f} s")
        print(f"  unchanged              {same:6.2f} s, {same / first:5.1%}")
        print(f"  unchanged, --rehash    {rehashed:6.2f} s, {rehashed / first:5.1%}")
        ledger = here / "ledger"
        for what, chosen in (("lying together", names[: len(names) // EACH + 1]), ("scattered", names[::EACH])):
            took = _least(lambda number, chosen=chosen: _changed(docs, chosen, number, ledger, encoding))  # type: ignore[misc]
            parts, rest = took.parts - ready.parts, took.all - ready.all - (took.parts - ready.parts)
            print(
                f"  1 % changed, {what:<15}{took.all - ready.all:5.2f} s; their parts {parts:.2f} s, "
                f"all else {rest:.2f} s, {rest / first:5.1%}"
            )
        _print_jobs(docs, here, encoding, "as it is")
        size = sum(path.stat().st_size for path in docs.rglob("*") if path.is_file())
        for copy in range(2 * BYTES_FOR_A_WORKER // size):
            shutil.copytree(docs, here / "more" / str(copy))
        if (here / "more").exists():
            docs.rename(here / "more" / "docs")
            _print_jobs(here / "more", here, encoding, "as often as two work at it")


def _least(run: Callable[[int], Night]) -> Night:
    return min(run(number) for number in range(ROUNDS))


def _print_jobs(docs: Path, here: Path, encoding: str, what: str) -> None:
    one, two = (_least(lambda _, n=n: _run(docs, _fresh(here / "ledger"), encoding, "--jobs", n)).all for n in "12")  # type: ignore[misc]
    print(f"  the corpus {what}: jobs=1 {one:.2f} s, jobs=2 {two:.2f} s, with start-up: {two / one:.2f} times")


def _copied(folder: str, to: Path, most: int | None = None) -> list[str]:
    """Copy the documents of a folder, as files written long ago; their names."""
    names = []
    for entry in listed([source_of(folder)], Selection()).entries[:most]:
        path = to / entry.doc_id
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry.path, path)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        names.append(entry.doc_id)
    return names


def _touch(docs: Path, names: list[str], number: int) -> None:
    for name in names:
        with (docs / name).open("a") as stream:
            stream.write(f"\nOne more line, the {number} of its kind.\n")


def _changed(docs: Path, names: list[str], number: int, ledger: Path, encoding: str) -> Night:
    _touch(docs, names, number)
    return _run(docs, ledger, encoding)


def _fresh(ledger: Path) -> Path:
    shutil.rmtree(ledger, ignore_errors=True)
    return ledger


def _run(docs: Path, ledger: Path, encoding: str, *more: str) -> Night:
    command = [sys.executable, "-m", "chunkledger", "ingest", str(docs), "--out", str(ledger), "--encoding", encoding]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*command, "--quiet", *more], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = json.loads(max((ledger / "_runs").iterdir()).read_text())["seconds"]
    parts = seconds.get("cpu_merge", 0.0) + seconds.get("cpu_changes", 0.0)
    return Night(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, parts)


if __name__ == "__main__":
    main()
