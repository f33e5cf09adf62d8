"""Fills a token slot with ranked chunks at query time, by the counts in their rows; needs no tokenizer.

Standard library only, and nothing else of chunkledger: the folder can be copied into a service as it is.

>>> row = {"doc_id": "a.md", "encoding": "o200k_base", "template": "xml/1", "heading_path": [], "context": ""}
>>> hits = [row | {"chunk_id": "c-1", "rendered_tokens": 20, "text": "Ten."}]
>>> slot = Slot(window=128_000, system=900, history=6_000, reserved_output=2_000, margin=0.02, cap=6_000)
>>> packed = pack(hits, slot.tokens, encoding="o200k_base")
>>> packed.used_tokens, packed.log.space_left_because
(20, 'no_more_candidates')
>>> print(render(order(packed, "edges")), end="")
<chunk n="1" source="a.md">
Ten.
</chunk>
"""

from .cuts import BOUNDARY_KINDS, STRUCTURAL_KINDS
from .log import PackLog
from .ordering import ORDERS, order
from .pack import pack
from .packed import Block, Citation, Packed, PackedChunk
from .prompt import block_text, render
from .render import TEMPLATES, TRUNCATION_MARKER, Template, render_block
from .slot import Slot, SlotError, ceiling

__all__ = [
    "BOUNDARY_KINDS",
    "ORDERS",
    "STRUCTURAL_KINDS",
    "TEMPLATES",
    "TRUNCATION_MARKER",
    "Block",
    "Citation",
    "PackLog",
    "Packed",
    "PackedChunk",
    "Slot",
    "SlotError",
    "Template",
    "block_text",
    "ceiling",
    "order",
    "pack",
    "render",
    "render_block",
]
