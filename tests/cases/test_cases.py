"""Faults that users of other chunkers reported, each with what is right.

`cases.jsonl` holds those that are about cutting one text; a case says what must hold in its `asserts`, and one that
this module does not know fails.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from chunkledger import Chunk, Settings, SettingsError, chunk_text
from chunkledger.documents.decoding import UndecodableError, decoded
from chunkledger.packer import pack
from chunkledger.records.schema import SCHEMA
from recounting import tokens

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines()]
ENCODING = "cl100k_base"
NOT_OURS = {
    "fact", "then", "metadata", "metadata_in_text", "separators", "repeat_table_header", "time_s", "encoding",
    "packer_encoding", "input_repeat", "input_head", "input_tail", "input_bytes_b64", "env",
}  # fmt: skip
"""Parameters that are no settings of ours: facts about the text, the text itself, options of other chunkers."""


@dataclass(frozen=True)
class Result:
    """One case that was run: its text, its limit, its chunks."""

    text: str
    max_tokens: int
    chunks: list[Chunk]

    def holding(self, part: str) -> Chunk:
        """The first chunk whose text holds this."""
        return next(chunk for chunk in self.chunks if part in chunk.text)

    def titles(self) -> list[str]:
        """Every title of every path, once, in order."""
        return list(dict.fromkeys(title for chunk in self.chunks for title in chunk.heading_path))

    def cuts(self) -> list[int]:
        """Where a chunk starts or ends."""
        return [place for chunk in self.chunks for place in (chunk.char_start, chunk.char_end)]


def text_of(case: dict[str, Any]) -> str:
    """The text that a case is about."""
    params = case["params"]
    if "input_bytes_b64" in params:
        return decoded(base64.b64decode(params["input_bytes_b64"]))[0]
    if "input_repeat" in params:
        return str(params.get("input_head", "") + case["input"] * params["input_repeat"] + params["input_tail"])
    return str(case["input"])


def settings_of(params: dict[str, Any]) -> Settings:
    """The settings that a case asks for; an unknown parameter fails."""
    left = {name: value for name, value in params.items() if name not in NOT_OURS | {"format"}}
    split = 6 if left.pop("split_at_headings", False) else max(left.pop("split_levels", [0]))
    shown = left.pop("prepend_heading_path", False)
    return Settings(encoding=ENCODING, split_headings=split, heading_context=shown, **left)


def uncovered(result: Result) -> str:
    """The characters that are in no chunk."""
    covered = {place for chunk in result.chunks for place in range(chunk.char_start, chunk.char_end)}
    return "".join(char for place, char in enumerate(result.text) if place not in covered)


def rebuilt(result: Result) -> str:
    """The text, from the chunks and their offsets."""
    text = ""
    for chunk in result.chunks:
        text += " " * (chunk.char_start - len(text)) + chunk.text[max(0, len(text) - chunk.char_start) :]
    return text


def only_after(result: Result, ends: list[str], start: int, end: int) -> bool:
    """Whether every cut inside the span lies right behind one of these, blanks left out unless they are one."""
    for before, chunk in pairwise(result.chunks):
        if start < chunk.char_start < end:
            gap = result.text[before.char_end : chunk.char_start]
            if not any(before.text.endswith(mark) or mark in gap for mark in ends):
                return False
    return True


def no_cut_inside(result: Result, start: int, end: int) -> bool:
    """Whether no chunk starts or ends strictly inside the span."""
    return not any(start < place < end for place in result.cuts())


def survives_parquet(result: Result) -> bool:
    """Whether the records come back from a Parquet file as they were."""
    table = pa.Table.from_pylist([asdict(chunk) for chunk in result.chunks], schema=SCHEMA)
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return bool(pyarrow.parquet.read_table(file).to_pylist() == table.to_pylist())


def packer_refuses(result: Result) -> bool:
    """Whether a packer that is asked for another encoding refuses these counts."""
    with pytest.raises(ValueError, match="counts of encoding 'cl100k_base', but 'o200k_base' was asked for"):
        pack([asdict(chunk) for chunk in result.chunks], 1000, encoding="o200k_base")
    return True


NAMED: dict[str, Callable[[Result], bool]] = {
    "slice": lambda r: all(r.text[c.char_start : c.char_end] == c.text for c in r.chunks),
    "cover": lambda r: not uncovered(r).strip(),
    "max": lambda r: all(c.token_count <= r.max_tokens for c in r.chunks),
    "max_or_flag": lambda r: all(c.token_count <= r.max_tokens or "over_max" in c.flags for c in r.chunks),
    "count_exact": lambda r: all(c.token_count == tokens(c.text, ENCODING) for c in r.chunks),
    "no_empty": lambda r: all(c.text.strip() for c in r.chunks),
    "strictly_increasing_starts": lambda r: all(a.char_start < b.char_start for a, b in pairwise(r.chunks)),
    "no_gap_but_whitespace": lambda r: not uncovered(r).strip(),
    "no_replacement_char": lambda r: all("\ufffd" not in c.text for c in r.chunks),
    "offsets_not_null": lambda r: all(type(place) is int for place in r.cuts()),
    "rebuild_by_offsets": lambda r: rebuilt(r).split() == r.text.split(),
    "overlaps": lambda r: len(r.chunks) > 1 and all(a.char_end > b.char_start for a, b in pairwise(r.chunks)),
    "written_to_parquet": survives_parquet,
    "no_leading_combining": lambda r: (
        not any(
            c.text[0] == "\u0e31" or "\u0e34" <= c.text[0] <= "\u0e3a" or "\u0e47" <= c.text[0] <= "\u0e4e"
            for c in r.chunks
        )
    ),
}
KEYED: dict[str, Callable[[Result, Any], bool]] = {
    "contains": lambda r, part: any(part in c.text for c in r.chunks),
    "absent": lambda r, part: not any(part in c.text or part in " ".join(c.heading_path) for c in r.chunks),
    "absent_surrogates": lambda r, _: not any("\ud800" <= char <= "\udfff" for c in r.chunks for char in c.text),
    "count": lambda r, count: [c.token_count for c in r.chunks] == [count],
    "n_chunks": lambda r, count: len(r.chunks) == count,
    "last_end_le": lambda r, place: r.chunks[-1].char_end <= place,
    "last_end_eq": lambda r, place: r.chunks[-1].char_end == place,
    "atom": lambda r, span: no_cut_inside(r, *span),
    "atoms": lambda r, spans: all(no_cut_inside(r, *span) for span in spans),
    "cuts_only_after_any": lambda r, ends: only_after(r, ends, 0, len(r.text)),
    "path": lambda r, v: r.holding(v["of"]).heading_path == v["is"],
    "path_len": lambda r, v: len(r.holding(v["of"]).heading_path) == v["is"],
    "path_item": lambda r, v: r.holding(v["of"]).heading_path[v["i"]] == v["is"],
    "path_prefix": lambda r, v: r.holding(v["of"]).heading_path[: len(v["is"])] == v["is"],
    "headings": lambda r, titles: r.titles() == titles,
    "heading_in": lambda r, titles: set(titles) <= set(r.titles()),
    "no_heading": lambda r, titles: not set(r.titles()) & set(titles),
    "raises_or_recount": lambda r, _: packer_refuses(r),
}


def holds(result: Result, wanted: str | dict[str, Any]) -> bool:
    """Whether one assert of a case holds.

    Raises:
        KeyError: this module does not know it.
    """
    if isinstance(wanted, str):
        return NAMED[wanted](result)
    if "cuts_only_after" in wanted:
        return only_after(result, [wanted["cuts_only_after"]], *wanted["within"])
    [(name, value)] = wanted.items()
    return KEYED[name](result, value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    """What a case from the field asserts holds for our chunks."""
    if case["asserts"] == [{"raises": "config"}]:
        with pytest.raises(SettingsError):
            settings_of(case["params"])
        return
    settings = settings_of(case["params"])
    form = case["params"].get("format", "plain")
    if case["asserts"] == [{"contains_or_error": "\u3400"}]:
        with pytest.raises(UndecodableError, match="is not UTF-8"):
            text_of(case)
        return
    text = text_of(case)
    chunks = chunk_text(text, settings, format=form)
    result = Result(text.removeprefix("\ufeff"), settings.max_tokens, chunks)
    assert {str(wanted): holds(result, wanted) for wanted in case["asserts"]} == {
        str(wanted): True for wanted in case["asserts"]
    }


def test_an_unknown_assert_is_not_passed_over() -> None:
    """An assert that this module does not know is an error, not a pass."""
    result = Result("a", 10, chunk_text("a"))
    for unknown in ("made_up", {"made_up": 1}):
        with pytest.raises(KeyError):
            holds(result, unknown)
    with pytest.raises(TypeError):
        settings_of({"made_up": 1})


def test_no_kind_is_left_out() -> None:
    """The kinds of cases that are about cutting one text are all here."""
    kinds = {"offsets", "text-lost", "text-altered", "count", "special-token", "empty-chunk", "params"}
    assert kinds - {case["kind"] for case in CASES} == set()
