"""One run: sources -> records -> one commit."""

from __future__ import annotations

import datetime
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from chunkledger.documents.sources import Selection, Source, source_of
from chunkledger.engines.local import Pool, hashes_of, pool, self_test
from chunkledger.engines.trusted import Trusted
from chunkledger.engines.workers import WorkerError
from chunkledger.errors import LedgerError, SettingsError, SourceError
from chunkledger.planning.guard import MAX_DELETE, check_share
from chunkledger.remote.failures import scrubbed
from chunkledger.remote.opened import absolute, is_same, normal, untested
from chunkledger.runs.looking import Looked, look
from chunkledger.runs.making import Made, Maker, Progress, Step
from chunkledger.runs.plan import Plan, planned
from chunkledger.runs.publishing import Told, changes_of, publish
from chunkledger.settings import Settings
from chunkledger.store.changes import ChangeCounts
from chunkledger.store.files import unwritable, write_file
from chunkledger.store.layout import run_name
from chunkledger.store.ledger import Ledger
from chunkledger.store.lock import Held, leftovers, locked
from chunkledger.store.log import last_run, opened
from chunkledger.store.run_report import Run

Notify = Callable[[str], None]
"""Called with what somebody should know before the run goes on."""


def ingest(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    selection: Selection | None = None,
    jobs: int = 0,
    rehash: bool = False,
    max_delete: float = MAX_DELETE,
    wait: float = 0.0,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Run:
    """Make the ledger what the sources are now, in one commit: split what is new or changed, delete what is gone.

    Args:
        sources: folders, files, `s3://` URLs, globs, or `NAME=` before one of them to prefix document ids with a
            name; one of them, or several.
        out: folder of the ledger, made where there is none; or an `s3://` URL, which must be a string.
        settings: what to make; the defaults where None. Other ones than the last run's split all documents anew.
        selection: which files are wanted; all where None. Its format is that of the settings.
        jobs: most processes at once; they are isolated, so that no document can end the run. 0 works in this
            process, and is for scripts that have no `if __name__ == "__main__":`.
        rehash: read every document to tell whether it is the same, where size, time and inode are trusted otherwise.
        max_delete: share of the ledger's documents, from 0 to 1, that may be deleted; up to ten always may.
        wait: seconds to wait for another run that is at work on the ledger.
        progress: told how far the run is.
        notify: told what somebody should know before the run goes on.

    Raises:
        SourceError: a source does not exist, or two documents have the same id.
        LedgerError: the ledger can't be written, another run is at work or was published meanwhile, or more documents
            would be deleted than may. Nothing is published, and `_runs/` says why.
    """
    check_share(max_delete)
    try:
        work = _work(sources, out, settings, selection, jobs, rehash, progress, notify)
    except SourceError as error:
        _tell_unstarted(sources, out, settings or Settings(), selection or Selection(), error)
        raise
    last_run(opened(work.root))  # what is no ledger is left alone
    try:
        with locked(work.root, wait) as held:
            if held.before:
                work.notify(f"the last run ({held.before}) did not come to its end; what it left behind is removed")
            return work.done(held, max_delete)
    except OSError as error:
        raise unwritable(work.root, error) from error


def _tell_unstarted(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings,
    selection: Selection,
    error: SourceError,
) -> None:
    """Leave a report in a ledger whose run could not even begin, as where a folder is not mounted."""
    with suppress(Exception):
        root = normal(out)
        before = last_run(opened(root))
        if before:
            several = [sources] if isinstance(sources, str | os.PathLike) else sources
            named = [Source(os.fspath(source)) for source in several]
            told = Told(named, settings, selection, datetime.datetime.now(datetime.UTC))
            report = told.report(before + 1, {}, (), seconds={"wall": 0.0}, error=scrubbed(str(error)))
            write_file(root, run_name(before + 1, report), report)


def plan_ingest(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    selection: Selection | None = None,
    jobs: int = 0,
    rehash: bool = False,
    max_delete: float = MAX_DELETE,
) -> Plan:
    """What `ingest` with these arguments would do now. Nothing is written, and no lock is taken.

    Documents whose size is the same and whose time or inode is not are read, and so are tables that have changed.

    Raises:
        SourceError: a source does not exist, or two documents have the same id.
        LedgerError: the ledger can't be read.
    """
    work = _work(sources, out, settings, selection, jobs, rehash, None, None)
    check_share(max_delete)
    table = opened(work.root)
    before = Ledger(absolute(work.root), table) if table else None
    _check_same_kind(before, work.settings)
    work.settings = with_further_encodings_of(before, work.settings)
    try:
        with pool(jobs) as workers:
            longest = work.selection.max_document_bytes
            hashes = partial(hashes_of, settings=work.settings, longest=longest, workers=workers)
            return planned(work.look(before, workers), last_run(table) + 1, max_delete, hashes)
    except WorkerError as error:
        raise LedgerError(str(error)) from error


def _work(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    settings: Settings | None,
    selection: Selection | None,
    jobs: int,
    rehash: bool,
    progress: Progress | None,
    notify: Notify | None,
) -> _Work:
    root = normal(out)
    made = settings or Settings()
    wanted = replace(selection or Selection(), format=made.format)
    if wanted.documents:
        wanted = replace(wanted, documents=_documents(wanted.documents, made))
    # A string is a sequence of strings too, and would be read letter by letter.
    several = [sources] if isinstance(sources, str | os.PathLike) else sources
    chosen = [source_of(os.fspath(source)) for source in several]
    if not chosen:
        raise SourceError("no source given")
    for source in chosen:
        if is_same(source.path, root):
            raise SourceError(f"the ledger can't be the source itself ({source.path}); give another folder to write to")
    return _Work(root, chosen, made, wanted, jobs, rehash, progress or _no_progress, notify or _nobody)


def _documents(folder: str, settings: Settings) -> str:
    """Where the documents are that chunks were cut from, wherever the next command is called."""
    if not settings.chunks:
        raise SettingsError(
            f"documents is {folder!r}, which chunks are compared with that another splitter has cut; it goes with "
            "chunks (--chunks)"
        )
    source = source_of(folder)
    if source.name or source.pattern:
        raise SourceError(f"the documents that chunks were cut from must be one folder or URL, not {folder!r}")
    return source.path


def _check_same_kind(ledger: Ledger | None, settings: Settings) -> None:
    """Let a run pass that cuts, or takes over, as the runs before it did.

    Raises:
        SettingsError: every chunk would be another one, or be gone, and a loader would be told to drop what it has.
    """
    if ledger is None or ledger.settings().chunks == settings.chunks:
        return
    if settings.chunks:
        what = "documents that chunkledger has cut; leave --chunks out"
    else:
        what = "chunks that another splitter has cut; give --chunks"
    raise SettingsError(f"{ledger.root} holds {what}, or write to another folder")


def with_further_encodings_of(ledger: Ledger | None, settings: Settings) -> Settings:
    """The settings, and the further encodings that the ledger is counted in: once asked for, they stay.

    That of the limits does not: whoever names another one wants the ledger that a fresh run makes.
    """
    if ledger is None:
        return settings
    before = ledger.settings().further_encodings
    more = tuple(name for name in before if name not in settings.encodings)
    return replace(settings, further_encodings=(*settings.further_encodings, *more)) if more else settings


def _no_progress(step: Step) -> None:
    """Nobody is told."""


def _nobody(message: str) -> None:
    """Nobody is told."""


@dataclass(slots=True)
class _Work:
    """What was asked for."""

    root: str
    sources: Sequence[Source]
    settings: Settings
    selection: Selection
    jobs: int
    rehash: bool
    progress: Progress
    notify: Notify

    def done(self, held: Held, max_delete: float) -> Run:
        """Do all of it, with the lock held."""
        started, clock = datetime.datetime.now(datetime.UTC), time.monotonic()
        table = opened(self.root)
        before = last_run(table)
        ledger = Ledger(absolute(self.root), table) if table else None
        _check_same_kind(ledger, self.settings)
        # Not before: the run that was waited for may have been a recount.
        self.settings = with_further_encodings_of(ledger, self.settings)
        told = Told(self.sources, self.settings, self.selection, started)
        held.remove(leftovers(self.root, before))
        try:
            with pool(self.jobs) as workers:
                return self._published(held, ledger, told, max_delete, clock, workers)
        except BaseException as error:
            self._give_up(held, before, told, error, time.monotonic() - clock)
            if isinstance(error, WorkerError):
                raise LedgerError(str(error)) from error
            if isinstance(error, OSError):
                raise unwritable(self.root, error) from error
            raise

    def look(self, before: Ledger | None, workers: Pool) -> Looked:
        """Find out what there is to do."""
        return look(self.sources, self.root, before, self.settings, self.selection, workers, rehash=self.rehash)

    def _published(
        self, held: Held, before: Ledger | None, told: Told, max_delete: float, clock: float, workers: Pool
    ) -> Run:
        table = before.table if before else None
        number = last_run(table) + 1
        if before:
            before.check_parts()
        stations = _Stations()
        looked = self.look(before, workers)
        stations.end("look")
        if looked.anew and len(looked.ledger):
            self.notify(f"{looked.anew}: all {len(looked.listing.entries):,} documents are split anew")
        trusted = Trusted(held, self.settings.encodings, partial(self_test, workers=workers))
        maker = Maker(self.root, number, self.settings, self.selection, workers, trusted, self.progress, max_delete)
        made = maker.made(looked)
        stations.end("make")
        changes, files = changes_of(made, looked, before, number, self.settings)
        stations.end("changes")
        looked.notices.extend(untested([self.root, *(source.path for source in self.sources)]))
        run = _summary(number, looked, made, changes, trusted, time.monotonic() - clock)
        publish(held, table, run, made, told, files, {"wall": run.seconds, **stations.seconds(made)})
        return run

    def _give_up(self, held: Held, before: int, told: Told, error: BaseException, seconds: float) -> None:
        """Leave the ledger as it was, and a report that says why; on a full disk there may be no room for that.

        Who has lost the lock removes nothing, as another run may be at work by now. Nothing is to be given up where
        the run had been published when it was interrupted.
        """
        with suppress(Exception):
            if last_run(opened(self.root)) > before or (isinstance(error, SourceError) and not before):
                return
            if not held.is_lost():
                held.remove(leftovers(self.root, before))
            report = told.report(before + 1, {}, (), seconds={"wall": seconds}, error=_said(error))
            write_file(self.root, run_name(before + 1, report), report)


def _said(error: BaseException) -> str:
    return scrubbed(str(error)) or type(error).__name__


class _Stations:
    """CPU time of this process by station."""

    def __init__(self) -> None:
        self._last = time.process_time()
        self._seconds: dict[str, float] = {}

    def end(self, name: str) -> None:
        """What was done since the last one ended was this one."""
        now = time.process_time()
        self._seconds[name], self._last = now - self._last, now

    def seconds(self, made: Made) -> dict[str, float]:
        """All of them, with what workers and this process took to make the records."""
        found = self._seconds | dict(made.seconds)
        del found["make"]
        return {f"cpu_{name}": value for name, value in found.items()}


def _summary(number: int, looked: Looked, made: Made, changes: ChangeCounts, trusted: Trusted, seconds: float) -> Run:
    documents = made.documents
    states = Counter(documents.column("status").to_pylist())
    is_kept = pc.and_(
        pc.is_in(documents.column("status"), pa.array(["failed", "kept"])), pc.not_equal(documents.column("part"), "")
    )
    sums = {name: int(pc.sum(documents.column(name)).as_py() or 0) for name in ("chunks", "flagged", "tokens")}
    notices = [*trusted.notices, *looked.notices]
    if changes.delete and not sums["chunks"]:
        notices.append(
            f"the sources hold no document now, so all {changes.delete:,} chunks are gone from the ledger; "
            "is a folder not mounted?"
        )
    return Run(
        number=number,
        documents=states["ok"] + states["skipped"] + states["failed"],
        ok=states["ok"],
        skipped=states["skipped"],
        failed=states["failed"],
        kept=int(pc.sum(is_kept).as_py() or 0),
        unchanged=len(looked.matches.unchanged),
        renamed=len(made.renamed),
        chunks=sums["chunks"],
        changes=changes,
        flagged=sums["flagged"],
        tokens=sums["tokens"],
        seconds=seconds,
        findings=tuple(made.findings),
        notices=tuple(notices),
        engine=trusted.engine,
    )
