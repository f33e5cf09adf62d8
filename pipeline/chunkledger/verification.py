"""Ledger -> what is wrong with it, by recounting everything with tiktoken and comparing with the sources."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from chunkledger.counting.counter import Engine
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.documents.hashes import hashes
from chunkledger.documents.listing import listed
from chunkledger.documents.originals import as_chunks
from chunkledger.documents.reading import Read, documents_of
from chunkledger.documents.sources import Entry, Selection, Source
from chunkledger.documents.tables import rows_in, with_rows
from chunkledger.errors import SourceError
from chunkledger.model import Document, GivenChunk
from chunkledger.planning.anew import made_with
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.flags import Sizes, flags_of
from chunkledger.records.recount import Mismatch, Row, count_mismatches, document_mismatches, parent_mismatches
from chunkledger.remote.urls import is_url
from chunkledger.settings import Settings
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.structure.graphemes import is_grapheme

_GROUP_DOCUMENTS, _GROUP_CHARACTERS = 256, 16_000_000
"""Documents that are compared with their sources together, so that rows of a table are read where they lie together."""


@dataclass(slots=True)
class Verification:
    """What a verification found.

    Attributes:
        chunks: records looked at.
        recounted: records whose counts were all recounted.
        documents: documents looked at.
        compared: documents whose source is still there unchanged, and was compared.
        not_compared: doc_id -> why there was nothing to compare with.
        remade: documents whose records were made again from the source and compared in every column.
        not_remade: why none was made again; "" where there was no reason not to.
        mismatches: every value that is not what it should be.
    """

    chunks: int = 0
    recounted: int = 0
    documents: int = 0
    compared: int = 0
    not_compared: dict[str, str] = field(default_factory=dict)
    remade: int = 0
    not_remade: str = ""
    mismatches: list[Mismatch] = field(default_factory=list)


def verify(ledger: Ledger | str | os.PathLike[str], *, sample: int | None = None) -> Verification:
    """Check a ledger against tiktoken, against itself, and against its sources.

    Every count column of each record is recounted with tiktoken as the count of its string; ids are made again from
    texts; offsets are chained; flags and fingerprints are compared with the run's settings; and the text of each
    document whose source is still there with the same sha256 is compared with the source. Such a document's records
    are also made again and compared in every column, for what no recount can see (kind, boundaries, metadata, …), if
    the same versions are installed that the run was made with.

    Args:
        ledger: an open ledger, or its folder or URL.
        sample: recount at most this many records, spread evenly; everything else is checked for all.

    Raises:
        LedgerError: there is no ledger, or it can't be read.
    """
    opened = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    report = opened.report()
    settings = opened.settings()
    selection = _selection(report["selection"])
    checks = _Checks(
        settings=settings,
        entries=_entries(report["sources"], settings, selection, opened.root),
        longest=selection.max_document_bytes,
        states=_states(opened),
        every=_step(int(report["counts"]["chunks"]), sample),
        engine=report["engine"],
    )
    found = Verification(not_remade=_other_versions(report["versions"]))
    ids: set[str] = set()
    for group in _groups(_by_document(opened)):
        sources = checks.read([rows[0]["doc_id"] for rows in group])
        for rows in group:
            checks.document(rows, sources.get(rows[0]["doc_id"]), found, ids)
    expected = int(report["counts"]["chunks"])
    if found.chunks != expected:
        found.mismatches.append(Mismatch("(ledger)", -1, "chunks", found.chunks, expected))
    return found


def _selection(written: Mapping[str, Any]) -> Selection:
    return Selection(
        include=tuple(written["include"]),
        exclude=tuple(written["exclude"]),
        max_document_bytes=written["max_document_bytes"],
        format=written["format"],
        documents=written.get("documents", ""),
    )


def _entries(
    sources: Sequence[Mapping[str, str]], settings: Settings, selection: Selection, ledger: str
) -> dict[str, Entry] | _Absent:
    """What is in the sources now, by document id; ids never become paths, so a row's id can't name a file."""
    here = [Source(each["path"], each["name"], each["pattern"]) for each in sources]
    try:
        # That there is nothing below a URL only its listing can say.
        there = [source for source in here if is_url(source.path) or os.path.exists(source.path)]
        listing = listed(there, selection, ledger)
    except SourceError as error:
        return _Absent(str(error))
    found = [(table, rows_in(table, settings, selection)) for table in listing.tables]
    with_rows(listing, found, are_chunks=settings.chunks)
    if settings.chunks:
        try:
            as_chunks(listing, selection, lambda files: hashes(files, settings, selection.max_document_bytes))
        except SourceError as error:
            return _Absent(str(error))
    return {entry.doc_id: entry for entry in listing.entries}


def _states(ledger: Ledger) -> dict[str, tuple[str, str]]:
    """Status and hash of each document, by id; an id that has findings too (a row's may be its table's) is ok."""
    table = ledger.documents()
    columns = (table.column(name).to_pylist() for name in ("doc_id", "status", "sha256"))
    found: dict[str, tuple[str, str]] = {}
    for doc_id, status, sha256 in zip(*columns, strict=True):
        if found.get(doc_id, ("", ""))[0] != "ok":
            found[doc_id] = (status, sha256)
    return found


def _step(chunks: int, sample: int | None) -> int:
    return 1 if sample is None else max(1, -(-chunks // max(1, sample)))


def _other_versions(of_run: Mapping[str, str]) -> str:
    here = made_with()
    other = [f"{name} {then} (here {here[name]})" for name, then in of_run.items() if then != here.get(name, then)]
    return f"the run was made with {', '.join(other)}" if other else ""


def _by_document(ledger: Ledger) -> Iterator[list[Row]]:
    """The rows of one document at a time."""
    rows = (row for table in ledger.iter_tables(role="all") for row in table.to_pylist())
    for _, group in groupby(rows, key=lambda row: row["doc_id"]):
        yield list(group)


def _groups(documents: Iterable[list[Row]]) -> Iterator[list[list[Row]]]:
    waiting: list[list[Row]] = []
    size = 0
    for rows in documents:
        waiting.append(rows)
        size += sum(len(row["text"]) for row in rows)
        if len(waiting) >= _GROUP_DOCUMENTS or size >= _GROUP_CHARACTERS:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


@dataclass(frozen=True, slots=True)
class _Checks:
    """What the rows of a ledger are compared with."""

    settings: Settings
    entries: Mapping[str, Entry] | _Absent
    longest: int
    states: Mapping[str, tuple[str, str]]
    every: int
    engine: Engine

    def read(self, doc_ids: Iterable[str]) -> dict[str, Read]:
        """These documents, as far as the sources still have them."""
        if isinstance(self.entries, _Absent):
            return {}
        there = [self.entries[doc_id] for doc_id in doc_ids if doc_id in self.entries]
        there.sort(key=lambda entry: (entry.table, entry.path, entry.offset))
        return {read.entry.doc_id: read for read in documents_of(there, self.settings, self.longest)}

    def document(self, rows: list[Row], source: Read | None, found: Verification, ids: set[str]) -> None:
        """Everything about one document."""
        first = len(found.mismatches)
        found.documents += 1
        chunks, parents = ([row for row in rows if row["role"] == role] for role in ("chunk", "parent"))
        if not self.settings.chunks:  # another splitter may have cut chunks in any order, and cuts no parents
            found.mismatches += parent_mismatches(chunks, parents)
        held = Counter(row["parent_id"] for row in chunks)
        found.mismatches += [
            _mismatch(row, "embed_tokens", row["embed_tokens"], f"at most {self.settings.parent_tokens}")
            for row in parents
            if row["embed_tokens"] > self.settings.parent_tokens and held[row["chunk_id"]] > 1
        ]
        following: dict[str, Row | None] = {}
        for of_role in (chunks, parents):
            if of_role:
                found.mismatches += document_mismatches(of_role, given=self.settings.chunks)
                pairs = zip(of_role, [*of_role[1:], None], strict=True)
                following |= {row["chunk_id"]: successor for row, successor in pairs}
        for row in rows:
            if row["chunk_id"] in ids:
                found.mismatches.append(_mismatch(row, "chunk_id", row["chunk_id"], "unique"))
            ids.add(row["chunk_id"])
            found.mismatches += self._constants(row)
        chosen = [row for place, row in enumerate(rows) if (found.chunks + place) % self.every == 0]
        found.mismatches += count_mismatches(chosen, following)
        found.recounted += len(chosen)
        found.chunks += len(chunks)
        document = self._document(rows[0], source)
        if isinstance(document, _Absent):
            found.not_compared[rows[0]["doc_id"]] = document.why
            return
        found.compared += 1
        if self.settings.chunks:
            found.mismatches += _given_mismatches(chunks, document.chunks)
        else:
            for of_role in (chunks, parents):
                found.mismatches += _source_mismatches(of_role, document.text) if of_role else ()
        if not found.not_remade:
            found.remade += 1
            told = {(known.chunk_index, known.column.partition("[")[0]) for known in found.mismatches[first:]}
            for mismatch in self._remade(rows, document):
                if (mismatch.chunk_index, mismatch.column) not in told:
                    found.mismatches.append(mismatch)

    def _constants(self, row: Row) -> Iterator[Mismatch]:
        """Columns that follow from the settings and the record alone."""
        settings = self.settings
        expected: dict[str, object] = {
            "encoding": settings.encoding,
            "encoding_sha256": VOCABULARIES[settings.encoding].sha256(),
            "settings_sha256": settings.sha256(),
            "template": settings.template,
            "doc_sha256": self._hash(row),
            "flags": flags_of(Sizes(row["token_count"], row["embed_tokens"], row["rendered_tokens"]), settings),
        }
        if row["role"] != "chunk":
            expected["flags"] = []
        elif row["embed_tokens"] > settings.max_tokens and not (settings.chunks or is_grapheme(row["text"])):
            expected["embed_tokens"] = f"at most {settings.max_tokens}, or one character alone"
        for encoding in settings.further_encodings:
            expected[f"encoding_sha256_{encoding}"] = VOCABULARIES[encoding].sha256()
        for column, value in expected.items():
            if row[column] != value:
                yield _mismatch(row, column, row[column], value)

    def _hash(self, row: Row) -> str | None:
        """What the run wrote down as the document's hash; of one that kept its chunks that is of another text."""
        status, sha256 = self.states.get(row["doc_id"], ("", None))
        return sha256 if status == "ok" else row["doc_sha256"] if status in ("failed", "kept") else None

    def _remade(self, rows: Sequence[Row], document: Document) -> Iterator[Mismatch]:
        """Every column, against the records that the source gives now."""
        made = chunk_batch([document], self.settings, engine=self.engine).to_pylist()
        by_id: dict[str, Row] = {row["chunk_id"]: row for row in made}
        for row in rows:
            again = by_id.pop(row["chunk_id"], None)
            if again is None:
                yield _mismatch(row, "chunk_id", row["chunk_id"], "an id that the source gives")
                continue
            for column in again:
                if row[column] != again[column]:
                    yield _mismatch(row, column, row[column], again[column])
        for row in by_id.values():
            yield _mismatch(row, "chunk_id", None, row["chunk_id"])

    def _document(self, row: Row, source: Read | None) -> Document | _Absent:
        """The document as its source has it now, if it is the one that the chunks are of."""
        if self.states.get(row["doc_id"], ("", ""))[0] in ("failed", "kept"):
            return _Absent("it failed in this run, and keeps its chunks of an earlier one")
        if isinstance(self.entries, _Absent):
            return self.entries
        if source is None:
            return _Absent("the source is gone")
        if source.sha256 and source.sha256 != row["doc_sha256"]:
            return _Absent("the source has changed")
        return source.document or _Absent(source.finding.message if source.finding else "it can't be read")


