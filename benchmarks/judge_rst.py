"""Judge chunks of reStructuredText against the documents that they were cut from.

`python benchmarks/judge_rst.py CORPUS CHUNKS.jsonl [--max-tokens 512] [--encoding cl100k_base] [--examples N]`, where
CHUNKS.jsonl is what `chunkledger export` gives (doc_id, text, char_start, char_end, token_count, embed_prefix). Prints
one JSON object; `judging.py` says what its figures are, but for the faults.

How it judges. Nothing of `chunkledger.structure` is used. docutils parses each document and says on which line every
block starts and what text it has; where a block ends it does not say, so that is found by line rules of this module's
own: a literal block or a list item goes on while lines are blank or indented deeper than the line that announces it
(a directive, an item's mark, the paragraph that ends in `::`); a quoted literal block and a doctest block go on to a
blank line; a grid or simple table goes on to its bottom border; a directive is a line `.. name::` outside literal
blocks and what is indented under it. A block fits if it and the heading path of its first line, as embedded, have at
most max tokens: the path is rebuilt from docutils' sections, and where it would take more than half of the limit it
is charged at half of it.

  literal, directive, table, item    an edge inside a block of that sort that fits
  headless   starts among a table's lines while neither text nor context has the table's first line
  sentence   ends inside a paragraph or title, not at a sentence end (: and ; count as ends)
  word       an edge between two letters of a word
  orphan     ends with a section title whose section goes on in the next chunk
"""

from __future__ import annotations

import bisect
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes

from judging import Measure, ends_sentence, options, run_judge, splits_word

sys.path[0] = str(Path(__file__).parent.parent / "tests")
from docutils_oracle import parsed  # noqa: E402 (a module of the tests)

FAULTS = ("literal", "directive", "table", "item", "headless", "sentence", "word", "orphan")
DIRECTIVE = re.compile(r"([ \t]*)(?:[-*+][ \t]+|[0-9]+\.[ \t]+)?\.\.[ \t]+[\w+.:-]+ ?::(?:\s|\Z)")
TABLE_EDGE = re.compile(r"[ \t]*(?:\+-[-+]+-\+|=+(?: +=+)+)[ \t]*\Z")
ITEM = re.compile(
    r"([ \t]*)(?:[-*+\u2022\u2023\u2043]|\(?(?:[0-9]+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|#)[.)])(?:[ \t]+|\Z)"
)


@dataclass(frozen=True)
class Block:
    """A block as the judge sees it: characters, and whether it fits."""

    start: int
    end: int
    fits: bool = True


