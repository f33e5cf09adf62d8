"""The file says the same to a TOML parser as to people, whatever the names in the source are."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.cli.config import RUN_OPTIONS, resolved
from chunkledger.documents.columns import Columns
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES, Selection, source_of
from chunkledger.proposals.clutter import Clutter
from chunkledger.proposals.settings_file import WORDS, settings_file
from chunkledger.proposals.survey import Kind, Survey, survey
from ledgers import write

ANY = st.text(st.characters() | st.sampled_from("\n\r\"'\\]#=\0\x1b\u2028\ud800"), min_size=1, max_size=20)
STORABLE = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\"'\\]#="), min_size=1, max_size=20)
FILE_NAMES = STORABLE.map(lambda name: name.replace("/", "").replace("\0", "").lstrip(".")).filter(bool)


@given(FILE_NAMES, FILE_NAMES, STORABLE.filter(lambda name: name not in ("number", "text") and "\0" not in name))
def test_any_name_means_itself(file: str, folder: str, column: str) -> None:
    """Files in another encoding, an environment and a column of any names: the file is read as what was found."""
    files = {
        f"{file}.txt": b"\xff\xfd!",
        f"{folder}/pyvenv.cfg": "",
        f"{folder}/a.md": "x",
        "t.jsonl": json.dumps({"number": 1, column: "x"}),
    }
    with tempfile.TemporaryDirectory() as root:
        written = settings_file(survey(source_of(str(write(Path(root), files)))), file)
    settings, options = _resolved(written)
    assert settings == Settings(id_column="number", text_column=column)
    assert list(options) == ["exclude"]
    excluded = [name for name in files if Selection(**options).excludes(name)]  # type: ignore[arg-type]
    assert excluded == [f"{folder}/pyvenv.cfg", f"{folder}/a.md"]


def _resolved(written: str) -> tuple[Settings, dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        return resolved({}, folder=write(Path(folder), {"chunkledger.toml": written}))


@given(ANY, st.sampled_from([name for words in WORDS.values() for name in words]))
def test_no_name_breaks_out(name: str, setting: str) -> None:
    """A name that looks like a setting, in every place where names can be, sets nothing."""
    bad = f"{name}\n{setting} = 1\r{setting} = 2"
    found = Survey(
        kinds=(Kind("plain", 1, 1, bad, 1),),
        not_read={("failed", bad): 1, ("skipped", bad): 2},
        large=((bad, MAX_DOCUMENT_BYTES + 1),),
        not_text={"cp1252": (bad,)},
        columns={bad: Columns(("a", "b"), ("c", "d")), f"{bad}2": None},
        clutter=(Clutter(("x/*",), bad, 1, True),),
        texts_opened=1,
        tables_opened=1,
    )
    written = settings_file(found, bad)
    assert tomllib.loads(written) == {"max_document_bytes": 2 * MAX_DOCUMENT_BYTES, "exclude": ["x/*"]}
    assert all(line.isprintable() for line in written.split("\n"))


EMPTY = Survey((), {}, (), {}, {}, (), 0, 0)


def test_every_setting_is_there_once_with_its_default() -> None:
    """With every comment sign taken away the file is still valid, and says the defaults where there are any."""
    written = settings_file(EMPTY, ".")
    assert _resolved(written) == (Settings(), {})
    bare = re.sub(r"^# ([a-z_]+ = )", r"\1", written, flags=re.MULTILINE)
    values = tomllib.loads(bare)
    assert list(values) == [name for words in WORDS.values() for name in words]
    assert set(values) == {*Settings().as_dict(), *RUN_OPTIONS}
    settings, _ = _resolved(bare)
    without = {"language", "source_encoding"}
    defaults = {name: value for name, value in Settings().as_dict().items() if name not in without}
    assert {name: settings.as_dict()[name] for name in defaults} == defaults | {"target_tokens": Settings().target}
    assert values["max_document_bytes"] == MAX_DOCUMENT_BYTES


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "unknown", "binary"])
def test_proposals_are_valid_when_they_are_taken(encoding: str) -> None:
    """Each candidate that is shown behind a comment sign is a value that ingest takes."""
    doubtful = Clutter(("build/*",), "build output", 1, False)
    columns = {"t.jsonl": Columns(("a\n", "b"), ("c", '"'))}
    written = settings_file(Survey((), {}, (), {encoding: ("a.txt",)}, columns, (doubtful,), 1, 1), ".")
    assert _resolved(written) == (Settings(), {})
    lines = re.findall(r"^# ((?:source_encoding|id_column|text_column|exclude) = .*)$", written, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        _resolved(line + "\n")


def test_reasons_stand_before_what_is_set() -> None:
    """Whoever reads a line that is set finds above it why."""
    lines = settings_file(Survey((), {}, (("a.txt", 9_000_000),), {}, {}, (), 1, 0), ".").splitlines()
    place = lines.index("max_document_bytes = 16777216")
    assert lines[place - 1] == "# ! over the default: a.txt (9,000,000 bytes)"
    assert [line for line in lines if line and not line.startswith("#")] == [lines[place]]
