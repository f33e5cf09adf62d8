"""Where the command line writes, and how text from a corpus may be shown."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Literal, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PLAIN_WIDTH = 120
"""Columns where the output is no terminal: files and pipes get the same bytes everywhere."""


LogFormat = Literal["text", "json"]
_log_format: ContextVar[LogFormat] = ContextVar("log_format", default="text")


def use_log_format(chosen: LogFormat) -> None:
    """From now on the narration of this command is lines of text, or objects of JSON, one a line."""
    _log_format.set(chosen)


def error(message: str) -> None:
    """One line on standard error that says what went wrong."""
    told("error", message, level="error", text=f"error: {shown(message, keep_lines=True)}")


def note(message: str) -> None:
    """One line of narration on standard error."""
    told("note", message)


def told(
    event: str,
    message: str,
    fields: Mapping[str, object] | None = None,
    *,
    level: str = "info",
    text: str | None = None,
) -> None:
    """Something that happened, on standard error.

    Args:
        event: what kind of thing, for programs: the keys of one kind are always the same.
        message: for people.
        fields: what programs may want to know.
        level: `info`, `warning` or `error`.
        text: the line as text, where it is not the message.
    """
    if _log_format.get() == "json":
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        line = json_line({"time": now, "level": level, "event": event, "message": message, **(fields or {})})
    else:
        line = text if text is not None else shown(message)
    print(line, file=sys.stderr, flush=True)


def shown(text: str, *, keep_lines: bool = False) -> str:
    r"""Text from a corpus as a terminal may get it: what does not print (controls, bidi marks) becomes an escape.

    >>> shown("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():
        return text
    kept = "\n" if keep_lines else ""
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def json_line(value: object) -> str:
    r"""A value as JSON on one line, in which everything that does not print is an escape.

    So a terminal gets no control character of a corpus, and a reader that ends lines at U+2028 gets whole lines.

    >>> json_line(["\x1b[31m\x9b é\u202e"])
    '["\\u001b[31m\\u009b é\\u202e"]'
    """
    line = json.dumps(value, ensure_ascii=False)
    if line.isprintable():
        return line
    return line.translate({ord(char): json.dumps(char)[1:-1] for char in set(line) if not char.isprintable()})


def result(text: str) -> str:
    """Text from a corpus as standard output gets it: as it is, but for a terminal with escapes for controls."""
    return shown(text, keep_lines=True) if sys.stdout.isatty() else text


class _Console(Console):
    """A console that leaves a broken pipe to the command, where rich would exit with 1."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(plain_width: int = _PLAIN_WIDTH) -> Console:
    """For tables and headings on standard output.

    Args:
        plain_width: columns where that is no terminal.
    """
    is_terminal = sys.stdout.isatty()
    return _Console(
        file=sys.stdout,
        highlight=False,
        markup=False,
        emoji=False,
        width=None if is_terminal else plain_width,
    )


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table without frame; `right` names the columns of figures."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def bar(share: float, width: int) -> str:
    """A share from 0 to 1 as a bar of at most `width` characters that standard output can print.

    >>> bar(0.5, 8) in ("████", "####")
    True
    """
    try:
        "█".encode(sys.stdout.encoding or "ascii")
        block = "█"
    except UnicodeEncodeError:
        block = "#"
    return block * round(share * width)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "line"), counted(2_000, "query", "queries")
    ('1 line', '2,000 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def cell(value: object) -> Text:
    """A table cell that shows text as it is, never as markup."""
    return Text(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else shown(str(value)))
