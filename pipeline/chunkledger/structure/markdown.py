"""Markdown -> block ranges and inline atoms, by pyromark (CommonMark with tables, footnotes, math).

The only module that knows pyromark. Its events come as Python objects, and making them is most of the cost, so the
loops look at as few of them as they can and take ends from ranges instead of matching end events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pyromark import Markdown, Options

from chunkledger.structure import kinds
from chunkledger.structure.display_math import with_display_math
from chunkledger.structure.ranges import Ranges

MOST_TITLE = 1_000
"""Characters of a title; every record of a section holds it, so a heading of a megabyte would make gigabytes."""

_OPTIONS = Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_MATH | Options.ENABLE_STRIKETHROUGH
_PARSER = Markdown(options=_OPTIONS)

_NAMED = {
    "Paragraph": kinds.PARAGRAPH,
    "Item": kinds.ITEM,
    "TableHead": kinds.TABLE_HEAD,
    "TableRow": kinds.TABLE_ROW,
    "HtmlBlock": kinds.HTML,
    "List": kinds.LIST,
    "Table": kinds.TABLE,
    "CodeBlock": kinds.CODE,
    "Heading": kinds.HEADING,
    "BlockQuote": kinds.QUOTE,
    "FootnoteDefinition": kinds.FOOTNOTE,
}
_INLINE_TAGS = frozenset(["Link", "Image"])
_INLINE_LEAVES = frozenset(["Code", "InlineMath", "DisplayMath", "InlineHtml", "FootnoteReference"])
_FRONT_MATTER = re.compile(
    r"---[ \t]*(?>\r\n|\n|\r)(?![ \t]*[\r\n])(?!---[ \t]*(?:[\r\n]|\Z))"
    r"(?:[^\r\n]*(?>\r\n|\n|\r))+?(?:---|\.\.\.)[ \t]*(?=[\r\n]|\Z)"
    r"|\+\+\+[ \t]*(?>\r\n|\n|\r)(?![ \t]*[\r\n])(?:[^\r\n]*(?>\r\n|\n|\r))*?\+\+\+[ \t]*(?=[\r\n]|\Z)"
)
"""YAML or TOML, on a document's first line only. The parser's own option would take any text between two rules."""
_RULE = re.compile(rb" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_LINE_END = re.compile(r"\r\n|\n|\r")
"""Not `str.splitlines`: Markdown knows no other line ends."""
_LONE_RETURN = re.compile(r"\r(?!\n)")
"""A line end in CommonMark that the parser takes for one in some places only; a newline is as wide."""
_FENCED = 1
"""Level of code whose first line opens it."""
_TAB_BEHIND_FENCE = re.compile(r"(`{3}|~{3})([ \t]*\t[ \t]*)(?=[\r\n]|\Z)")
"""A closing fence may have tabs behind it, but the parser takes it for code then; blanks are as wide."""
_MARKUP = re.compile(r"[\\`*_\[\]<&!~$]")
_SIMPLE_TITLE = re.compile(r"#{1,6}[ \t]+([^\\`*_\[\]<&!~$#\r\n]+)(?:\r\n|\n|\r)?")
"""A heading of marks and words alone, as most are: three times as fast as taking it apart."""
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|</?[A-Za-z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>",
    re.DOTALL,
)
"""A tag in a block of HTML, or what may hold text that looks like one."""
_DEFINITION = re.compile(r"^[ \t>*+-]*(\[[^\[\]\r\n]+\]:)[ \t]*(?:\r?\n[ \t]*)?(\S+)", re.MULTILINE)
_OPENING_MARKS = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]+|$)")
_CLOSING_MARKS = re.compile(r"(?:^|(?<![ \t])[ \t]+)#+[ \t]*$")
_SETEXT_LINE = re.compile(r"[ \t]*(?:=+|-+)[ \t]*$")
_QUOTE_MARKS = re.compile(r"^(?:[ \t]*>)+[ \t]?")


def markdown_blocks(text: str, data: bytes) -> Ranges:
    """The blocks of a Markdown text; together they cover all that is not blank.

    What the parser gives no event for (rules, link reference definitions) is found in the gaps between top-level
    blocks, so nothing can fall between two stations.

    Args:
        text: the document.
        data: its UTF-8 bytes.
    """
    found = Ranges([], [], [], [])
    add_start, add_end, add_kind = found.start.append, found.end.append, found.kind.append
    levels: list[tuple[int, int]] = []
    named = _NAMED.get
    covered = 0
    # Measured: looking at start events only, and at their ranges instead of a stack, halves this loop.
    front, events = _events(text)
    if front:
        add_start(0)
        add_end(front)
        add_kind(kinds.FRONT_MATTER)
        covered = front
    for event, place in events:
        if "Start" not in event:
            continue
        tag = event["Start"]
        if type(tag) is str:
            kind = named(tag)
        else:
            name = next(iter(tag))
            kind = named(name)
            if name == "Heading":
                levels.append((len(found.start), int(tag[name]["level"][1])))
            elif name == "CodeBlock" and type(tag[name]) is dict:
                levels.append((len(found.start), _FENCED))
        if kind is None:
            continue
        start, end = place["start"], place["end"]
        if end > covered:
            if start > covered and not data[covered:start].isspace():
                before = len(found.start)
                _add_unnamed(found, data, covered, start)
                if levels and levels[-1][0] == before:
                    levels[-1] = (len(found.start), levels[-1][1])
            covered = end
        add_start(start)
        add_end(end)
        add_kind(kind)
    if covered < len(data):
        _add_unnamed(found, data, covered, len(data))
    return _completed(found, levels, text, data)


def _completed(found: Ranges, levels: list[tuple[int, int]], text: str, data: bytes) -> Ranges:
    """The blocks with their levels, corrected where the parser is wrong: closing fences, display math."""
    found.level.extend(bytes(len(found.start)))
    for index, level in levels:
        found.level[index] = level
    fences = [index for index, level in levels if level == _FENCED and found.kind[index] == kinds.CODE]
    if b"\t" in data and _has_tab_behind_fence(found, fences, data):
        text = _without_tabs_behind_fences(text)
        return markdown_blocks(text, text.encode())
    # Asked for one mark first: to search for two takes twenty times as long.
    return with_display_math(found, data) if b"$" in data and b"$$" in data else found


def _without_tabs_behind_fences(text: str) -> str:
    return _TAB_BEHIND_FENCE.sub(lambda fence: fence[1] + " " * len(fence[2]), text)


def _has_tab_behind_fence(found: Ranges, fences: list[int], data: bytes) -> bool:
    """Whether code goes on behind a closing fence; only code is looked at, because two marks are slow to search for."""
    spans = [(found.start[index], found.end[index]) for index in fences]
    return any(
        data.find(b"`\t", start, end) >= 0 or data.find(b"~\t", start, end) >= 0 for start, end in spans
    ) and bool(_TAB_BEHIND_FENCE.search(data.decode()))


def _events(text: str) -> tuple[int, Iterable[tuple[Any, Any]]]:
    """How many bytes of front matter the text has, and the parser's events, with ranges, for all that follows."""
    if "\r" in text:
        text = _LONE_RETURN.sub("\n", text)
    front = _FRONT_MATTER.match(text)
    if not front:
        return 0, _PARSER.events_with_range(text)
    width = len(front[0].encode())
    return width, _PARSER.events_with_range("\n" * width + text[front.end() :])