@dataclass(frozen=True, slots=True)
class _Absent:
    """Why a document could not be compared."""

    why: str


def _given_mismatches(rows: Sequence[Row], chunks: Sequence[GivenChunk]) -> Iterator[Mismatch]:
    """Texts and places, against the chunks that another splitter has cut, as their source has them."""
    if len(rows) != len(chunks):
        yield _mismatch(rows[-1], "chunk_index", f"{len(rows):,} chunks", f"{len(chunks):,}")
    for row, chunk in zip(rows, chunks, strict=False):
        for name in ("text", "char_start", "char_end", "line_start", "line_end", "gap_after", "overlap_chars"):
            if row[name] != getattr(chunk, name):
                yield _mismatch(row, name, row[name], getattr(chunk, name))


def _source_mismatches(rows: Sequence[Row], text: str) -> Iterator[Mismatch]:
    """Texts, lines and the whole, against the text of the document."""
    lost = [row for row in rows if row["char_start"] is None or row["char_end"] is None]
    if lost:
        for row in lost:
            yield _mismatch(row, "char_start" if row["char_start"] is None else "char_end", None, "an offset")
        return
    for row in rows:
        there = text[row["char_start"] : row["char_end"]]
        if there != row["text"]:
            yield _mismatch(row, "text", row["text"], there)
    yield from _lines(rows, text)
    before = text[: rows[0]["char_start"]]
    whole = before + "".join(row["text"][row["overlap_chars"] :] + row["gap_after"] for row in rows)
    if whole != text or before.strip():
        yield _mismatch(rows[-1], "text", "chunks that leave something out", "the whole document")


def _lines(rows: Sequence[Row], text: str) -> Iterator[Mismatch]:
    """Line numbers, counted the obvious way."""
    for row in rows:
        first = 1 + _line_ends(text[: row["char_start"]], text[row["char_start"] : row["char_start"] + 1])
        last = first + _line_ends(row["text"], "")
        for column, value in (("line_start", first), ("line_end", last)):
            if row[column] != value:
                yield _mismatch(row, column, row[column], value)


def _line_ends(text: str, following: str) -> int:
    r"""How many lines end in the text: at \n, \r\n and \r."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends - (text.endswith("\r") and following == "\n")


def _mismatch(row: Row, column: str, stored: object, expected: object) -> Mismatch:
    return Mismatch(row["doc_id"], row["chunk_index"], column, stored, expected)
