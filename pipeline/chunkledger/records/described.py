"""Chunks with all that a prompt or an embedder is shown of them, whatever counts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkledger.model import Batch, IntArray, Spans
from chunkledger.splitting.measure import Embedded
from chunkledger.splitting.split import Split


@dataclass(frozen=True, slots=True)
class Described:
    """Chunks of a batch, in document order.

    Attributes:
        embedded: the chunks and their embed prefixes.
        contexts: the repeated lines in each prefix.
        section: of each chunk the row of its heading path.
        paths: the heading paths.
    """

    embedded: Embedded
    contexts: Sequence[str]
    section: IntArray
    paths: Sequence[tuple[str, ...]]

    @property
    def batch(self) -> Batch:
        """The documents."""
        return self.embedded.batch

    @property
    def spans(self) -> Spans:
        """The chunks as spans."""
        return self.embedded.spans

    @property
    def prefix(self) -> IntArray:
        """Of each chunk the row of its prefix."""
        return self.embedded.prefix

    def path(self, index: int) -> tuple[str, ...]:
        """The heading path of a chunk."""
        return self.paths[int(self.section[index])]

    def text(self, index: int) -> str:
        """The text of a chunk."""
        return self.batch.data[int(self.spans.start[index]) : int(self.spans.end[index])].decode()


def described(batch: Batch, cut: Split) -> Described:
    """The chunks of a batch as they were cut."""
    spans = cut.spans
    return Described(
        Embedded(batch, spans, cut.measured.prefix, cut.prefixes.text),
        cut.prefixes.context,
        cut.headings.at(spans.start, spans.document) + 1,
        [(), *cut.headings.paths],
    )
