"""Cut points -> those that are inside nothing that must not be cut: code, links, math, tags, entities."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chunkledger.model import Batch, IntArray
from chunkledger.splitting.leaves import Leaves
from chunkledger.splitting.points import Points
from chunkledger.structure.markdown import html_atoms, inline_atoms, link_definitions
from chunkledger.structure.rst_inline import rst_inline_atoms

_ATOMS = {"markdown": inline_atoms, "rst": rst_inline_atoms}
"""Format -> a function from a text to the spans inside paragraphs that must not be cut."""

_Spans = tuple[IntArray, IntArray]
"""Where atoms start, ascending, and how far any reaches that starts before the next one does."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """The atoms of a batch; only what is cut within its blocks is read for them, and once.

    Attributes:
        batch, leaves: the documents, and their blocks that hold text.
        of_document: of the documents that were read whole.
        of_leaf: of paragraphs and blocks of HTML that were read alone.
        definitions: of links, of the documents that needed them.
    """

    batch: Batch
    leaves: Leaves
    of_document: dict[int, _Spans] = field(default_factory=dict)
    of_leaf: dict[int, _Spans] = field(default_factory=dict)
    definitions: dict[int, str] = field(default_factory=dict)

    def outside(self, points: Points, document: int) -> Points:
        """Those points that are not inside code, a link, math, an HTML tag or an entity."""
        if not len(points.place) or self.batch.documents[document].format not in _ATOMS:
            return points
        if document not in self.of_document:
            owner = self.batch.documents[document]
            self.of_document[document] = _atoms_in(owner.format, owner.text, int(self.batch.starts[document]))
        return _outside(self.of_document[document], points)

    def outside_of_leaf(self, leaf: int, points: Points, document: int) -> Points:
        """The same for points inside one paragraph, which is read alone where that gives the same: much faster.

        Inside lists and quotes its lines have marks that belong to those. Links that are some only because of a
        definition elsewhere are read with the definitions.
        """
        if not len(points.place):
            return points
        if self.batch.documents[document].format != "markdown" or self.leaves.depth[leaf]:
            return self.outside(points, document)
        if leaf not in self.of_leaf:  # a long one is asked for once for each of its chunks
            self.of_leaf[leaf] = self._atoms_of(leaf, document)
        return _outside(self.of_leaf[leaf], points)

    def outside_tags(self, leaf: int, points: Points) -> Points:
        """Those points in a block of HTML that are in no tag."""
        if not len(points.place):
            return points
        if leaf not in self.of_leaf:
            spans = html_atoms(self.batch.data, int(self.leaves.start[leaf]), int(self.leaves.end[leaf]))
            self.of_leaf[leaf] = _reach(*spans, 0)
        return _outside(self.of_leaf[leaf], points)

    def _atoms_of(self, leaf: int, document: int) -> _Spans:
        owner, start = self.batch.documents[document], int(self.leaves.start[leaf])
        text = self.batch.data[start : int(self.leaves.end[leaf])].decode()
        if "[" in text:
            if document not in self.definitions:
                self.definitions[document] = link_definitions(owner.text)
            text += self.definitions[document]
        # Behind a line end, because at the top of a text some lines would be front matter.
        return _atoms_in(owner.format, f"\n{text}", start - 1)


def _atoms_in(format_name: str, text: str, base: int) -> _Spans:
    return _reach(*_ATOMS[format_name](text), base)


def _reach(starts: list[int], ends: list[int], base: int) -> _Spans:
    """Where atoms start, and how far any reaches that starts before the next one does."""
    reach = np.maximum.accumulate(np.array(ends, np.int64)) if ends else np.zeros(0, np.int64)
    return np.array(starts, np.int64) + base, reach + base


def _outside(atoms: _Spans, points: Points) -> Points:
    starts, reach = atoms
    if not len(starts):
        return points
    index = np.searchsorted(starts, points.place, side="left") - 1
    return points.where((index < 0) | (reach[index] <= points.place))
