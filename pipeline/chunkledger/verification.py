"""Ledger -> what is wrong with it, by recounting everything with tiktoken and comparing with the sources."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from chunkledger import __version__
from chunkledger.counting.counter import Engine
from chunkledger.counting.vocabulary import VOCABULARIES
from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.documents.sources import Source, format_of
from chunkledger.model import Document
from chunkledger.records.chunk_batch import chunk_batch
from chunkledger.records.flags import Sizes, flags_of
from chunkledger.records.recount import Mismatch, Row, count_mismatches, document_mismatches
from chunkledger.records.schema import COLUMNS
from chunkledger.settings import Settings
from chunkledger.store.ledger import Ledger, open_ledger

_MAKERS = ("pyromark", "sentencex", "regex", "pyyaml")
"""Packages whose version may change what a record holds, besides this one and the tokenizers."""


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
        ledger: an open ledger, or its folder.
        sample: recount at most this many records, spread evenly; everything else is checked for all.

    Raises:
        LedgerError: there is no ledger, or it can't be read.
    """
    opened = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    report = opened.report()
    checks = _Checks(
        settings=opened.settings(),
        sources=tuple(Source(Path(entry["path"]), entry["name"]) for entry in report["sources"]),
        hashes=_hashes(opened),
        every=_step(int(report["counts"]["chunks"]), sample),
        engine=report["engine"],
    )
    found = Verification(not_remade=_other_versions(report["versions"]))
    ids: set[str] = set()
    for part in opened.iter_parts():
        for batch in _by_document(part.to_batches(max_chunksize=2000)):
            checks.document(batch, found, ids)
    expected = int(report["counts"]["chunks"])
    if found.chunks != expected:
        found.mismatches.append(Mismatch("(ledger)", -1, "chunks", found.chunks, expected))
    return found


def _hashes(ledger: Ledger) -> dict[str, str]:
    table = ledger.documents()
    return dict(zip(table.column("doc_id").to_pylist(), table.column("sha256").to_pylist(), strict=True))


def _step(chunks: int, sample: int | None) -> int:
    return 1 if sample is None else max(1, -(-chunks // max(1, sample)))


def _other_versions(of_run: Mapping[str, str]) -> str:
    here = {"chunkledger": __version__, **{name: version(name) for name in _MAKERS}}
    other = [f"{name} {then} (here {here[name]})" for name, then in of_run.items() if then != here.get(name, then)]
    return f"the run was made with {', '.join(other)}" if other else ""


def _by_document(batches: Sequence[Any]) -> Iterator[list[Row]]:
    """The rows of one document at a time; a part holds whole documents."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, group in groupby(rows, key=lambda row: row["doc_id"]):
        yield list(group)


@dataclass(frozen=True, slots=True)
class _Checks:
    """What the rows of a ledger are compared with."""

    settings: Settings
    sources: tuple[Source, ...]
    hashes: Mapping[str, str]
    every: int
    engine: Engine

    def document(self, rows: list[Row], found: Verification, ids: set[str]) -> None:
        """Everything about one document."""
        first = len(found.mismatches)
        found.documents += 1
        found.mismatches += document_mismatches(rows)
        following: dict[str, Row | None] = {}
        for row, successor in zip(rows, [*rows[1:], None], strict=True):
            following[row["chunk_id"]] = successor
            if row["chunk_id"] in ids:
                found.mismatches.append(_mismatch(row, "chunk_id", row["chunk_id"], "unique"))
            ids.add(row["chunk_id"])
            found.mismatches += self._constants(row)
        chosen = [row for place, row in enumerate(rows) if (found.chunks + place) % self.every == 0]
        found.mismatches += count_mismatches(chosen, following)
        found.recounted += len(chosen)
        found.chunks += len(rows)
        text = self._source_text(rows[0]["doc_id"], rows[0]["doc_sha256"])
        if isinstance(text, _Absent):
            found.not_compared[rows[0]["doc_id"]] = text.why
            return
        found.compared += 1
        found.mismatches += _source_mismatches(rows, text)
        if not found.not_remade:
            found.remade += 1
            told = {(known.chunk_index, known.column.partition("[")[0]) for known in found.mismatches[first:]}
            for mismatch in self._remade(rows, text):
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
            "doc_sha256": self.hashes.get(row["doc_id"]),
            "flags": flags_of(Sizes(row["token_count"], row["embed_tokens"], row["rendered_tokens"]), settings),
        }
        for column, value in expected.items():
            if row[column] != value:
                yield _mismatch(row, column, row[column], value)

    def _remade(self, rows: Sequence[Row], text: str) -> Iterator[Mismatch]:
        """Every column, against the records that the source gives now."""
        doc_id = rows[0]["doc_id"]
        document = Document(doc_id, text, rows[0]["doc_sha256"], format_of(doc_id, self.settings.format))
        made = chunk_batch([document], self.settings, engine=self.engine).to_pylist()
        by_id: dict[str, Row] = {row["chunk_id"]: row for row in made}
        for row in rows:
            again = by_id.pop(row["chunk_id"], None)
            if again is None:
                yield _mismatch(row, "chunk_id", row["chunk_id"], "an id that the source gives")
                continue
            for column in COLUMNS:
                if row[column] != again[column]:
                    yield _mismatch(row, column, row[column], again[column])
        for row in by_id.values():
            yield _mismatch(row, "chunk_id", None, row["chunk_id"])

    def _source_text(self, doc_id: str, sha256: str) -> str | _Absent:
        for source in self.sources:
            path = source.file_of(doc_id)
            if path is None or not path.is_file():
                continue
            raw = path.read_bytes()
            if hashlib.sha256(raw).hexdigest() != sha256:
                return _Absent("the source has changed")
            try:
                return decoded(raw)[0]
            except UndecodableError as error:
                return _Absent(str(error))
        return _Absent("the source is gone")


@dataclass(frozen=True, slots=True)
class _Absent:
    """Why a document could not be compared."""

    why: str


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
