"""Rows as a ledger holds them, made for the tests of the packer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import toktok

from chunkledger.packer import TEMPLATES, Packed, render_block

Row = dict[str, Any]

"""For properties: a slow machine must not fail them (and the first recount loads a vocabulary)."""

SAMPLES = (
    "# Rates\n\nThe base rate is **4.25 %** since *March*; see [the table](rates.md#table).\n\n- one\n- two\n  - three",
    "    def f(x: int) -> int:\n        return x // 2\n\n\n    print(f(10_000))  # 5000",
    "```sql\nSELECT a, b\nFROM t\nWHERE a > 3;\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "分词器把文本切成词元。\n\n每个词元都有一个编号。",
    "トークンの数は正確でなければならない。",
    "토큰 수는 정확해야 합니다.",
    "Токены считаются точно.\n\nИ ещё раз.",
    "عدد الرموز دقيق.",
    "संख्या सही है।",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽\n\n🇩🇪🇫🇷",
    "/etc/hosts is a file.\n/usr/bin is a folder.",
    "//",
    'The block ends with </chunk> here.\n\n</CHUNK>\n<chunk n="1">',
    "one\n\n* * *\n\n### [3] two\n* * *",
    "Windows\r\nline\r\n\r\nends",
    "<|endoftext|> is not special",
    "don't WON'T it's 1234567 $100,000.00",
    "\tindented by a tab\n \n mixed   blanks",
    "[truncated: the rest of this chunk did not fit]",
)
"""Chunk texts in several scripts and formats, and those that look like a template's own marks."""


def chunk_text(raw: str) -> str:
    """`raw` as the text of a chunk: starts with a line that is not blank, and no blank space at its end."""
    return re.sub(r"\A(?:[^\S\r\n]*[\r\n])+", "", raw.rstrip())


class CountingRow(dict[str, object]):
    """A row that counts how often columns are read, of all rows of its kind."""

    reads = 0

    def get(self, name: str, default: object = None) -> object:
        """The value, and one more read."""
        CountingRow.reads += 1
        return super().get(name, default)


def row(chunk_id: str = "c-1", tokens: object = 20, **columns: object) -> Row:
    """A row with the columns that packing needs, and whatever else is given."""
    needed: Row = {"chunk_id": chunk_id, "doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1"}
    return needed | {"rendered_tokens": tokens} | columns


def rows(*tokens: int) -> list[Row]:
    """One row for each count, named `c1`, `c2` and so on in rank order."""
    return [row(f"c{rank}", count) for rank, count in enumerate(tokens, 1)]


def cuttable(tokens: int, *cuts: tuple[int, str, int], chunk_id: str = "c1") -> Row:
    """A row that may be cut at (chars, kind, tokens)."""
    chars, kinds, cut_tokens = ([cut[part] for cut in cuts] for part in range(3))
    return row(chunk_id, tokens, boundary_chars=chars, boundary_kinds=kinds, boundary_rendered_tokens=cut_tokens)


def shown(packed: Packed) -> list[tuple[str, int, int | None]]:
    """(chunk_id, tokens, cut) of every block, for packs in which nothing is merged."""
    return [(chunk.chunk_id, block.tokens, chunk.shown_chars) for block in packed.blocks for chunk in block.chunks]


def counted_rows(
    texts: Sequence[str],
    encoding: str,
    template: str = "xml/1",
    *,
    headings: Sequence[Sequence[str]] = (),
    contexts: Sequence[str] = (),
) -> list[Row]:
    """Rows of those texts as ingest makes them, every count by the real tokenizer; may be cut after every line."""
    made = []
    for index, text in enumerate(texts):
        made.append(
            row(
                f"c{index}",
                doc_id=f"docs/{index % 7}/página.md",
                encoding=encoding,
                template=template,
                heading_path=list(headings[index % len(headings)]) if headings else [],
                context=contexts[index % len(contexts)] if contexts else "",
                text=text,
                char_start=index * 10_000,
                char_end=index * 10_000 + len(text),
            )
        )
    for one, tokens in zip(made, _counts([(one, None) for one in made], encoding), strict=True):
        one["rendered_tokens"] = tokens
    cuts = [(one, match.end()) for one in made for match in re.finditer(r"\n(?=.)", one["text"])]
    for (one, chars), tokens in zip(cuts, _counts(cuts, encoding), strict=True):
        for name, value in (("chars", chars), ("kinds", "paragraph"), ("rendered_tokens", tokens)):
            one.setdefault(f"boundary_{name}", []).append(value)
    return made


def recount(text: str, encoding: str) -> int:
    """Tokens of `text`, by the real tokenizer."""
    return int(toktok.batch_count([text], encoding, threads=1)[0])


def _counts(shown: Sequence[tuple[Row, int | None]], encoding: str) -> list[int]:
    blocks = [_block(one, chars) for one, chars in shown]
    return [int(count) for count in toktok.batch_count(blocks, encoding, threads=1)]


def _block(one: Row, chars: int | None) -> str:
    return render_block(
        number=1,
        source=one["doc_id"],
        heading_path=one["heading_path"],
        context=one["context"],
        text=one["text"][:chars],
        template=TEMPLATES[one["template"]],
        truncated=chars is not None,
    )
