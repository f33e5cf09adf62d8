"""The part of the prompt that packed blocks make."""

from __future__ import annotations

from .hits import Column
from .packed import Block, Packed
from .render import TEMPLATES, Template, render_block, template_named
from .values import counted, gap_after, overlap_chars, string, titles


def render(packed: Packed) -> str:
    r"""The packed blocks as one string, numbered from 1 in the order in which they stand.

    Its token count is `packed.used_tokens`. An empty pack is the empty string.

    Raises:
        ValueError: a row lacks its text or context, has a text of another length than its span, or a heading_path that
            can't be; the message names rank and chunk_id. Or a template that this version does not know.

    >>> from chunkledger.packer import pack
    >>> counted = {"chunk_id": "c-1", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 20}
    >>> hits = [counted | {"doc_id": "a.md", "heading_path": ["Rates"], "context": "", "text": "Ten."}]
    >>> print(render(pack(hits, 100, encoding="o200k_base")), end="")
    <chunk n="1" source="a.md" section="Rates">
    Ten.
    </chunk>
    """
    if not packed.blocks:
        return ""
    if packed.template not in TEMPLATES and packed.log.used_is_estimate:
        raise ValueError(
            "these chunks were packed for a template of your own (overhead_tokens): write each block yourself, with "
            "`block_text(block)`, `block.heading_path` and TRUNCATION_MARKER where `block.truncated`; or pack with "
            "template= and rows that were counted for it"
        )
    template = template_named(packed.template)
    return "".join(_rendered(number, block, template) for number, block in enumerate(packed.blocks, 1))


def block_text(block: Block) -> str:
    """The text that a block shows: of a cut chunk the part before the cut, of neighbours what they share once.

    It is the document's text, as it is: `render` makes a template's own marks in it harmless and adds the marker of a
    cut, and so must a template of your own.

    Raises:
        ValueError: a row lacks its text, or has one of another length than its span; it is named.

    >>> from chunkledger.packer import PackedChunk
    >>> chunk = PackedChunk(1, {"text": "One.  Two.", "char_start": 0, "char_end": 10}, "c-1", "a.md", 5)
    >>> block_text(Block(1, (chunk,), 20))
    'One. '
    """
    parts = []
    for place, chunk in enumerate(block.chunks):
        text, overlap, gap = chunk.read(_text), chunk.read(overlap_chars), chunk.read(gap_after)
        parts.append(text[overlap:] if place else text[: chunk.shown_chars])
        if place < len(block.chunks) - 1:
            parts.append(gap)
    return "".join(parts)


def _rendered(number: int, block: Block, template: Template) -> str:
    first = block.chunks[0]
    return render_block(
        number=number,
        source=block.doc_id,
        heading_path=first.read(titles),
        context=first.read(lambda column: string(column, "context")),
        text=block_text(block),
        template=template,
        truncated=block.truncated,
    )


def _text(column: Column) -> str:
    text = string(column, "text")
    start, end = counted(column, "char_start", 0), counted(column, "char_end", 0)
    if start is not None and end is not None and len(text) != end - start:
        raise ValueError(
            f"its text has {len(text)} characters, but char_start {start} and char_end {end} are those of a text of "
            f"{end - start}; hits must carry `text` as the ledger does, without prefix and not shortened"
        )
    return text
