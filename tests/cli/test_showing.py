"""`chunkledger show` puts a document's text with its borders on a terminal, and nothing that could harm one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.outliers.views import document_view
from ledgers import SAMPLE_CORPUS, cli, command, damaged, rows_of, write

MARGIN = re.compile(r"^ *(\d*) +(┌─|│|░|├┄) ?(.*)$")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, its chunks with overlap, some of them flagged."""
    made = tmp_path_factory.mktemp("ledger")
    ingest([SAMPLE_CORPUS], made, Settings(max_tokens=200, overlap_tokens=40, slot_tokens=1600))
    return made


def _lines(out: str) -> list[tuple[str, str, str]]:
    """Of each line of output that has a margin: line number, sign, and what follows."""
    found = [MARGIN.match(line) for line in out.splitlines()]
    return [(line[1], line[2], line[3]) for line in found if line is not None]


def test_every_line_of_the_document_has_its_number(ledger: Path) -> None:
    """With the chunks' repeated lines left out, the text is the document's, line by line."""
    source = (SAMPLE_CORPUS / "faq.md").read_text("utf-8").split("\n")
    done = cli("show", ledger, "faq.md")
    assert (done.code, done.err) == (0, "")
    numbered = [(int(number), text.rstrip()) for number, _, text in _lines(done.out) if number]
    assert len(numbered) > 100
    assert [text for _, text in numbered] == [source[number - 1].rstrip() for number, _ in numbered]
    assert {number for number, _ in numbered} >= {number for number, line in enumerate(source, 1) if line}


def test_borders_counts_and_cuts_are_those_of_the_records(ledger: Path) -> None:
    """Each chunk has a heading with its counts, its flags with their cause, and its cut points with theirs."""
    rows = [row for row in rows_of(ledger) if row["doc_id"] == "api/errors.md"]
    lines = _lines(cli("show", ledger, "api/errors.md").out)
    assert [text for _, sign, text in lines if sign == "┌─"] == [
        f"chunk {row['chunk_index']}  lines {row['line_start']}-{row['line_end']}  {row['kind']}  "
        f"{row['token_count']:,} tokens, {row['embed_tokens']:,} embedded, {row['rendered_tokens']:,} rendered"
        for row in rows
    ]
    flagged = [row for row in rows if row["flags"]]
    assert len(flagged) > 2
    said = [text for _, _, text in lines]
    assert all(f"{', '.join(row['flags'])}: {row['flag_cause']}, {row['flag_detail']}" in said for row in flagged)
    cuts = [
        f"{kind}: {tokens:,} tokens, {rendered:,} rendered up to here"
        for row in rows
        for kind, tokens, rendered in zip(
            row["boundary_kinds"], row["boundary_tokens"], row["boundary_rendered_tokens"], strict=True
        )
    ]
    assert [text for _, sign, text in lines if sign == "├┄"] == cuts


def test_overlap_is_marked(ledger: Path) -> None:
    """Lines that the chunk before ends with have a margin of their own."""
    row = next(row for row in rows_of(ledger) if row["doc_id"] == "faq.md" and row["overlap_chars"])
    out = cli("show", ledger, "faq.md", "--chunk", str(row["chunk_index"])).out
    repeated = [text for _, sign, text in _lines(out) if sign == "░"]
    assert "\n".join(line.rstrip() for line in repeated).strip() == row["text"][: row["overlap_chars"]].strip()


def test_one_chunk(ledger: Path) -> None:
    """--chunk shows no other."""
    out = cli("show", ledger, "faq.md", "--chunk", "1").out
    assert [text.split("  ")[0] for _, sign, text in _lines(out) if sign == "┌─"] == ["chunk 1"]
    count = sum(row["doc_id"] == "faq.md" for row in rows_of(ledger))
    assert out.splitlines()[0] == f"faq.md: chunk 1 of {count}, 0 flagged"


def test_json_is_the_view(ledger: Path) -> None:
    """Programs get the run and the values."""
    found = json.loads(cli("show", ledger, "faq.md", "--format", "json").out)
    view = document_view(open_ledger(ledger), "faq.md")
    assert view is not None
    assert found == {"run": 1} | json.loads(json.dumps(view.as_dict()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["faqs.md"], "no document faqs.md in {ledger}; near it: faq.md"),
        (["errors.MD"], "no document errors.MD in {ledger}; near it: api/errors.md"),
        (["∅"], "no document ∅ in {ledger}"),
        (["inbox/empty.md"], "inbox/empty.md has no chunks: skipped, empty"),
        (["legal/terms.md", "--chunk", "999"], "legal/terms.md has no chunk 999; its chunks are 0 to "),
    ],
)
def test_what_is_not_there(ledger: Path, arguments: list[str], message: str) -> None:
    """A document or chunk that is not there is a usage error that says what is."""
    done = cli("show", ledger, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message.format(ledger=ledger)}")


def test_a_document_of_one_chunk(tmp_path: Path) -> None:
    """Its only chunk is named."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger")
    done = cli("show", tmp_path / "ledger", "a.md", "--chunk", "1")
    assert (done.code, done.err) == (2, "error: a.md has no chunk 1; it is chunk 0 alone\n")


def test_controls_never_reach_the_terminal(tmp_path: Path) -> None:
    """Escapes, bidi marks and carriage returns of a text, an id or a heading are shown as what they are."""
    text = "# He\x1b[31mad\n\nA\x9b1m\u202eB\x07\tC\rD\u2028E [bold]x[/bold]\n\n## Next\n\nF\n"
    ingest([write(tmp_path / "docs", {"\x1b]0;a\u202e.md": text})], tmp_path / "ledger")
    done = cli("show", tmp_path / "ledger", "\x1b]0;a\u202e.md")
    assert done.code == 0
    assert all(char.isprintable() for char in done.out.replace("\n", ""))
    assert r"A\x9b1m\u202eB\x07" in done.out
    assert "[bold]x[/bold]" in done.out
    assert [text for number, _, text in _lines(done.out) if number == "4"] == [r"D\u2028E [bold]x[/bold]"]


def test_text_that_no_chunk_holds_is_told(tmp_path: Path) -> None:
    """Where chunks of another splitter leave something out, it says how much."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger")
    damaged(tmp_path / "ledger", lambda rows: rows[0].update(char_start=7, char_end=11))
    assert "(7 characters of the document before this in no chunk)" in cli("show", tmp_path / "ledger", "a.md").out


def test_chunks_without_offsets_have_no_line_numbers(tmp_path: Path) -> None:
    """Nothing is made up where places are not known."""
    ingest([write(tmp_path / "docs", {"a.md": "One.\n"})], tmp_path / "ledger", Settings(min_tokens=0))
    places = dict.fromkeys(("char_start", "char_end", "line_start", "line_end"))
    damaged(tmp_path / "ledger", lambda rows: rows[0].update(places))
    [heading, text] = _lines(cli("show", tmp_path / "ledger", "a.md").out)
    assert (heading[0], heading[2].startswith("chunk 0  prose  "), text) == ("", True, ("", "│", "One."))


def test_terminal_without_the_signs(ledger: Path) -> None:
    """Where the terminal's encoding lacks them, plain ones stand for them."""
    done = command("show", ledger, "glossary.md", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^ +\+- chunk 0 ", done.out, re.MULTILINE) is not None
    assert re.search(r"^ +1 \| ", done.out, re.MULTILINE) is not None
