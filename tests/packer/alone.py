"""Runs the packer of a folder that holds chunkledger without its dependencies: `python -I -S alone.py FOLDER`.

A program and not a test, because it must run in an interpreter that sees no site-packages.
"""

from __future__ import annotations

import sys

ROW = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "heading_path": ["A"], "context": ""}
HITS = [ROW | {"chunk_id": name, "rendered_tokens": 30, "text": name} for name in ("one", "two", "three")]


def main(folder: str) -> None:
    """Pack, order and render; exit with a message where something is not as it should be."""
    sys.path.insert(0, folder)
    from chunkledger.packer import Slot, order, pack, render

    packed = pack(HITS, Slot(window=100, reserved_output=30).tokens, encoding="o200k_base")
    if packed.chunk_ids != ["one", "two"] or "two" not in render(order(packed, "edges")):
        sys.exit(f"the packer alone gave {packed!r}")
    foreign = {name.partition(".")[0] for name in sys.modules} - {"chunkledger", "__main__"} - sys.stdlib_module_names
    if foreign:
        sys.exit(f"the packer alone loaded {sorted(foreign)}")


if __name__ == "__main__":
    main(sys.argv[1])
