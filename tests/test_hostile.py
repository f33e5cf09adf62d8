"""Hostile documents, each at a small size: no crash, and every law holds, whatever the text is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkledger.counting import fast
from chunkledger.counting.counter import Counter, counter_for
from chunkledger.counting.reference import LONGEST_RUN, reference_counts, reference_ids
from chunkledger.counting.vocabulary import VOCABULARIES, reference_encoding
from chunkledger.documents.batch import joined
from chunkledger.model import IntArray
from chunkledger.records.chunk_batch import chunk_batch, record_batch
from chunkledger.records.columns import Tokenized
from chunkledger.records.metadata import metadata_of
from chunkledger.records.recount import count_mismatches
from chunkledger.settings import Settings
from chunkledger.splitting import atoms, ladder, total_fit
from chunkledger.splitting.prices import Aim
from chunkledger.splitting.split import split
from chunkledger.structure.blocks import blocks_of
from chunkledger.structure.markdown import MOST_TITLE
from hostile import KINDS, LARGE, SPECIAL_TOKENS, around
from laws import checked_bytes, checked_rows, hostile_bytes, hostile_texts
from markdown_texts import all_settings, document
from recounting import tokens

EVERY = KINDS | LARGE
ENCODINGS = ("cl100k_base", "o200k_base")
many = hypothesis_settings(max_examples=40)
plain_or_not = st.sampled_from([False, False, True])


@pytest.mark.parametrize("name", EVERY)
def test_hostile_markdown_is_split_within_the_laws(name: str) -> None:
    """Each kind, as Markdown: counts are tiktoken's, offsets true, nothing lost, nothing over but one grapheme."""
    kind = EVERY[name]
    text = kind.make(kind.small)
    for encoding in ENCODINGS:
        assert checked_rows(text, Settings(encoding=encoding))


