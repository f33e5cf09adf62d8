"""How strong a cut is, and what it costs: small numbers, 0 the strongest.

The order is that of the architecture's list of cut points. The prices are in units of one chunk that misses its
target size by all of it (see `prices`).
"""

from __future__ import annotations

import numpy as np

from chunkledger.model import CodeArray, IntArray

DOCUMENT = 0
HEADING_6 = 6
"""A heading's level, 1 to 6, is the strength of a cut before it."""
RULE = 7
BLOCK = 8
PARAGRAPH = 9
ITEM = 10
INNER = 11
"""Between two blocks inside one list item, quote or footnote."""
ROW = 12
CODE_GROUP = 13
TEXT_LINE = 14
"""Between two lines of a paragraph whose lines are paragraphs themselves; a sentence ends there, too."""
SENTENCE = 15
LINE = 16
CLAUSE = 17
WORD = 18
GRAPHEME = 19

PRICES = np.array(
    [0.0, 0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.1, 0.16, 0.24, 0.5, 0.6, 0.5, 0.5, 0.02, 0.4, 0.6, 0.8, 1.2, 3.0]
)
"""Price of a cut of each strength. Those of sentences and below count only where something had to be opened."""

DEPTH_PRICE = 0.05
"""What each level of nesting adds to the price."""

LOCAL_PRICES = np.where(np.arange(len(PRICES)) >= ITEM, 1.0, 0.0)
LOCAL_PRICES[[TEXT_LINE, SENTENCE]] = 0.1, 0.7  # so little that lines stay better places than sentences
"""How much the prices of two cuts of each strength may differ by the text that stands there.

Where many cuts are alike (rows, sentences, lines), an edit would move every cut behind it; so they do not cost alike.
"""

INTRO_PRICE = 0.3
"""What parting a line that ends in `:` from what it introduces adds."""

_KIND_OF_STRENGTH = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 1, 3, 4, 5, 5, 5, 5, 5, 5], np.int64)


def boundary_kinds(strength: CodeArray) -> IntArray:
    """Index into the packer's `BOUNDARY_KINDS` of each strength; what is weaker than a sentence is no boundary."""
    result: IntArray = _KIND_OF_STRENGTH[strength]
    return result
