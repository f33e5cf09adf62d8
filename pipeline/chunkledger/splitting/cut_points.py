"""Blocks -> the places where structure allows a cut: starts of lines, each with its strength.

A cut lies at the start of the line on which the next unit starts, so blank lines stay left of it and indentation
goes right: the one place where token counts on both sides add up to the count of the whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from chunkledger.model import Batch, Blocks, BoolArray, Cuts, IntArray
from chunkledger.splitting import strengths
from chunkledger.structure import kinds

_LINE = re.compile(rb"[^\r\n]*")
_LINE_BLANK = np.isin(np.arange(256), list(b" \t\r\n"))
_LINE_ENDS = np.isin(np.arange(256), (10, 13, 32)).astype(np.int64)
_LONGEST_MARKS = 16
"""Bytes of a line that may be a blank one in quotes."""
_EMPHASIS = np.isin(np.arange(256), list(b"*_")).astype(np.int64)
_CLOSING_FENCE = re.compile(rb"[ \t>]*(?:`{3,}|~{3,})\s*")
_ENDS_STRONGLY = kinds.table_of(
    kinds.TABLE, kinds.CODE, kinds.HTML, kinds.QUOTE, kinds.FOOTNOTE, kinds.LIST, kinds.MATH
)
_ENDS_AS_RULE = kinds.table_of(kinds.RULE, kinds.FRONT_MATTER)
_INTRODUCED = kinds.table_of(kinds.PARAGRAPH, kinds.LIST, kinds.CODE, kinds.TABLE, kinds.QUOTE, kinds.HTML, kinds.MATH)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Cut candidates before they are made one a position: parallel arrays."""

    position: IntArray
    strength: IntArray
    depth: IntArray


def structural_cuts(batch: Batch, blocks: Blocks) -> Cuts:
    """Every place of the batch where one unit of structure ends and the next starts.

    The first cut of a document lies at its first line that is not blank.
    """
    candidates = _on_lines_with_text(batch, _block_candidates(blocks))
    found = _strongest_each(candidates, _group_candidates(batch, blocks))
    position, strength = found.position, found.strength.copy()
    document = np.searchsorted(batch.starts, position, side="right") - 1
    _raise_after_ends(blocks, position, strength)
    if len(position):
        first = np.flatnonzero(np.diff(document, prepend=-1))
        strength[first] = strengths.DOCUMENT
    return Cuts(
        position=position,
        strength=strength.astype(np.uint8),
        depth=found.depth,
        never=_parts_heading(blocks, position, strength),
        document=document.astype(np.int64),
        introducing=_introducing(batch, blocks, position, strength),
    )


def _introducing(batch: Batch, blocks: Blocks, position: IntArray, strength: IntArray) -> IntArray:
    paragraphs = np.flatnonzero(blocks.kind == kinds.PARAGRAPH)
    values = np.frombuffer(batch.data, np.uint8)
    last = blocks.end[paragraphs] - 1
    for _ in range(4):
        last = last - _LINE_ENDS[values[np.maximum(last, 0)]]
    for _ in range(3):  # **Steps:**
        last = last - _EMPHASIS[values[np.maximum(last, 0)]]
    last = np.maximum(last, 0)
    colon = values[last] == ord(":")
    before, first = values[np.maximum(last - 1, 0)], values[np.maximum(last - 2, 0)]
    wide = (values[last] == 0x9A) & (before == 0xBC) & (first == 0xEF)
    paragraphs = paragraphs[colon | wide]
    following = np.searchsorted(position, blocks.end[paragraphs], side="left")
    next_block = np.searchsorted(blocks.start, blocks.end[paragraphs], side="left")
    there = (following < len(position)) & (next_block < len(blocks.start))
    following, next_block = following[there], next_block[there]
    chosen = _INTRODUCED[blocks.kind[next_block]] & (blocks.line_start[next_block] == position[following])
    result: IntArray = np.unique(following[chosen & (strength[following] != strengths.DOCUMENT)])
    return result


