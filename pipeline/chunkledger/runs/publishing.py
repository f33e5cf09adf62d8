"""What a run has made -> its changes, its table of documents, its report, one commit."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from chunkledger.counting.counter import Engine
from chunkledger.documents.sources import Selection, Source
from chunkledger.engines.memory import peak_bytes
from chunkledger.model import Finding
from chunkledger.planning.anew import MAKERS, installed
from chunkledger.records.schema import schema_of
from chunkledger.runs.looking import Looked, as_written
from chunkledger.runs.making import Made, unused
from chunkledger.settings import Settings
from chunkledger.store.changes import NO_RENAMES, ChangeCounts, Renames, total
from chunkledger.store.changes_files import written_changes
from chunkledger.store.commit import commit
from chunkledger.store.documents_table import documents_content
from chunkledger.store.files import names_in, place_of, settle, write_file
from chunkledger.store.layout import CHANGES, DOCUMENTS, RUNS, documents_name, run_name, run_of
from chunkledger.store.ledger import Ledger
from chunkledger.store.lock import Held
from chunkledger.store.log import RunFiles, next_entry
from chunkledger.store.merging import PartRange, in_document_order
from chunkledger.store.parts import records_in, records_of_documents
from chunkledger.store.run_report import Run, run_report

_VERSIONED = ("tiktoken", "toktok-rs", *MAKERS, "deltalake", "pyarrow")


@dataclass(frozen=True, slots=True)
class Told:
    """What a run's report says beside what it did.

    Attributes:
        sources: what was read.
        settings: what was to be made.
        selection: what was wanted.
        started: when.
    """

    sources: Sequence[Source]
    settings: Settings
    selection: Selection
    started: datetime.datetime

    def report(
        self,
        number: int,
        counts: Mapping[str, int],
        findings: Sequence[Finding],
        *,
        engine: Engine | None = None,
        notices: Sequence[str] = (),
        seconds: Mapping[str, float],
        workers_peak: int = 0,
        error: str | None = None,
    ) -> bytes:
        """The report as JSON; the arguments are those of `run_report`."""
        return run_report(
            run=number,
            sources=[{"name": source.name, "path": source.path, "pattern": source.pattern} for source in self.sources],
            selection=as_written(self.selection),
            settings=self.settings.as_dict(),
            versions=versions(),
            counts=counts,
            findings=findings,
            engine=engine or "toktok",
            notices=notices,
            started=self.started.isoformat(timespec="seconds"),
            seconds=seconds,
            peak_bytes={"driver": peak_bytes(), "worker": workers_peak},
            error=error,
        )


def versions() -> dict[str, str]:
    """Versions of this package and of those that decide what records hold."""
    from chunkledger import __version__

    return {"chunkledger": __version__, **{name: installed(name) for name in _VERSIONED}}


def changes_of(
    made: Made, looked: Looked, before: Ledger | None, run: int, settings: Settings
) -> tuple[ChangeCounts, tuple[str, ...]]:
    """Write what changed since the last run; how much that is, and the names of the files.

    A first run has nothing to compare: all of its records are new, and not written twice.

    Raises:
        LedgerError: a part can't be read.
        OSError: a file can't be written.
    """
    added = sum(part.chunks for part in made.parts)
    if before is None:
        return ChangeCounts(add=added), ()
    is_dropped = pc.invert(pc.is_in(looked.ledger.column("doc_id"), made.stayed))
    dropped = _by_part(before.root, looked.ledger.filter(is_dropped))
    if not added and not dropped:
        return ChangeCounts(keep=made.carried), ()
    schema = schema_of(settings.further_encodings)
    old = [PartRange(path, ids[0], ids[-1]) for path, ids in dropped.items()]
    new = [PartRange(place_of(before.root, part.name), *part.doc_ids) for part in made.parts if part.rows]
    counts, names = written_changes(
        before.root,
        run,
        in_document_order(old, lambda path: records_of_documents(path, dropped[path])),
        in_document_order(new, lambda path: records_in(path, role="all")),
        schema,
        _renames(made, looked, before),
    )
    return total([counts, ChangeCounts(keep=made.carried)]), names


def _by_part(root: str, documents: pa.Table) -> dict[str, list[str]]:
    """Ids of documents, ascending, by the place of the part that holds them."""
    found: dict[str, list[str]] = {}
    for doc_id, part in sorted(zip(*(documents.column(name).to_pylist() for name in ("doc_id", "part")), strict=True)):
        found.setdefault(place_of(root, part), []).append(doc_id)
    return found


def _renames(made: Made, looked: Looked, before: Ledger) -> Renames:
    if not made.renamed:
        return NO_RENAMES
    old = pa.array(sorted(made.renamed.values()), pa.string())
    own = _by_part(before.root, looked.ledger.filter(pc.is_in(looked.ledger.column("doc_id"), old)))
    columns = ["doc_id", "role", "chunk_id", "embed_prefix"]
    tables = (table for path, ids in own.items() for table in records_of_documents(path, ids, columns))
    return Renames(made.renamed, tables)


def _of_dead_workers(root: str, run: int, made: Made) -> list[str]:
    """Parts of the run that nobody told of: their process died when it had written them, and others did its work.

    Afterwards nothing would tell them from parts of an older run, which readers of that run may still need.
    """
    told = {*(part.name for part in made.parts), *(part.name for part in made.added)}
    return [name for name in names_in(root) if run_of(name) == run and name not in told] if told else []


def publish(
    held: Held,
    table: DeltaTable | None,
    run: Run,
    made: Made,
    told: Told,
    changes: tuple[str, ...],
    seconds: Mapping[str, float],
) -> None:
    """Write down what the run saw and did, and make all of it visible at once.

    Args:
        held: the lock of the ledger.
        table: as it was when the run started.
        run: what it did.
        made: what it made.
        told: what its report says beside.
        changes: the files of its changes.
        seconds: CPU time by station.

    Raises:
        LedgerError: another run was published meanwhile, the lock is lost, or the log can't be written.
        OSError: a file can't be written.
    """
    root = held.root
    held.remove([*unused(made), *_of_dead_workers(root, run.number, made)])
    documents = documents_content(made.documents)
    report = told.report(
        run.number,
        run.counts(),
        run.findings,
        engine=run.engine,
        notices=run.notices,
        seconds=seconds,
        workers_peak=made.peak_bytes,
    )
    files = RunFiles(run.number, documents_name(run.number, documents), run_name(run.number, report), changes)
    write_file(root, files.documents, documents)
    write_file(root, files.report, report)
    # All of it must be there for good before anything says that it is.
    settle(root, ["", DOCUMENTS, CHANGES, RUNS])
    held.check()
    entry = next_entry(table)
    commit(root, table, made.added, made.removed, files, schema_of(told.settings.further_encodings))
    settle(root, [entry, "_delta_log", ""])
