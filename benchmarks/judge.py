"""Judge chunks of Markdown against the documents that they were cut from.

`python benchmarks/judge.py CORPUS CHUNKS.jsonl [--max-tokens 512] [--encoding cl100k_base] [--examples N]`, where
CHUNKS.jsonl is what `chunkledger export` gives, or another splitter's chunks with the same keys: doc_id, text,
char_start, char_end, and if there are such token_count, context, embed_prefix. Prints one JSON object; `judging.py`
says what its figures are, but for the faults.

How it judges. Nothing of `chunkledger.structure` is used: markdown-it-py (CommonMark, tables, front matter) says which
lines each block has. Blanks around a block and around a chunk are left out; a cut is then between the last character
before it and the first one behind it. It is inside a block if both are in that block and, of blocks of the same sort
within each other, both have it as the innermost: between two items of a list in an item a cut does no harm.

  fence, table, item   an edge inside a code block (fenced or indented), table or list item of at most max tokens
  headless  starts among a table's rows while neither text nor context has the table's header line
  sent      ends inside a paragraph or heading, not at a sentence end (: and ; count as ends)
  word      ends between two letters of a word, in scripts that have blanks
  orphan    ends with a heading whose section goes on in the next chunk
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from judging import Measure, ends_sentence, options, run_judge, splits_word

SUFFIXES = (".md", ".markdown", ".mdx")
FAULTS = ("fence", "table", "item", "headless", "sent", "word", "orphan")
WHOLE = ("fence", "table", "item")
"""Blocks that should not be cut if they fit; the fault has the block's name."""
SORTS = {
    "fence": "fence",
    "code_block": "fence",
    "table_open": "table",
    "list_item_open": "item",
    "paragraph_open": "text",
    "heading_open": "heading",
}
REFEREE = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
LINE_END = re.compile("\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A block without the blanks around it.

    Attributes:
        sort: one of the values of `SORTS`.
        start: its first character.
        end: behind its last character.
        level: of a heading; 0 for others.
        around: the block that it is in; None where there is none.
    """

    sort: str
    start: int
    end: int
    level: int = 0
    around: Block | None = field(default=None, repr=False, compare=False)


def blocks_of(text: str) -> list[Block]:
    """The blocks of a Markdown document by their starts, outer ones first."""
    lines = [0, *(found.end() for found in LINE_END.finditer(text)), len(text)]
    blocks: list[Block] = []
    for token in REFEREE.parse(text):
        if token.type in SORTS and token.map:
            block = _block(text, lines, token, blocks[-1] if blocks else None)
            blocks += [block] if block else []
    return blocks


def _block(text: str, lines: list[int], token: Token, last: Block | None) -> Block | None:
    first, behind = token.map or (0, 0)
    start, end = trimmed(text, lines[first], lines[min(behind, len(lines) - 1)])
    around = last
    while around and around.end <= start:
        around = around.around
    sort = SORTS[token.type]
    return Block(sort, start, end, int(token.tag[1]) if sort == "heading" else 0, around) if start < end else None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The same span without the blanks at its ends."""
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


class Structure:
    """The blocks of one document, and what faults a chunk of it has."""

    def __init__(self, text: str, measure: Measure) -> None:
        self.text, self.measure = text, measure
        self.blocks = blocks_of(text)
        self.starts = [block.start for block in self.blocks]

    def block_count(self) -> int:
        """How many blocks it looks at."""
        return len(self.blocks)

    def innermost(self, sort: str, place: int) -> Block | None:
        """The innermost block of a sort that has this character."""
        index = bisect.bisect_right(self.starts, place) - 1
        block = self.blocks[index] if index >= 0 else None
        while block and not (block.sort == sort and place < block.end):
            block = block.around
        return block

    def cut_block(self, sort: str, left: int, right: int) -> Block | None:
        """The block that a cut between these two characters goes through."""
        block = self.innermost(sort, left)
        return block if block and block is self.innermost(sort, right) else None

    def faults(self, start: int, end: int, shown: str) -> set[str]:
        """The faults of the chunk between these characters; `shown` is its context and its text."""
        start, end = trimmed(self.text, start, end)
        if start >= end:
            return set()
        found: set[str] = set()
        before, behind = _last_before(self.text, start), _first_from(self.text, end)
        if before >= 0:
            found |= self._cut_through(before, start) | self._start_faults(before, start, shown)
        if behind < len(self.text):
            found |= self._cut_through(end - 1, behind) | self._end_faults(end, behind)
        return found

    def _cut_through(self, left: int, right: int) -> set[str]:
        cut = [self.cut_block(sort, left, right) for sort in WHOLE]
        return {block.sort for block in cut if block and self._fits(block)}

    def _fits(self, block: Block) -> bool:
        return self.measure.tokens(self.text[block.start : block.end]) <= self.measure.limit

    def _start_faults(self, before: int, start: int, shown: str) -> set[str]:
        table = self.cut_block("table", before, start)
        if table is None:
            return set()
        header = LINE_END.split(self.text[table.start : table.end], maxsplit=1)[0].strip()
        return set() if header in shown else {"headless"}

    def _end_faults(self, end: int, behind: int) -> set[str]:
        found, left = set(), end - 1
        prose = self.cut_block("text", left, behind) or self.cut_block("heading", left, behind)
        if prose and not ends_sentence(self.text, prose.start, end):
            found.add("sent")
        if splits_word(self.text[left : end + 1]):
            found.add("word")
        heading, following = self.innermost("heading", left), self.innermost("heading", behind)
        # A heading of the same level or a higher one says that the section of this one is empty.
        if heading and heading is not following and not (following and following.level <= heading.level):
            found.add("orphan")
        return found


def _last_before(text: str, place: int) -> int:
    """The last character before a place that is no blank; -1 where there is none."""
    place -= 1
    while place >= 0 and text[place].isspace():
        place -= 1
    return place


def _first_from(text: str, place: int) -> int:
    """The first character from a place on that is no blank; the text's length where there is none."""
    while place < len(text) and text[place].isspace():
        place += 1
    return place


if __name__ == "__main__":
    run_judge(options(), SUFFIXES, FAULTS, Structure)
