"""What the prices of cuts and chunks do: excess, fill and stability for several values of each.

`python benchmarks/prices.py FOLDER...`, which takes some minutes. Prints a Markdown table; `benchmarks/prices.md` is
what it printed when the values of today were chosen. Each row changes one value and leaves the others. Excess is
chunks against the least possible number (without and with heading paths in the embed text), fill the mean share of the
limit that a text has, tiny the chunks under 50 tokens, and edits the chunks to embed again after one sentence was
edited: mean and 95th percentile, in documents of at least twenty chunks.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chunkledger.counting.counter import counter_for
from chunkledger.documents.batch import joined
from chunkledger.model import Batch, Blocks, Document, TokenEnds
from chunkledger.settings import Settings
from chunkledger.splitting import prices, reopened, strengths
from chunkledger.splitting.split import split
from chunkledger.structure.blocks import blocks_of
from stability import EDITS, LEAST_CHUNKS, embedded, markdown_documents

SETTINGS = Settings(encoding="cl100k_base")
EDITS_EACH = 200
STRUCTURE, LOCAL = strengths.PRICES.copy(), strengths.LOCAL_PRICES.copy()
"""The prices as they are; a row changes the array in place, which is where the stations look."""


@dataclass(frozen=True)
class Corpus:
    """One folder, read once."""

    documents: list[Document]
    batch: Batch
    blocks: Blocks
    ends: TokenEnds

    @property
    def least(self) -> int:
        """The least possible number of chunks."""
        tokens = np.diff(self.ends.before(self.batch.starts))
        return int(np.maximum(1, -(-tokens // SETTINGS.max_tokens)).sum())


def main() -> None:
    """Print a row for each value."""
    corpora = [_corpus(folder) for folder in sys.argv[1:] or ["sample_corpus"]]
    print(
        "| | excess | with heading paths | fill % | tiny % | edits, mean | edits, 95 % |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    for name, change in _changes():
        with changed(**change):
            print(f"| {name} | {' | '.join(_figures(corpora))} |", flush=True)


def _changes() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "as they are", {}
    for value in (1.0, 2.0, 5.0):
        yield f"CHUNK_PRICE {value}", {"chunk": value}
    for value in (0.0, 0.5):
        yield f"OVER_TARGET {value}", {"over": value}
    for value in (0.33, 2.0):
        yield f"structure in PRICES x {value}", {"structure": value}
    for value in (0.5, 2.0):
        yield f"sentences and below in PRICES x {value}", {"sentences": value}
    for value in (0.0, 2.0):
        yield f"LOCAL_PRICES x {value}", {"local": value}
    for value in (0.0, 0.5):
        yield f"OLD_CUT_DISCOUNT {value}", {"discount": value}
    yield "no paragraph reopened", {"reopen": False}


@contextmanager
def changed(
    *,
    chunk: float = prices.CHUNK_PRICE,
    over: float = prices.OVER_TARGET,
    structure: float = 1.0,
    sentences: float = 1.0,
    local: float = 1.0,
    discount: float = reopened.OLD_CUT_DISCOUNT,
    reopen: bool = True,
) -> Iterator[None]:
    """Other prices, for as long as it lasts."""
    before = (prices.CHUNK_PRICE, prices.OVER_TARGET, reopened.OLD_CUT_DISCOUNT, reopened.LEAST_LIMIT)
    prices.CHUNK_PRICE, prices.OVER_TARGET, reopened.OLD_CUT_DISCOUNT = chunk, over, discount
    reopened.LEAST_LIMIT = before[3] if reopen else 10**9
    strengths.PRICES[: strengths.SENTENCE] = STRUCTURE[: strengths.SENTENCE] * structure
    strengths.PRICES[strengths.SENTENCE :] = STRUCTURE[strengths.SENTENCE :] * sentences
    strengths.LOCAL_PRICES[:] = LOCAL * local
    try:
        yield
    finally:
        prices.CHUNK_PRICE, prices.OVER_TARGET, reopened.OLD_CUT_DISCOUNT, reopened.LEAST_LIMIT = before
        strengths.PRICES[:] = STRUCTURE
        strengths.LOCAL_PRICES[:] = LOCAL


def _corpus(folder: str) -> Corpus:
    documents = markdown_documents(folder)
    batch = joined(documents)
    counter = counter_for(SETTINGS.encoding)
    return Corpus(documents, batch, blocks_of(batch), counter.token_ends([each.text for each in documents]))


def _figures(corpora: list[Corpus]) -> list[str]:
    counter, least = counter_for(SETTINGS.encoding), sum(corpus.least for corpus in corpora)
    found = []
    for shown in (False, True):
        settings = replace(SETTINGS, heading_context=shown)
        cuts = [split(each.batch, each.blocks, each.ends, counter, settings) for each in corpora]
        found.append(np.concatenate([cut.measured.tokens for cut in cuts]))
    tokens = found[1]
    again = sorted(_edited(corpora))
    return [
        *(f"{len(sizes) / least:.3f}" for sizes in found),
        f"{100 * np.minimum(tokens, SETTINGS.max_tokens).mean() / SETTINGS.max_tokens:.1f}",
        f"{100 * (tokens < SETTINGS.min_tokens).mean():.2f}",
        f"{sum(again) / max(1, len(again)):.2f}",
        f"{again[len(again) * 95 // 100]}" if again else "-",
    ]


def _edited(corpora: list[Corpus]) -> Iterator[int]:
    """Chunks to embed again after each of some edits, the same edits in every row."""
    choose = random.Random(1)  # noqa: S311
    for corpus in corpora:
        split_once = [(each, embedded(each, each.text, SETTINGS)) for each in corpus.documents]
        long = [(each, before) for each, before in split_once if before.total() >= LEAST_CHUNKS]
        for _ in range(EDITS_EACH if long else 0):
            document, before = choose.choice(long)
            text = EDITS["one sentence"](document.text, choose)
            if text is not None:
                yield (embedded(document, text, SETTINGS) - before).total()


if __name__ == "__main__":
    main()
