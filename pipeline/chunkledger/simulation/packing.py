"""How a simulated service packs: its slot, how many hits it offers, the packer's options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chunkledger.errors import SettingsError
from chunkledger.packer import BOUNDARY_KINDS, STRUCTURAL_KINDS, PackLog, pack
from chunkledger.packer.pack import DUPLICATES, ON_MISS, TRUNCATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """One way to pack every list.

    Attributes:
        slot_tokens: size of the slot.
        k: hits of a list that are offered; None is all that there are.
        max_chunks: most chunks that are packed; None is no limit.
        on_miss: as for `chunkledger.packer.pack`, like all that follow.
        truncate: what may be cut.
        sentences: whether chunks may be cut behind sentences too.
        merge: whether neighbours make one block.
        duplicates: what is not packed twice.

    Raises:
        SettingsError: a value that can't be.
    """

    slot_tokens: int
    k: int | None = None
    max_chunks: int | None = None
    on_miss: str = "skip"
    truncate: str = "floor"
    sentences: bool = False
    merge: bool = True
    duplicates: str = "text"

    def __post_init__(self) -> None:
        for name, value in (("slot_tokens", self.slot_tokens), ("k", self.k), ("max_chunks", self.max_chunks)):
            if not (value is None and name != "slot_tokens") and (type(value) is not int or value < 1):
                raise SettingsError(f"{name} must be a whole number of at least 1, not {value!r}")
        for name, choice, known in (
            ("on_miss", self.on_miss, ON_MISS),
            ("truncate", self.truncate, TRUNCATE),
            ("duplicates", self.duplicates, DUPLICATES),
        ):
            if choice not in known:
                raise SettingsError(f"{name} {choice!r} is not known; valid are: {', '.join(known)}")

    def log_of(self, hits: Sequence[dict[str, Any]], encoding: str, template: str) -> PackLog:
        """What the packer says when it packs these hits.

        Args:
            hits: in rank order, at most k of them.
            encoding: of their counts.
            template: that they were counted for.
        """
        return pack(
            hits,
            self.slot_tokens,
            encoding=encoding,
            template=template,
            max_chunks=self.max_chunks,
            on_miss=self.on_miss,
            truncate=self.truncate,
            boundary_kinds=BOUNDARY_KINDS if self.sentences else STRUCTURAL_KINDS,
            merge=self.merge,
            duplicates=self.duplicates,
            emit=False,
        ).log
