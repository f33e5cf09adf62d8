"""The laws held against hostile texts at random, for as long as is wanted.

`python benchmarks/fuzz.py [--seconds N] [--seed N]`. What fails is made small by hypothesis, printed, and ends the run
with exit code 1. The tests do the same for a few seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path[0] = str(Path(__file__).parent.parent / "tests")
from laws import checked_bytes, checked_rows, hostile_bytes, hostile_texts  # noqa: E402 (a module of the tests)
from markdown_texts import all_settings  # noqa: E402

EXAMPLES = 200
"""Texts between two looks at the clock."""


def main() -> int:
    """Try texts until the time is over or a law is broken."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    end, round_number = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        for law in (_texts, _bytes):
            try:
                _tried(law, options.seed * 1_000_000 + round_number)
            except BaseException:
                traceback.print_exc()
                print(f"failed at round {round_number} of seed {options.seed}")
                return 1
        round_number += 1
    print(f"{round_number * 2 * EXAMPLES:,} texts, no law broken")
    return 0


def _tried(law: Callable[..., None], number: int) -> None:
    chosen = settings(
        deadline=None,
        max_examples=EXAMPLES,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    drawn = given(st.data(), all_settings(), st.booleans(), st.sampled_from(["toktok", "tiktoken"]))
    seed(number)(chosen(drawn(law)))()


def _texts(data, wanted, plain, engine) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    checked_rows(data.draw(hostile_texts), wanted, plain=plain, engine=engine)


def _bytes(data, wanted, plain, engine) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    checked_bytes(data.draw(hostile_bytes), wanted, plain=plain)


if __name__ == "__main__":
    sys.exit(main())
