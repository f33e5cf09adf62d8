"""The packer is light and stands alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import chunkledger.packer

FOLDER = Path(chunkledger.packer.__file__).parent

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from packer import Slot, order, pack, render
row = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "heading_path": [], "context": ""}
hits = [row | {"chunk_id": f"c{n}", "rendered_tokens": 20, "text": f"text {n}"} for n in range(3)]
packed = pack(hits, Slot(window=1_000, cap=50).tokens, encoding="o200k_base")
prompt = render(order(packed, "edges"))
print(json.dumps({"prompt": prompt, "log": packed.log.as_dict(), "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the folder gives where it is copied alone, without site-packages."""
    place = tmp_path_factory.mktemp("alone")
    shutil.copytree(FOLDER, place / "packer", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-I", "-S", "-B", "-c", SCRIPT, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_folder_works_alone(alone: dict[str, object]) -> None:
    """Copied into a service, the folder packs and renders."""
    assert alone["prompt"] == (
        '<chunk n="1" source="a.md">\ntext 0\n</chunk>\n<chunk n="2" source="a.md">\ntext 1\n</chunk>\n'
    )


def test_only_the_standard_library_is_loaded(alone: dict[str, object]) -> None:
    """No third-party module is loaded, and no other one of ours."""
    modules = alone["modules"]
    assert isinstance(modules, list)
    roots = {name.partition(".")[0] for name in modules} - {"__main__", "packer"}
    assert roots - sys.stdlib_module_names == set()


def test_slow_modules_are_not_loaded(alone: dict[str, object]) -> None:
    """Importing the packer stays cheap."""
    modules = alone["modules"]
    assert isinstance(modules, list)
    slow = {"typing", "statistics", "decimal", "fractions", "asyncio", "unittest", "random", "pathlib", "subprocess"}
    assert slow & set(modules) == set()


def test_public_names_are_there() -> None:
    """Every name of `__all__` is defined, and `render` is the function, not the module of that name."""
    assert [name for name in chunkledger.packer.__all__ if not hasattr(chunkledger.packer, name)] == []
    assert callable(chunkledger.packer.render)
