"""What a survey says of a folder is what ingest would meet there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, source_of
from chunkledger.proposals import survey as module
from chunkledger.proposals.survey import Kind, survey
from ledgers import names_below, write


def test_kinds_and_what_is_not_read(tmp_path: Path) -> None:
    """Every file is counted once, by its kind or by why it is not read."""
    files = {"a.md": "12345", "b/c.md": "123", "d.txt": "1", "t.jsonl": "{}", "x.png": "", "y.pdf": "", ".git/z.md": ""}
    found = survey(source_of(str(write(tmp_path, files))))
    assert found.kinds == (
        Kind("JSON Lines tables", 1, 2, "t.jsonl", 2),
        Kind("markdown", 2, 8, "a.md", 5),
        Kind("plain", 1, 1, "d.txt", 1),
    )
    assert found.not_read == {
        ("skipped", "hidden"): 1,
        ("skipped", "an image (.png)"): 1,
        ("failed", ".pdf must be converted to Markdown or plain text first"): 1,
    }
    assert (found.texts_opened, found.tables_opened, names_below(tmp_path)) == (3, 1, set(files))


def test_large_documents_are_measured_not_read(tmp_path: Path) -> None:
    """The size of a document is that of its file, the largest comes first."""
    for name, more in (("a.txt", 1), ("b.md", 5), ("c.txt", 0)):
        os.truncate(write(tmp_path, {name: "x"}) / name, MAX_DOCUMENT_BYTES + more)
    found = survey(source_of(str(tmp_path)))
    assert found.large == (("b.md", MAX_DOCUMENT_BYTES + 5), ("a.txt", MAX_DOCUMENT_BYTES + 1))


def test_clutter_is_in_no_other_figure(tmp_path: Path) -> None:
    """What will be excluded proposes nothing else."""
    files = {"a.md": "x", "node_modules/b.md": b"\xff", "node_modules/c.jsonl": '{"x": "y"}', "node_modules/d.pdf": ""}
    found = survey(source_of(str(write(tmp_path, files))))
    assert [each.documents for each in found.clutter] == [3]
    assert (found.kinds, found.not_read, found.not_text, found.columns) == (
        (Kind("markdown", 1, 1, "a.md", 1),),
        {},
        {},
        {},
    )


def test_texts_in_other_encodings_are_named(tmp_path: Path) -> None:
    """Rows of JSON Lines are texts too; a table in UTF-16 is one that nothing can be told of."""
    files = {
        "a.txt": "Ærlig".encode("cp1252"),
        "b.jsonl": '{"id": "Æ", "text": "x"}'.encode("cp1252"),
        "c.jsonl": '{"id": "Æ", "text": "x"}'.encode("utf-16-le"),
    }
    found = survey(source_of(str(write(tmp_path, files))))
    assert (found.not_text, found.columns["c.jsonl"]) == ({"cp1252": ("a.txt", "b.jsonl")}, None)


def test_only_so_many_files_are_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many files some are opened, from all over the source."""
    monkeypatch.setattr(module, "MOST_TEXTS", 3)
    files = {f"{number}.txt": b"\xff" for number in range(9)}
    found = survey(source_of(str(write(tmp_path, files))))
    assert (found.texts_opened, sum(map(len, found.not_text.values()))) == (3, 3)
    assert next(iter(found.not_text.values())) == ("0.txt", "3.txt", "6.txt")


@pytest.mark.parametrize("name", ["chunkledger.toml", ".hidden.toml", "out.md", "out.jsonl", "sub/x.toml"])
@pytest.mark.parametrize("prefix", ["", "docs="])
def test_file_that_is_not_to_be_seen_leaves_no_trace(tmp_path: Path, name: str, prefix: str) -> None:
    """A folder looks the same with and without it."""
    source = source_of(f"{prefix}{write(tmp_path, {'a.md': 'x', 'sub/b.md': 'x'})}")
    before = survey(source, tmp_path / name)
    write(tmp_path, {name: "x"})
    assert (survey(source, tmp_path / name), survey(source) == before) == (before, False)
