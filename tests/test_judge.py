"""The judge of Markdown chunks finds each fault where it is, and none where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from chunkledger import Settings, chunk_text
from chunkledger.counting.vocabulary import reference_encoding
from judge import FAULTS, SORTS, Structure
from judging import Measure, figures, judged
from markdown_texts import markdown_texts

MEASURE = Measure(reference_encoding("cl100k_base"), 64)
TEXT = "Rates are paid by the day. They depend on the place.\n"
FENCE = "```python\nfirst = 1\n\nsecond = 2\n```\n"
TABLE = "| place | rate |\n|---|---|\n| Bergen | 10 |\n| Kobe | 12 |\n"
ITEMS = "- One day.\n\n  It is paid.\n  - Half of it.\n  - All of it.\n- Two days.\n"


def _faults(text: str, chunk: str, context: str = "") -> set[str]:
    start = text.index(chunk)
    return Structure(text, MEASURE).faults(start, start + len(chunk), f"{context}\n{chunk}")


def test_whole_blocks_are_clean() -> None:
    """A chunk whose edges lie between blocks has no fault, whatever is in it."""
    assert _faults(f"# Rates\n\n{TEXT}\n{FENCE}\n{TABLE}\n{TEXT}", f"{FENCE}\n{TABLE}") == set()


def test_whole_document_is_clean() -> None:
    """The ends of a document are no cuts: nothing goes on behind them."""
    text = "A text without an end\n\n# Heading\n"
    assert _faults(text, text) == set()


def test_cut_code() -> None:
    """An edge inside a code block that fits is a fault at its start as at its end."""
    text = f"{TEXT}\n{FENCE}"
    assert _faults(text, f"{TEXT}\n```python\nfirst = 1\n") == {"fence"}
    assert _faults(text, "second = 2\n```\n") == {"fence"}


def test_cut_indented_code() -> None:
    """Indented code is code."""
    assert _faults(f"{TEXT}\n    first\n\n    second\n", "second\n") == {"fence"}


def test_code_over_the_limit_must_be_cut() -> None:
    """An edge inside a block that has more than max tokens is no fault."""
    lines = "".join(f"value_{number} = {number}\n" for number in range(40))
    assert _faults(f"```\n{lines}```\n", f"```\n{lines[:200]}") == set()


def test_cut_table() -> None:
    """An edge between two rows of a table that fits is a fault; a chunk that begins there is headless too."""
    assert _faults(f"{TABLE}\n{TEXT}", "| place | rate |\n|---|---|\n| Bergen | 10 |\n") == {"table"}
    assert _faults(f"{TABLE}\n{TEXT}", "| Kobe | 12 |\n") == {"table", "headless"}


def test_headless_rows() -> None:
    """Rows of a table over the limit may stand alone if the table's header is in the context."""
    table = TABLE + "".join(f"| Place {number} | {number} |\n" for number in range(40))
    rows = "| Place 7 | 7 |\n| Place 8 | 8 |\n"
    assert _faults(table, rows) == {"headless"}
    assert _faults(table, rows, context="| place | rate |\n|---|---|") == set()


def test_cut_item() -> None:
    """An edge between two blocks of a list item that fits is a fault, one between two items of a list is none."""
    assert _faults(ITEMS, "- One day.\n") == {"item"}
    assert _faults(ITEMS, "- Two days.\n") == set()
    assert _faults(ITEMS, "- Half of it.\n") == set()


def test_cut_sentence() -> None:
    """A chunk that ends in a paragraph must end where a sentence does."""
    assert _faults(TEXT, "Rates are paid by the day. They depend") == {"sent"}
    assert _faults(TEXT, "Rates are paid by the day.") == set()


@pytest.mark.parametrize("end", [".", "!", "?", ":", ";", "…", "。", "؟", "।", '."', ".)", ".**", "。」"])
def test_sentence_ends(end: str) -> None:
    """Sentences of many scripts end; quotes, brackets and marks of emphasis may follow, colons and semicolons count."""
    assert _faults(f"One{end} Two.\n", f"One{end}") == set()


def test_cut_heading() -> None:
    """A cut in a heading is one in a sentence."""
    assert _faults(f"# Rates by place\n\n{TEXT}", "# Rates by") == {"sent"}


def test_cut_word() -> None:
    """A chunk that ends between two letters cuts a word."""
    assert _faults(TEXT, "Rates are pa") == {"sent", "word"}
    assert _faults("The rate2 is paid.\n", "The rate") == {"sent"}


def test_scripts_without_blanks_have_no_words_to_cut() -> None:
    """Where words are not told apart by blanks, a cut between letters is one of a sentence only."""
    assert _faults("日当は一日ごとに支払われる。\n", "日当は一日") == {"sent"}


