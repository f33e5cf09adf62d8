"""Records that lie in several parts -> one part of them, in document order."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa

from chunkledger.engines.memory import peak_bytes
from chunkledger.planning.placement import Merge
from chunkledger.store.commit import NewPart
from chunkledger.store.files import place_of, write_file
from chunkledger.store.layout import part_name
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import part_content, records_of_documents


@dataclass(frozen=True, slots=True)
class Merged:
    """What merging gave: the part, the CPU time in seconds, and the peak memory of the process in bytes."""

    part: NewPart
    seconds: float
    peak_bytes: int


def merged_part(merge: Merge, run: int, root: str, schema: pa.Schema) -> Merged:
    """Write one part of records that are in others.

    Args:
        merge: what it is made of; at least one document, none of them twice.
        run: number of the run.
        root: of the ledger.
        schema: of all parts.

    Raises:
        LedgerError: a part is gone or damaged.
        OSError: the part can't be written.
    """
    started = time.process_time()
    ids = {place_of(root, piece.part): piece.doc_ids.to_pylist() for piece in merge.pieces}
    ranges = [PartRange(path, own[0], own[-1]) for path, own in ids.items()]
    tables = in_document_order(ranges, lambda path: records_of_documents(path, ids[path]))
    batches = (batch for table in tables for batch in table.select(schema.names).cast(schema).to_batches())
    content, rows = part_content(batches, schema)
    name = part_name(run, merge.number, content)
    write_file(root, name, content)
    first, last = min(own[0] for own in ids.values()), max(own[-1] for own in ids.values())
    return Merged(NewPart(name, len(content), rows, (first, last)), time.process_time() - started, peak_bytes())
