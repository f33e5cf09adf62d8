"""The order of packed blocks in the prompt."""

from __future__ import annotations

from collections.abc import Callable

from .packed import Block, Packed
from .render import extra_number_tokens


def order(packed: Packed, how: str) -> Packed:
    """The same blocks in another order; neither what is packed nor what it costs changes.

    The numbers in the prompt follow the order, so a block's own `tokens` can change where there are 1,000 blocks or
    more; their sum can't. Orders don't build on each other: each starts from the ranking.

    Args:
        packed: what `pack` or `order` gave.
        how: one of

            - `rank`: best first.
            - `document`: documents by their best rank; inside a document as it reads, by char_start where all its
              blocks have one, else by chunk_index where all have one, else by rank.
            - `edges`: the best first, the second best last, the third second, and so on: the weakest are in the
              middle, where models overlook most ("Lost in the Middle", Liu et al. 2023, arXiv:2307.03172).

    Raises:
        ValueError: no such order, or an offset that is not a whole number.

    >>> counted = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 20}
    >>> from chunkledger.packer import pack
    >>> packed = pack([counted | {"chunk_id": f"c{rank}"} for rank in (1, 2, 3, 4)], 100, encoding="o200k_base")
    >>> order(packed, "edges").chunk_ids
    ['c1', 'c3', 'c4', 'c2']
    """
    if not isinstance(how, str) or how not in ORDERS:
        raise ValueError(f"unknown order {how!r}; there are: {', '.join(ORDERS)}")
    numbers = {block.rank: number for number, block in enumerate(packed.blocks, 1)}
    ranked = sorted(packed.blocks, key=lambda block: block.rank)
    ordered = enumerate(ORDERS[how](ranked), 1)
    blocks = tuple(_renumbered(block, numbers[block.rank], number) for number, block in ordered)
    return Packed(blocks, packed.used_tokens, packed.slot_tokens, packed.encoding, packed.template, packed.log)


def _renumbered(block: Block, before: int, now: int) -> Block:
    change = extra_number_tokens(now) - extra_number_tokens(before)
    return block._replace(tokens=block.tokens + change) if change else block


def _by_rank(ranked: list[Block]) -> list[Block]:
    return ranked


def _by_document(ranked: list[Block]) -> list[Block]:
    documents: dict[str, list[Block]] = {}
    for block in ranked:
        documents.setdefault(block.doc_id, []).append(block)
    return [block for blocks in documents.values() for block in _as_it_reads(blocks)]


def _as_it_reads(blocks: list[Block]) -> list[Block]:
    for name in ("char_start", "chunk_index"):
        places = [place for block in blocks if (place := block.chunks[0].offset(name)) is not None]
        if len(places) == len(blocks):
            return [block for _, block in sorted(zip(places, blocks, strict=True), key=lambda pair: pair[0])]
    return blocks


def _to_edges(ranked: list[Block]) -> list[Block]:
    return ranked[::2] + ranked[1::2][::-1]


ORDERS: dict[str, Callable[[list[Block]], list[Block]]] = {
    "rank": _by_rank,
    "document": _by_document,
    "edges": _to_edges,
}
"""The orders by name: from blocks in rank order to blocks in the order of the prompt."""
