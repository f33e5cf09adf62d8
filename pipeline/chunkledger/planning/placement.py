"""Documents, and the parts that hold them -> which parts have to be written anew, of what.

A part whose documents are all as they were stays. The others are written again, without what is gone and with what is
new in their range, so that each part goes on to hold a range of ids: a reader of one document opens one part, and no
number of runs makes many small ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from chunkledger.model import IntArray

LEAST_PART_BYTES = 4 * 1024 * 1024
MOST_PART_BYTES = 64 * 1024 * 1024
"""Of the documents in a part; about a third of that in the file."""
_PARTS = 8


@dataclass(frozen=True, slots=True)
class Piece:
    """Documents whose records are taken over from a part.

    Attributes:
        part: its name.
        doc_ids: their ids, ascending.
    """

    part: str
    doc_ids: pa.Array


@dataclass(frozen=True, slots=True)
class Merge:
    """A part that is to be written, of documents whose records lie in others.

    Attributes:
        number: of the unit of work.
        pieces: what it is made of.
        size: bytes of its documents.
        rows: the documents, as places in the table that was planned with.
    """

    number: int
    pieces: tuple[Piece, ...]
    size: int
    rows: IntArray


def part_bytes(total: int) -> int:
    """How many bytes of documents a part should hold in a corpus of so many, so that several workers have some."""
    return min(MOST_PART_BYTES, max(LEAST_PART_BYTES, total // _PARTS))


def merges(documents: pa.Table, before: Mapping[str, int], first: int) -> list[Merge]:
    """The parts to be written so that every document lies in a part of its range.

    Args:
        documents: those that are in the ledger now: `doc_id`, ascending; `part`, where its records are now; `weight`.
        before: the parts of the last run -> how many documents were in each. The other ones are of this run.
        first: number of the first unit.
    """
    names, codes = _parts(documents)
    ids = documents.column("doc_id").to_pylist()
    is_old = np.array([name in before for name in names], np.bool_)
    if not is_old.any():
        return []
    weights = np.maximum(documents.column("weight").to_numpy(), 1)
    counts = np.bincount(codes, minlength=len(names))
    starts = _firsts(codes, len(names))
    old = sorted(np.flatnonzero(is_old).tolist(), key=lambda code: (ids[starts[code]], names[code]))
    group_of = _groups(ids, codes, is_old, old, starts, weights)
    dirty = np.zeros(len(old) + 1, np.bool_)
    dirty[np.unique(group_of[~is_old[codes]])] = True
    for place, code in enumerate(old):
        dirty[place] |= bool(counts[code] < before[names[code]])
    sums = np.bincount(group_of, weights, len(old) + 1)
    most = part_bytes(int(weights.sum()))
    order = np.argsort(group_of, kind="stable")
    borders = np.searchsorted(group_of[order], np.arange(len(old) + 2))
    found: list[Merge] = []
    for cluster in _clusters(dirty, sums):
        rows = np.sort(order[borders[cluster[0]] : borders[cluster[-1] + 1]])
        for group in _even(_out_of_place(rows, codes, is_old, counts), weights, most):
            found.append(
                Merge(first + len(found), _pieces(group, codes, names, documents), int(weights[group].sum()), group)
            )
    return found


def _parts(documents: pa.Table) -> tuple[list[str], IntArray]:
    encoded = documents.column("part").combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def _firsts(codes: IntArray, count: int) -> IntArray:
    """The place of the first document of each part."""
    firsts = np.zeros(count, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return firsts


def _groups(
    ids: Sequence[str], codes: IntArray, is_old: np.ndarray, old: Sequence[int], starts: IntArray, weights: IntArray
) -> IntArray:
    """For each document the place, in `old`, of the part it belongs to; one more for many that come behind them all."""
    place_of = np.zeros(len(is_old), np.int64)
    place_of[list(old)] = np.arange(len(old))
    groups = place_of[codes]
    new = np.flatnonzero(~is_old[codes])
    borders = [ids[starts[code]] for code in old]
    groups[new] = [max(0, bisect_right(borders, ids[place]) - 1) for place in new.tolist()]
    behind = new[new > np.flatnonzero(is_old[codes])[-1]]
    if weights[behind].sum() >= LEAST_PART_BYTES:
        groups[behind] = len(old)
    return groups


def _clusters(dirty: np.ndarray, sums: np.ndarray) -> list[list[int]]:
    """Groups that become parts together: a small one takes in its neighbour."""
    found: list[list[int]] = []
    size = 0.0
    joined = False
    for group in np.flatnonzero(sums > 0).tolist():
        is_small = bool(found) and size < LEAST_PART_BYTES / 2 and joined
        joins = bool(found) and bool(dirty[group]) and sums[group] < LEAST_PART_BYTES / 2
        if is_small or joins:
            found[-1].append(group)
            size, joined = size + sums[group], True
        else:
            found.append([group])
            size, joined = sums[group], bool(dirty[group])
    return [cluster for cluster in found if len(cluster) > 1 or dirty[cluster[0]]]


def _out_of_place(rows: IntArray, codes: IntArray, is_old: np.ndarray, counts: IntArray) -> IntArray:
    """These documents, without those in parts of this run that hold nothing but some of them: such parts may stay."""
    own = codes[rows]
    if is_old[own].any():
        return rows
    return rows[np.bincount(own, minlength=len(counts))[own] < counts[own]]


def _even(rows: IntArray, weights: IntArray, most: int) -> list[IntArray]:
    """The documents in as many parts as they need, of about the same size."""
    if not len(rows):
        return []
    own = np.cumsum(weights[rows])
    total = int(own[-1])
    count = 1 if total <= most + most // 2 else -(-total // most)
    borders = np.searchsorted(own, [total * number // count for number in range(1, count)], side="left") + 1
    return [part for part in np.split(rows, borders) if len(part)]


def _pieces(rows: IntArray, codes: IntArray, names: Sequence[str], documents: pa.Table) -> tuple[Piece, ...]:
    ids = documents.column("doc_id").take(rows).combine_chunks()
    own = codes[rows]
    return tuple(
        Piece(names[code], ids.take(pa.array(np.flatnonzero(own == code)))) for code in np.unique(own).tolist()
    )
