"""What the README says for cron and for containers is what these take, and does what it is there for."""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from cronsim import CronSim

from chunkledger import open_ledger
from ledgers import cli, write
from readme_blocks import blocks


def _cron_line() -> str:
    [line] = [block for block in blocks() if "/srv/" in block and block.startswith("15 ")]
    return line


def test_cron_line_is_run_once_a_night() -> None:
    """Cron reads five fields, and a percent sign in the rest would end the command."""
    *fields, command = _cron_line().strip().split(maxsplit=5)
    times = CronSim(" ".join(fields), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
    nights = [next(times) for _ in range(3)]
    assert [night.isoformat() for night in nights] == [f"2026-01-0{day}T02:15:00+00:00" for day in (1, 2, 3)]
    assert "%" not in command


def test_command_of_the_cron_line_runs(tmp_path: Path) -> None:
    """With nothing of a terminal around it: the log has the DONE line, and the second night is another run."""
    write(tmp_path / "docs", {"a.md": "One.\n"})
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parent.parent)
    command = _cron_line().strip().split(maxsplit=5)[5].replace("/srv/handbook", shlex.quote(str(tmp_path)))
    # What cron gives to a command is little more than this.
    environment = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
    environment |= {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    for _ in range(2):
        done = subprocess.run(
            ["/bin/sh", "-c", command], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    lines = [line for line in (tmp_path / "ingest.log").read_text().splitlines() if line.startswith("DONE")]
    assert [re.match(r"DONE run=(\d) ", line)[1] for line in lines] == ["1", "2"]  # type: ignore[index]
    assert open_ledger(tmp_path / "ledger").run == 2


def test_command_of_the_container_is_one_that_there_is(tmp_path: Path) -> None:
    """ENTRYPOINT and CMD are lists, and with the mounts in their places they are a run."""
    [text] = blocks("dockerfile")
    found = dict(re.findall(r"^(ENTRYPOINT|CMD) (\[.*\])$", text, re.MULTILINE))
    assert json.loads(found["ENTRYPOINT"]) == ["chunkledger"]
    write(tmp_path / "docs", {"a.md": "One.\n"})
    places = {"/docs": str(tmp_path / "docs"), "/ledger": str(tmp_path / "ledger")}
    done = cli(*(places.get(argument, argument) for argument in json.loads(found["CMD"])))
    assert (done.code, json.loads(done.err.splitlines()[-1])["event"]) == (0, "done")
