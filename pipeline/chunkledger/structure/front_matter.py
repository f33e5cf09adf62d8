"""Front matter -> metadata: YAML through PyYAML's safe loader, TOML; with limits, because corpus text is not trusted.

The only module that knows PyYAML.
"""

from __future__ import annotations

import datetime
import math
import re
import tomllib

import yaml

MOST_CHARACTERS = 16 * 1024
"""Most characters. A longer one is left in the text and gives no metadata: that would stand in every record."""
MOST_DEPTH = 20
"""Deeper nesting is a fault or an attack."""
_MOST_BITS = 10_000
"""A larger number is given as hexadecimal text: Python refuses to write more than 4,300 decimal digits."""
_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)")
_LINE_END = re.compile(r"\r\n|\n|\r")


class FrontMatterError(ValueError):
    """Front matter that gives no metadata; the message says why."""


class _LimitedLoader(yaml.SafeLoader):
    """The safe loader without aliases (a few lines of them expand to gigabytes) and with a limit of depth."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        where = _line(self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            raise FrontMatterError(f"it has an alias{where}, and none are taken")
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise FrontMatterError(f"it is nested deeper than {MOST_DEPTH}{where}")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        """The value; the text where it only looks like a date or a number, as 2026-02-30 does, or is tagged as one."""
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception:  # PyYAML lets through whatever its conversions raise
            if not isinstance(node, yaml.ScalarNode):
                raise
            self.constructed_objects[node] = node.value
            del self.recursive_objects[node]
            return node.value


def front_matter(source: str) -> dict[str, object]:
    r"""The front matter's keys and values as JSON values; empty where nothing stands in it.

    Args:
        source: the block, with its delimiter lines.

    Raises:
        FrontMatterError: it is no mapping, neither YAML nor, between lines of `+++`, TOML, or over a limit.

    >>> front_matter("---\ntitle: Rates\ntags: [a, b]\nreviewed: 2026-03-01\n---")
    {'title': 'Rates', 'tags': ['a', 'b'], 'reviewed': '2026-03-01'}
    >>> front_matter('+++\ntitle = "Rates"\n[extra]\nreviewed = 2026-03-01\n+++')
    {'title': 'Rates', 'extra': {'reviewed': '2026-03-01'}}
    """
    check_size(source)
    lines = _LINE_END.split(source.strip())
    if len(lines) < 2:
        return {}
    value = _toml(lines[1:-1]) if lines[0].startswith("+++") else _yaml(lines[1:-1])
    if value is None:
        return {}
    plain = _as_json(value)
    if not isinstance(plain, dict):
        raise FrontMatterError("it has no keys with values")
    return plain


def _yaml(lines: list[str]) -> object:
    try:
        # The loader is a subclass of yaml.SafeLoader: it makes plain values only.
        return yaml.load("\n".join(lines), Loader=_LimitedLoader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        raise FrontMatterError(f"it is not YAML: {error.problem}{_line(error.problem_mark)}") from None
    except yaml.YAMLError as error:
        raise FrontMatterError(f"it is not YAML: {str(error).partition(chr(10))[0]}") from None


def _toml(lines: list[str]) -> object:
    try:
        value = tomllib.loads("".join(f"{line}\n" for line in lines))
    except tomllib.TOMLDecodeError as error:
        # The delimiter is the first line of the document.
        said = _TOML_LINE.sub(lambda at: f" on line {int(at[1]) + 1}", str(error))
        raise FrontMatterError(f"it is not TOML: {said}") from None
    except (ValueError, RecursionError) as error:  # a number too long to be read, or nesting without end
        raise FrontMatterError(f"it is not TOML that is taken: {error}") from None
    if _depth(value) > MOST_DEPTH:
        raise FrontMatterError(f"it is nested deeper than {MOST_DEPTH}")
    return value


def _depth(value: object) -> int:
    """How deep containers are nested in each other."""
    depth, level = 0, [value]
    while level and depth <= MOST_DEPTH:
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [item for each in inner for item in (each.values() if isinstance(each, dict) else each)]
        depth += bool(inner)
    return depth


def check_size(source: str) -> None:
    """Let front matter pass that is not too long.

    Raises:
        FrontMatterError: it is.
    """
    if len(source) > MOST_CHARACTERS:
        raise FrontMatterError(f"it has {len(source):,} characters; up to {MOST_CHARACTERS:,} are taken")


def _line(mark: yaml.Mark | None) -> str:
    """Where, as a line of the document: the delimiter is the first."""
    return "" if mark is None else f" on line {mark.line + 2}"


def _as_json(value: object) -> object:
    if isinstance(value, dict):
        return {_whole(str(key)): _as_json(item) for key, item in value.items()}
    if isinstance(value, set):
        return [_as_json(item) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
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
