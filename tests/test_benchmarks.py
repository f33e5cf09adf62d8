"""Benchmarks are run by hand, so nothing else would tell when one no longer fits the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_benchmark_can_be_imported(path: Path) -> None:
    """Everything that it imports is there."""
    script = f"import sys, runpy; sys.path.insert(0, {str(BENCHMARKS)!r}); runpy.run_path({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
