"""The part of the prompt that packed blocks make."""

from __future__ import annotations

from .packed import Block, Packed
from .render import Template, render_block, template_named
from .rows import Column, column_of, fault, string


def render(packed: Packed) -> str:
    r"""The packed blocks as one string, numbered from 1 in the order in which they stand.

    Its token count is `packed.used_tokens`. An empty pack is the empty string.

    Raises:
        ValueError: a row lacks heading_path, context or text; the message names rank and chunk_id. Or a template that
            this version does not know.

    >>> from chunkledger.packer import pack
    >>> counted = {"chunk_id": "c-1", "encoding": "o200k_base", "template": "xml/1", "rendered_tokens": 20}
    >>> hits = [counted | {"doc_id": "a.md", "heading_path": [], "context": "", "text": "Ten."}]
    >>> print(render(pack(hits, 100, encoding="o200k_base")), end="")
    <chunk n="1" source="a.md">
    Ten.
    </chunk>
    """
    if not packed.blocks:
        return ""
    template = template_named(packed.template)
    return "".join(_rendered(number, block, template) for number, block in enumerate(packed.blocks, 1))


def _rendered(number: int, block: Block, template: Template) -> str:
    column = column_of(block.row)
    try:
        text, context, heading_path = string(column, "text"), string(column, "context"), _titles(column)
    except ValueError as error:
        raise fault(block.rank, column, error) from None
    return render_block(
        number=number,
        source=block.doc_id,
        heading_path=heading_path,
        context=context,
        text=text[: block.shown_chars],
        template=template,
        truncated=block.shown_chars is not None,
    )


def _titles(column: Column) -> list[str]:
    titles = column("heading_path")
    if titles is None or isinstance(titles, str):
        raise ValueError(f"column heading_path is {titles!r}; it must be a list of titles, [] where there are none")
    return [str(title) for title in titles]  # type: ignore[attr-defined]