class Structure:
    """The blocks of one document, by sort."""

    def __init__(self, text: str, measure: Measure) -> None:
        self.text, self.measure = text, measure
        self.lines = re.split("\r\n|\n|\r", text)
        edges = [found.end() for found in re.finditer("\r\n|\n|\r", text)]
        self.starts = [0, *edges, len(text)][: len(self.lines) + 1]
        if len(self.starts) == len(self.lines):
            self.starts.append(len(text))
        self.document = parsed("\n".join(self.lines) + "\n")
        self.titles = self._titles()
        self.blocks: dict[str, list[Block]] = {name: [] for name in ("literal", "directive", "table", "item", "text")}
        self._find_literals()
        self._find_tables()
        self._find_directives()
        self._find_items()
        self._find_paragraphs()
        for found in self.blocks.values():
            found.sort(key=lambda block: block.start)

    # Where blocks are

    def _titles(self) -> list[tuple[int, int, int, str]]:
        """Start, end, level and title of each section, by start."""
        found = []
        level_of: dict[int, int] = {}
        line = 0
        for section in self.document.findall(nodes.section):
            level = level_of.get(id(section.parent), 0) + 1
            level_of[id(section)] = level
            raw = section.children[0].rawsource
            line = self._line_with(raw, line)
            over = line > 0 and _is_adornment(self.lines[line - 1]) and self.lines[line - 1].strip()
            first = line - 1 if over and self.lines[line - 1].rstrip() == self.lines[line + 1].rstrip() else line
            found.append((self.starts[first], self._end(line + 1), level, section.children[0].astext()))
            line += 2
        return found

    def _line_with(self, title: str, line: int) -> int:
        for at in range(line, len(self.lines) - 1):
            text = self.lines[at].expandtabs(8)
            if text.strip() and _is_adornment(self.lines[at + 1]) and _plain(text) == _plain(title):
                return at
        return line

    def _end(self, line: int) -> int:
        return self.starts[line] + len(self.lines[line].rstrip())

    def _add(self, sort: str, first: int, last: int) -> None:
        """Add a block of these lines, blank lines around it left out."""
        while first < last and not self.lines[first].strip():
            first += 1
        while last > first and not self.lines[last].strip():
            last -= 1
        start, end = self.starts[first], self._end(last)
        size = self.measure.tokens(self.text[start:end]) if sort != "text" else 0
        self.blocks[sort].append(Block(start, end, size + self._prefix_tokens(start) <= self.measure.limit))

    def _prefix_tokens(self, place: int) -> int:
        index = bisect.bisect_right([title[0] for title in self.titles], place)
        path: list[tuple[int, str]] = []
        for _, _, level, title in self.titles[:index]:
            path = [entry for entry in path if entry[0] < level] + [(level, title)]
        tokens = self.measure.tokens(" > ".join(title for _, title in path) + "\n") if path else 0
        return min(tokens, self.measure.limit // 2)

    def _under(self, line: int, column: int) -> int:
        """The last line that belongs to what starts in `line`: blank, or indented by more than `column`."""
        at, last = line + 1, line
        while at < len(self.lines):
            if self.lines[at].strip():
                if _indent(self.lines[at]) <= column:
                    break
                last = at
            at += 1
        return last

    def _find_literals(self) -> None:
        """Literal and doctest blocks, found again by their lines, in order."""
        line = 0
        for node in self._nodes(nodes.literal_block, nodes.doctest_block):
            wanted = [part.strip() for part in node.astext().split("\n")]
            while wanted and not wanted[-1]:
                wanted.pop()
            at = self._line_of(wanted, line)
            if at is not None:
                self._add("literal", at, at + len(wanted) - 1)
                line = at + len(wanted)

    def _line_of(self, wanted: list[str], line: int) -> int | None:
        for at in range(line, len(self.lines) - len(wanted) + 1):
            if self.lines[at].strip() == wanted[0] and all(
                self.lines[at + index].expandtabs(8).strip() == part for index, part in enumerate(wanted)
            ):
                return at
        return None

    def _nodes(self, *classes: type) -> list[Any]:
        """Nodes that docutils found, those inside its messages and in the cells of tables left out."""
        kept = []
        for node in self.document.findall(lambda node: isinstance(node, classes)):
            outer = node.parent
            while outer is not None and not isinstance(outer, nodes.system_message | nodes.entry):
                outer = outer.parent
            if outer is None:
                kept.append(node)
        return kept

    def _inside(self, sort: str, place: int) -> bool:
        return any(block.start <= place < block.end for block in self.blocks[sort])

    def _find_tables(self) -> None:
        line = 0
        while line < len(self.lines):
            if not TABLE_EDGE.match(self.lines[line]) or self._inside("literal", self.starts[line]):
                line += 1
                continue
            last = self._table_end(line)
            if last > line:
                self._add("table", line, last)
            line = max(last, line) + 1

    def _table_end(self, line: int) -> int:
        grid = self.lines[line].lstrip().startswith("+")
        at, found = line + 1, 0
        while at < len(self.lines):
            text = self.lines[at].strip()
            if grid and (not text or text[0] not in "+|"):
                return at - 1
            if not grid and text and set(text) <= {"=", " "}:
                found += 1
                if found == 2 or at + 1 == len(self.lines) or not self.lines[at + 1].strip():
                    return at
            at += 1
        return line

    def _find_directives(self) -> None:
        for line, text in enumerate(self.lines):
            found = DIRECTIVE.match(text)
            place = self.starts[line]
            if found and not self._inside("literal", place) and not self._inside("table", place):
                self._add("directive", line, self._under(line, len(found[1].expandtabs(8))))

    def _find_items(self) -> None:
        """Bullet and enumerated items: as many as docutils has, on lines that begin as one does."""
        wanted = [_plain(node.rawsource.split("\n")[0]) for node in self._nodes(nodes.list_item)]
        line = 0
        for first in wanted:
            for at in range(line, len(self.lines)):
                found = ITEM.match(self.lines[at])
                if found and _plain(self.lines[at][found.end() :]) == first:
                    self._add("item", at, self._under(at, len(found[1].expandtabs(8))))
                    line = at + 1
                    break

    def _find_paragraphs(self) -> None:
        """Runs of lines that are not blank, outside literal blocks, tables and directives' opening lines."""
        first = None
        for line in range(len(self.lines) + 1):
            text = self.lines[line] if line < len(self.lines) else ""
            place = self.starts[min(line, len(self.lines))]
            verbatim = self._inside("literal", place) or self._inside("table", place)
            opens = bool(ITEM.match(text) or text.lstrip().startswith((".. ", ":", "|", "__ ")))
            if first is not None and (not text.strip() or verbatim or opens or line == len(self.lines)):
                self._add("text", first, line - 1)
                first = None
            if text.strip() and not verbatim and first is None and not text.lstrip().startswith(("..", "__ ", "|")):
                first = line

    def block_count(self) -> int:
        """How many blocks were found, paragraphs aside."""
        return sum(len(found) for sort, found in self.blocks.items() if sort != "text")

    # Faults

    def spanning(self, sort: str, left: int, right: int) -> Block | None:
        """The innermost block of a sort that holds both characters."""
        held = [block for block in self.blocks[sort] if block.start <= left and right < block.end]
        return min(held, key=lambda block: block.end - block.start) if held else None

    def largest_fitting(self, sort: str, left: int, right: int) -> bool:
        """Whether any block of a sort that fits holds both characters."""
        return any(block.fits and block.start <= left and right < block.end for block in self.blocks[sort])

    def faults(self, start: int, end: int, shown: str) -> set[str]:
        """The faults of the chunk at these characters; `shown` is its context and text."""
        text, found = self.text, set()
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        before = len(text[:first].rstrip()) - 1
        after = end + len(text[end:]) - len(text[end:].lstrip())
        for left, right, is_end in ((before, first, False), (end - 1, after, True)):
            if left < 0 or right >= len(text):
                continue
            found |= {sort for sort in FAULTS[:4] if self.largest_fitting(sort, left, right)}
            table = self.spanning("table", left, right)
            if table and not is_end and text[table.start : table.end].split("\n", 1)[0].strip() not in shown:
                found.add("headless")
            if is_end:
                found |= self._end_faults(left, right, end)
        return found

    def _end_faults(self, left: int, right: int, end: int) -> set[str]:
        text, found = self.text, set()
        held = self.spanning("text", left, right)
        if held and not ends_sentence(text, held.start, end):
            found.add("sentence")
        if right == end and splits_word(text[left] + text[right]):
            found.add("word")
        for index, (start, title_end, level, _) in enumerate(self.titles):
            following = self.titles[index + 1] if index + 1 < len(self.titles) else None
            if start <= left < title_end and not (following and following[0] == right and following[2] <= level):
                found.add("orphan")
        return found


def _plain(text: str) -> str:
    return " ".join(text.split())


def _indent(line: str) -> int:
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip())


def _is_adornment(line: str) -> bool:
    marks = line.rstrip()
    return bool(marks) and marks == marks[0] * len(marks) and not marks[0].isalnum() and not marks[0].isspace()


if __name__ == "__main__":
    run_judge(options(), (".rst", ".rest"), FAULTS, Structure)
