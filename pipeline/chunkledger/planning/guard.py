"""How many documents a run may delete before somebody should look."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chunkledger.errors import LedgerError, SettingsError

MAX_DELETE = 0.1
"""Share of the ledger's documents. More is rarely meant: a folder is not mounted, a glob is wrong, a copy broke off."""
ALWAYS_ALLOWED = 10
"""Documents that may be deleted whatever their share is, so that a small ledger need not be told each time."""
_NAMED = 5


class DeleteGuardError(LedgerError):
    """A run would delete more documents than it may."""


def check_share(most: float) -> None:
    """Let a share pass.

    Raises:
        SettingsError: it is none.
    """
    if not 0 <= most <= 1:
        raise SettingsError(f"max_delete must be a share from 0 to 1, not {most}")


def exceeds(gone: int, documents: int, most: float) -> bool:
    """Whether so many documents are more than may be deleted; where the share is 0, not one may.

    >>> exceeds(10, 20, 0.1), exceeds(11, 20, 0.1), exceeds(1, 20, 0.0)
    (False, True, True)
    """
    return gone > max(most * documents, ALWAYS_ALLOWED if most else 0)


def check_deletes(gone: Sequence[str], documents: int, most: float, empty: Collection[str] = ()) -> None:
    """Let a run go on that deletes no more than it may.

    Args:
        gone: ids of the documents that it would delete; those that were renamed are not lost, and not among them.
        documents: how many are in the ledger.
        most: share of them, from 0 to 1.
        empty: ids of documents that are there and hold nothing any more.

    Raises:
        DeleteGuardError: it would delete more; the message says what was seen.
    """
    if not exceeds(len(gone), documents, most):
        return
    emptied = len(set(gone) & set(empty))
    absent = len(gone) - emptied
    seen, hints = [], []
    if absent:
        seen.append("are not in the sources now" if not emptied else f"{absent:,} are not in the sources now")
        hints.append("is a folder not mounted, a source left out, a glob wrong?")
    if emptied:
        seen.append("are empty now" if not absent else f"{emptied:,} are empty now")
        hints.append("did a copy break off?" if not absent else "Did a copy break off?")
    some = ", ".join(sorted(gone)[:_NAMED])
    more = f" and {len(gone) - _NAMED:,} more" if len(gone) > _NAMED else ""
    raise DeleteGuardError(
        f"{len(gone):,} of the ledger's {documents:,} documents ({len(gone) / documents:.0%}) "
        f"{'would be deleted: ' if len(seen) > 1 else ''}{', '.join(seen)}, and at most {most:.0%} may go in one run: "
        f"{some}{more}; {' '.join(hints)} If it is meant, give --max-delete a larger share, as --max-delete 100%"
    )
