"""Runs are listed, old ones read and removed, and a ledger says how it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkledger import LedgerError, Settings, SettingsError, ingest, open_ledger, recount
from chunkledger.store.cursors import acknowledge, cursor
from chunkledger.store.files import write_file
from chunkledger.store.health import health
from chunkledger.store.lock import LockedError, locked
from chunkledger.store.runs import runs
from chunkledger.store.vacuum import vacuum
from ledgers import names_below, rows_of, sections, write

SMALL = Settings(max_tokens=200, split_headings=6)
DAY_MS = 86_400_000


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger of four runs: a document, another one, the first one changed, the second one gone."""
    for files in ({"a.md": sections(2)}, {"b.md": sections(1)}, {"a.md": sections(3)}):
        write(tmp_path / "docs", files)
        ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL)
    (tmp_path / "docs" / "b.md").unlink()
    ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL)
    return tmp_path / "ledger"


def _documents(ledger: Path, run: int | None = None) -> dict[str, int]:
    rows = open_ledger(ledger, run).chunks(["doc_id"]).column("doc_id").to_pylist()
    return {doc_id: rows.count(doc_id) for doc_id in rows}


def test_older_run_is_read_as_it_was(ledger: Path) -> None:
    """Records, documents and report are those of the run."""
    assert [_documents(ledger, run) for run in (1, 2, 3, 4, None)] == [
        {"a.md": 2},
        {"a.md": 2, "b.md": 1},
        {"a.md": 3, "b.md": 1},
        {"a.md": 3},
        {"a.md": 3},
    ]
    older = open_ledger(ledger, 2)
    assert (older.run, older.report()["run"], older.documents().num_rows) == (2, 2, 2)


@pytest.mark.parametrize("run", [0, 5])
def test_run_that_there_is_not_is_told(ledger: Path, run: int) -> None:
    """The message says where to look."""
    with pytest.raises(LedgerError, match=f"has no run {run}; it has runs up to 4, see `chunkledger runs`"):
        open_ledger(ledger, run)


def test_runs_are_listed_with_those_that_were_not_published(ledger: Path) -> None:
    """A run that failed says why; one whose process ended left only what it had prepared."""
    report = open_ledger(ledger).report()
    for error in (None, "no luck"):
        content = json.dumps(report | {"run": 5, "error": error, "started": f"2099-01-0{1 + bool(error)}"})
        write_file(str(ledger), f"_runs/00005-{'0' * 15}{int(bool(error))}.json", content.encode())
    found = runs(str(ledger))
    assert [(record.run, record.outcome, record.error) for record in found] == [
        (1, "published", ""),
        (2, "published", ""),
        (3, "published", ""),
        (4, "published", ""),
        (5, "ended", ""),
        (5, "failed", "no luck"),
    ]
    assert [record.counts().get("delete") for record in found] == [0, 0, 0, 1, None, None]
    assert all(record.committed >= record.started for record in found[:4])


def test_run_whose_report_is_gone_is_listed(ledger: Path) -> None:
    """The log knows that it was."""
    (ledger / open_ledger(ledger, 2).files.report).unlink()
    record = runs(str(ledger))[1]
    assert (record.run, record.outcome, record.started, record.counts()) == (2, "published", "", {})


