"""Ranked lists and a ledger -> what packing them comes to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from chunkledger.errors import SettingsError
from chunkledger.request_log.described import Described, described_by
from chunkledger.request_log.findings import Thresholds
from chunkledger.simulation.outcome import Simulated
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import DEFAULT_K, Logged, Seeded
from chunkledger.simulation.requests import Requests
from chunkledger.simulation.tally import Tally
from chunkledger.store.ledger import Ledger, open_ledger


def simulate(
    ledger: Ledger | str | os.PathLike[str],
    packings: Sequence[Packing] = (),
    rankings: Seeded | Logged | None = None,
    *,
    encoding: str | None = None,
    parents: bool = False,
    thresholds: Thresholds | None = None,
    top: int = 10,
) -> Simulated:
    """Pack ranked lists as a service would, with the real packer, by the counts in the ledger; nothing is counted anew.

    Args:
        ledger: opened, or where it is.
        packings: ways to pack every list; none is the ledger's own slot and the packer's defaults.
        rankings: the lists; None is `Seeded()`. Of those of a seed `DEFAULT_K` hits are offered where a packing does
            not say how many.
        encoding: whose counts; None is that of the ledger's limits.
        parents: pack the parents of the hits, each once.
        thresholds: from where on something is a finding; None is the defaults, those of `chunkledger diagnose`.
        top: how many chunks to name.

    Raises:
        SettingsError: the ledger has no such counts or no parents, a packing can't be, or a log holds no list.
        LedgerError: the ledger can't be read, holds no chunk, or none of a log's ids.
    """
    opened = ledger if isinstance(ledger, Ledger) else open_ledger(ledger)
    chosen = rankings or Seeded()
    asked = tuple(packings) or (Packing(slot_tokens=opened.settings().slot_tokens),)
    if isinstance(chosen, Seeded):
        asked = tuple(packing if packing.k else replace(packing, k=DEFAULT_K) for packing in asked)
    requests = Requests(opened, chosen, _checked_encoding(opened, encoding), parents=parents)
    tallies = [Tally(packing, thresholds or Thresholds()) for packing in asked]
    for hits in requests.hits(_most([packing.k for packing in asked])):
        for tally in tallies:
            if (offered := requests.offered(hits, tally.packing.k)) is not None:
                tally.add(tally.packing.log_of(offered, requests.encoding, requests.template))
    if not all(tally.used for tally in tallies):
        raise requests.none_known()
    described = _described(opened, tallies)
    return Simulated(
        ledger=opened.root,
        run=opened.run,
        encoding=requests.encoding,
        chunks=requests.chunks,
        parents=parents,
        rankings=requests.told(),
        simulations=tuple(tally.simulation(top, described) for tally in tallies),
    )


def _most(ks: Sequence[int | None]) -> int | None:
    """The most hits that a packing takes; None is all."""
    limits = [k for k in ks if k is not None]
    return max(limits) if len(limits) == len(ks) else None


def _checked_encoding(ledger: Ledger, encoding: str | None) -> str:
    encodings = ledger.settings().encodings
    if encoding not in (None, *encodings):
        raise SettingsError(
            f"encoding {encoding!r}: {ledger.root} is counted in {', '.join(encodings)}; `chunkledger recount` adds an "
            "encoding"
        )
    return encoding or encodings[0]


def _described(ledger: Ledger, tallies: Sequence[Tally]) -> Described:
    """What the ledger knows of every chunk that did not fit, asked once."""
    ids = sorted({chunk_id for tally in tallies for chunk_id in tally.missed_ids()})
    known = described_by(ledger)(ids) if ids else {}
    return lambda wanted: {chunk_id: known[chunk_id] for chunk_id in wanted}
