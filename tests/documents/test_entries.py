"""Entries in columns are the entries that were put in, in little memory."""

from __future__ import annotations

import pickle
import sys
import tracemalloc
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chunkledger.documents.entries import Entries
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Entry, Selection, source_of
from ledgers import write

names = st.text("ab/é.", min_size=1, max_size=6)
whole = st.integers(0, 2**62)
stamps = st.one_of(
    st.just(""), st.just("etag:abc"), st.builds("{}-{}".format, whole, whole), st.text("0123456789-x", max_size=9)
)
hashes = st.sampled_from(["", "ab" * 32, "0f" * 32])


@st.composite
def _entries(draw: st.DrawFn) -> list[Entry]:
    found = []
    for doc_id in draw(st.lists(names, max_size=8)):
        mtime_ns = draw(whole)
        stamp = draw(st.one_of(stamps, st.just(f"{mtime_ns}-7"), st.just(f"{mtime_ns}-007")))
        path = draw(st.sampled_from([doc_id, f"/docs/{doc_id}", f"/docs/{doc_id.partition('/')[2]}", "/t.jsonl"]))
        table = draw(st.sampled_from(["", "t.jsonl", "u.parquet"]))
        how = draw(st.sampled_from(["markdown", "plain", "rst"]))
        rest = (table, draw(whole), draw(whole), draw(whole), draw(hashes))
        found.append(Entry(doc_id, path, draw(whole), mtime_ns, stamp, how, *rest))  # type: ignore[arg-type]
    return found


@given(_entries(), st.data())
def test_entries_are_those_that_were_put_in(given_: list[Entry], data: st.DataObject) -> None:
    """One by one, all together, in pieces, picked, by id, and from another process."""
    entries = Entries(given_)
    assert (list(entries), len(entries), bool(entries)) == (given_, len(given_), bool(given_))
    assert [entries[place] for place in range(-len(given_), len(given_))] == given_ * 2
    start, end = data.draw(st.integers(-3, 9)), data.draw(st.integers(-3, 9))
    assert list(entries[start:end]) == given_[start:end]
    places = data.draw(st.lists(st.integers(0, max(0, len(given_) - 1)), max_size=5, unique=True)) if given_ else []
    assert list(entries.take(np.array(places, np.int64))) == [given_[place] for place in places]
    assert list(entries.by_id()) == sorted(given_, key=lambda entry: entry.doc_id)
    assert list(pickle.loads(pickle.dumps(entries))) == given_  # noqa: S301 (our own value)


@given(_entries())
def test_columns_are_those_of_the_entries(given_: list[Entry]) -> None:
    """What is asked of all of them at once is what each says."""
    entries = Entries(given_)
    assert entries.doc_ids == entries.ids().to_pylist() == [entry.doc_id for entry in given_]
    assert entries.sizes.tolist() == [entry.size for entry in given_]
    assert entries.mtimes.tolist() == [entry.mtime_ns for entry in given_]
    assert entries.rows.tolist() == [entry.row for entry in given_]
    assert entries.stamps().to_pylist() == [entry.stamp for entry in given_]
    assert entries.origins().to_pylist() == [entry.origin for entry in given_]


def test_weights_are_those_of_the_entries() -> None:
    """In one go as one by one."""
    given_ = [Entry("a", "a", size, 0, "", "plain", "t", 1, 0, beside) for size in (0, 1, 9_999) for beside in (0, 70)]
    assert Entries(given_).weights.tolist() == [entry.weight for entry in given_]


def test_many_entries_take_little_memory(tmp_path: Path) -> None:
    """A third of what as many objects take; most of that is the ids."""
    write(tmp_path / "docs", {f"folder/{number:05}.md": "x" for number in range(2_000)})
    tracemalloc.start()
    try:
        entries = listed([source_of(str(tmp_path / "docs"))], Selection()).entries
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    objects = sum(sys.getsizeof(entry) + sum(map(sys.getsizeof, entry[:5])) for entry in entries)
    assert (len(entries), taken < objects / 2) == (2_000, True)
