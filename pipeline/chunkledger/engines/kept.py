"""Documents that can't be read now -> their records, or at least their texts, of the last run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.formats import format_of
from chunkledger.documents.reading import Read
from chunkledger.documents.sources import Entry, Selection
from chunkledger.model import Document
from chunkledger.records.again import text_of
from chunkledger.settings import Settings
from chunkledger.store.documents_table import DocumentState
from chunkledger.store.ledger import Ledger
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import Role, records_in

_TEXT_COLUMNS = [
    "doc_id", "role", "doc_sha256", "metadata", "char_start", "line_start", "overlap_chars", "text", "gap_after",
]  # fmt: skip
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

    def without(self, lost: Mapping[str, str]) -> Kept:
        """The rest, where some could not be kept after all.

        Args:
            lost: document id -> why.
        """
        states = (
            replace(state, status="failed", reason=lost[state.doc_id]) if state.doc_id in lost else state
            for state in self.states
        )
        return Kept(self.doc_ids - set(lost), tuple(states))


def kept_documents(ledger: Ledger, seen: Mapping[str, str], unseen: Collection[str], selection: Selection) -> Kept:
    """Which documents of the ledger stay though they were not read: those that failed, and those nobody could see.

    A document is gone only where its folder or its table was read whole.

    Args:
        ledger: as the last run left it.
        seen: document id -> `ok`, `skipped` or `failed`, for every document of this run.
        unseen: ids of folders, links and tables of which it is not known what they hold.
        selection: what is wanted; the rest is gone, whether it was seen or not.
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
        elif state and not selection.wants(doc_id, state["origin"]):
            continue
        elif state and (place := _unseen_place(state["origin"], unseen)):
            kept.add(doc_id)
            reason = f"{place} failed, so this document was not seen; it keeps its chunks"
            states.append(replace(DocumentState(**state), status="kept", reason=reason))
    return Kept(frozenset(kept), tuple(states))


def _unseen_place(origin: str, unseen: Collection[str]) -> str | None:
    """The place that was not seen and that the file of this id is, or lies below; None where it was seen."""
    parts = origin.split("/")
    places = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((place for place in places if place in unseen), None)


def kept_entries(ledger: Ledger, kept: Kept, settings: Settings) -> list[Entry]:
    """The documents that stay, by id: as entries whose path is that of the part that holds them.

    Args:
        ledger: as the last run left it.
        kept: which documents.
        settings: of this run.
    """
    wanted = pa.array(sorted(kept.doc_ids), pa.string())
    found: dict[str, Entry] = {}
    for path in ledger.part_paths():
        for rows in records_in(path, ["doc_id", "role", "text", "metadata"]):
            chosen = rows.filter(pc.is_in(rows.column("doc_id"), wanted))
            lengths = (pc.binary_length(chosen.column(name)).to_pylist() for name in ("text", "metadata"))
            for doc_id, size, beside in zip(chosen.column("doc_id").to_pylist(), *lengths, strict=True):
                before = found[doc_id].size if doc_id in found else 0
                how = format_of(doc_id, settings.format)
                found[doc_id] = Entry(doc_id, str(path), before + size, 0, how, beside=beside)
    return [found[doc_id] for doc_id in sorted(found)]


def kept_records(entries: Sequence[Entry], columns: list[str] | None = None, role: Role = "all") -> Iterator[pa.Table]:
    """The records of documents that stay, in document order, as the last run left them.

    Args:
        entries: as `kept_entries` gave them.
        columns: only these, with `doc_id` and `role` among them; None is all.
        role: only records of this role.
    """
    by_path: dict[str, list[str]] = {}
    for entry in entries:
        by_path.setdefault(entry.path, []).append(entry.doc_id)
    parts = [PartRange(Path(path), min(ids), max(ids)) for path, ids in by_path.items()]

    def chosen(path: Path) -> Iterator[pa.Table]:
        wanted = pa.array(by_path[str(path)], pa.string())
        for rows in records_in(path, columns, role):
            found = rows.filter(pc.is_in(rows.column("doc_id"), wanted))
            if len(found):
                yield found

    yield from in_document_order(parts, chosen)


def kept_texts(entries: Sequence[Entry]) -> Iterator[Read]:
    """The documents that stay, as far as their chunks know them, to be split anew.

    Where the settings are not the last run's, its records would not go with the others (other limits, another
    encoding). Where blanks lead, others of the same number stand in.
    """
    of = {entry.doc_id: entry for entry in entries}
    rows = (row for table in kept_records(entries, _TEXT_COLUMNS, "chunk") for row in table.to_pylist())
    for doc_id, group in groupby(rows, key=lambda row: str(row["doc_id"])):
        chunks = list(group)
        first = chunks[0]
        entry = of[doc_id]
        sha256 = first["doc_sha256"]
        document = Document(doc_id, text_of(chunks), sha256, entry.format, json.loads(first["metadata"]))
        yield Read(entry, document, None, sha256)
