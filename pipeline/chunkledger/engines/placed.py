"""Record batches on their way into a part -> what each document has in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.model import IntArray
from chunkledger.store.documents_table import with_columns


class Placed:
    """Chunks, flagged chunks and tokens by document, of batches in document order."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._sums: list[IntArray] = []

    def note(self, batch: pa.RecordBatch) -> tuple[int, int, int]:
        """Add a batch; chunks, flagged chunks and tokens in all of it.

        Args:
            batch: at least one record, with `doc_id`, `role`, `flag_cause` and `token_count`.
        """
        runs = pc.run_end_encode(batch.column("doc_id"))
        is_chunk = pc.equal(batch.column("role"), "chunk").to_numpy(zero_copy_only=False)
        is_flagged = batch.column("flag_cause").is_valid().to_numpy(zero_copy_only=False) & is_chunk
        tokens = batch.column("token_count").to_numpy() * is_chunk
        each = np.stack([is_chunk, is_flagged, tokens]).astype(np.int64)
        starts = np.concatenate([[0], runs.run_ends.to_numpy()[:-1]])
        self._ids += runs.values.to_pylist()
        self._sums.append(np.add.reduceat(each, starts, axis=1))
        chunks, flagged, count = each.sum(axis=1).tolist()
        return chunks, flagged, count

    def in_part(self, documents: pa.Table, part: str) -> pa.Table:
        """The table of documents with what each has in the part of this name.

        Args:
            documents: as `DOCUMENTS_SCHEMA`, with a row for each document of the batches.
            part: its name.
        """
        if not self._ids:
            return documents
        # A document whose records go on in the next batch stands here twice.
        ids, place = np.unique(np.array(self._ids, object), return_inverse=True)
        sums = np.zeros((3, len(ids)), np.int64)
        for row, values in zip(sums, np.concatenate(self._sums, axis=1), strict=True):
            np.add.at(row, place, values)
        of = pc.index_in(documents.column("doc_id"), pa.array(ids, pa.string()))
        found = {name: pc.fill_null(pa.array(row).take(of), 0) for name, row in zip(_SUMS, sums, strict=True)}
        names = pa.array([part], pa.string()).take(pa.array(np.zeros(len(documents), np.int64)))
        found["part"] = pc.if_else(of.is_valid(), names, "")
        return with_columns(documents, found)


_SUMS = ("chunks", "flagged", "tokens")
