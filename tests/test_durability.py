"""What says that a run is done is written after all that it says, on the disk too, and what nobody names is removed."""

from __future__ import annotations

import json
from pathlib import Path

from aftermath import leftovers
from chunkledger import ingest
from chunkledger.runs.making import Step
from faults import LEDGER, Job, stopped
from ledgers import cli, sections, write


def _named(ledger: Path, entry: str) -> set[str]:
    """Files that an entry of the log names as new: parts, documents, report, changes."""
    actions = [json.loads(line) for line in (ledger / entry).read_text().splitlines()]
    [files] = [json.loads(action["commitInfo"]["chunkledger"]) for action in actions if "commitInfo" in action]
    parts = {action["add"]["path"] for action in actions if "add" in action}
    return parts | {files["documents"], files["report"], *files["changes"]}


def _check_order(ledger: Path, steps: list[str], version: int) -> None:
    commit = steps.index("commit")
    entry = f"_delta_log/{version:020}.json"
    named = _named(ledger, entry)
    assert len(named) == 4
    for name in named:
        folder, _, own = name.rpartition("/")
        waiting = f"{folder}/.{own}.PID.tmp".lstrip("/")
        wanted = [f"open {waiting}", f"fsync {waiting}", f"replace {waiting} -> {name}"]
        places = [steps.index(step) for step in wanted]
        settled = steps.index(f"fsync {folder or '.'}", places[-1])
        assert [*places, settled, commit] == sorted([*places, settled, commit]), name
    assert steps[commit + 1 :] == [f"fsync {entry}", "fsync _delta_log", "fsync .", "unlink _running.json"]


def test_commit_comes_after_everything_that_it_names(tmp_path: Path) -> None:
    """Content, name and folder of each file are on the disk before the commit, and the commit is before the end."""
    docs = write(tmp_path / "docs", {"a.md": sections(3), "b.md": sections(2)})
    assert cli("ingest", docs, "--out", tmp_path / "ledger").code == 0
    write(docs, {"a.md": sections(4)})
    commands = (["ingest", str(docs), "--out", LEDGER, "--jobs", "0"], ["recount", LEDGER, "--encoding", "cl100k_base"])
    for number, arguments in enumerate(commands):
        job = Job(arguments, str(tmp_path / "ledger"), str(tmp_path / str(number)), moments=())
        [run] = stopped(job)
        assert run.code == 0
        _check_order(Path(run.ledger), list(run.steps), 1)


def test_part_of_a_worker_that_died_is_not_left(tmp_path: Path) -> None:
    """Regression: a part stayed for ever whose worker died between writing it and saying so."""
    docs = write(tmp_path / "docs", {"a.md": sections(2)})
    ledger = tmp_path / "ledger"
    names = iter([f"part-0000{run}-00000-0123456789abcdef.parquet" for run in (1, 2)])

    def dying(step: Step) -> None:
        if step.documents:
            (ledger / next(names)).write_bytes(b"x")

    for text in (sections(2), sections(3)):
        write(docs, {"a.md": text})
        ingest(docs, ledger, progress=dying)
        assert leftovers(ledger) == set()
