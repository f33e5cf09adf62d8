"""A page's first sentences say good or bad, how many, because of what, and where."""

from __future__ import annotations

from pathlib import Path

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.page.words import Verdict, keys, verdict
from chunkledger.outliers.summary import summary
from ledgers import prose, sections, write

TABLE = "| a | b |\n|---|---|\n" + "".join(f"| {number} | some words here |\n" for number in range(60))


def _said(folder: Path, files: dict[str, str | bytes], settings: Settings) -> Verdict:
    ingest([write(folder / "docs", files)], folder / "ledger", settings)
    ledger = open_ledger(folder / "ledger")
    return verdict(summary(ledger), ledger.settings())


def test_no_chunks(tmp_path: Path) -> None:
    """An empty ledger is neither good nor bad."""
    found = _said(tmp_path, {"a.md": "\n"}, Settings())
    assert found == Verdict("warn", "No chunks to report on", "This run of the ledger holds no documents.")


def test_all_is_well(tmp_path: Path) -> None:
    """Where nothing is flagged, it says so, and by what margin."""
    found = _said(tmp_path, {"a.md": sections(8)}, Settings(max_tokens=300, min_tokens=20))
    assert (found.level, found.title) == ("good", "All 3 chunks suit the slot")
    assert "of a share of 750; none is below 20 or over the limit of 300." in found.lead


def test_one_short_document(tmp_path: Path) -> None:
    """One chunk is no plural."""
    found = _said(tmp_path, {"a.md": "One.\n"}, Settings())
    assert (found.level, found.title) == ("warn", "The only chunk does not suit the slot")
    assert found.lead == (
        "None is too large for its share of the slot; they are too small. The only cause: short documents. "
        "It is in a.md."
    )


def test_over_the_slot_is_bad(tmp_path: Path) -> None:
    """What can never be packed whole is said first."""
    files: dict[str, str | bytes] = {"t.md": TABLE, "p.md": prose(40), "q.md": "One.\n"}
    found = _said(tmp_path, files, Settings(max_tokens=2000, slot_tokens=300, slot_chunks=1))
    assert (found.level, found.title) == ("bad", "3 of 3 chunks do not suit the slot")
    assert found.lead.startswith("2 can never be packed whole into 300 tokens. The most frequent cause: ")


def test_keys_count_each_flag(tmp_path: Path) -> None:
    """All four are there, those that nothing has in peace."""
    ingest([write(tmp_path / "docs", {"t.md": TABLE})], tmp_path / "ledger", Settings(slot_tokens=4000))
    ledger = open_ledger(tmp_path / "ledger")
    found = keys(summary(ledger), ledger.settings())
    assert [key.flag for key in found] == ["over_slot", "over_share", "over_max", "under_min"]
    assert all((key.level == "good") == (key.chunks == 0) for key in found)


def test_a_limit_that_does_not_suit_the_slot_is_told_with_one_that_does(tmp_path: Path) -> None:
    """With the limit that is advised, no chunk is over its share."""
    files: dict[str, str | bytes] = {"a.md": prose(400)}
    settings = Settings(max_tokens=256, slot_tokens=2000, min_tokens=0)
    ingest([write(tmp_path / "docs", files)], tmp_path / "first", settings)
    found = summary(open_ledger(tmp_path / "first"))
    assert found.on_limits.startswith("The limit does not suit the slot: 256 tokens and a header of up to ")
    [advice] = found.advice
    limit = int(advice.command.partition("--max-tokens ")[2])
    ingest([tmp_path / "docs"], tmp_path / "second", Settings(max_tokens=limit, slot_tokens=2000, min_tokens=0))
    assert summary(open_ledger(tmp_path / "first")).flagged > 0
    assert summary(open_ledger(tmp_path / "second")).flagged == 0


def test_a_limit_that_suits_the_slot_is_left_alone(tmp_path: Path) -> None:
    """No advice where none is needed."""
    ingest([write(tmp_path / "docs", {"a.md": sections(8)})], tmp_path / "ledger")
    assert summary(open_ledger(tmp_path / "ledger")).on_limits == ""
