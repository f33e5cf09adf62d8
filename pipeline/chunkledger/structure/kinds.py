"""The kinds of blocks, as small numbers, so that a batch's blocks are flat arrays."""

from __future__ import annotations

HEADING = 1
PARAGRAPH = 2
LIST = 3
ITEM = 4
TABLE = 5
TABLE_HEAD = 6
TABLE_ROW = 7
CODE = 8
HTML = 9
QUOTE = 10
FOOTNOTE = 11
FRONT_MATTER = 12
RULE = 13
DEFINITION = 14
MATH = 15

NESTING = (ITEM, QUOTE, FOOTNOTE)
"""Blocks that hold other blocks and make a cut inside them weaker."""

CONTAINERS = (ITEM, TABLE, CODE, HTML, QUOTE, FOOTNOTE, FRONT_MATTER, MATH)
"""Blocks that are not cut where they fit whole."""