def test_orphan() -> None:
    """A chunk must not end with the heading of a section that goes on, be it with a section below it."""
    assert _faults(f"{TEXT}\n# Rates\n\n{TEXT}", f"{TEXT}\n# Rates\n") == {"orphan"}
    assert _faults(f"{TEXT}\nRates\n=====\n\n## Europe\n", f"{TEXT}\nRates\n=====\n") == {"orphan"}


@pytest.mark.parametrize("following", ["# Places\n", "Places\n======\n"])
def test_empty_section_has_no_orphan(following: str) -> None:
    """A heading that another of its level follows has nothing to be parted from."""
    assert _faults(f"{TEXT}\n# Rates\n\n{following}\n{TEXT}", f"{TEXT}\n# Rates\n") == set()


def test_front_matter_is_no_heading() -> None:
    """The lines of front matter are not taken for a rule and a heading."""
    text = f"---\ntitle: Rates\n---\n\n{TEXT}"
    assert _faults(text, "---\ntitle: Rates\n---\n") == set()


def test_blanks_at_the_edges_do_not_matter() -> None:
    """What is left of a chunk without the blanks at its ends is judged, with any ends of lines."""
    text = f"{TEXT}\n{FENCE}\n{TEXT}".replace("\n", "\r\n")
    assert _faults(text, f"\r\n\r\n{FENCE.strip()}\n\n".replace("\n", "\r\n").replace("\r\r", "\r")) == set()


def _row(text: str, start: int, end: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (columns of any type)
    return {"text": text[start:end], "char_start": start, "char_end": end, "token_count": None, **more}


def test_exact_figures() -> None:
    """Counts, offsets, sizes and what no chunk covers are recounted, not believed."""
    text = "word " * 99 + "end.\n\nAnother paragraph.\n"
    true = len(MEASURE.encoding.encode_ordinary(text[:100]))
    rows = [
        _row(text, 0, 100, token_count=true),
        _row(text, 100, 399, token_count=3, embed_prefix="Rates > By place\n"),  # 60 tokens, and those of the prefix
        {**_row(text, 501, 510), "text": "something else"},
    ]
    seen, _ = judged(text, rows, MEASURE, Structure(text, MEASURE))
    names = ("chunks", "least", "tiny", "over", "counts", "offsets", "lossless")
    assert {name: seen[name] for name in names} == {
        "chunks": 3, "least": 2, "tiny": 2, "over": 1, "counts": 1, "offsets": 2, "lossless": 0,
    }  # fmt: skip


def test_chunks_of_a_tiny_document_are_not_tiny() -> None:
    """A document under 50 tokens can't have a chunk of more."""
    seen, _ = judged(TEXT, [_row(TEXT, 0, len(TEXT))], MEASURE, Structure(TEXT, MEASURE))
    assert (seen["chunks"], seen["tiny"]) == (1, 0)


def test_shares() -> None:
    """Percentages are of the chunks, lossless is of the documents, excess is a ratio."""
    rows = [_row(TEXT, 0, 38), _row(TEXT, 39, len(TEXT))]
    seen, faulty = judged(TEXT, rows, MEASURE, Structure(TEXT, MEASURE))
    found = figures(seen, FAULTS, MEASURE.limit)
    assert [(fault, row["char_start"]) for fault, row in faulty] == [("sent", 0)]
    assert (found["clean"], found["sent"], found["lossless"], found["excess"]) == (50.0, 50.0, 100.0, 2.0)


def test_command(tmp_path: Path) -> None:
    """The command prints the figures of the Markdown documents as one JSON object, and says what has no chunk."""
    text = f"# Rates\n\n{TEXT}"
    (tmp_path / "a.md").write_text(text, "utf-8")
    (tmp_path / "b.md").write_text(TEXT, "utf-8")
    [chunk] = chunk_text(text, Settings(encoding="cl100k_base"), doc_id="a.md")
    row = {key: getattr(chunk, key) for key in ("doc_id", "text", "char_start", "char_end", "token_count", "context")}
    (tmp_path / "chunks.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    script = Path(__file__).parent.parent / "benchmarks" / "judge.py"
    run = [sys.executable, str(script), str(tmp_path), str(tmp_path / "chunks.jsonl")]
    found = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    names = ("documents", "missing", "chunks", "clean", "counts", "offsets", "lossless")
    assert [found[name] for name in names] == [1, 1, 1, 100.0, 100.0, 100.0, 100.0]


@hypothesis_settings(max_examples=60)
@given(markdown_texts)
def test_innermost_is_the_last_that_has_the_character(text: str) -> None:
    """Which block is the innermost at a character is what a look through all of them finds."""
    structure = Structure(text, MEASURE)
    for place in range(len(text)):
        for sort in set(SORTS.values()):
            held = [block for block in structure.blocks if block.sort == sort and block.start <= place < block.end]
            assert structure.innermost(sort, place) is (held[-1] if held else None)
