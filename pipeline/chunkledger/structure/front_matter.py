"""Front matter -> metadata, through PyYAML's safe loader, with limits: corpus text is not trusted.

The only module that knows PyYAML.
"""

from __future__ import annotations

import datetime
import math
import re

import yaml

MOST_BYTES = 16 * 1024
"""A longer front matter is left in the text and gives no metadata: it would stand in every record of the document."""
MOST_DEPTH = 20
"""Deeper nesting is a fault or an attack."""
_MOST_BITS = 10_000
"""A larger number is given as hexadecimal text: Python refuses to write more than 4,300 decimal digits."""
_LINE_END = re.compile(r"\r\n|\n|\r")


class _Unsafe(yaml.YAMLError):
    """Front matter that goes beyond a limit."""


class _LimitedLoader(yaml.SafeLoader):
    """The safe loader without aliases (a few lines of them expand to gigabytes) and with a limit of depth."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise _Unsafe("aliases are not allowed")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise _Unsafe(f"nested deeper than {MOST_DEPTH}")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def front_matter(source: str) -> dict[str, object]:
    r"""The front matter's keys and values as JSON values; empty where it is no mapping, not YAML, or over a limit.

    Args:
        source: the block, with its delimiter lines.

    >>> front_matter("---\ntitle: Rates\ntags: [a, b]\nreviewed: 2026-03-01\n---")
    {'title': 'Rates', 'tags': ['a', 'b'], 'reviewed': '2026-03-01'}
    """
    lines = _LINE_END.split(source.strip())
    if len(source) > MOST_BYTES or len(lines) < 2:
        return {}
    try:
        # The loader is a subclass of yaml.SafeLoader: it makes plain values only.
        value = yaml.load("\n".join(lines[1:-1]), Loader=_LimitedLoader)  # noqa: S506
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return {}
    plain = _as_json(value)
    return plain if isinstance(plain, dict) else {}


def _as_json(value: object) -> object:
    if isinstance(value, dict):
        return {_whole(str(key)): _as_json(item) for key, item in value.items()}
    if isinstance(value, set):
        return [_as_json(item) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, datetime.date | datetime.datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if value is None or isinstance(value, int | float | bool):
        return value
    return str(value)


def _whole(text: str) -> str:
    """The text with surrogate pairs, as YAML's escapes make them, joined; a lone one becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
