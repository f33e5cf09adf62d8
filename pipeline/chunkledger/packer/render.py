"""The text that is sent for packed chunks.

`render_block` makes the string that is counted at ingest and the string that is sent at query time. It is the same
function, so a cached count cannot drift from the prompt.

The shape of a block is what makes cached counts add up exactly (for cl100k_base, o200k_base and o200k_harmony):
header lines end in a newline; `context` and a newline where there is one; `text` and a newline; a closing line that
begins with an ASCII character other than a blank or `/` and ends in a newline. The tokenizers' split patterns never
join what stands before the last newline of a run of blanks to what follows it, so every such seam is a safe place
to add counts. Change nothing here without the property test that recounts whole prompts.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Sequence

TRUNCATION_MARKER = "[truncated: the rest of this chunk did not fit]"
"""The line that says a chunk was cut short. It begins with `[`, so the count before it stays exact."""

SECTION_SEPARATOR = " > "
"""Joins the titles of a heading path, in headers and in embed prefixes alike."""

_LINE_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LINE_END = ("\n", "\r")


def one_line(value: str) -> str:
    r"""`value` with every control character and line separator replaced by one space.

    >>> one_line("a\nb")
    'a b'
    """
    return value if value.isprintable() else _LINE_BREAKING.sub(" ", value)  # what is printable breaks no line


def _attribute(value: str) -> str:
    escaped = one_line(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace('"', "&quot;")


def _xml_header(number: int, source: str, section: str) -> str:
    place = f' section="{_attribute(section)}"' if section else ""
    return f'<chunk n="{number}" source="{_attribute(source)}"{place}>\n'


def _markdown_header(number: int, source: str, section: str) -> str:
    place = f": {one_line(section)}" if section else ""
    return f"### [{number}] {one_line(source)}{place}\n"


class Template(namedtuple("Template", ("name", "header", "closing", "own_marks", "escape"))):
    """One way to render a block. A named tuple, because a dataclass takes ten times as long to import.

    Attributes:
        name: what the `template` column of a ledger says, for example `xml/1`. The number grows with every change of
            the rendered string, so rows counted under another shape are never taken for these.
        header: (number, source, section) -> the header line, newline included.
        closing: the closing line, newline included.
        own_marks: matches, in the text of a chunk, the place before each mark that could be taken for this
            template's own opening or closing. Pure ASCII, within one line, so it also works on UTF-8 bytes.
        escape: what takes the place of what `own_marks` matched.
    """

    __slots__ = ()

    name: str
    header: Callable[[int, str, str], str]
    closing: str
    own_marks: str
    escape: str


TEMPLATES = {
    "xml/1": Template(
        name="xml/1",
        header=_xml_header,
        closing="</chunk>\n",
        own_marks=r"(?ai)<(?=/?chunk)",
        escape="&lt;",
    ),
    "markdown/1": Template(
        name="markdown/1",
        header=_markdown_header,
        closing="* * *\n",
        own_marks=r"(?m)(?:^|(?<=\r))(?=### \[|\* \* \*[ \t]*(?:\r|$))",
        escape="\\",
    ),
}
"""The templates by name. `xml/1` is the default of ingest."""


def template_named(name: str) -> Template:
    """The template of that name.

    Raises:
        ValueError: no such template; the message lists those that there are.
    """
    try:
        return TEMPLATES[name]
    except KeyError:
        raise ValueError(f"unknown template {name!r}; there are: {', '.join(TEMPLATES)}") from None


def defused(text: str, template: Template) -> str:
    """`text` with the template's own opening and closing made harmless, so that no chunk can end its block early.

    >>> defused("see </chunk> there", TEMPLATES["xml/1"])
    'see &lt;/chunk> there'
    """
    return re.sub(template.own_marks, lambda _: template.escape, text)  # compiled once, and only where it is needed


def render_block(
    *,
    number: int,
    source: str,
    heading_path: Sequence[str],
    context: str,
    text: str,
    template: Template,
    truncated: bool = False,
) -> str:
    r"""One chunk as it is put into the prompt.

    Args:
        number: 1-based place among the blocks.
        source: the document's id.
        heading_path: titles from the document's root to the chunk's section; may be empty.
        context: repeated structure (a cut table's header lines, a cut fence's opening line), or "".
        text: the chunk's text; of a truncated chunk, only the part that is shown.
        template: one of `TEMPLATES`.
        truncated: whether the line `TRUNCATION_MARKER` follows the text.

    >>> print(render_block(number=1, source="a.md", heading_path=["Rates", "2026"], context="", text="Ten.",
    ...                    template=TEMPLATES["xml/1"]), end="")
    <chunk n="1" source="a.md" section="Rates &gt; 2026">
    Ten.
    </chunk>
    """
    header = template.header(number, source, SECTION_SEPARATOR.join(heading_path))
    shown = with_line_end(defused(text, template)) if truncated else defused(text, template) + "\n"
    marker = f"{TRUNCATION_MARKER}\n" if truncated else ""
    before = f"{defused(context, template)}\n" if context else ""
    return f"{header}{before}{shown}{marker}{template.closing}"


def with_line_end(text: str) -> str:
    r"""`text`, with a newline added if it does not end in one (`\n`, `\r\n` and `\r` all count)."""
    return text if text.endswith(_LINE_END) else f"{text}\n"


def extra_number_tokens(number: int) -> int:
    """Tokens that a block number costs beyond the one that is counted at ingest.

    The tokenizers split digits into groups of three, and every group is one token.

    >>> [extra_number_tokens(n) for n in (9, 999, 1000, 1_000_000)]
    [0, 0, 1, 2]
    """
    return 0 if number < 1000 else (len(str(number)) - 1) // 3
