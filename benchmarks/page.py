"""How large the page of a large ledger is, and what it takes to make it.

`python benchmarks/page.py FOLDER [CHUNKS]`. A ledger of at least so many chunks (a million where it is left out) is
made of a folder by reading it under many names, at a limit that does not suit the slot, so that more than half of the
chunks are flagged. Then the report is made with its page in a process of its own, as the command makes it. Needs the
extra `page`; the ledger takes some 300 MB of temporary files.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_MEGABYTES = 8
MOST_SECONDS = 60
SETTINGS = ("--max-tokens", "256", "--slot-tokens", "2000", "--quiet")
COMMAND = (sys.executable, "-m", "chunkledger")


def main() -> None:
    """Print size, time and memory beside what they should be at most."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER [CHUNKS]")
    folder = sys.argv[1]
    chunks = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as temporary:
        once = _ingested([folder], Path(temporary, "once"))
        times = math.ceil(chunks / once)
        ledger = Path(temporary, "ledger")
        made = _ingested([f"copy{number:04}={folder}" for number in range(times)], ledger)
        page = Path(temporary, "page.html")
        started = time.perf_counter()
        subprocess.run([*COMMAND, "report", ledger, "--html", page], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{made:,} chunks of {folder}, {times} times")
        print(f"  page    {page.stat().st_size / 1e6:6.2f} MB, at most {MOST_MEGABYTES}")
        print(f"  time    {seconds:6.1f} s, at most {MOST_SECONDS}")
        print(f"  memory  {memory:6.0f} MB at most in any process of the run, ingest too")


def _ingested(sources: list[str], ledger: Path) -> int:
    """How many chunks the ledger of these sources has."""
    done = subprocess.run(
        [*COMMAND, "ingest", *sources, "--out", ledger, *SETTINGS], check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 3):
        sys.exit(done.stderr)
    return int(done.stderr.rpartition(" chunks=")[2].split()[0])


if __name__ == "__main__":
    main()
