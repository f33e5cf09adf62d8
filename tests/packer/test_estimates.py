"""Rows of another template are refused, unless the caller says what its own template adds: then costs are estimates."""

from __future__ import annotations

import pytest

from chunkledger.packer import Packed, block_text, pack, render
from packer.builders import Row, cuttable, row, shown


def _packed(hits: list[Row], slot: int = 1_000, **options: object) -> Packed:
    return pack(hits, slot, encoding="o200k_base", **options)  # type: ignore[arg-type]


def test_own_template_costs_text_and_overhead() -> None:
    """Without a template's name every hit costs its text and what the caller's template adds."""
    packed = _packed([row("c1", 60, token_count=40), row("c2", 50, token_count=30)], overhead_tokens=15)
    assert shown(packed) == [("c1", 55, None), ("c2", 45, None)]
    assert (packed.template, packed.log.template, packed.log.used_is_estimate) == ("", "", True)


def test_rows_need_no_template_of_ours() -> None:
    """Rows that were never rendered need only the tokens of their text."""
    hit = {"chunk_id": "c1", "doc_id": "a.md", "encoding": "o200k_base", "token_count": 40}
    assert _packed([hit], overhead_tokens=0).used_tokens == 40


def test_rows_of_the_template_stay_exact() -> None:
    """Only rows that were counted for another template are estimated."""
    hits = [row("c1", 60, token_count=40), row("c2", 50, token_count=30, template="markdown/1")]
    packed = _packed(hits, template="markdown/1", overhead_tokens=15)
    assert (shown(packed), packed.template) == ([("c1", 55, None), ("c2", 50, None)], "markdown/1")
    assert packed.log.used_is_estimate


def test_nothing_is_estimated_where_every_row_is_of_the_template() -> None:
    """The log says what was done, not what was allowed."""
    packed = _packed([row("c1", 60, token_count=40)], template="xml/1", overhead_tokens=15)
    assert (packed.used_tokens, packed.log.used_is_estimate) == (60, False)


def test_cuts_are_shifted_alike() -> None:
    """A cut block of another template costs what its cached count says, less the old frame and plus the new one."""
    hit = cuttable(500, (10, "section", 80), (20, "section", 100)) | {"token_count": 480}
    assert shown(_packed([hit], 100, overhead_tokens=15)) == [("c1", 95, 20)]
    assert shown(_packed([hit], 100, overhead_tokens=30)) == [("c1", 90, 10)]


def test_neighbours_are_merged_in_another_template_too() -> None:
    """The frame is paid once for a block of neighbours."""
    columns: Row = {"token_count": 10, "body_tokens": 11, "joined_tokens": 12, "gap_after": "\n", "context": ""}
    one = row("c1", 40, chunk_index=0, char_start=0, char_end=4, text="One.", **columns)
    two = row("c2", 40, chunk_index=1, char_start=5, char_end=9, text="Two.", **columns)
    packed = _packed([one, two], overhead_tokens=15)
    assert (packed.used_tokens, block_text(packed.blocks[0])) == (15 + 12 + 10, "One.\nTwo.")


def test_own_template_is_rendered_by_the_caller() -> None:
    """`render` does not guess; it says how to get at the texts."""
    with pytest.raises(ValueError, match=r"packed for a template of your own .* `block_text\(block\)`"):
        render(_packed([row("c1", 60, token_count=40, text="One.")], overhead_tokens=15))
    with pytest.raises(ValueError, match=r"packed for a template of your own"):
        render(_packed([row("c1", 60, token_count=40, text="One.")], template="mine/1", overhead_tokens=15))


def test_other_template_is_refused_without_an_overhead() -> None:
    """The message says what would work."""
    with pytest.raises(
        ValueError, match=r"template 'xml/1', but 'mine/1' was .* or pass overhead_tokens for an estima"
    ):
        _packed([row()], template="mine/1")


def test_text_that_was_not_counted_is_named() -> None:
    """An estimate needs the tokens of the text."""
    with pytest.raises(ValueError, match=r"hit at rank 1 \(chunk_id 'c-1'\): column token_count is missing"):
        _packed([row()], overhead_tokens=15)


@pytest.mark.parametrize("overhead", [-1, 1.5, True, "9"])
def test_overhead_that_cannot_be_is_named(overhead: object) -> None:
    """It is a whole number of tokens."""
    with pytest.raises(ValueError, match=r"overhead_tokens is .*: it must be a whole number of at least 0"):
        _packed([row(token_count=9)], overhead_tokens=overhead)
