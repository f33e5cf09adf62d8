"""Ranked lists and a ledger -> the hits of each request, with their counts, a bounded number of records at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from chunkledger.errors import LedgerError, SettingsError
from chunkledger.simulation.rankings import DEFAULT_K, Logged, Seeded
from chunkledger.simulation.rows import Row, rows_at, rows_of
from chunkledger.store.ledger import Ledger

MOST_CHUNKS = 20_000
"""Records that are held at once, some 100 MB; each such group takes one pass over the ledger."""

Key = TypeVar("Key", int, str)


class Requests:
    """The hits of each list. What the ledger does not have is left out of a list, and counted.

    Attributes:
        encoding: of their counts.
        template: that they were counted for.
        chunks: in the ledger.
        given_out: how many lists so far.
    """

    def __init__(self, ledger: Ledger, rankings: Seeded | Logged, encoding: str, *, parents: bool) -> None:
        settings = ledger.settings()
        if parents and not settings.parent_tokens:
            raise SettingsError(f"{ledger.root} has no parents; ingest with --parent-tokens makes them")
        self.encoding = encoding
        self.template = settings.template
        self.chunks = int(ledger.report()["counts"]["chunks"])
        self.given_out = 0
        self._ledger, self._rankings, self._parents = ledger, rankings, parents
        self._unknown: set[str] = set()
        self._unknown_hits = self._unknown_requests = 0

    def hits(self, k: int | None) -> Iterator[list[Row | None]]:
        """The records of each list, in rank order; None where the ledger does not have one.

        Args:
            k: most hits of a list; None is all.

        Raises:
            SettingsError: a log holds no list.
            LedgerError: the ledger holds no chunk, or can't be read.
        """
        found = self._of_seed(self._rankings, k) if isinstance(self._rankings, Seeded) else self._of_log(k)
        for rows in found:
            self.given_out += 1
            yield rows

    def none_known(self) -> LedgerError:
        """The error that says that the ledger has nothing of what a log names."""
        return LedgerError(
            f"{self._ledger.root} has none of the {len(self._unknown):,} chunks that the log names; is it the ledger "
            "that they are from? Where documents or settings have changed since, so have the ids"
        )

    def told(self) -> dict[str, object]:
        """Where the lists are from, and what was left out of them."""
        if isinstance(self._rankings, Seeded):
            return {"from": "seed", "seed": self._rankings.seed, "requests": self.given_out}
        return {
            "from": "log",
            "requests": self.given_out,
            "left_out": self._rankings.left_out.lines,
            "first_left_out": self._rankings.left_out.first,
            "unknown_ids": len(self._unknown),
            "unknown_hits": self._unknown_hits,
            "unknown_requests": self._unknown_requests,
        }

    def offered(self, hits: Sequence[Row | None], k: int | None) -> list[Row] | None:
        """What the packer is offered of one list; None where the ledger has nothing of it, so that it is no request.

        Args:
            hits: as they were given out.
            k: most of them; None is all.
        """
        found = [row for row in hits[:k] if row is not None]
        if hits and not found:
            return None
        # Two chunks may have one parent, which is found once.
        return list({row["chunk_id"]: row for row in found}.values()) if self._parents else found

    def _of_seed(self, rankings: Seeded, k: int | None) -> Iterator[list[Row | None]]:
        if not self.chunks:
            raise LedgerError(f"{self._ledger.root} holds no chunk, so there is nothing to pack")
        for group, keys in _groups(rankings.lists(self.chunks, k or DEFAULT_K), MOST_CHUNKS):
            yield from self._at_places(group, keys)

    # A function of its own, so that the records of one group are gone before those of the next are read.
    def _at_places(self, group: list[list[int]], keys: set[int]) -> Iterator[list[Row | None]]:
        rows = rows_at(self._ledger, keys, self.encoding, parents=self._parents)
        yield from ([rows.get(place) for place in each] for each in group)

    def _of_log(self, k: int | None) -> Iterator[list[Row | None]]:
        assert isinstance(self._rankings, Logged)  # noqa: S101 (there is no third kind)
        for group, keys in _groups(self._rankings.lists(k), MOST_CHUNKS):
            yield from self._of_ids(group, keys)

    def _of_ids(self, group: list[list[str]], keys: set[str]) -> Iterator[list[Row | None]]:
        rows = rows_of(self._ledger, keys, self.encoding, parents=self._parents)
        for each in group:
            unknown = [chunk_id for chunk_id in each if chunk_id not in rows]
            self._unknown.update(unknown)
            self._unknown_hits += len(unknown)
            self._unknown_requests += bool(each) and len(unknown) == len(each)
            yield [rows.get(chunk_id) for chunk_id in each]


def _groups(lists: Iterable[list[Key]], most: int) -> Iterator[tuple[list[list[Key]], set[Key]]]:
    """The lists in groups that name about so many different chunks, with these.

    Args:
        lists: in any number.
        most: chunks of a group; a list is never parted.
    """
    group: list[list[Key]] = []
    keys: set[Key] = set()
    for each in lists:
        group.append(each)
        keys.update(each)
        if len(keys) >= most:
            yield group, keys
            group, keys = [], set()
    if group:
        yield group, keys