def _block_candidates(blocks: Blocks) -> _Candidates:
    kind, depth = blocks.kind, blocks.depth
    after_head = np.zeros(len(kind), np.bool_)
    rows_and_heads = np.flatnonzero((kind == kinds.TABLE_HEAD) | (kind == kinds.TABLE_ROW))
    if len(rows_and_heads):
        after = kind[rows_and_heads[:-1]] == kinds.TABLE_HEAD
        after_head[rows_and_heads[1:][after]] = True
    used = ~after_head & (kind != kinds.TABLE_HEAD)
    strength = np.full(len(kind), strengths.PARAGRAPH, np.int64)
    strength[depth > 0] = strengths.INNER
    strength[kind == kinds.ITEM] = strengths.ITEM
    strength[kind == kinds.TABLE_ROW] = strengths.ROW
    heading = (kind == kinds.HEADING) & (depth == 0)
    strength[heading] = np.minimum(blocks.level[heading], strengths.HEADING_6)
    return _Candidates(blocks.line_start[used], strength[used], depth[used])


def _group_candidates(batch: Batch, blocks: Blocks) -> _Candidates:
    """Blank lines inside code, but not the one behind the opening of a reStructuredText block, which parts nothing."""
    code = np.flatnonzero(blocks.kind == kinds.CODE)
    owner, line = _lines_of(batch, blocks, code)
    behind_blank = _are_blank(batch, line - 1) | _are_quoted_blank(batch, line - 1, blocks.depth[code[owner]] > 0)
    line, owner = line[behind_blank], owner[behind_blank]
    chosen: list[int] = []
    opened = -1
    data, ends, starts = batch.data, blocks.end[code].tolist(), blocks.start[code].tolist()
    by_mark = (blocks.level[code] > 0).tolist()
    places = batch.line_starts[line].tolist()
    for index, (number, place) in enumerate(zip(owner.tolist(), places, strict=True)):
        if not _is_text(data, place, ends[number]):
            continue
        first, opened = number != opened, number
        if not (first and by_mark[number] and data.startswith((b"..", b"::"), starts[number])):
            chosen.append(index)
    position, depth = batch.line_starts[line[chosen]], blocks.depth[code[owner[chosen]]]
    return _Candidates(position, np.full(len(position), strengths.CODE_GROUP, np.int64), depth)


def _lines_of(batch: Batch, blocks: Blocks, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """The lines (as indices) that lie in each of these blocks from its third one on, each with its block's number."""
    lines = batch.line_starts
    first = np.searchsorted(lines, blocks.start[chosen], side="right") + 1
    counts = np.maximum(0, np.searchsorted(lines, blocks.end[chosen], side="left") - first)
    owner = np.repeat(np.arange(len(chosen)), counts)
    return owner, np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts) + first[owner]


def _are_blank(batch: Batch, line: IntArray) -> BoolArray:
    """Whether each line has nothing but spaces and tabs."""
    values, lines = np.frombuffer(batch.data, np.uint8), np.append(batch.line_starts, len(batch.data))
    start, end = lines[line], lines[line + 1]
    result: BoolArray = _LINE_BLANK[values[start]]
    # Most blank lines have no blank, and most lines that begin with one do not end with one.
    unsure = np.flatnonzero(result & (end - start > 1))
    unsure = unsure[_LINE_BLANK[values[end[unsure] - 2]]]
    longer = result & (end - start > 1)
    result &= ~longer
    for index in unsure.tolist():
        result[index] = not batch.data[int(start[index]) : int(end[index])].strip(b" \t\r\n")
    return result


def _are_quoted_blank(batch: Batch, line: IntArray, nested: BoolArray) -> BoolArray:
    """Whether each of the nested lines has marks of quotes and blanks, and nothing else."""
    lines = np.append(batch.line_starts, len(batch.data))
    result = np.zeros(len(line), np.bool_)
    for index in np.flatnonzero(nested & (lines[line + 1] - lines[line] <= _LONGEST_MARKS)).tolist():
        text = batch.data[int(lines[line[index]]) : int(lines[line[index] + 1])]
        result[index] = b">" in text and not text.strip(b" \t>\r\n")
    return result


def _is_text(data: bytes, start: int, end: int) -> bool:
    """Whether the line that starts there, in code that ends at `end`, is neither blank nor the closing fence."""
    line = _LINE.match(data, start, end)
    text = line[0].strip() if line else b""
    if not text or (not ord(" ") < text[0] < 0x80 and not text.decode().strip()):  # other blanks than bytes know
        return False
    return text[0] not in b"`~>" or not _CLOSING_FENCE.fullmatch(data, start, end)


