"""Settings come from the strongest place that gives them, and a wrong one is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chunkledger import Settings, SettingsError
from chunkledger.cli.config import resolved
from ledgers import cli, rows_of, write

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
    assert str(raised.value).startswith(f"the environment: {message}")


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
