"""Settings come from the strongest place that gives them, and a wrong one is told with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chunkledger import Settings, SettingsError
from chunkledger.cli.config import RUN_OPTIONS, configured, cores, resolved
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES
from ledgers import cli, command, rows_of, write

PLACES = ("default", "pyproject", "file", "environment", "flag")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests."""
    import os

    for name in list(os.environ):
        if name.startswith("CHUNKLEDGER_"):
            monkeypatch.delenv(name)


def _given(folder: Path, monkeypatch: pytest.MonkeyPatch, places: tuple[str, ...]) -> dict[str, object]:
    """Give max_tokens in each of these places, another value in each; the flags are handed back."""
    if "pyproject" in places:
        write(folder, {"pyproject.toml": "[tool.chunkledger]\nmax_tokens = 101\n"})
    if "file" in places:
        write(folder, {"chunkledger.toml": "max_tokens = 102\n"})
    if "environment" in places:
        monkeypatch.setenv("CHUNKLEDGER_MAX_TOKENS", "103")
    return {"max_tokens": 104 if "flag" in places else None}


@pytest.mark.parametrize("strongest", range(len(PLACES)))
def test_strongest_place_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strongest: int) -> None:
    """A flag beats the environment, that the own file, that pyproject.toml, that the default."""
    flags = _given(tmp_path, monkeypatch, PLACES[: strongest + 1])
    settings, options = resolved(flags, folder=tmp_path)
    assert (settings.max_tokens, options) == ([512, 101, 102, 103, 104][strongest], {})


def test_places_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one place leaves out another may give."""
    write(tmp_path, {"pyproject.toml": "[tool.chunkledger]\nmin_tokens = 7\n", "chunkledger.toml": "slot_chunks = 3\n"})
    monkeypatch.setenv("CHUNKLEDGER_TEMPLATE", "markdown/1")
    settings, _ = resolved({"max_tokens": 99}, folder=tmp_path)
    assert settings == Settings(min_tokens=7, slot_chunks=3, template="markdown/1", max_tokens=99)


def test_command_reads_all_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command looks in its working directory and its environment."""
    write(tmp_path, {"docs/a.md": "One.\n", "chunkledger.toml": "max_tokens = 102\nmin_tokens = 5\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHUNKLEDGER_MIN_TOKENS", "6")
    assert cli("ingest", "docs", "--out", "ledger", "--slot-chunks", "4").code == 0
    expected = Settings(max_tokens=102, min_tokens=6, slot_chunks=4)
    assert rows_of(tmp_path / "ledger")[0]["settings_sha256"] == expected.sha256()


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("no", False), ("False", False)]
)
def test_truth_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    """Words for true and false are taken in any case."""
    monkeypatch.setenv("CHUNKLEDGER_HEADING_CONTEXT", text)
    assert resolved({}, folder=tmp_path)[0].heading_context is value


