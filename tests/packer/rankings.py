"""Rankings at random: chunks of a few documents that follow each other, overlap, hold each other and repeat."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from chunkledger.packer import BOUNDARY_KINDS

Row = dict[str, Any]


def _document(choose: random.Random, doc_id: str) -> list[Row]:
    """The chunks of one document, and perhaps the parents that hold them."""
    made: list[Row] = []
    start = choose.choice([0, 3])
    for index in range(choose.randint(1, 12)):
        overlap = choose.choice([0, 0, 0, 2]) if made else 0
        size = choose.randint(3, 9) + overlap
        body = choose.choice([1, 2, choose.randint(1, 40)])
        made.append(
            {
                "chunk_id": f"{doc_id}-{index}",
                "doc_id": doc_id,
                "role": "chunk",
                "chunk_index": index,
                "char_start": start - overlap,
                "char_end": start - overlap + size,
                "gap_after": choose.choice(["", "\n", "\n\n"]),
                "overlap_chars": overlap,
                "context": choose.choice(["", "", "", "| a |"]),
                "body_tokens": body,
                "joined_tokens": choose.choice([None, body, body, body, body + 2, max(-(-body // 2), body - 5)]),
            }
        )
        start = made[-1]["char_end"] + len(made[-1]["gap_after"])
    return made + _parents(choose, doc_id, made)


def _parents(choose: random.Random, doc_id: str, chunks: list[Row]) -> list[Row]:
    made = []
    for index in range(choose.choice([0, 0, 1, 2])):
        first = choose.randrange(len(chunks))
        last = choose.randrange(first, len(chunks))
        made.append(
            chunks[first]
            | {
                "chunk_id": f"{doc_id}-parent-{index}",
                "role": "parent",
                "chunk_index": 2 * index,
                "char_end": chunks[last]["char_end"],
                "gap_after": chunks[last]["gap_after"],
                "body_tokens": sum(chunk["body_tokens"] for chunk in chunks[first : last + 1]),
                "joined_tokens": None,
            }
        )
    return made


def _complete(choose: random.Random, row: Row) -> Row:
    """The row with what it costs, where it may be cut, and its text."""
    length = row["char_end"] - row["char_start"]
    chars = sorted(choose.sample(range(1, length), choose.randint(0, min(3, length - 1))))
    around = choose.choice([1, 8, 8, 20])
    text = choose.choice(["s" * length, "".join(choose.choices("abcdefgh", k=length))])
    return row | {
        "encoding": "o200k_base",
        "template": "xml/1",
        "rendered_tokens": row["body_tokens"] + around,
        "token_count": row["body_tokens"],
        "boundary_chars": chars,
        "boundary_kinds": [choose.choice(BOUNDARY_KINDS) for _ in chars],
        "boundary_rendered_tokens": [choose.randint(1, row["body_tokens"] + around + 5) for _ in chars],
        "heading_path": choose.choice([[], ["A"]]),
        "payload": choose.choice([None, None, None, "end"]),
        "text": text,
    }


def ranking(seed: int) -> list[Row]:
    """Hits in rank order."""
    choose = random.Random(seed)  # noqa: S311 (test data)
    rows = [_complete(choose, row) for name in "abc"[: choose.randint(1, 3)] for row in _document(choose, f"{name}.md")]
    if choose.random() < 0.7:
        choose.shuffle(rows)
    else:
        rows = rows[::2] + rows[1::2]  # chunks that join two blocks come last
    hits = rows[: choose.randint(0, len(rows))]
    again = [choose.choice(hits) for _ in range(choose.choice([0, 0, 1, 2]))] if hits else []
    for hit in again:
        hits.insert(choose.randint(0, len(hits)), hit)
    return hits


rankings = st.integers(0, 2**32).map(ranking)
