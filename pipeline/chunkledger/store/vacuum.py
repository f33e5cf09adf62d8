"""Removing what only old runs need."""

from __future__ import annotations

import time
from dataclasses import dataclass

from deltalake.exceptions import DeltaError

from chunkledger.errors import UnwritableError
from chunkledger.remote.failures import reason
from chunkledger.store.cursors import cursors
from chunkledger.store.files import names_in
from chunkledger.store.layout import CHANGES, DOCUMENTS, run_of
from chunkledger.store.ledger import Ledger
from chunkledger.store.lock import Held, leftovers
from chunkledger.store.log import Published, opened, published

_MS_PER_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What was removed, or would be.

    Attributes:
        parts: names of parts that no run needs that can still be read.
        others: names of tables of documents and of changes, and of what runs left that did not end.
        oldest: number of the oldest run that can be read from now on.
        feed_from: number of the oldest run since which the feed can tell what changed.
        held_back: names of cursors for whose sake older changes stay, and how far each is.
    """

    parts: tuple[str, ...]
    others: tuple[str, ...]
    oldest: int
    feed_from: int
    held_back: dict[str, int]


def vacuum(
    ledger: Ledger, keep_days: float, *, dry_run: bool = False, now_ms: int | None = None, held: Held | None = None
) -> Vacuumed:
    """Remove the files of runs that were replaced more than some days ago. The lock must be held.

    The run that was the last one so many days ago can still be read, and so can those after it. Reports of runs stay,
    as they are small; so do the changes that a cursor has not acknowledged.

    Args:
        ledger: as its last run left it.
        keep_days: days whose runs stay; 0 keeps the last run only.
        dry_run: remove nothing, only tell.
        now_ms: the time, in milliseconds since 1970; that of the clock where None.
        held: the lock; None where nobody else can be at work.

    Raises:
        LedgerError: the log can't be read, or, as UnwritableError, files can't be removed.
    """
    now = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    cutoff = now - int(keep_days * _MS_PER_DAY)
    every = list(published(ledger.table))
    kept = _kept(every, cutoff)
    try:
        needed = {name for each in kept for name in _parts(ledger.root, each)}
        # Other files in the folder are not ours to remove.
        parts = [name for name in names_in(ledger.root) if run_of(name) and name not in needed]
        behind = {name: run for name, run in cursors(ledger.root).items() if run < kept[-1].files.run - 1}
        feed_from = min([kept[-1].files.run - 1, *behind.values()])
        stay = {each.files.documents for each in kept}
        stay |= {name for each in every if each.files.run > feed_from for name in each.files.changes}
        others = [name for folder in (DOCUMENTS, CHANGES) for name in names_in(ledger.root, folder) if name not in stay]
        others += [name for name in leftovers(ledger.root, ledger.run) if name not in {*parts, *others}]
        if not dry_run:
            (held or Held(ledger.root, None)).remove([*parts, *others])
    except (DeltaError, OSError) as error:
        raise UnwritableError(f"{ledger.root} can't be vacuumed: {reason(error)}") from None
    return Vacuumed(tuple(parts), tuple(others), kept[-1].files.run, feed_from, behind)


def _kept(every: list[Published], cutoff: int) -> list[Published]:
    """The runs that stay, the last one first: those since the cutoff, and the one that was the last one then."""
    recent = [each for each in every if each.timestamp >= cutoff]
    older = [each for each in every if each.timestamp < cutoff]
    return [*recent, *older[:1]] or every[:1]


def _parts(root: str, run: Published) -> set[str]:
    """Names of the parts of a run; none where they are gone already."""
    table = opened(root, run.version)
    assert table is not None  # noqa: S101 (the log names it)
    return {uri.rpartition("/")[2] for uri in table.file_uris()}