def _add_unnamed(found: Ranges, data: bytes, start: int, end: int) -> None:
    """Add what lies between two top-level blocks, if it is not blank: rules, and definitions that render nothing."""
    gap = data[start:end]
    if gap.isspace():
        return
    position = start
    previous = 0
    for line in gap.splitlines(keepends=True):
        content = line.strip()
        if content and content.decode(errors="replace").strip():
            kind = kinds.RULE if _RULE.fullmatch(line.rstrip()) else kinds.DEFINITION
            if kind == kinds.RULE or previous != kind:
                found.start.append(position + len(line) - len(line.lstrip()))
                found.end.append(position + len(line))
                found.kind.append(kind)
            else:
                found.end[-1] = position + len(line)
            previous = kind
        else:
            previous = 0
        position += len(line)


def heading_title(source: str) -> str:
    r"""The plain text of a heading, from its source: no marks, no markup, one line.

    >>> heading_title("## The `pack` call, [in short](x.md) ##")
    'The pack call, in short'
    >>> heading_title("Rates &amp; terms\n=====")
    'Rates & terms'

    A title stands in every record of its section, so one of more than `MOST_TITLE` characters is cut there.
    """
    if simple := _SIMPLE_TITLE.fullmatch(source):
        return _short(simple[1])
    lines = _LINE_END.split(source.strip())
    if len(lines) > 1 and _SETEXT_LINE.match(_QUOTE_MARKS.sub("", lines[-1])):
        lines = [lines[0], *(_QUOTE_MARKS.sub("", line) for line in lines[1:-1])]
        title = " ".join(line.strip() for line in lines)
    else:
        title = _CLOSING_MARKS.sub("", _OPENING_MARKS.sub("", lines[0]))
    if _MARKUP.search(title):
        title = _plain(title)
    return _short(title)


