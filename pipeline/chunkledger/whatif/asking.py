"""Other settings -> what would become of a ledger, which is never touched."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from chunkledger.documents.sources import Selection
from chunkledger.errors import SettingsError, SourceError
from chunkledger.ingestion import Notify, ingest
from chunkledger.model import Finding
from chunkledger.runs.making import Progress, Step
from chunkledger.settings import Settings
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import DEFAULT_K, Seeded
from chunkledger.simulation.simulating import simulate
from chunkledger.store.files import unwritable
from chunkledger.store.ledger import Ledger, open_ledger
from chunkledger.whatif.base import documents_of, is_foreign, selection_of, settings_of, sources_of
from chunkledger.whatif.difference import difference
from chunkledger.whatif.figures import figures_of, figures_with, measured
from chunkledger.whatif.outcome import Case, Fill, WhatIf

SWEPT = (
    "max_tokens", "target_tokens", "min_tokens", "overlap_tokens", "parent_tokens", "split_headings", "slot_tokens",
    "slot_chunks",
)  # fmt: skip
"""Settings that are whole numbers."""

MOST_CASES = 100
"""Of a sweep; each takes what an ingest takes."""

_NONE_COMMON = (
    "no document has an id that the ledger has, so every chunk is another one; ids are paths below their source: give "
    "the sources as they were ingested"
)

Watch = Callable[[int, int, Mapping[str, int]], AbstractContextManager[Progress]]
"""Given the number of a splitting, how many there are, and what a sweep set for it: what is told how far it is."""


def what_if(
    against: Ledger | str | os.PathLike[str],
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    overrides: Mapping[str, Any] | None = None,
    *,
    sweep: Mapping[str, Sequence[int]] | None = None,
    selection: Mapping[str, Any] | None = None,
    k: int = DEFAULT_K,
    rankings: Seeded | None = None,
    jobs: int = 0,
    watch: Watch | None = None,
    notify: Notify | None = None,
) -> WhatIf:
    """Split documents with other settings than a ledger's, and compare; the ledger is read, and no lock is taken.

    The documents are split into a scratch ledger in a temporary folder, as large as the ledger, by the very run that
    would make the real one. It is removed at the end, however that comes.

    Args:
        against: the ledger, opened or where it is.
        sources: as for `ingest`; none are those of the ledger, as they are now, or the documents that its chunks were
            checked against, where they were cut elsewhere.
        overrides: settings by name; the others are the ledger's own.
        sweep: several values of some of `SWEPT`, by name; all combinations are tried.
        selection: fields of `Selection` by name; the others are the ledger's own.
        k: hits of each list that the simulation offers.
        rankings: the simulation's lists; None is `Seeded()`.
        jobs: as for `ingest`.
        watch: told of each splitting as it begins.
        notify: as for `ingest`.

    Raises:
        SettingsError: settings that can't be together, or the ledger can't say what to split.
        SourceError: a source does not exist, or two documents have the same id.
        LedgerError: the ledger can't be read, or the scratch ledger can't be written.
    """
    ledger = against if isinstance(against, Ledger) else open_ledger(against)
    cases = _cases(ledger, overrides or {}, sweep or {})
    several = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    asked = _Asked(
        ledger,
        several or _own_sources(ledger),
        selection_of(ledger, selection or {}),
        Packing(slot_tokens=1, k=k),
        rankings or Seeded(),
        jobs,
        watch or _unwatched,
        notify,
    )
    own_slot = ledger.settings().slot_tokens
    fills = asked.fills(ledger, [own_slot, *(settings.slot_tokens for _, settings in cases)])
    try:
        found = asked.tried(cases, fills)
    except SourceError as error:
        raise error if several else SourceError(f"{error}; the ledger was made of it, so give SOURCE") from error
    return WhatIf(
        ledger=ledger.root,
        run=ledger.run,
        settings=ledger.settings().as_dict(),
        sources=tuple(os.fspath(source) for source in asked.sources),
        lists={"requests": asked.rankings.requests, "seed": asked.rankings.seed, "k": k},
        before=figures_of(ledger),
        fill=fills.get(own_slot),
        cases=tuple(found),
        findings=tuple(asked.findings),
        notices=tuple(asked.notices),
    )


def _unwatched(number: int, count: int, values: Mapping[str, int]) -> AbstractContextManager[Progress]:
    return nullcontext(_no_progress)


def _no_progress(step: Step) -> None:
    """Nobody is told."""


@contextmanager
def _scratch_folder() -> Iterator[str]:
    """A folder that is gone afterwards, whatever ends it but a kill."""
    try:
        made = tempfile.TemporaryDirectory(prefix="chunkledger-whatif-")
    except OSError as error:
        raise unwritable("the temporary folder", error) from error
    with made as folder:
        yield folder


def _own_sources(ledger: Ledger) -> list[str]:
    """The sources of the ledger; of chunks that were cut elsewhere the documents that they were cut from.

    Raises:
        SettingsError: it is not known what they were cut from.
    """
    found = documents_of(ledger) if is_foreign(ledger) else sources_of(ledger)
    if not found:
        raise SettingsError(
            f"{ledger.root} holds chunks that were cut elsewhere; give the documents that they were cut from as SOURCE"
        )
    return found


def _cases(
    ledger: Ledger, overrides: Mapping[str, Any], sweep: Mapping[str, Sequence[int]]
) -> list[tuple[dict[str, int], Settings]]:
    """What is to be tried: what a sweep sets, and all settings. Checked before anything is split.

    Raises:
        SettingsError: a setting that can't be swept, or settings that can't be together.
    """
    for name in sweep:
        if name not in SWEPT:
            raise SettingsError(f"{name!r} can't be swept; settings of whole numbers are: {', '.join(SWEPT)}")
        if name in overrides:
            raise SettingsError(f"{name} is given as {overrides[name]} and swept too; leave one of them out")
    found = []
    for values in product(*sweep.values()):
        swept = dict(zip(sweep, values, strict=True))
        try:
            found.append((swept, settings_of(ledger, {**overrides, **swept})))
        except SettingsError as error:
            where = ", ".join(f"{name}={value}" for name, value in swept.items())
            raise SettingsError(f"sweep {where}: {error}" if where else str(error)) from error
    if not 0 < len(found) <= MOST_CASES:
        raise SettingsError(f"the sweep has {len(found):,} combinations; there must be 1 to {MOST_CASES}")
    return found


@dataclass(slots=True)
class _Asked:
    """What was asked for, and what was found on the way."""

    ledger: Ledger
    sources: Sequence[str | os.PathLike[str]]
    selection: Selection
    packing: Packing
    rankings: Seeded
    jobs: int
    watch: Watch
    notify: Notify | None
    findings: dict[Finding, None] = field(default_factory=dict)
    notices: dict[str, None] = field(default_factory=dict)

    def tried(self, cases: Sequence[tuple[dict[str, int], Settings]], before: Mapping[int, Fill]) -> list[Case]:
        """Every case, in order; those that differ in flags alone are split once.

        Args:
            cases: what a sweep set, and all settings.
            before: what the ledger fills, by slot.
        """
        groups: dict[Settings, list[int]] = {}
        for place, (_, settings) in enumerate(cases):
            # On these no cut and no count depends, only flags.
            groups.setdefault(replace(settings, slot_tokens=1, slot_chunks=1), []).append(place)
        found: dict[int, Case] = {}
        with _scratch_folder() as folder:
            for number, places in enumerate(groups.values(), 1):
                own = [cases[place] for place in places]
                scratch = os.path.join(folder, str(number))
                with self.watch(number, len(groups), own[0][0]) as progress:
                    made = self._made(own, scratch, progress, before)
                shutil.rmtree(scratch)
                found.update(zip(places, made, strict=True))
        return [found[place] for place in range(len(cases))]

    def _made(
        self,
        cases: Sequence[tuple[dict[str, int], Settings]],
        scratch: str,
        progress: Progress,
        before: Mapping[int, Fill],
    ) -> list[Case]:
        run = ingest(
            self.sources,
            scratch,
            cases[0][1],
            selection=self.selection,
            jobs=self.jobs,
            progress=progress,
            notify=self.notify,
        )
        self.findings.update(dict.fromkeys(run.findings))
        self.notices.update(dict.fromkeys(run.notices))
        ledger = open_ledger(scratch)
        other = difference(self.ledger, ledger, is_foreign=is_foreign(self.ledger))
        if other.documents.new and not (other.documents.same or other.documents.changed):
            self.notices[_NONE_COMMON] = None
        fills = self.fills(ledger, [settings.slot_tokens for _, settings in cases])
        sizes = measured(ledger)
        own = settings_of(self.ledger, {}) if not is_foreign(self.ledger) else None
        return [
            Case(
                values=values,
                is_own=settings == own,
                settings=settings.as_dict(),
                figures=figures_with(sizes, settings),
                fill=fills.get(settings.slot_tokens),
                fill_before=before.get(settings.slot_tokens),
                documents=other.documents,
                changes=other.changes,
            )
            for values, settings in cases
        ]

    def fills(self, ledger: Ledger, slots: Sequence[int]) -> dict[int, Fill]:
        """What the simulation gives at each slot; nothing where there is no chunk to pack."""
        different = list(dict.fromkeys(slots))
        if not ledger.report()["counts"]["chunks"]:
            return {}
        packings = [replace(self.packing, slot_tokens=slot) for slot in different]
        simulated = simulate(ledger, packings, self.rankings, top=1)
        return {
            slot: Fill(
                slot,
                one.fill,
                one.packed,
                round(one.counts["skipped_with_room"].requests / one.requests, 6),
                one.verdict.at_fault,
            )
            for slot, one in zip(different, simulated.simulations, strict=True)
        }
