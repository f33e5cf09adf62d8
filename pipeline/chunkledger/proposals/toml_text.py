"""Values and untrusted text -> TOML."""

from __future__ import annotations

from collections.abc import Sequence

from chunkledger.documents.sources import one_line

_LONGEST_LINE = 400
"""Characters of a comment: a name may take four thousand."""


def toml_value(value: object) -> str:
    r"""A text, a number, a truth or a list of them as it stands in a TOML file; controls are escapes.

    >>> toml_value(["a\n\"b\"", 5, True])
    '["a\\u000A\\"b\\"", 5, true]'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return f'"{"".join(map(_escaped, value))}"'
    if isinstance(value, Sequence):
        return f"[{', '.join(map(toml_value, value))}]"
    raise TypeError(f"no setting holds {value!r}")


def comment(text: str) -> str:
    r"""A line of comment; whatever is in it, it stays one line and one comment.

    >>> comment("a\nb = 1")
    '# a\\nb = 1'
    """
    line = one_line(text)
    return f"# {line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + '…'}".rstrip()


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}"
