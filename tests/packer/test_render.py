"""The rendered prompt has exactly the tokens that were added up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.packer import ORDERS, Packed, order, pack, render
from chunkledger.packer.render import TRUNCATION_MARKER
from packer.builders import SAMPLES, Row, chunk_text, counted_rows, recount, row

ENCODINGS = ("cl100k_base", "o200k_base")
HEADINGS: tuple[list[str], ...] = ([], ["Rates", "2026 & later"], ["中文 <b>"], ["/root"], ['"quoted"\n'])
CONTEXTS = ("", "| a | b |\n|---|---|", "```python", "/* </chunk> */")

random_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text(
    "\n\r\t /*<>#[]'a1。é", max_size=40
)
chunk_texts = (random_texts | st.sampled_from(SAMPLES)).map(chunk_text).filter(bool)
text_lists = st.lists(chunk_texts, min_size=1, max_size=8)
encodings = st.sampled_from(ENCODINGS)
templates = st.sampled_from(["xml/1", "markdown/1"])
orders = st.sampled_from(sorted(ORDERS))


def _made(texts: list[str], encoding: str, template: str) -> list[Row]:
    return counted_rows(texts, encoding, template, headings=HEADINGS, contexts=CONTEXTS)


@given(text_lists, encodings, templates, orders)
def test_used_tokens_are_those_of_the_prompt(texts: list[str], encoding: str, template: str, how: str) -> None:
    """The sum of cached counts is the count of the whole rendered string, in every order."""
    packed = order(pack(_made(texts, encoding, template), 1_000_000, encoding=encoding), how)
    assert packed.used_tokens == recount(render(packed), encoding)


@given(text_lists, encodings, templates, st.data())
def test_used_tokens_are_exact_where_hits_are_skipped_or_cut(
    texts: list[str], encoding: str, template: str, data: st.DataObject
) -> None:
    """The count is exact for every slot, also where rank 1 is cut or over the slot."""
    hits = _made(texts, encoding, template)
    slot = data.draw(st.integers(min_value=1, max_value=sum(hit["rendered_tokens"] for hit in hits)))
    packed = pack(hits, slot, encoding=encoding)
    assert packed.used_tokens == recount(render(packed), encoding)


@given(chunk_texts.filter(lambda text: "\n" in text), encodings, templates)
def test_every_cut_is_exact(text: str, encoding: str, template: str) -> None:
    """Rank 1 cut at any of its boundaries has the cached count, with the blocks after it."""
    first, second = _made([text, "Ten."], encoding, template)
    for tokens in first.get("boundary_rendered_tokens", ()):
        packed = pack([first, second], tokens, encoding=encoding)
        grown = pack([first, second], tokens + second["rendered_tokens"], encoding=encoding)
        assert [one.used_tokens for one in (packed, grown)] == [
            recount(render(one), encoding) for one in (packed, grown)
        ]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("template", ["xml/1", "markdown/1"])
@pytest.mark.parametrize("how", sorted(ORDERS))
def test_used_tokens_are_exact_beyond_1000_blocks(encoding: str, template: str, how: str) -> None:
    """Numbers of four digits are paid for, in every order."""
    texts = [f"{SAMPLES[n % len(SAMPLES)]}\n{n}" for n in range(1_203)]
    packed = order(pack(_made(texts, encoding, template), 1_000_000, encoding=encoding), how)
    assert (len(packed.blocks), packed.used_tokens) == (1_203, recount(render(packed), encoding))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("template", ["xml/1", "markdown/1"])
def test_every_pair_of_samples_is_exact(encoding: str, template: str) -> None:
    """No sample's block changes the count of the one that follows it."""
    hits = counted_rows(SAMPLES, encoding, template)
    pairs = [pack([one, other], 10_000, encoding=encoding) for one in hits for other in hits if one is not other]
    assert [packed.used_tokens for packed in pairs] == [recount(render(packed), encoding) for packed in pairs]


def _packed(hits: list[Row], slot: int = 1_000) -> Packed:
    return pack(hits, slot, encoding="o200k_base")