def _short(title: str) -> str:
    whole = " ".join(title.split())
    return whole if len(whole) <= MOST_TITLE else f"{whole[: MOST_TITLE - 1].rstrip()}…"


def _plain(markup: str) -> str:
    """The text of inline Markdown, without its markup (parsed as a heading, so that nothing is taken for a block)."""
    parts: list[str] = []
    for event in _PARSER.events(f"# {markup}"):
        if isinstance(event, dict):
            for name in ("Text", "Code", "InlineMath", "DisplayMath"):
                if name in event:
                    parts.append(event[name])  # type: ignore[typeddict-item]
    return "".join(parts)


def inline_atoms(text: str) -> tuple[list[int], list[int]]:
    """Spans inside blocks that must not be cut: code, links, images, math, HTML tags, references, entities.

    A comment of HTML is one where it is on one line; else it may be cut between its lines.

    Returns:
        Starts and ends, bytes of the text's UTF-8, by start.
    """
    data = text.encode()
    starts: list[int] = []
    ends: list[int] = []
    for event, place in _events(_without_tabs_behind_fences(text) if "\t" in text else text)[1]:
        if isinstance(event, dict) and _is_atom(event, data, place):
            starts.append(place["start"])
            ends.append(place["end"])
            if event.get("Start") == "HtmlBlock":
                starts[-1:], ends[-1:] = html_atoms(data, place["start"], place["end"])
    return starts, ends


def html_atoms(data: bytes, start: int, end: int) -> tuple[list[int], list[int]]:
    """Starts and ends of the tags in a block of HTML, and of comments on one line."""
    spans = [tag.span() for tag in _TAG.finditer(data, start, end) if tag[0][1:2] not in b"!?" or b"\n" not in tag[0]]
    return [first for first, _ in spans], [last for _, last in spans]


def link_definitions(text: str) -> str:
    r"""What may define links in a Markdown text, to be put behind a paragraph of it that is read alone.

    >>> link_definitions("See [a].\n\n> [a]: https://example.org/a 'A'\n")
    '\n\n[a]: https://example.org/a\n'
    """
    found = [f"{match[1]} {match[2]}\n" for match in _DEFINITION.finditer(text)]
    return "\n\n" + "".join(found) if found else ""


def _is_atom(event: Any, data: bytes, place: Any) -> bool:  # noqa: ANN401 (ten event types, told apart by their only key)
    name, value = next(iter(event.items()))
    if name == "Start":
        return value == "HtmlBlock" if isinstance(value, str) else next(iter(value)) in _INLINE_TAGS
    if name == "Text":
        start, end = place["start"], place["end"]
        is_entity = data.startswith(b"&", start) and data.endswith(b";", start, end)
        return is_entity and data[start:end] != value.encode()
    return name in _INLINE_LEAVES
