"""What a night costs: a first run, one over an unchanged corpus, one in which a hundredth of the documents changed.

`python benchmarks/nightly.py FOLDER [ENCODING]`. Each run is the command line in a process of its own, with its
workers. Start-up is what the same command takes for an unchanged corpus of one document, or for one document that has
changed where there is something to split, and is left out of the other figures. Then jobs=1 and jobs=2 over a copy of
the corpus, with all that they take.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, source_of

ROUNDS = 3
EACH = 100


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
        start = min(_run(here / "one", here / "small", encoding) for _ in range(ROUNDS))
        [only] = [path.name for path in (here / "one").iterdir()]
        work = []
        for number in range(ROUNDS):
            _touch(here / "one", [only], number)
            work.append(_run(here / "one", here / "small", encoding))
        ready = min(work)
        first = min(_run(docs, _fresh(here / "ledger"), encoding) for _ in range(ROUNDS)) - ready
        same = min(_run(docs, here / "ledger", encoding) for _ in range(ROUNDS)) - start
        rehashed = min(_run(docs, here / "ledger", encoding, "--rehash") for _ in range(ROUNDS)) - start
        print(
            f"{folder}, {encoding}: {len(names):,} documents; start-up left out: {start:.2f} s of CPU, "
            f"with tokenizers {ready:.2f} s"
        )
        print(f"  first run              {first:6.2f} s")
        print(f"  unchanged              {same:6.2f} s, {same / first:5.1%}")
        print(f"  unchanged, --rehash    {rehashed:6.2f} s, {rehashed / first:5.1%}")
        for what, chosen in (("lying together", names[: len(names) // EACH + 1]), ("scattered", names[::EACH])):
            took = []
            for number in range(ROUNDS):
                _touch(docs, chosen, number)
                took.append(_run(docs, here / "ledger", encoding) - ready)
            print(f"  1 % changed, {what:<15}{min(took):5.2f} s, {min(took) / first:5.1%}")
        one, two = (
            min(_run(docs, _fresh(here / "ledger"), encoding, "--jobs", n) for _ in range(ROUNDS)) for n in "12"
        )
        print(f"  jobs=1 {one:.2f} s, jobs=2 {two:.2f} s of CPU, start-up and workers included: {two / one:.2f} times")


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


def _fresh(ledger: Path) -> Path:
    shutil.rmtree(ledger, ignore_errors=True)
    return ledger


def _run(docs: Path, ledger: Path, encoding: str, *more: str) -> float:
    """CPU seconds of one run and its workers."""
    command = [sys.executable, "-m", "chunkledger", "ingest", str(docs), "--out", str(ledger), "--encoding", encoding]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*command, "--quiet", *more], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