def _whole_row(chunk_id: str, text: str, **columns: object) -> Row:
    return row(chunk_id, heading_path=[], context="", text=text, **columns)


def test_blocks_are_numbered_in_their_order() -> None:
    """Numbers follow the order of the prompt, from 1."""
    packed = _packed([_whole_row("c1", "one"), _whole_row("c2", "two"), _whole_row("c3", "three")])
    assert render(order(packed, "edges")) == (
        '<chunk n="1" source="a.md">\none\n</chunk>\n'
        '<chunk n="2" source="a.md">\nthree\n</chunk>\n'
        '<chunk n="3" source="a.md">\ntwo\n</chunk>\n'
    )


def test_cut_block_ends_with_the_marker() -> None:
    """A cut block shows the text up to the boundary, and says that it was cut."""
    cuts = {"boundary_chars": [4], "boundary_kinds": ["paragraph"], "boundary_rendered_tokens": [30]}
    one = _whole_row("c1", "one\ntwo", **cuts) | {"rendered_tokens": 50}
    assert render(_packed([one], 40)) == f'<chunk n="1" source="a.md">\none\n{TRUNCATION_MARKER}\n</chunk>\n'


def test_empty_pack_is_the_empty_string() -> None:
    """Nothing packed, nothing rendered."""
    assert render(_packed([])) == ""


@pytest.mark.parametrize("name", ["text", "context"])
def test_row_without_a_string_is_named(name: str) -> None:
    """A row that cannot be rendered as it was counted is named with rank and chunk_id."""
    one = _whole_row("c2", "two")
    del one[name]
    with pytest.raises(ValueError, match=rf"hit at rank 2 \(chunk_id 'c2'\): column {name} is missing or null"):
        render(_packed([_whole_row("c1", "one"), one]))


@pytest.mark.parametrize("empty", [None, "", []])
def test_heading_path_that_a_store_left_out_is_empty(empty: object) -> None:
    """Some stores can't keep empty lists and leave them out."""
    hits = [_whole_row("c1", "one") | {"heading_path": empty}]
    assert render(_packed(hits)) == '<chunk n="1" source="a.md">\none\n</chunk>\n'


@pytest.mark.parametrize("path", [["A", "[1] <B>"], '["A", "[1] <B>"]', "A > [1] <B>"], ids=["list", "json", "joined"])
def test_heading_path_may_be_joined(path: object) -> None:
    """Stores without lists keep the heading path as JSON or as one string; the header is the same."""
    header = render(_packed([_whole_row("c1", "one") | {"heading_path": path}])).partition("\n")[0]
    assert header == '<chunk n="1" source="a.md" section="A &gt; [1] &lt;B&gt;">'


def test_one_title_in_brackets_is_a_title() -> None:
    """A joined path that only looks like a list of JSON is taken as it is."""
    header = render(_packed([_whole_row("c1", "one") | {"heading_path": "[1]"}])).partition("\n")[0]
    assert header == '<chunk n="1" source="a.md" section="[1]">'


@pytest.mark.parametrize("path", [7, [7], {"a": 1}])
def test_heading_path_that_is_no_list_of_titles_is_named(path: object) -> None:
    """Anything else is refused with the row."""
    with pytest.raises(ValueError, match=r"rank 1 .*heading_path is .*; it must be a list"):
        render(_packed([_whole_row("c1", "one") | {"heading_path": path}]))


def test_text_of_another_length_than_its_span_is_named() -> None:
    """A text with a prefix, or shortened by a store, would not have the cached count."""
    one = _whole_row("c1", "Title\none", char_start=10, char_end=13)
    with pytest.raises(ValueError, match=r"rank 1 .*its text has 9 characters, but char_start 10 and char_end 13"):
        render(_packed([one]))


def test_template_that_is_not_known_is_named() -> None:
    """Rows of a newer ledger pack, but are not rendered as something else."""
    with pytest.raises(ValueError, match="unknown template 'xml/9'; there are: xml/1, markdown/1"):
        render(_packed([_whole_row("c1", "one", template="xml/9")]))
