"""Documents that can't be read now -> the part that keeps their chunks of the last run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.counting.counter import Engine
from chunkledger.documents.formats import format_of
from chunkledger.documents.reading import Read
from chunkledger.documents.sources import Entry
from chunkledger.engines.units import PartInfo, Unit, write_part
from chunkledger.model import Document
from chunkledger.settings import Settings
from chunkledger.store.documents_table import DocumentState
from chunkledger.store.layout import part_name, write_file
from chunkledger.store.ledger import Ledger
from chunkledger.store.parts import part_content

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """Documents of the last run that stay as they were.

    Attributes:
        doc_ids: all of them.
        states: what to write down about those that this run did not come to see at all.
    """

    doc_ids: frozenset[str]
    states: tuple[DocumentState, ...]


def kept_documents(ledger: Ledger, seen: Mapping[str, str], unseen: Collection[str]) -> Kept:
    """Which documents of the ledger stay though they were not read: those that failed, and those nobody could see.

    A document is gone only where its folder or its table was read whole.

    Args:
        ledger: as the last run left it.
        seen: document id -> `ok`, `skipped` or `failed`, for every document of this run.
        unseen: ids of folders, links and tables of which it is not known what they hold.
    """
    states_before = [state for state in ledger.documents().to_pylist() if state["status"] != "skipped"]
    # An id may have findings too, as a row whose id was taken; its chunks come from where it was well.
    states_before.sort(key=lambda state: state["status"] in ("ok", "kept"))
    before = {state["doc_id"]: state for state in states_before}
    kept: set[str] = set()
    states: list[DocumentState] = []
    for doc_id in pc.unique(ledger.chunks(["doc_id"]).column("doc_id")).to_pylist():
        state = before.get(doc_id)
        if doc_id in seen:
            if seen[doc_id] == "failed":
                kept.add(doc_id)
        elif state and (place := _unseen_place(state["origin"], unseen)):
            kept.add(doc_id)
            reason = f"{place} failed, so this document was not seen; it keeps its chunks"
            states.append(replace(DocumentState(**state), status="kept", reason=reason))
    return Kept(frozenset(kept), tuple(states))


def write_kept(ledger: Ledger, kept: Kept, unit: Unit, settings: Settings, out: str, engine: Engine) -> PartInfo:
    """Write the part that keeps the chunks of these documents.

    Where the settings are the last run's, the records are those of the last run. Where they are not, they would not
    go with the others (other limits, another encoding), so they are made again, from the text that the chunks hold.

    Args:
        ledger: as the last run left it.
        kept: which documents.
        unit: number of the run and of the part.
        settings: of this run.
        out: root of the ledger.
        engine: whose tokenizer counts.
    """
    wanted = pa.array(sorted(kept.doc_ids), pa.string())
    tables = (rows.filter(pc.is_in(rows.column("doc_id"), wanted)) for rows in ledger.iter_tables())
    if ledger.report()["settings"] != settings.as_dict():
        return write_part(unit, _documents(tables, settings), settings, out, engine)
    found = pa.concat_tables(tables)
    content, rows = part_content(found.to_batches())
    name = part_name(unit.run, unit.number, content)
    write_file(out, name, content)
    ids = found.column("doc_id")
    return PartInfo(
        name=name,
        size=len(content),
        rows=rows,
        doc_ids=(ids[0].as_py(), ids[-1].as_py()),
        documents=(),
        findings=(),
        flagged=int(pc.sum(pc.is_valid(found.column("flag_cause"))).as_py()),
        tokens=int(pc.sum(found.column("token_count")).as_py()),
        seconds={},
    )


def _unseen_place(origin: str, unseen: Collection[str]) -> str | None:
    """The place that was not seen and that the file of this id is, or lies below; None where it was seen."""
    parts = origin.split("/")
    places = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((place for place in places if place in unseen), None)


def _documents(tables: Iterable[pa.Table], settings: Settings) -> Iterator[Read]:
    """The documents, as far as their chunks know them; where blanks lead, others of the same number stand in."""
    rows = (row for table in tables for row in table.to_pylist())
    for doc_id, group in groupby(rows, key=lambda row: str(row["doc_id"])):
        chunks = list(group)
        text = text_of(chunks)
        first = chunks[0]
        how = format_of(doc_id, settings.format)
        document = Document(doc_id, text, first["doc_sha256"], how, json.loads(first["metadata"]))
        yield Read(Entry(doc_id, "", len(text.encode()), 0, how), document, None, first["doc_sha256"])


def text_of(chunks: list[Row]) -> str:
    """The text of a document from its chunks, in order: the same characters at the same offsets and on the same lines.

    Of the blanks before the first chunk only their number is known, and how many lines they make.
    """
    first = chunks[0]
    lines = first["line_start"] - 1
    leading: str = " " * (first["char_start"] - lines) + "\n" * lines
    return leading + "".join(chunk["text"][chunk["overlap_chars"] :] + chunk["gap_after"] for chunk in chunks)
