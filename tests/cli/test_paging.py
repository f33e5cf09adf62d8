"""What can't become a page is told before anything is read, and nothing is made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chunkledger import ingest
from ledgers import cli, names_below, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of one document."""
    folder = tmp_path_factory.mktemp("corpus")
    ingest([write(folder / "docs", {"a.md": "One.\n"})], folder / "ledger")
    return folder / "ledger"


@pytest.mark.parametrize("missing", ["altair", "jinja2", "vl_convert"])
def test_missing_package_is_told(ledger: Path, tmp_path: Path, missing: str) -> None:
    """Without the extra, the message says which package it is and how to get it."""
    script = f"""
import importlib.machinery, sys, types
for name in {{"altair", "jinja2", "vl_convert"}} - {{"{missing}"}}:
    sys.modules[name] = types.ModuleType(name)
sys.modules["{missing}"] = None
from chunkledger.__main__ import main
sys.argv = ["chunkledger", "report", {str(ledger)!r}, "--html", {str(tmp_path / "page.html")!r}]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: --html needs the package {missing}; pip install 'chunkledger[page]'\n"
    assert names_below(tmp_path) == set()


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("-", "--html needs a file, not -"),
        ("s3://bucket/page.html", "--html takes a file, not s3://bucket/page.html; put it into the store afterwards"),
        ("nowhere/page.html", "--html nowhere/page.html: there is no folder nowhere"),
    ],
)
def test_what_is_no_file(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, html: str, message: str
) -> None:
    """Standard output, a store and a folder that is not there are usage errors."""
    monkeypatch.chdir(tmp_path)
    done = cli("report", ledger, "--html", html)
    assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")


def test_a_file_in_the_ledger(ledger: Path) -> None:
    """Nothing else may lie there."""
    done = cli("report", ledger, "--html", ledger / "page.html")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("page.html lies in the ledger; give a file outside of it\n")