def test_more_runs_than_are_looked_through_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the log is read where the last commits do not hold what is asked for."""
    monkeypatch.setattr("chunkledger.store.log._RECENT", 2)
    write(tmp_path / "docs", {"a.md": "One.\n"})
    for _ in range(5):
        ingest([tmp_path / "docs"], tmp_path / "ledger", SMALL)
    assert [record.run for record in runs(str(tmp_path / "ledger"))] == [1, 2, 3, 4, 5]
    assert open_ledger(tmp_path / "ledger", 1).run == 1


def test_vacuum_keeps_what_can_still_be_read(ledger: Path) -> None:
    """Nothing goes while its days are not over, and then only the last run is left."""
    before = names_below(ledger)
    opened = open_ledger(ledger)
    done = vacuum(opened, 1)
    assert (done.parts, done.others, done.oldest, done.feed_from, names_below(ledger)) == ((), (), 1, 0, before)
    planned = vacuum(opened, 0, dry_run=True, now_ms=_later(1))
    assert names_below(ledger) == before
    assert vacuum(opened, 0, now_ms=_later(1)) == planned
    assert names_below(ledger) == before - {*planned.parts, *planned.others}
    assert (planned.oldest, planned.feed_from) == (4, 3)
    assert {name.partition("-")[0] for name in planned.others} == {
        "_documents/00001", "_documents/00002", "_documents/00003", "_changes/00002", "_changes/00003",
    }  # fmt: skip
    assert (_documents(ledger), len(opened.feed(3).to_pylist()), len(opened.feed(0).to_pylist())) == ({"a.md": 3}, 1, 3)
    with pytest.raises(LedgerError, match="the files of run 2 are gone; vacuum removes those of old runs"):
        open_ledger(ledger, 2)
    assert [record.outcome for record in runs(str(ledger))] == ["published"] * 4


def _later(days: float) -> int:
    import time

    return time.time_ns() // 1_000_000 + int(days * DAY_MS)


def test_vacuum_keeps_the_run_that_was_the_last_one_then(ledger: Path) -> None:
    """`--keep-days 30` means that one can read what was there thirty days ago."""
    assert vacuum(open_ledger(ledger), 30, now_ms=_later(29)).oldest == 1
    assert vacuum(open_ledger(ledger), 30, now_ms=_later(31)).oldest == 4
    assert _documents(ledger) == {"a.md": 3}


def test_vacuum_keeps_what_a_cursor_needs(ledger: Path) -> None:
    """A reader that was away for long does not have to begin anew."""
    acknowledge(open_ledger(ledger), "slow", 1)
    acknowledge(open_ledger(ledger), "quick", 4)
    done = vacuum(open_ledger(ledger), 0, now_ms=_later(1))
    assert (done.feed_from, done.held_back) == (1, {"slow": 1})
    assert sorted(row["operation"] for row in open_ledger(ledger).feed(1).to_pylist()) == ["add", "update"]


def test_vacuum_leaves_alone_what_is_not_ours(ledger: Path) -> None:
    """Somebody may keep a file beside the parts."""
    write(ledger, {"mine.parquet": "x", "notes.txt": "x", "_documents/mine": "x"})
    vacuum(open_ledger(ledger), 0, now_ms=_later(1))
    assert {"mine.parquet", "notes.txt"} < names_below(ledger)


def test_ingest_goes_on_after_a_vacuum(ledger: Path) -> None:
    """What is unchanged is taken over, and what was removed was not needed."""
    vacuum(open_ledger(ledger), 0, now_ms=_later(1))
    write(ledger.parent / "docs", {"c.md": "One.\n"})
    assert ingest([ledger.parent / "docs"], ledger, SMALL).changes.add == 1
    assert _documents(ledger) == {"a.md": 3, "c.md": 1}


def _verdicts(ledger: Path) -> dict[str, str]:
    return {check.name: check.verdict for check in health(str(ledger))}


def test_healthy_ledger_is_ok(ledger: Path) -> None:
    """And nothing is left of having looked."""
    before = names_below(ledger)
    acknowledge(open_ledger(ledger), "search", 4)
    assert _verdicts(ledger) == {"table": "ok", "cursors": "ok", "lock": "ok", "disk": "ok"}
    assert names_below(ledger) == before | {"_cursors/search.json"}


def test_ledger_that_is_not_there_yet_is_ok(tmp_path: Path) -> None:
    """Looking makes no folder."""
    assert _verdicts(tmp_path / "new" / "ledger") == {"table": "ok", "disk": "ok"}
    assert list(tmp_path.iterdir()) == []


DAMAGE = ["part gone", "part short", "documents gone", "log", "report", "changes short", "entry emptied", "cursor lost"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(ledger: Path, damage: str) -> None:
    """Whatever a reader or the next run would stumble over."""
    opened = open_ledger(ledger)
    part = Path(opened.part_paths()[0])
    if damage == "part gone":
        part.unlink()
    elif damage == "part short":
        part.write_bytes(part.read_bytes()[:100])
    elif damage == "documents gone":
        (ledger / opened.files.documents).unlink()
    elif damage == "report":
        (ledger / opened.files.report).write_text("{}")
    elif damage == "changes short":
        (ledger / opened.files.changes[0]).write_bytes(b"")
    elif damage == "entry emptied":
        (ledger / "_delta_log" / f"{2:020}.json").write_text("")
    elif damage == "cursor lost":
        acknowledge(opened, "search", 4)
        (ledger / "_delta_log" / f"{3:020}.json").write_text("")
    else:
        (ledger / "_delta_log" / f"{0:020}.json").write_text("{")
    assert "bad" in _verdicts(ledger).values()


def test_ledger_whose_log_lost_an_entry_is_not_read(ledger: Path) -> None:
    """Regression: every chunk of the parts that the entry removed was there twice, and each later run went on."""
    (ledger / "_delta_log" / f"{2:020}.json").write_text("")
    write(ledger.parent / "docs", {"c.md": "One.\n"})
    for use in (
        lambda: open_ledger(ledger).chunks(),
        lambda: open_ledger(ledger).scan(),
        lambda: ingest([ledger.parent / "docs"], ledger, SMALL),
        lambda: recount(ledger, "cl100k_base"),
    ):
        with pytest.raises(LedgerError, match="the log does not agree with what run 4 has written of its parts"):
            use()
    with pytest.raises(LedgerError, match="has no run 3 in its log, though later ones"):
        open_ledger(ledger).feed(1)


def test_cursor_of_a_run_that_went_away_is_not_followed(ledger: Path) -> None:
    """Regression: an earlier night was put back, another run got the number, and its changes were never told."""
    acknowledge(open_ledger(ledger), "search", 4)
    (ledger / "_delta_log" / f"{3:020}.json").unlink()
    with pytest.raises(LedgerError, match="the cursor search is at run 4, which the ledger does not have; begin anew"):
        cursor(open_ledger(ledger), "search")
    ingest([ledger.parent / "docs"], ledger, SMALL)
    assert open_ledger(ledger).run == 4
    with pytest.raises(LedgerError, match="the cursor search is at run 4, which is another one now; begin anew"):
        cursor(open_ledger(ledger), "search")
    acknowledge(open_ledger(ledger), "search", 4)
    assert cursor(open_ledger(ledger), "search") == 4


def test_cursor_can_not_be_moved_to_a_run_that_there_is_not(ledger: Path) -> None:
    """It would pass over the changes of that one."""
    with pytest.raises(SettingsError, match="the ledger has no run 5; its last one is run 4"):
        acknowledge(open_ledger(ledger), "search", 5)
    assert cursor(open_ledger(ledger), "search") == 0


def test_looking_leaves_nothing_in_a_folder_that_is_no_ledger(ledger: Path) -> None:
    """Regression: documents got a `_lock` beside them."""
    docs = ledger.parent / "docs"
    before = names_below(docs)
    assert _verdicts(docs) == {"table": "ok", "disk": "ok"}
    assert names_below(docs) == before


def test_lock_that_is_held_is_told(ledger: Path) -> None:
    """By whom, too."""
    with locked(str(ledger)):
        checks = {check.name: check for check in health(str(ledger))}
    assert (checks["lock"].verdict, "another run is at work (process " in checks["lock"].detail) == ("look", True)


def test_leftovers_are_told(ledger: Path) -> None:
    """A run that was killed leaves parts that nobody reads."""
    write(ledger, {f"part-00005-00000-{'0' * 16}.parquet": "x"})
    checks = {check.name: check for check in health(str(ledger))}
    assert (checks["lock"].verdict, "removes 1 files" in checks["lock"].detail) == ("look", True)
    write(ledger.parent / "docs", {"c.md": "One.\n"})
    ingest([ledger.parent / "docs"], ledger, SMALL)
    assert (_verdicts(ledger)["lock"], len(rows_of(ledger))) == ("ok", 4)


def test_lock_waits_no_longer_than_it_is_told(ledger: Path) -> None:
    """And says for how long it has waited."""
    message = r"another run is at work \(process .*\) after 0 s"
    with locked(str(ledger)), pytest.raises(LockedError, match=message), locked(str(ledger), 0.05):
        pytest.fail("two hold the lock")


def test_run_that_did_not_end_is_told_to_the_next_one(ledger: Path) -> None:
    """What it said of itself is still there."""
    write(ledger, {"_running.json": json.dumps({"pid": 77, "host": "night", "started": "2026-01-02T03:04:05+00:00"})})
    told: list[str] = []
    ingest([ledger.parent / "docs"], ledger, SMALL, notify=told.append)
    assert told == [
        "the last run (process 77 on night, since 2026-01-02T03:04:05+00:00) did not come to its end; what it left "
        "behind is removed"
    ]
    assert "_running.json" not in names_below(ledger)
