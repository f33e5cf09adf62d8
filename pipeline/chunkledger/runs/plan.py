"""What there is to do -> what a run would do, without doing any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chunkledger.documents.entries import Entries
from chunkledger.documents.reading import empty_finding
from chunkledger.model import Finding
from chunkledger.planning.guard import DeleteGuardError, check_deletes
from chunkledger.runs.looking import Looked


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do.

    Attributes:
        run: its number.
        anew: why all documents would be split anew; "" where unchanged ones would not.
        new: documents that are not in the ledger: id -> bytes.
        again: those that failed in the last run and are not in the ledger, to be tried again: id -> bytes.
        changed: documents that are in the ledger and would be read again: id -> bytes.
        unchanged: how many would be taken over.
        hashed: how many had to be read already, to tell whether they are the same.
        gone: ids of documents that would be deleted; one that was renamed is here, and its new name in `new`.
        kept: ids of documents that can't be read, or seen, and would keep their records.
        findings: what would be passed over, as far as that can be told without reading.
        refused: why the run would stop before it publishes; "" where it would not.
    """

    run: int
    anew: str
    new: Mapping[str, int]
    again: Mapping[str, int]
    changed: Mapping[str, int]
    unchanged: int
    hashed: int
    gone: tuple[str, ...]
    kept: tuple[str, ...]
    findings: tuple[Finding, ...]
    refused: str

    @property
    def to_read(self) -> int:
        """Bytes of the documents that would be read."""
        return sum(sum(of.values()) for of in (self.new, self.again, self.changed))

    def as_dict(self) -> dict[str, object]:
        """For programs: every field, with documents as a list of ids."""
        return {
            "run": self.run,
            "anew": self.anew,
            "new": list(self.new),
            "again": list(self.again),
            "changed": list(self.changed),
            "unchanged": self.unchanged,
            "hashed": self.hashed,
            "gone": list(self.gone),
            "kept": list(self.kept),
            "bytes_to_read": self.to_read,
            "findings": [
                {"doc_id": each.doc_id, "status": each.status, "reason": each.reason, "row": each.row}
                for each in self.findings
            ],
            "refused": self.refused,
        }


def planned(looked: Looked, run: int, max_delete: float, hashes: Callable[[Entries], Sequence[str]]) -> Plan:
    """What a run would do.

    Args:
        looked: what there is to do.
        run: number that it would have.
        max_delete: share of documents that may be deleted.
        hashes: of entries, to tell renamed documents from lost ones where many would be lost.
    """
    in_ledger = set(looked.ledger.column("doc_id").to_pylist())
    statuses = zip(*(looked.known.column(name).to_pylist() for name in ("doc_id", "status")), strict=True)
    failed = {doc_id for doc_id, status in statuses if status == "failed"} - in_ledger
    to_read = list(looked.to_read)
    sizes = {entry.doc_id: entry.size for entry in to_read if entry.size}
    emptied = looked.emptied
    empty = [empty_finding(entry) for entry in to_read if not entry.size and entry.doc_id not in in_ledger]
    rest = looked.remaining
    refused = ""
    try:
        check_deletes(looked.lost(max_delete, hashes), len(looked.ledger), max_delete, emptied)
    except DeleteGuardError as error:
        refused = str(error)
    return Plan(
        run=run,
        anew=looked.anew if in_ledger else "",
        new={doc_id: size for doc_id, size in sizes.items() if doc_id not in in_ledger | failed},
        again={doc_id: size for doc_id, size in sizes.items() if doc_id in failed},
        changed={doc_id: size for doc_id, size in sizes.items() if doc_id in in_ledger},
        unchanged=len(looked.matches.unchanged),
        hashed=looked.hashed,
        gone=tuple(sorted([*rest.gone, *emptied])),
        kept=tuple(sorted([*rest.failed, *rest.unseen])),
        findings=(*looked.listing.findings, *empty),
        refused=refused,
    )
