"""The README's commands and snippets do what the README says they do."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chunkledger.cli.config import resolved
from other_splitter import OTHER_SPLITTER

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ANYTHING = "…"
"""In shown output: the rest of a line, or, alone on a line, any number of lines."""


def _fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample corpus and another splitter's chunks, where the README's commands run in order."""
    made = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "sample_corpus", made / "sample_corpus")
    shutil.copy(OTHER_SPLITTER, made / "chunks.jsonl")
    return made


def _steps() -> list[tuple[str, str]]:
    """Each command of the README with the output that is shown for it, in order."""
    steps: list[tuple[str, str]] = []
    for fence in _fences("console"):
        for step in re.split(r"^\$ ", fence, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            steps.append((command, output))
    return steps


def _pattern(shown: str) -> str:
    lines = [
        r"(?:.*\n)*" if line == ANYTHING else ".*".join(re.escape(part) for part in line.split(ANYTHING)) + "\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


def _ran(command: str, folder: Path, last_code: int) -> tuple[str, int]:
    """What a terminal would show of the command, trailing blanks of lines left out, and its exit code."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    script = command.replace("$?", str(last_code))
    done = subprocess.run(  # noqa: S602 (the README's own commands are shell commands)
        script, shell=True, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False,
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines()), done.returncode


def test_console_blocks(folder: Path) -> None:
    """Every command of the README prints what the README shows."""
    code = 0
    for command, shown in _steps():
        printed, code = _ran(command, folder, code)
        if not re.fullmatch(_pattern(shown), printed):
            assert (command, printed) == (command, shown)


def test_python_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python snippet of the README gives what the README shows."""
    if not (folder / "counts.sqlite").exists():
        # They work on what the commands have made; those may have run on another core, in a folder of its own.
        for command, _ in _steps():
            _ran(command, folder, 0)
    monkeypatch.chdir(folder)
    parsed = doctest.DocTestParser().get_doctest("\n".join(_fences("python")), {}, "README.md", "README.md", 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(parsed, out=report.append)
    assert "".join(report) == ""
    assert runner.summarize(verbose=False).attempted > 0


def test_toml_block(tmp_path: Path) -> None:
    """The settings file that the README shows is valid, and says what the comments say of the defaults."""
    [block] = _fences("toml")
    (tmp_path / "chunkledger.toml").write_text(block, "utf-8")
    settings, options = resolved({}, folder=tmp_path)
    assert settings.as_dict() | tomllib.loads(block) == settings.as_dict()
    assert options == {}


def test_picture_of_the_house() -> None:
    """Every folder and module at the top of the package is in the README's table, and nothing else is."""
    package = ROOT / "pipeline" / "chunkledger"
    there = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").is_file()}
    there |= {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    table = README[README.index("| below `pipeline/chunkledger/` | gives |") :].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`([a-z_]+(?:/|\.py))`", row.split("|")[1])}
    assert named == there
