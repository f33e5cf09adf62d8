"""The start-up check of the fast tokenizer: adversarial strings against counts that tiktoken gave.

The strings and the counts are in `self_test.json`. `tests/counting/adversarial.py` makes it by asking tiktoken, and a
test makes it again and compares.
"""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np

from chunkledger.counting.counter import counter_for

_FILE = "self_test.json"


def disagreements(encoding: str) -> list[str]:
    """What the fast tokenizer counts otherwise than tiktoken did; empty where all is well.

    Each entry is for people: the string, its count, the right count.
    """
    stored = json.loads(files(__package__).joinpath(_FILE).read_text("utf-8"))
    texts, expected = stored["texts"], stored["counts"][encoding]
    counter = counter_for(encoding)
    counts = counter.count(texts).tolist()
    # Counts come from one function of the tokenizer, places where tokens end from another: both must be right.
    encoded = np.diff(counter.encode(texts)[1]).tolist()
    return [
        f"{text[:40]!r} is {wrong} tokens, not {right}"
        for text, count, length, right in zip(texts, counts, encoded, expected, strict=True)
        if (wrong := count if count != right else length) != right
    ]
