"""The feed tells what became of each chunk since a run, once, whatever happened in between."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkledger import LedgerError, Settings, SettingsError, ingest, open_ledger, recount
from chunkledger.store import changes_files
from chunkledger.store.changes import changes_schema
from chunkledger.store.cursors import acknowledge, cursor, cursors
from chunkledger.store.feed import feed
from chunkledger.store.parts import Role
from ledgers import Row, sections, write

SMALL = Settings(max_tokens=200, split_headings=6)
ROLES: tuple[Role, ...] = ("chunk", "parent", "all")
OTHER = "# Other\n\nAnother text.\n"


class Nights:
    """A corpus that is ingested night after night."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def after(self, *, settings: Settings = SMALL, **files: str | None) -> int:
        """The number of a run for which these files were written, or deleted where there is no text."""
        for name, text in files.items():
            path = self.folder / "docs" / f"{name}.md"
            if text is None:
                path.unlink()
            else:
                write(path.parent, {path.name: text})
        (self.folder / "docs").mkdir(exist_ok=True)
        return ingest([self.folder / "docs"], self.folder / "ledger", settings).number

    def rename(self, name: str, to: str) -> None:
        """Give a document another name."""
        (self.folder / "docs" / f"{name}.md").rename(self.folder / "docs" / f"{to}.md")

    def told(self, since: int, *, run: int | None = None) -> list[tuple[str, str, bool]]:
        """Operation, document and whether to embed, for each row of the feed."""
        return sorted((row["operation"], row["doc_id"], row["embed_needed"]) for row in self.rows(since, run))

    def rows(self, since: int, run: int | None = None, role: Role = "chunk") -> list[Row]:
        """The feed."""
        found: list[Row] = open_ledger(self.folder / "ledger", run).feed(since, role=role).to_pylist()
        return found


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    """No night yet."""
    return Nights(tmp_path)


def test_since_nothing_everything_is_added(nights: Nights) -> None:
    """Whoever begins gets every record of now."""
    nights.after(a=OTHER)
    nights.after(b=OTHER)
    assert nights.told(0) == [("add", "a.md", True), ("add", "b.md", True)]
    assert nights.told(0, run=1) == [("add", "a.md", True)]


def test_since_now_nothing_is_told(nights: Nights) -> None:
    """The rows have their columns all the same."""
    number = nights.after(a=OTHER)
    ledger = open_ledger(nights.folder / "ledger")
    assert (ledger.feed(number).num_rows, ledger.feed(number).schema) == (0, changes_schema(ledger.schema))


def test_what_came_and_went_is_not_told(nights: Nights) -> None:
    """Added and deleted is nothing; it is told to whoever saw it."""
    nights.after(a=OTHER)
    nights.after(b=OTHER)
    nights.after(b=None)
    assert (nights.told(1), nights.told(2)) == ([], [("delete", "b.md", False)])


def test_what_went_and_came_back_is_not_told(nights: Nights) -> None:
    """A folder that was not mounted for a night changes nothing for whoever slept."""
    nights.after(a=OTHER, b=OTHER)
    nights.after(b=None)
    nights.after(b=OTHER)
    assert (nights.told(1), nights.told(2)) == ([], [("add", "b.md", True)])


def test_what_came_back_as_another_one_is_told_as_that(nights: Nights) -> None:
    """A place is a move, another column an update, and only another embed text is to be embedded."""
    chunk = "## Section\n\nThe same text.\n"
    nights.after(a=chunk)
    nights.after(a=None)
    nights.after(a=f"\n\n{chunk}")
    assert nights.told(1) == [("move", "a.md", False)]
    nights.after(a=None)
    nights.after(a=f"{chunk}\n\n\n", settings=Settings(max_tokens=200, split_headings=6, slot_tokens=10))
    assert nights.told(1) == [("update", "a.md", False)]


def test_last_record_of_several_changes_is_told(nights: Nights) -> None:
    """Whatever was in between: the record is that of now."""
    nights.after(a=sections(2))
    nights.after(a=f"Intro.\n\n{sections(2)}")
    nights.after(a=f"Intro, and more of it.\n\n{sections(2)}")
    now = {row["chunk_id"]: row for row in open_ledger(nights.folder / "ledger").chunks().to_pylist()}
    rows = nights.rows(1)
    assert sorted(row["operation"] for row in rows) == ["add", "move", "move"]
    assert all({name: row[name] for name in now[row["chunk_id"]]} == now[row["chunk_id"]] for row in rows)


def test_equal_texts_in_two_places_are_two_rows(nights: Nights) -> None:
    """One of them can go without the other."""
    nights.after(a=OTHER)
    nights.after(b=OTHER, c=OTHER)
    assert nights.told(1) == [("add", "b.md", True), ("add", "c.md", True)]
    nights.after(b=None)
    assert (nights.told(2), nights.told(1)) == ([("delete", "b.md", False)], [("add", "c.md", True)])


def test_document_that_was_renamed_twice_names_the_first_name(nights: Nights) -> None:
    """A store that saw only the first name knows the vector by it."""
    nights.after(a=OTHER)
    [before] = open_ledger(nights.folder / "ledger").chunks(["chunk_id"]).to_pylist()
    for name, to in (("a", "b"), ("b", "c")):
        nights.rename(name, to)
        nights.after()
    assert nights.told(1) == [("add", "c.md", False), ("delete", "a.md", False)]
    [added] = [row for row in nights.rows(1) if row["operation"] == "add"]
    assert added["previous_chunk_id"] == before["chunk_id"]
    [added] = [row for row in nights.rows(2) if row["operation"] == "add"]
    assert added["previous_chunk_id"] != before["chunk_id"]


