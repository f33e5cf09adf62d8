"""Where each chunk may be cut by the packer: the units of structure inside it, and sentences where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chunkledger.model import Batch, BoolArray, IntArray
from chunkledger.packer.cuts import BOUNDARY_KINDS
from chunkledger.splitting import strengths
from chunkledger.splitting.ladder import sentence_places
from chunkledger.splitting.pieces import trimmed_end
from chunkledger.splitting.split import Split


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The boundaries of all chunks, by chunk and position: parallel arrays.

    Attributes:
        chunk: index of the chunk.
        position: byte of `Batch.data`: the start of the next unit's line, or the end of a sentence.
        kind: index into `BOUNDARY_KINDS`.
        sentence: whether it is the end of a sentence.
    """

    chunk: IntArray
    position: IntArray
    kind: IntArray
    sentence: BoolArray

    def rows(self, chunks: int) -> IntArray:
        """Where each chunk's boundaries start in the arrays; chunks + 1 values."""
        return np.searchsorted(self.chunk, np.arange(chunks + 1), side="left")


def boundaries_of(batch: Batch, cut: Split) -> Boundaries:
    """Every boundary of every chunk.

    Sentences count only in blocks that had to be cut, and in chunks that have no other boundary.
    """
    allowed = ~cut.cuts.never
    position, strength = cut.cuts.position[allowed], cut.cuts.strength[allowed]
    spans = cut.spans
    first = np.searchsorted(position, spans.start, side="right")
    last = np.maximum(np.searchsorted(position, spans.end, side="left"), first)
    counts = last - first
    chunk = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    index = np.arange(len(chunk)) - np.repeat(np.cumsum(counts) - counts, counts) + first[chunk]
    sentence_chunk, sentence_end = _sentence_ends(batch, cut, counts)
    every_chunk = np.concatenate([chunk, sentence_chunk])
    every_position = np.concatenate([position[index], sentence_end])
    kind = np.concatenate(
        [
            strengths.boundary_kinds(strength[index]).astype(np.int64),
            np.full(len(sentence_end), BOUNDARY_KINDS.index("sentence"), np.int64),
        ]
    )
    order = np.lexsort((every_position, every_chunk))
    sentence = kind == BOUNDARY_KINDS.index("sentence")
    return Boundaries(every_chunk[order], every_position[order], kind[order], sentence[order])


def _sentence_ends(batch: Batch, cut: Split, other: IntArray) -> tuple[IntArray, IntArray]:
    """The chunk and the byte of each sentence end that counts."""
    spans = cut.spans
    places = cut.sentences
    first = np.searchsorted(places, spans.start, side="right")
    last = np.searchsorted(places, spans.end, side="left")
    chunks: list[int] = []
    found: list[int] = []
    for index in np.flatnonzero((last > first) | (other == 0)).tolist():
        start, end = int(spans.start[index]), int(spans.end[index])
        inside = places[first[index] : last[index]].tolist()
        if other[index] == 0:
            inside += sentence_places(cut.ladder, start, end, int(spans.document[index]))
        ends = {trimmed_end(batch.data, start, place) for place in inside}
        chunks += [index] * len(ends)
        found += sorted(ends)
    return np.array(chunks, np.int64), np.array(found, np.int64)