def _strongest_each(*parts: _Candidates) -> _Candidates:
    """One candidate a position: the strongest, and of equals the least nested."""
    position = np.concatenate([part.position for part in parts])
    strength = np.concatenate([part.strength for part in parts])
    depth = np.concatenate([part.depth for part in parts])
    # One number to sort by: several keys take twice as long.
    order = np.argsort((position << 24) | (strength << 16) | np.minimum(depth, 0xFFFF), kind="stable")
    position, strength, depth = position[order], strength[order], depth[order]
    first = np.flatnonzero(np.diff(position, prepend=-1))
    return _Candidates(position[first], strength[first], depth[first])


def _on_lines_with_text(batch: Batch, found: _Candidates) -> _Candidates:
    """Move on cuts at lines of nothing but blanks that the parser takes for text (a no-break space, a form feed).

    They go to the next line with text; where the document has none, they are left out.
    """
    if not len(batch.exotic_blanks):
        return found
    moves = _lines_after_blanks(batch)
    if not moves:
        return found
    line, there = np.array(sorted(moves.items()), np.int64).T
    index = np.minimum(np.searchsorted(line, found.position), len(line) - 1)
    position = np.where(line[index] == found.position, there[index], found.position)
    kept = position >= 0
    return _Candidates(position[kept], found.strength[kept], found.depth[kept])


def _lines_after_blanks(batch: Batch) -> dict[int, int]:
    """The start of each line of exotic blanks, and of the next line with text in its document; -1 for none."""
    data, starts = batch.data, np.append(batch.line_starts, len(batch.data))
    lines = np.unique(np.searchsorted(batch.line_starts, batch.exotic_blanks, side="right") - 1)
    firsts, ends = starts[lines].tolist(), starts[lines + 1].tolist()
    blank = [data[first:end].decode().isspace() for first, end in zip(firsts, ends, strict=True)]
    document_starts = set(batch.starts.tolist())
    moves: dict[int, int] = {}
    for line in reversed(lines[np.array(blank, np.bool_)].tolist()):
        following = line + 1
        # A line that has moved already is not walked over again: 100,000 form feeds took minutes.
        while (
            (there := int(starts[following])) not in document_starts
            and there not in moves
            and not data[there : int(starts[following + 1])].strip()
        ):
            following += 1
        moves[int(starts[line])] = -1 if there in document_starts else moves.get(there, there)
    return moves


def _raise_after_ends(blocks: Blocks, position: IntArray, strength: IntArray) -> None:
    """Strengthen, in place, the cuts at which a rule, front matter, or a whole top-level block ends."""
    outer = blocks.depth == 0
    for ended, value in (
        (_ENDS_AS_RULE[blocks.kind], strengths.RULE),
        (_ENDS_STRONGLY[blocks.kind] & outer, strengths.BLOCK),
    ):
        following = np.searchsorted(position, blocks.end[ended], side="left")
        following = following[following < len(position)]
        np.minimum.at(strength, following, value)


def _parts_heading(blocks: Blocks, position: IntArray, strength: IntArray) -> BoolArray:
    """Cuts between a heading and the first block of its section (a deeper heading is one; an equal one is not)."""
    never = np.zeros(len(position), np.bool_)
    headings = np.flatnonzero((blocks.kind == kinds.HEADING) & (blocks.depth == 0))
    following = np.searchsorted(position, blocks.end[headings], side="left")
    there = following < len(position)
    headings, following = headings[there], following[there]
    next_strength = strength[following]
    ends_section = (next_strength <= strengths.HEADING_6) & (next_strength <= blocks.level[headings])
    # Below level 6 all headings cut alike, so which is the deeper one must be asked of the headings.
    low = np.flatnonzero(blocks.level[headings[:-1]] >= strengths.HEADING_6)
    deeper = low[blocks.level[headings[low + 1]] > blocks.level[headings[low]]]
    adjacent = position[following[deeper]] > blocks.start[headings[deeper + 1]] - 1
    ends_section[deeper[adjacent]] = False
    never[following[~ends_section]] = True
    return never