def test_options_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides nothing about a record may stand in the same places."""
    write(tmp_path, {"chunkledger.toml": 'jobs = 3\ninclude = ["*.md"]\nexclude = ["a*"]\n'})
    monkeypatch.setenv("CHUNKLEDGER_EXCLUDE", "b*:c*")
    monkeypatch.setenv("CHUNKLEDGER_MAX_DOCUMENT_BYTES", "1_000")
    settings, options = resolved({"include": None}, folder=tmp_path)
    assert settings == Settings()
    assert options == {"jobs": 3, "include": ("*.md",), "exclude": ("b*", "c*"), "max_document_bytes": 1000}


def _in_pyproject(folder: Path, name: str, value: str) -> str:
    write(folder, {"pyproject.toml": f"[tool.chunkledger]\n{name} = {value}\n"})
    return f"{folder / 'pyproject.toml'} [tool.chunkledger]"


def _in_file(folder: Path, name: str, value: str) -> str:
    write(folder, {"chunkledger.toml": f"{name} = {value}\n"})
    return str(folder / "chunkledger.toml")


@pytest.mark.parametrize("place", [_in_pyproject, _in_file])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_token", "1", "unknown setting 'max_token'; there are: encoding, further_encodings, max_tokens, "),
        ("max_tokens", "1", "max_tokens must be from 2 to 10000000, not 1"),
        ("max_tokens", "1.5", "max_tokens must be a whole number, not 1.5"),
        ("max_tokens", "true", "max_tokens must be a whole number, not True"),
        ("max_tokens", '"many"', "max_tokens must be a whole number, not 'many'"),
        ("max_tokens", "[1]", "max_tokens must be a whole number, not [1]"),
        ("encoding", '"gpt2"', "encoding 'gpt2' is not known; valid are: o200k_base, cl100k_base, o200k_harmony"),
        ("encoding", "5", "encoding 5 is not known; valid are: o200k_base, cl100k_base, o200k_harmony"),
        ("heading_context", '"maybe"', "heading_context must be true or false, not 'maybe'"),
        ("heading_context", "1", "heading_context must be true or false, not 1"),
        ("include", "3", "include must be a list, not 3"),
        ("jobs", "-1", "jobs must be a whole number from 0 to 10000, not -1"),
        ("jobs", "1.5", "jobs must be a whole number from 0 to 10000, not 1.5"),
        ("jobs", "true", "jobs must be a whole number from 0 to 10000, not True"),
        ("max_document_bytes", "-1", "max_document_bytes must be a whole number from 1 to 1073741824, not -1"),
    ],
)
def test_wrong_value_in_a_file_is_told_with_its_place(
    tmp_path: Path, place: Callable[[Path, str, str], str], name: str, value: str, message: str
) -> None:
    """Regression: of values that can't be, only some were told with the file that they are in."""
    origin = place(tmp_path, name, value)
    with pytest.raises(SettingsError) as raised:
        resolved({}, folder=tmp_path)
    assert str(raised.value).startswith(f"{origin}: {message}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MAX_TOKEN", "1", "unknown setting 'max_token'; there are: encoding, further_encodings, max_tokens, "),
        ("MAX_TOKENS", "many", "max_tokens must be a whole number, not 'many'"),
        ("MAX_TOKENS", "1", "max_tokens must be from 2 to 10000000, not 1"),
        ("TARGET_TOKENS", "600", "target_tokens must be from 1 to 512, not 600"),
        ("HEADING_CONTEXT", "maybe", "heading_context must be true or false, not 'maybe'"),
        ("JOBS", "-1", "jobs must be a whole number from 0 to 10000, not '-1'"),
    ],
)
def test_wrong_value_in_the_environment_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    """A typing error in a variable is not passed over."""
    monkeypatch.setenv(f"CHUNKLEDGER_{name}", value)
    with pytest.raises(SettingsError) as raised:
        resolved({}, folder=tmp_path)
    assert str(raised.value).startswith(f"environment CHUNKLEDGER_{name}: {message}")


def test_wrong_value_that_a_flag_overrides_does_no_harm(tmp_path: Path) -> None:
    """A flag takes the place of a value that could not be, and its own fault is told as its own."""
    write(tmp_path, {"chunkledger.toml": "max_tokens = 1\n"})
    assert resolved({"max_tokens": 100}, folder=tmp_path)[0].max_tokens == 100
    with pytest.raises(SettingsError, match=r"^max_tokens must be from 2 to 10000000, not 0$"):
        resolved({"max_tokens": 0}, folder=tmp_path)


@pytest.mark.parametrize("name", ["pyproject.toml", "chunkledger.toml"])
@pytest.mark.parametrize("content", [b"max_tokens =\n", b"\xff\n"])
def test_file_that_is_not_toml_is_told(tmp_path: Path, name: str, content: bytes) -> None:
    """A file that can't be read is named."""
    write(tmp_path, {name: content})
    with pytest.raises(SettingsError) as raised:
        resolved({}, folder=tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / name} is not TOML: ")


@pytest.mark.parametrize(("content", "name"), [("tool = 3\n", "tool"), ("tool.chunkledger = 3\n", "chunkledger")])
def test_table_that_is_no_table_is_told(tmp_path: Path, content: str, name: str) -> None:
    """Regression: a value in the table's place ended in a traceback."""
    write(tmp_path, {"pyproject.toml": content})
    with pytest.raises(SettingsError, match=rf"^{name} must be a table of settings, not 3$"):
        resolved({}, folder=tmp_path)


def test_pyproject_of_another_project_is_passed_over(tmp_path: Path) -> None:
    """A pyproject.toml without our table says nothing."""
    write(tmp_path, {"pyproject.toml": "[project]\nname = 'x'\n[tool.ruff]\nline-length = 100\n"})
    assert resolved({}, folder=tmp_path) == (Settings(), {})


