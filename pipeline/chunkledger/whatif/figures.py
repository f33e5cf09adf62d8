"""Records -> the figures of a splitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.model import BoolArray, IntArray
from chunkledger.records.flags import Sizes, cause_of, has_flag
from chunkledger.records.schema import KINDS
from chunkledger.settings import Settings
from chunkledger.store.ledger import Ledger
from chunkledger.whatif.outcome import Figures, FlagCount

PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)
SIZES = ("token_count", "embed_tokens", "rendered_tokens")
FLAGS = tuple(has_flag(Sizes(*([np.zeros(0, np.int64)] * 3)), Settings()))


@dataclass(frozen=True, slots=True)
class Measured:
    """The sizes of all chunks, in document order, and what their flags depend on beside.

    Attributes:
        sizes: of each chunk.
        kind: index into `KINDS` of what each is mostly made of.
        document: which document each is of, from 0 on.
        parents: rows of role parent.
    """

    sizes: Sizes[IntArray]
    kind: IntArray
    document: IntArray
    parents: int


def measured(ledger: Ledger) -> Measured:
    """What the figures of a ledger depend on, read once."""
    columns: dict[str, list[IntArray]] = {name: [np.zeros(0, np.int64)] for name in (*SIZES, "kind", "document")}
    parents = before = 0
    last = None
    for table in ledger.iter_tables(["doc_id", "role", "kind", *SIZES], role="all"):
        chunks = table.filter(pc.equal(table.column("role"), "chunk"))
        parents += len(table) - len(chunks)
        if not len(chunks):
            continue
        ids = chunks.column("doc_id").to_numpy()
        is_new = np.concatenate([[ids[0] != last], ids[1:] != ids[:-1]])
        document = before + np.cumsum(is_new) - 1
        before, last = int(document[-1]) + 1, ids[-1]
        columns["document"].append(document)
        columns["kind"].append(pc.index_in(chunks.column("kind"), pa.array(KINDS)).to_numpy())
        for name in SIZES:
            columns[name].append(chunks.column(name).to_numpy())
    joined = {name: np.concatenate(parts).astype(np.int64) for name, parts in columns.items()}
    return Measured(Sizes(*(joined[name] for name in SIZES)), joined["kind"], joined["document"], parents)


def figures_with(found: Measured, settings: Settings) -> Figures:
    """The figures of chunks that were cut with these settings, but perhaps for another slot: flags are told anew."""
    holds = has_flag(found.sizes, settings)
    causes = _causes(holds, found)
    counted = (_flag_counts(flag, holds[flag], causes, found.document) for flag in FLAGS)
    return _figures(found, holds, tuple(each for counts in counted for each in counts))


def figures_of(ledger: Ledger) -> Figures:
    """The figures of a ledger, with the flags and causes that its records have."""
    found = measured(ledger)
    holds: dict[str, list[BoolArray]] = {flag: [np.zeros(0, np.bool_)] for flag in FLAGS}
    causes: list[str | None] = []
    for flags, cause in _flag_columns(ledger):
        # Rows without flags would vanish when their lists are laid end to end.
        rows = pc.list_parent_indices(flags).to_numpy()
        values = pc.list_flatten(flags).to_numpy(zero_copy_only=False)
        for flag in FLAGS:
            has = np.zeros(len(flags), np.bool_)
            has[rows[values == flag]] = True
            holds[flag].append(has)
        causes += cause.to_pylist()
    joined = {flag: np.concatenate(parts) for flag, parts in holds.items()}
    names = np.array([cause or "" for cause in causes], dtype=object)
    counted = (_flag_counts(flag, joined[flag], names, found.document) for flag in FLAGS)
    return _figures(found, joined, tuple(each for counts in counted for each in counts))


def _flag_columns(ledger: Ledger) -> Iterator[tuple[pa.Array, pa.Array]]:
    for table in ledger.iter_tables(["flags", "flag_cause"]):
        for batch in table.to_batches():
            yield batch.column("flags"), batch.column("flag_cause")


def _causes(holds: dict[str, BoolArray], found: Measured) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """The cause of each chunk's flags; of the few ways in which chunks differ, each is asked once."""
    is_only = np.bincount(found.document, minlength=1)[found.document] == 1
    code = (found.kind * 2 + is_only) << len(FLAGS)
    for place, flag in enumerate(FLAGS):
        code = code | (holds[flag].astype(np.int64) << place)
    ways, where = np.unique(code, return_inverse=True)
    names = [_cause_of_code(way) for way in ways.tolist()]
    return np.array(names, dtype=object)[where] if names else np.zeros(0, dtype=object)


def _cause_of_code(code: int) -> str:
    flags = [flag for place, flag in enumerate(FLAGS) if code >> place & 1]
    kind, is_only = divmod(code >> len(FLAGS), 2)
    return cause_of(flags, kind, only_chunk=bool(is_only)) or ""


def _flag_counts(
    flag: str, has: BoolArray, causes: np.ndarray[tuple[int], np.dtype[np.object_]], document: IntArray
) -> list[FlagCount]:
    chunks = Counter(causes[has].tolist())
    documents = Counter(cause for cause, _ in set(zip(causes[has].tolist(), document[has].tolist(), strict=True)))
    return [FlagCount(flag, cause, count, documents[cause]) for cause, count in chunks.items()]


def _figures(found: Measured, holds: dict[str, BoolArray], causes: tuple[FlagCount, ...]) -> Figures:
    sizes = {name: getattr(found.sizes, name) for name in SIZES}
    return Figures(
        documents=int(found.document[-1]) + 1 if len(found.document) else 0,
        chunks=len(found.document),
        parents=found.parents,
        tokens=int(sizes["token_count"].sum()),
        embed_tokens=int(sizes["embed_tokens"].sum()),
        rendered_tokens=int(sizes["rendered_tokens"].sum()),
        percentiles={name: _percentiles(values) for name, values in sizes.items()},
        flagged=int(np.logical_or.reduce(list(holds.values())).sum()),
        flags={flag: int(has.sum()) for flag, has in holds.items()},
        causes=tuple(sorted(causes, key=lambda each: (-each.chunks, each.flag, each.cause))),
    )


def _percentiles(sizes: IntArray) -> dict[str, int]:
    """Sizes that chunks really have, at or above that share of them."""
    if not len(sizes):
        return {}
    found = np.percentile(sizes, PERCENTILES, method="higher").tolist()
    return {**{f"p{share}": int(size) for share, size in zip(PERCENTILES, found, strict=True)}, "max": int(sizes.max())}