def test_document_that_was_renamed_and_back_is_not_told(nights: Nights) -> None:
    """It is what it was."""
    nights.after(a=OTHER)
    for name, to in (("a", "b"), ("b", "a")):
        nights.rename(name, to)
        nights.after()
    assert nights.told(1) == []


def test_new_document_that_was_renamed_is_just_new(nights: Nights) -> None:
    """Nobody who was not there has a vector of it."""
    nights.after(a=OTHER)
    nights.after(n=sections(1))
    nights.rename("n", "m")
    nights.after()
    [row] = nights.rows(1)
    assert (row["operation"], row["doc_id"], row["embed_needed"], row["previous_chunk_id"]) == (
        "add",
        "m.md",
        True,
        None,
    )


def test_recount_tells_the_new_columns(nights: Nights) -> None:
    """Every chunk is updated, nothing is to be embedded, and older rows have the columns too."""
    nights.after(a=OTHER)
    nights.after(b=OTHER)
    recount(nights.folder / "ledger", "cl100k_base")
    assert nights.told(2) == [("update", "a.md", False), ("update", "b.md", False)]
    assert all(row["token_count_cl100k_base"] == row["token_count"] for row in nights.rows(1))
    nights.after(a=None)
    [gone] = [row for row in nights.rows(1) if row["operation"] == "delete"]
    assert (gone["doc_id"], gone["token_count_cl100k_base"]) == ("a.md", gone["token_count"])


def test_parents_are_told_to_those_who_ask(nights: Nights) -> None:
    """A store of chunks never sees one."""
    settings = Settings(max_tokens=60, parent_tokens=400)
    nights.after(a=OTHER, settings=settings)
    nights.after(b=sections(1), settings=settings)
    roles = {role: {row["role"] for row in nights.rows(1, role=role)} for role in ROLES}
    assert roles == {"chunk": {"chunk"}, "parent": {"parent"}, "all": {"chunk", "parent"}}


def test_feed_of_many_files_is_that_of_one(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    """The changes of a run are in files of a bounded size, and nothing shows it."""
    nights.after(**{name: sections(2) for name in "abcdef"})
    monkeypatch.setattr(changes_files, "_FILE_BYTES", 1)
    monkeypatch.setattr("chunkledger.store.parts._BATCH_ROWS", 3)
    monkeypatch.setattr("chunkledger.store.feed._BATCH_ROWS", 2)
    nights.after(**{name: sections(3) for name in "abcdef"})
    ledger = open_ledger(nights.folder / "ledger")
    assert len(ledger.files.changes) > 2
    counts = [row["operation"] for row in nights.rows(1)]
    assert (counts.count("add"), counts.count("update")) == (6, 6)
    assert sum(len(table) for table in feed(ledger, 1)) == 12


@pytest.mark.parametrize("since", [-1, 3])
def test_run_that_there_is_not_is_refused(nights: Nights, since: int) -> None:
    """The message says which there are."""
    nights.after(a=OTHER)
    nights.after(b=OTHER)
    with pytest.raises(SettingsError, match=f"--since must be a run from 0 to 2, not {since}"):
        nights.rows(since)


def test_changes_that_are_gone_are_told(nights: Nights) -> None:
    """Half a feed would leave a store wrong for ever."""
    nights.after(a=OTHER)
    nights.after(b=OTHER)
    nights.after(c=OTHER)
    ledger = open_ledger(nights.folder / "ledger", 2)
    for name in ledger.files.changes:
        os.unlink(nights.folder / "ledger" / name)
    with pytest.raises(LedgerError, match=r"the changes of run 2 are gone .* since run 1; begin anew with --since 0"):
        nights.rows(1)
    assert nights.told(2) == [("add", "c.md", True)]
    assert len(nights.told(0)) == 3


def test_cursor_moves_when_it_is_told_to(nights: Nights) -> None:
    """Each reader has its own, from 0."""
    nights.after(a=OTHER)
    root = str(nights.folder / "ledger")
    ledger = open_ledger(root)
    assert (cursor(ledger, "search"), cursors(root)) == (0, {})
    acknowledge(ledger, "search", 1)
    acknowledge(ledger, "mirror", 0)
    assert (cursor(ledger, "search"), cursors(root)) == (1, {"mirror": 0, "search": 1})


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b", "x" * 101, "\u202e"])
def test_name_of_a_cursor_is_no_path(nights: Nights, name: str) -> None:
    """It becomes the name of a file."""
    nights.after(a=OTHER)
    with pytest.raises(SettingsError, match="can't be the name of a cursor"):
        acknowledge(open_ledger(nights.folder / "ledger"), name, 1)


def test_damaged_cursor_is_told(nights: Nights) -> None:
    """A reader that would silently begin anew would embed everything again."""
    nights.after(a=OTHER)
    write(nights.folder / "ledger", {"_cursors/search.json": "{}"})
    with pytest.raises(LedgerError, match=r"_cursors/search.json can't be read .* begin anew"):
        cursor(open_ledger(nights.folder / "ledger"), "search")