def test_unknown_setting_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command ends with 2 and says where the setting is."""
    write(tmp_path, {"docs/a.md": "One.\n", "chunkledger.toml": "max_token = 1\n"})
    monkeypatch.chdir(tmp_path)
    done = cli("ingest", "docs", "--out", "ledger")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {tmp_path / 'chunkledger.toml'}: unknown setting 'max_token'; there are: ")


@pytest.mark.parametrize("strongest", range(len(PLACES)))
def test_every_place_is_kept_the_strongest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strongest: int
) -> None:
    """What is hidden by a stronger place is still known, with its place."""
    flags = _given(tmp_path, monkeypatch, PLACES[: strongest + 1])
    places = ["pyproject.toml [tool.chunkledger]", "chunkledger.toml", "environment CHUNKLEDGER_MAX_TOKENS", "flag"]
    expected = list(zip([101, 102, 103, 104], places, strict=True))[:strongest]
    found = configured(flags, folder=tmp_path)
    assert [(given.value, given.place) for given in found.given.get("max_tokens", ())] == expected[::-1]


def _shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[object, str]]:
    """Value and origin of each setting, as `config show` gives them to programs."""
    monkeypatch.chdir(folder)
    done = command("config", "show", "--format", "json")
    assert done.code == 0
    rows = json.loads(done.out)
    assert all(list(row) == ["name", "value", "origin"] for row in rows)
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_show_tells_what_defaults_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is given, each value is the one that holds."""
    shown = _shown(tmp_path, monkeypatch)
    values = Settings().as_dict() | {"target_tokens": 486, "jobs": cores()}
    values |= {"max_document_bytes": MAX_DOCUMENT_BYTES, "include": [], "exclude": [], "max_delete": 0.1, "wait": 0}
    values |= {"documents": None}
    assert {name: value for name, (value, _) in shown.items()} == values
    assert set(shown) == {*Settings().as_dict(), *RUN_OPTIONS}
    assert shown["target_tokens"][1] == "default (95 % of max_tokens)"
    assert {origin.partition(" ")[0] for _, origin in shown.values()} == {"default"}


def test_show_names_places_and_what_they_hide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value comes with its file or variable, and with the weaker places that give the setting too."""
    files = {
        "pyproject.toml": '[tool.chunkledger]\nmax_tokens = 101\nmin_tokens = 7\nexclude = ["a*"]\n',
        "chunkledger.toml": "max_tokens = 102\njobs = 3\nexclude = []\n",
    }
    write(tmp_path, files)
    monkeypatch.setenv("CHUNKLEDGER_MAX_TOKENS", "103")
    shown = _shown(tmp_path, monkeypatch)
    project, own = "pyproject.toml [tool.chunkledger]", "chunkledger.toml"
    assert shown["max_tokens"] == (103, f"environment CHUNKLEDGER_MAX_TOKENS (over {own}, {project})")
    assert shown["target_tokens"] == (97, "default (95 % of max_tokens)")
    assert shown["min_tokens"] == (7, f"{tmp_path / project}")
    assert shown["jobs"] == (3, f"{tmp_path / own}")
    assert shown["exclude"] == ([], f"{tmp_path / own} (over {project})")


def test_show_agrees_with_ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown is what a run is made with."""
    write(tmp_path, {"chunkledger.toml": 'further_encodings = ["cl100k_base"]\nlanguage = "de"\ninclude = ["*.md"]\n'})
    monkeypatch.setenv("CHUNKLEDGER_HEADING_CONTEXT", "no")
    settings, options = resolved({}, folder=tmp_path)
    shown = {name: value for name, (value, _) in _shown(tmp_path, monkeypatch).items()}
    assert shown["include"] == list(options["include"])
    assert {name: shown[name] for name in settings.as_dict()} == settings.as_dict() | {"target_tokens": settings.target}


def test_show_is_one_line_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a value is, its line is whole; nothing in it reaches a terminal as a control character."""
    glob = "\x1b[31m\n" + "x" * 200
    write(tmp_path, {"chunkledger.toml": f"exclude = [{json.dumps(glob)}]\n"})
    monkeypatch.chdir(tmp_path)
    done = command("config", "show")
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines] == ["setting", *Settings().as_dict(), *RUN_OPTIONS]
    escaped = r"\u001B[31m\u000A" + "x" * 200
    assert f'exclude            ["{escaped}"]  {tmp_path / "chunkledger.toml"}' in lines
    assert next(line for line in lines if line.startswith("language")).split()[1] == "-"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, {"chunkledger.toml": "is not there", "pyproject.toml": "is not there"}),
        ({"chunkledger.toml": ""}, {"pyproject.toml": "is not there"}),
        (
            {"pyproject.toml": "[project]\n"},
            {"pyproject.toml": "gives no [tool.chunkledger]", "chunkledger.toml": "is not there"},
        ),
    ],
)
def test_show_tells_where_it_looked_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], told: dict[str, str]
) -> None:
    """Files that give nothing are named on standard error, with their paths."""
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    done = cli("config", "show")
    assert done.err.splitlines() == [f"{tmp_path / name} {why}" for name, why in told.items()]


@pytest.mark.parametrize("content", ["max_token = 1\n", "max_tokens = 1\n", "max_tokens =\n", "jobs = -1\n"])
def test_show_fails_as_ingest_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """What ingest would refuse is refused in the same words, with the same code."""
    write(tmp_path, {"docs/a.md": "One.\n", "chunkledger.toml": content})
    monkeypatch.chdir(tmp_path)
    shown, ingested = command("config", "show"), command("ingest", "docs", "--out", "ledger")
    assert (shown.code, shown.out, shown.err) == (2, "", ingested.err)
    assert ingested.code == 2
