"""The blocks of the README, for tests and linters; `python tests/readme_blocks.py LANGUAGE` prints some of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def blocks(language: str = "") -> list[str]:
    """What stands between the fences of this language; "" for those that name none."""
    text = README.read_text("utf-8")
    found: list[str] = []
    for name, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if name == language:
            found.append(body)
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(blocks(sys.argv[1])))
