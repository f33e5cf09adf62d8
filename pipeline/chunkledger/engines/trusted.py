"""Parts whose counts can be trusted: made with the fast tokenizer, or with tiktoken once the two disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from chunkledger.counting.counter import Engine
from chunkledger.counting.self_test import disagreements
from chunkledger.engines.units import PartInfo, first_mismatch
from chunkledger.errors import LedgerError
from chunkledger.store.lock import Held


class Trusted:
    """What a run counts with.

    Attributes:
        engine: whose tokenizer counts from now on.
        notices: why it is not the fast one, for people.
    """

    def __init__(
        self, held: Held, encodings: Iterable[str], ask: Callable[[str], Sequence[str]] = disagreements
    ) -> None:
        """Nothing is asked until something is to be counted.

        Args:
            held: the lock of the ledger that the parts are written to.
            encodings: what is counted in.
            ask: tells what the self-test of an encoding finds wrong.
        """
        self.engine: Engine = "toktok"
        self.notices: list[str] = []
        self._held = held
        self._untested = list(encodings)
        self._ask = ask

    def _test(self) -> None:
        """Ask the self-test before anything is counted; once."""
        encodings, self._untested = self._untested, []
        for encoding in encodings:
            wrong = self._ask(encoding)
            if wrong and self.engine == "toktok":
                self._fall_back(f"the self-test found {len(wrong)} wrong counts, the first: {wrong[0]}")

    def parts(self, make: Callable[[Engine], list[PartInfo]]) -> list[PartInfo]:
        """The parts that `make` writes, made a second time with tiktoken where the first had a wrong count.

        Raises:
            LedgerError: there is still a wrong count; nothing is left of the parts.
        """
        self._test()
        parts = make(self.engine)
        mismatch = first_mismatch(parts)
        if mismatch and self.engine == "toktok":
            self._fall_back(f"the cross-check found {mismatch}")
            self._remove(parts)
            parts = make(self.engine)
            mismatch = first_mismatch(parts)
        if mismatch:
            self._remove(parts)
            raise LedgerError(
                f"a count is wrong though tiktoken counted, so chunkledger itself is at fault: {mismatch}"
            )
        return parts

    def _fall_back(self, why: str) -> None:
        self.engine = "tiktoken"
        self.notices.append(f"toktok disagrees with tiktoken, so this run counts with tiktoken alone: {why}")

    def _remove(self, parts: Sequence[PartInfo]) -> None:
        self._held.remove([part.name for part in parts if part.name])
