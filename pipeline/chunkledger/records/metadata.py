"""What a source and a front matter say of a document -> its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunkledger.documents.decoding import repaired
from chunkledger.model import Batch, Blocks
from chunkledger.structure import kinds
from chunkledger.structure.front_matter import FrontMatterError, front_matter
from chunkledger.structure.rst_front_matter import rst_front_matter


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a batch.

    Attributes:
        written: of each document, as JSON.
        unused: document id -> why its front matter gives none.
    """

    written: Sequence[str]
    unused: Mapping[str, str]


def metadata_of(batch: Batch, blocks: Blocks) -> Metadata:
    """The metadata of every document; where front matter and source name the same key, the source's value stands."""
    merged = [document.metadata for document in batch.documents]
    unused: dict[str, str] = {}
    for index in np.flatnonzero(blocks.kind == kinds.FRONT_MATTER).tolist():
        number = int(blocks.document[index])
        document = batch.documents[number]
        source = batch.data[int(blocks.start[index]) : int(blocks.end[index])].decode()
        read = rst_front_matter if document.format == "rst" else front_matter
        try:
            merged[number] = {**read(source), **merged[number]}
        except FrontMatterError as error:
            unused[document.doc_id] = f"its front matter gives no metadata: {error}"
    return Metadata([written(each) for each in merged], unused)


def written(metadata: Mapping[str, object]) -> str:
    """Metadata as the column has it."""
    if not metadata:
        return "{}"
    # By default=str nothing that a caller put there can fail.
    return repaired(json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, default=str))[0]
