"""The package is light until it is used, and its names are what they say."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import chunkledger
import chunkledger.ingestion
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.settings import ENCODINGS
from ledgers import command

HEAVY = {"numpy", "pyarrow", "tiktoken", "toktok", "polars", "deltalake", "typer", "rich", "regex", "yaml"}


def _modules_after(statements: str) -> set[str]:
    script = f"{statements}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("statements", ["import chunkledger", "from chunkledger.packer import pack, Slot, render"])
def test_import_loads_nothing_heavy(statements: str) -> None:
    """Neither the package nor its packer loads a third-party package."""
    assert _modules_after(statements) & HEAVY == set()


def test_settings_and_errors_are_light() -> None:
    """A service may check settings and catch errors without numpy or pyarrow."""
    names = "from chunkledger import Settings, ChunkledgerError, LedgerError, SettingsError, SourceError"
    assert _modules_after(names) & HEAVY == set()


def test_every_public_name_resolves() -> None:
    """`__all__` promises nothing that is not there, and is in order."""
    found = {name: getattr(chunkledger, name) for name in chunkledger.__all__}
    assert [name for name, value in found.items() if value is None] == []
    assert sorted(found) == list(chunkledger.__all__) == dir(chunkledger)


def test_star_import_gives_the_public_names() -> None:
    """`from chunkledger import *` gives all of them."""
    names: dict[str, object] = {}
    exec("from chunkledger import *", names)  # noqa: S102 (a star import is not allowed inside a function)
    assert set(chunkledger.__all__) <= set(names)


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that is not public is missing as from any module."""
    with pytest.raises(AttributeError, match="module 'chunkledger' has no attribute 'chunk'"):
        _ = chunkledger.chunk


def test_functions_are_functions_whatever_was_imported() -> None:
    """No module of ours has the name of a public function, so that importing one can't hide the other."""
    script = (
        "import chunkledger.ingestion, chunkledger.verification, chunkledger.api, chunkledger.store.ledger\n"
        "import chunkledger.simulation, chunkledger.whatif\n"
        "from chunkledger import chunk_text, ingest, open_ledger, simulate, verify, what_if\n"
        "print(*[type(it).__name__ for it in (chunk_text, ingest, open_ledger, simulate, verify, what_if)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["function"] * 6


@pytest.mark.parametrize("name", ["chunk_text", "ingest", "open_ledger", "simulate", "verify", "what_if"])
def test_public_functions_are_those_of_their_modules(name: str) -> None:
    """What the package hands out is the very object that its home defines."""
    value = getattr(chunkledger, name)
    assert value is getattr(importlib.import_module(value.__module__), name)


def test_errors_have_one_root() -> None:
    """One `except ChunkledgerError` catches them all; a bad setting is a ValueError too."""
    errors = [chunkledger.LedgerError, chunkledger.SettingsError, chunkledger.SourceError, chunkledger.VocabularyError]
    assert all(issubclass(error, chunkledger.ChunkledgerError) for error in errors)
    assert issubclass(chunkledger.SettingsError, ValueError)


def test_module_is_the_command() -> None:
    """`python -m chunkledger` is the same command, and its version goes to standard output."""
    found = command("--version")
    assert (found.code, found.out, found.err) == (0, f"chunkledger {chunkledger.__version__}\n", "")


def test_tests_import_only_what_their_extra_brings() -> None:
    """Every package that a test imports is a dependency, or in the extra that its `make` target installs."""
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = _names([*project["dependencies"], *extras["test"]])
    names |= {"yaml", "toktok", "markdown_it", "chunkledger", "tiktoken_ext"}  # imported under another name
    own = {path.stem for folder in ("tests", "benchmarks") for path in (root / folder).iterdir()}
    for path in (root / "tests").rglob("*.py"):
        brought = names | (_names(extras["page-test"]) if path.parent.name == "page" else set())
        assert _imported(path) - brought - own - set(sys.stdlib_module_names) == set()


def _names(declared: list[str]) -> set[str]:
    return {re.split(r"[<>=!~ \[]", line)[0].lower().replace("-", "_") for line in declared}


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_settings_offer_the_encodings_that_can_be_counted() -> None:
    """The names that settings accept are those that there are vocabularies for."""
    assert sorted(ENCODINGS) == sorted(VOCABULARIES)


@pytest.mark.parametrize("package", ["chunkledger", "chunkledger.packer"])
def test_types_reach_the_users_checker(package: str) -> None:
    """The package is marked as typed, and so is the packer's folder, which may be copied alone."""
    module = importlib.import_module(package)
    assert Path(str(module.__file__)).with_name("py.typed").is_file()
