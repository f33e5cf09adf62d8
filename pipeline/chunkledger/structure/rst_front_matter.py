"""A reStructuredText document's bibliographic fields, or its RFC 2822 header -> metadata."""

from __future__ import annotations

import re

from chunkledger.structure.front_matter import check_size

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELD = re.compile(r":((?:[^:\\]|\\.|:(?![ `]|$))+):(?:\s+|$)(.*)|([A-Za-z][!-9;-~]*):(?:\s+|$)(.*)")


def rst_front_matter(source: str) -> dict[str, object]:
    r"""The fields' names and values, both strings, each value on one line.

    A name that comes again adds a line to its value.

    Args:
        source: the block, fields as `:Name: value` or `Name: value`.

    Raises:
        FrontMatterError: the block is too long.

    >>> rst_front_matter("PEP: 3\nTitle: Bugs,\n  and more")
    {'PEP': '3', 'Title': 'Bugs, and more'}
    """
    check_size(source)
    found: dict[str, list[list[str]]] = {}
    values: list[str] = []
    for line in _LINE_END.split(source):
        field = _FIELD.fullmatch(line.rstrip()) if line[:1].strip() else None
        if field:
            name, value = (field[1], field[2]) if field[1] is not None else (field[3], field[4])
            values = [value]
            found.setdefault(name.strip(), []).append(values)
        else:
            values.append(line)
    return {name: "\n".join(" ".join(" ".join(part).split()) for part in parts) for name, parts in found.items()}
