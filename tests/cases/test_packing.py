"""Faults that users of other packers reported, each with what is right.

`packing.jsonl` gives a budget, ranked chunks with their counts and what must come out. Where a case says `policy`, it
leaves a choice open; ours, in `OURS`, is that rank 1 always goes in, and that a chunk without a count is refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chunkledger.packer import Packed, Slot, SlotError, order, pack, render
from packer.builders import counted_rows, cuttable
from recounting import tokens

CASES = [json.loads(line) for line in Path(__file__).with_name("packing.jsonl").read_text("utf-8").splitlines()]
OURS: dict[str, dict[str, Any]] = {
    "pack-13-no-boundary-fits": {"slot": 100, "ids": ["c1"], "used": 500, "not_reached": ["c2"], "floor": True},
    "pack-20-zero-token-chunk": {"slot": 10, "raises": r"rank 1 \(chunk_id 'c1'\): rendered_tokens is 0"},
}
"""What comes out where a case leaves the choice to us."""

Row = dict[str, Any]


def slot_of(budget: dict[str, int]) -> Slot:
    """The subtraction that a case describes."""
    terms = {name: value for name, value in budget.items() if name not in ("window", "prompt")}
    return Slot(window=budget["window"], system=budget["prompt"], **terms)


def hits_of(case: dict[str, Any]) -> list[Row]:
    """The ranked chunks; what a case charges between chunks is part of the block that follows."""
    hits = []
    for place, chunk in enumerate(case["chunks"]):
        join = case["join_tokens"] if place else 0
        cuts = [
            (cut["char"], "paragraph", cut["tokens"] + case["marker_tokens"] + join)
            for cut in chunk.get("boundaries", ())
        ]
        hits.append(cuttable(chunk["tokens"] + join, *cuts, chunk_id=chunk["id"]))
    return hits


def _check(packed: Packed, case: dict[str, Any], expected: dict[str, Any]) -> None:
    ids = [hit["id"] for hit in case["chunks"]]
    shown = {chunk.chunk_id: chunk.shown_chars for block in packed.blocks for chunk in block.chunks}
    assert (packed.slot_tokens, packed.used_tokens) == (expected["slot"], expected["used"])
    assert order(packed, case.get("order", "rank")).chunk_ids == expected.get("ids_in_order", expected.get("ids"))
    left_out = [chunk_id for chunk_id in dict.fromkeys(ids) if chunk_id not in shown]
    assert left_out == [*expected.get("dropped", ()), *expected.get("not_reached", ())]
    log = packed.log
    assert log.not_reached == len(expected.get("not_reached", ()))
    assert log.duplicates == len(ids) - len(set(ids))
    cut = {chunk_id: chars for chunk_id, chars in shown.items() if chars is not None}
    assert cut == {chunk_id: where["char"] for chunk_id, where in expected.get("truncated", {}).items()}
    assert log.floor_over_slot == bool(expected.get("truncated") or expected.get("floor"))
    for name, value in expected.get("log", {}).items():
        assert (log.skipped_for_size if name == "dropped" else log.as_dict()[name]) == value


@pytest.mark.parametrize("given", [case for case in CASES if "pack" in case["asserts"][0]], ids=lambda case: case["id"])
def test_case(given: dict[str, Any]) -> None:
    """What is packed, used, left out and logged is what the case says."""
    case, expected = json.loads(given["input"]), OURS.get(given["id"], given["asserts"][0]["pack"])
    assert bool(given["asserts"][0]["pack"].get("policy")) == (given["id"] in OURS)
    if expected.get("or_raises"):
        with pytest.raises(SlotError, match=f"the slot would be {expected['slot']} tokens"):
            slot_of(case["budget"])
        return
    slot = slot_of(case["budget"]).tokens
    if "raises" in expected:
        with pytest.raises(ValueError, match=expected["raises"]):
            pack(hits_of(case), slot, encoding="o200k_base")
        case["chunks"].pop(0)
        expected = given["asserts"][0]["pack"]
    _check(pack(hits_of(case), slot, encoding="o200k_base"), case, expected)


def test_no_tokenizer_is_needed() -> None:
    """A case asks for a pack with the text absent and the tokenizer not importable."""
    given = next(case for case in CASES if case["asserts"][0].get("pack", {}).get("no_tokenizer"))
    case, expected = json.loads(given["input"]), given["asserts"][0]["pack"]
    hits = hits_of(case)
    script = (
        "import json, sys\nfor name in ('tiktoken', 'toktok', 'numpy'): sys.modules[name] = None\n"
        "from chunkledger.packer import pack\n"
        "packed = pack(json.load(sys.stdin), 300, encoding='o200k_base')\n"
        "print(json.dumps([packed.chunk_ids, packed.used_tokens]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(hits), capture_output=True, text=True, check=True
    )
    assert ("text" in hits[0], json.loads(done.stdout)) == (False, [expected["ids"], expected["used"]])


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("template", ["xml/1", "markdown/1"])
def test_texts_that_take_more_tokens_joined(encoding: str, template: str) -> None:
    """Two texts that would take more tokens side by side than apart do not, because a block ends between them."""
    given = next(case for case in CASES if case["asserts"] == [{"rendered_le_slot": True}])
    texts = json.loads(given["input"])["texts"]
    parts, joined = given["params"]["fact"]["parts"], given["params"]["fact"]["joined"]
    assert [tokens(text, "cl100k_base") for text in texts] == parts
    assert tokens("".join(texts), "cl100k_base") == joined > sum(parts)
    hits = counted_rows(texts, encoding, template)
    slot = sum(hit["rendered_tokens"] for hit in hits)
    packed = pack(hits, slot, encoding=encoding)
    assert tokens(render(packed), encoding) == packed.used_tokens == slot
