"""Tables -> their rows as entries: which documents a table holds, before any of them is read."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chunkledger.documents import jsonl, parquet
from chunkledger.documents.entries import Entries, Listing
from chunkledger.documents.files import opened
from chunkledger.documents.formats import format_of, suffix_of
from chunkledger.documents.grouped import documents_in
from chunkledger.documents.rows import MOST_METADATA_BYTES, Place, RowError, TableError
from chunkledger.documents.sources import Entry, Selection, TableFile, one_line
from chunkledger.model import Finding
from chunkledger.settings import Settings

_Found = tuple[Place, str | RowError, int, str]
"""Where a row is, its id (or what is wrong with it), the bytes of its text, and its hash as far as it is known."""
MOST_BAD_ROWS = 10_000
"""Bad rows of one table beyond are counted in one finding."""
_LONGEST_REASON = 200


@dataclass(slots=True)
class TableRows:
    """What a table holds.

    Attributes:
        entries: its documents, in the order of the rows; ids may still be taken by others.
        findings: rows that are no documents, or what is wrong with the table.
        unseen: whether some rows can't be told, so that a document that is missing may be among them.
    """

    entries: Entries = field(default_factory=Entries)
    findings: list[Finding] = field(default_factory=list)
    unseen: bool = False


def is_parquet(path: str) -> bool:
    """Whether a table is read as Parquet; else as JSON Lines."""
    return suffix_of(path) == ".parquet"


def rows_in(table: TableFile, settings: Settings, selection: Selection) -> TableRows:
    """The documents of a table. All of it is read once, a piece at a time; what is wrong with it is a Finding."""
    found = TableRows()
    try:
        rows = _Counted(_ids(table, settings, selection))
        if settings.chunks:
            _add_documents(found, documents_in(rows, table, settings, selection), table)
        else:
            for place, row_id, size, sha256 in rows:
                _add(found, table, settings, selection, place, row_id, size, sha256)
        if not rows.count and selection.wants(table.doc_id):
            found.findings.append(Finding(table.doc_id, "skipped", "empty: it has no rows"))
    except TableError as error:
        found = TableRows(Entries(), [Finding(table.doc_id, "failed", str(error))], unseen=True)
    except OSError as error:
        told = Finding(table.doc_id, "failed", f"can't be read: {error.strerror or error}")
        found = TableRows(Entries(), [told], unseen=True)
    except Exception as error:  # whatever a library makes of a damaged file, it is the file's
        found = TableRows(Entries(), [Finding(table.doc_id, "failed", unforeseen(error))], unseen=True)
    # Which documents rows are that are only counted is not told, so none of the table's can be said to be gone.
    found.unseen |= _limited(found.findings, table, "are no documents")
    return found


class _Counted:
    """Rows that are counted while they pass."""

    def __init__(self, rows: Iterator[_Found]) -> None:
        self.rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[_Found]:
        for row in self.rows:
            self.count += 1
            yield row


def _add_documents(found: TableRows, documents: Iterable[Entry | Finding], table: TableFile) -> None:
    """Take the documents that are many rows each, and what is wrong with others."""
    for each in documents:
        if isinstance(each, Entry):
            found.entries.append(each)
        else:
            found.findings.append(each)
            # Of which document the row is, nobody knows.
            found.unseen |= each.doc_id == table.doc_id


def _limited(findings: list[Finding], table: TableFile, what: str) -> bool:
    """Leave some findings and the number of the others; whether there were others."""
    more = len(findings) - MOST_BAD_ROWS
    if more > 0:
        findings[MOST_BAD_ROWS:] = [Finding(table.doc_id, "failed", f"{more:,} more rows {what}")]
    return more > 0


def unforeseen(error: Exception) -> str:
    """What to say of a table whose reading failed in a way that nobody thought of."""
    return f"can't be read: {type(error).__name__}: {str(error)[:_LONGEST_REASON]}"


def with_rows(listing: Listing, found: list[tuple[TableFile, TableRows]], *, are_chunks: bool = False) -> None:
    """Put the rows of the tables, in order of tables and rows, into the listing; an id that is taken is a Finding.

    The id of a row or file that failed is taken too: its document keeps the chunks of the last run.

    Args:
        listing: of the files.
        found: what each table holds.
        are_chunks: whether a document is many rows; one whose rows lie in two tables then fails, as neither has all.
    """
    divided = _divided(found) if are_chunks else {}
    if not found:
        return
    taken = {finding.doc_id: "a file" for finding in listing.findings if finding.status == "failed"}
    taken |= dict.fromkeys(listing.entries.doc_ids, "a file")
    for table, rows in found:
        failed = [finding for finding in rows.findings if finding.doc_id != table.doc_id]
        repeated: list[Finding] = []
        whole = (entry for entry in rows.entries if entry.doc_id not in divided)
        both: Iterator[Entry | Finding] = heapq.merge(whole, failed, key=lambda each: each.row)
        for each in both:
            if before := taken.get(each.doc_id):
                if isinstance(each, Entry):
                    reason = f"the id {one_line(each.doc_id)!r} is that of {before} already"
                    repeated.append(Finding(table.doc_id, "failed", reason, each.row, table.doc_id))
                continue
            taken[each.doc_id] = f"row {each.row:,} of {one_line(table.doc_id)}"
            if isinstance(each, Entry):
                listing.entries.append(each)
        _limited(repeated, table, "have an id that is taken")
        listing.findings += [*rows.findings, *repeated]
        if rows.unseen:
            listing.unseen.add(table.doc_id)
    listing.findings += (finding for told in divided.values() for finding in told)
    listing.findings.sort(key=lambda finding: (finding.doc_id, finding.row, finding.reason))


def _divided(found: list[tuple[TableFile, TableRows]]) -> dict[str, list[Finding]]:
    """What is told of documents whose chunks lie in several tables, once for each, as each is to be read again."""
    rows_of: dict[str, list[tuple[int, str]]] = {}
    for table, rows in found:
        for entry in rows.entries:
            rows_of.setdefault(entry.doc_id, []).append((entry.row, table.doc_id))
    told: dict[str, list[Finding]] = {}
    for doc_id, places in rows_of.items():
        if len(places) > 1:
            tables = " and ".join(one_line(table) for _, table in places)
            reason = f"its chunks lie in {tables}; put them into one table"
            told[doc_id] = [Finding(doc_id, "failed", reason, row, table) for row, table in places]
    return told


def _ids(table: TableFile, settings: Settings, selection: Selection) -> Iterator[_Found]:
    """What is there of every row."""
    with opened(table.path) as file:
        if is_parquet(table.path):
            yield from ((*found, "") for found in parquet.sizes(file, settings))
            return
        for place, row in jsonl.all_rows(file, settings, selection.max_document_bytes):
            if isinstance(row, RowError):
                yield place, row, 0, ""
            else:
                yield place, row.row_id, len(row.text.encode()), row.sha256


def _add(
    found: TableRows,
    table: TableFile,
    settings: Settings,
    selection: Selection,
    place: Place,
    row_id: str | RowError,
    size: int,
    sha256: str,
) -> None:
    known = row_id.row_id if isinstance(row_id, RowError) else row_id
    if known is None:
        found.unseen = True
        found.findings.append(Finding(table.doc_id, "failed", str(row_id), place.row, table.doc_id))
        return
    doc_id = table.source.doc_id(known)
    if not selection.wants(doc_id, table.doc_id):
        return
    trouble = str(row_id) if isinstance(row_id, RowError) else selection.too_large(size)
    if trouble:
        found.findings.append(Finding(doc_id, "failed", trouble, place.row, table.doc_id))
        return
    how = format_of(known, settings.format)
    # More is not kept of it.
    beside = min(MOST_METADATA_BYTES, max(0, place.size - size))
    found.entries.append(
        Entry(
            doc_id,
            table.path,
            size,
            table.mtime_ns,
            table.stamp,
            how,
            table.doc_id,
            place.row,
            place.offset,
            beside,
            sha256,
        )
    )