@pytest.mark.parametrize("name", EVERY)
def test_hostile_plain_text_is_split_within_the_laws(name: str) -> None:
    """The same as plain text, with a small maximum and overlap."""
    kind = EVERY[name]
    text = kind.make(max(2, kind.small // 6))
    for encoding in ENCODINGS:
        assert checked_rows(text, Settings(encoding=encoding, max_tokens=64, overlap_tokens=10), plain=True)


@pytest.mark.parametrize("name", EVERY)
def test_hostile_text_is_split_at_the_smallest_sizes(name: str) -> None:
    """The same as Markdown with chunks of at most 16 tokens."""
    kind = EVERY[name]
    text = kind.make(max(2, kind.small // 12))
    assert checked_rows(text, Settings(encoding="o200k_base", max_tokens=16, min_tokens=4))


@pytest.mark.parametrize("encoding", sorted(VOCABULARIES))
def test_special_tokens_are_plain_text(encoding: str) -> None:
    """No special token of any encoding is one token in a document, alone or with its neighbours."""
    texts = [*SPECIAL_TOKENS, "".join(SPECIAL_TOKENS), " ".join(SPECIAL_TOKENS)]
    counts = counter_for(encoding).count(texts)
    assert counts.tolist() == [tokens(text, encoding) for text in texts]
    assert int(counts.min()) > 1
    assert set(VOCABULARIES[encoding].special_tokens) <= set(SPECIAL_TOKENS)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", ["spaces, 1,100,000", "spaces behind a line, 1,100,000"])
def test_more_blanks_than_tiktoken_can_encode(name: str, encoding: str) -> None:
    """A run of 1,100,000 spaces is split, and each engine gives the same records; tiktoken alone would panic."""
    text = LARGE[name].make(LARGE[name].full)
    settings = Settings(encoding=encoding)
    fast_rows = chunk_batch([document(text)], settings).to_pylist()
    assert fast_rows == chunk_batch([document(text)], settings, engine="tiktoken").to_pylist()
    assert "".join(row["text"] + row["gap_after"] for row in fast_rows) == text
    assert [str(mismatch) for mismatch in count_mismatches(fast_rows, {})] == []


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("make", [around("a", " ", "b"), around(".\n\n", "\t", ""), around("", "\u3000", "\nb")])
def test_tiktoken_counts_any_run_of_blanks(make: Callable[[int], str], encoding: str) -> None:
    """Behind and beyond the length at which tiktoken panics, its counts are those of the fast tokenizer."""
    texts = [make(size) for size in (LONGEST_RUN - 1, LONGEST_RUN, 1_050_000)]
    assert reference_counts(texts, encoding).tolist() == fast.count_batch(texts, encoding)


@many
@given(
    st.text(st.sampled_from("   \t\n\r\u00a0\u3000\u2028\x0b\x1c\x85a7./'s!\u0301漢"), max_size=30),
    st.sampled_from([2, 3]),
)
def test_blanks_are_cut_out_where_pieces_end(text: str, longest: int) -> None:
    """However short the runs that are encoded apart are, the ids are those of the whole text."""
    for encoding in VOCABULARIES:
        assert reference_ids(text, encoding, longest) == reference_encoding(encoding).encode_ordinary(text)


def test_front_matter_of_an_alias_bomb_gives_no_metadata() -> None:
    """Aliases are not followed, so a few lines cannot become gigabytes; the text is kept."""
    text = KINDS["front matter, an alias bomb"].make(12)
    [row] = checked_rows(text, Settings())
    assert (row["metadata"], row["text"]) == ("{}", text.rstrip())


@pytest.mark.parametrize(("length", "kept"), [(MOST_TITLE, "x" * MOST_TITLE), (5000, "x" * (MOST_TITLE - 1) + "…")])
def test_a_title_without_end_is_cut(length: int, kept: str) -> None:
    """A heading of a megabyte does not stand whole in every record of its section."""
    rows = checked_rows(f"# {'x' * length}\n\n{'A sentence. ' * 900}", Settings())
    assert rows[-1]["heading_path"] == [kept]


@many
@given(hostile_texts, all_settings(), plain_or_not)
def test_hostile_texts_at_random(text: str, settings: Settings, plain: bool) -> None:
    """Hostile fragments among ordinary Markdown keep every law under all settings."""
    assert bool(checked_rows(text, settings, plain=plain)) == bool(text.strip())


@many
@given(hostile_bytes, all_settings(), plain_or_not)
def test_hostile_bytes_at_random(raw: bytes, settings: Settings, plain: bool) -> None:
    """A file of any bytes is refused with an offset, or keeps every law."""
    rows = checked_bytes(raw, settings, plain=plain)
    assert {row["doc_id"] for row in rows} <= {document("").doc_id}


class Work:
    """A counter, and how much is asked of it, of the sentence rules, the parser of atoms, and the programme."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
        self.strings = self.characters = self.sentence_characters = self.atom_characters = self.steps = 0
        exact = counter_for(encoding)
        self.counter: Counter = replace(exact, count=lambda texts: self._count(exact, texts))
        spans, costs = ladder.sentence_spans, total_fit.chunk_costs
        inline_atoms = atoms.inline_atoms

        def counted_spans(text: str, language: str | None) -> list[tuple[int, int]]:
            self.sentence_characters += len(text)
            return spans(text, language)

        def counted_atoms(text: str) -> tuple[list[int], list[int]]:
            self.atom_characters += len(text)
            return inline_atoms(text)

        def counted_costs(size: IntArray, own: IntArray, aim: Aim) -> NDArray[np.float64]:
            self.steps += len(size)
            return costs(size, own, aim)

        monkeypatch.setattr(ladder, "sentence_spans", counted_spans)
        monkeypatch.setitem(atoms._ATOMS, "markdown", counted_atoms)
        monkeypatch.setattr(total_fit, "chunk_costs", counted_costs)

    def _count(self, exact: Counter, texts: Sequence[str]) -> Any:  # noqa: ANN401 (an array)
        self.strings += len(texts)
        self.characters += sum(map(len, texts))
        return exact.count(texts)

    def of(self, text: str, settings: Settings, *, plain: bool) -> list[int]:
        """Strings and characters counted, characters split into sentences and read for atoms, costs of chunks."""
        self.strings = self.characters = self.sentence_characters = self.atom_characters = self.steps = 0
        batch = joined([document(text, plain=plain)])
        blocks = blocks_of(batch)
        ends = self.counter.token_ends([text])
        cut = split(batch, blocks, ends, self.counter, settings)
        tokenized = Tokenized(self.counter, ends)
        record_batch(batch, blocks, tokenized, (), cut, metadata_of(batch, blocks).written, settings)
        return [self.strings, self.characters, self.sentence_characters, self.atom_characters, self.steps]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_work_grows_with_the_text(name: str, plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the text is about twice the strings to count, characters to look at, and costs to compare."""
    kind = KINDS[name]
    settings = Settings(encoding="o200k_base", max_tokens=64)
    work = Work(monkeypatch, settings.encoding)
    small, large = kind.make(max(2, kind.small // 4)), kind.make(max(4, kind.small // 2))
    before, after = (np.array(work.of(text, settings, plain=plain)) for text in (small, large))
    assert (after <= 1.4 * len(large) / len(small) * before + 20_000).all()
