"""The viewer shows the text that the ledger has, with its borders, overlap and cut points, to mouse and keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browsing import Open, page_of
from chunkledger import Settings, ingest
from ledgers import Row, rows_of, sections, write

_SHOWN = """() => [...document.querySelectorAll("#text .chunk")].map((chunk) => ({
  index: Number(chunk.dataset.chunk),
  flagged: chunk.classList.contains("flagged"),
  here: chunk.classList.contains("here"),
  lines: [...chunk.querySelectorAll(".line")].map((line) => [...line.children].map((part) => part.textContent)),
  repeats: [...chunk.querySelectorAll(".repeats")].map((part) => part.textContent),
  cuts: [...chunk.querySelectorAll(".cut")].map((cut) => cut.textContent),
  head: chunk.querySelector("header").textContent,
}))"""


def _rows(ledger: Path, doc_id: str) -> list[Row]:
    return [row for row in rows_of(ledger) if row["doc_id"] == doc_id]


def _check(page: Page, rows: list[Row], here: int | None) -> None:
    """The chunks on the page are those of the ledger."""
    shown: list[dict[str, Any]] = page.evaluate(_SHOWN)
    assert [chunk["index"] for chunk in shown] == [row["chunk_index"] for row in rows]
    for chunk, row in zip(shown, rows, strict=True):
        # A line that a cut point parts goes on in a line without a number.
        text = "".join(("\n" if number else "") + held for number, held in chunk["lines"])
        assert text == "\n" + row["text"].rstrip("\n")
        numbers = [int(number) for number, _ in chunk["lines"] if number]
        assert numbers == [*range(row["line_start"], row["line_end"] + 1)]
        assert "".join(chunk["repeats"]) == row["text"][: row["overlap_chars"]].replace("\n", "")
        cuts = zip(row["boundary_kinds"], row["boundary_tokens"], row["boundary_rendered_tokens"], strict=True)
        assert chunk["cuts"] == [
            f"{kind}: {tokens:,} token{'' if tokens == 1 else 's'}, {rendered:,} rendered"
            for kind, tokens, rendered in cuts
        ]
        assert (chunk["flagged"], chunk["here"]) == (bool(row["flags"]), row["chunk_index"] == here)
        assert (
            f"{row['token_count']} tokens, {row['embed_tokens']} embedded, {row['rendered_tokens']} rendered"
            in chunk["head"]
        )


def test_a_click_shows_the_text_around_the_outlier(open_page: Open, sample: Path, ledger: Path) -> None:
    """The document is there with its borders; the outlier is marked and in sight."""
    page = open_page(sample)
    page.get_by_label("Find").fill("policies/travel")
    row = page.locator("#table tbody tr").nth(1)
    lines = row.locator("td").nth(1).text_content()
    row.locator("td").nth(2).click()
    rows = _rows(ledger, "policies/travel.md")
    [here] = [row["chunk_index"] for row in rows if f"{row['line_start']}–{row['line_end']}" == lines]
    assert page.locator("#viewer-title").inner_text() == "policies/travel.md"
    _check(page, rows, here)
    box = page.locator("#text").bounding_box()
    marked = page.locator(".here h3").bounding_box()
    assert box is not None
    assert marked is not None
    assert box["y"] <= marked["y"] < box["y"] + box["height"] / 3


def test_keyboard_alone(open_page: Open, sample: Path, ledger: Path) -> None:
    """From the list by Enter, on by the buttons, back by Escape, with the focus where it was."""
    page = open_page(sample)
    page.locator("#table .open").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.locator("#viewer-title").inner_text()
    assert page.evaluate("document.activeElement.id") == "viewer-title"
    place = page.locator("#viewer-place").text_content() or ""
    assert "outlier 2 of" in place
    page.get_by_role("button", name="Next outlier").focus()
    page.keyboard.press("Enter")
    assert "outlier 3 of" in (page.locator("#viewer-place").text_content() or "")
    page.get_by_role("button", name="Previous outlier").focus()
    page.keyboard.press("Enter")
    assert (page.locator("#viewer-title").inner_text(), page.locator("#viewer-place").text_content()) == (second, place)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).not_to_be_visible()
    expect(page.locator("#table .open").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    assert (page.locator("#viewer-title").inner_text(), page.locator("#viewer-place").text_content()) == (second, place)


def test_every_document_can_be_chosen(open_page: Open, sample: Path, ledger: Path) -> None:
    """The list in the viewer has every document that the page holds; overlap is marked in those that have it."""
    page = open_page(sample)
    page.get_by_role("button", name="Read", exact=True).click()
    for name in ("faq.md", "ja/index.md", "support/answers.jsonl"):
        options = page.locator("#viewer-choice option").all_text_contents()
        [chosen] = [option for option in options if option.startswith(name.split(".")[0])][:1] or [options[0]]
        page.locator("#viewer-choice").select_option(label=chosen)
        _check(page, _rows(ledger, chosen), None)
    assert any(row["overlap_chars"] for row in _rows(ledger, "faq.md"))


def test_the_outlier_is_in_the_address(open_page: Open, sample: Path, ledger: Path) -> None:
    """Back leaves the viewer; the address opens it again."""
    page = open_page(sample)
    page.locator("#table .open").first.click()
    title, address = page.locator("#viewer-title").inner_text(), page.evaluate("location.hash")
    page.go_back()
    expect(page.locator("dialog")).not_to_be_visible()
    other = open_page(sample, address)
    assert other.locator("#viewer-title").inner_text() == title
    assert other.locator(".here").count() == 1


def test_a_document_with_line_ends_of_all_kinds(open_page: Open, tmp_path: Path) -> None:
    """Each ends one line."""
    ingest([write(tmp_path / "docs", {"a.txt": "a\r\nb\rc\n\nd\te\n"})], tmp_path / "ledger")
    page = open_page(page_of(tmp_path / "ledger"), "#doc=a.txt")
    [chunk] = page.evaluate(_SHOWN)
    assert chunk["lines"] == [["1", "a"], ["2", "b"], ["3", "c"], ["4", ""], ["5", "d\te"]]


def test_what_is_not_on_the_page_is_told(open_page: Open, tmp_path: Path) -> None:
    """Of a long document the chunks between outliers are counted; a chunk that is not there has a command."""
    text = sections(300, sentences=3) + "\n## Short\n\nx\n"
    settings = Settings(max_tokens=80, min_tokens=20, split_headings=2)
    ingest([write(tmp_path / "docs", {"it's.md": text})], tmp_path / "ledger", settings)
    file = page_of(tmp_path / "ledger")
    page = open_page(file)
    page.locator("#table .open").first.click()
    assert "chunks not on this page" in page.locator("#text").inner_text()
    other = open_page(file, "#doc=it%27s.md&chunk=50")
    assert other.locator("#text code").first.text_content() == "chunkledger show ledger 'it'\\''s.md' --chunk 50"


def test_a_long_chunk_says_what_is_left_out(open_page: Open, tmp_path: Path) -> None:
    """Line numbers go on behind it as if it were there."""
    text = "\n".join(f"Line {number} of a long text." for number in range(1, 2001))
    ingest([write(tmp_path / "docs", {"a.txt": text})], tmp_path / "ledger", Settings(max_tokens=100_000))
    page = open_page(page_of(tmp_path / "ledger"), "#doc=a.txt&chunk=0")
    [chunk] = page.evaluate(_SHOWN)
    whole = [(number, held) for number, held in chunk["lines"] if number and held.endswith("text.")]
    assert whole[-1] == ("2000", "Line 2000 of a long text.")
    assert all(held == f"Line {number} of a long text." for number, held in whole)
    assert any("characters left out" in held for _, held in chunk["lines"])


@pytest.mark.parametrize("width", [1280, 360])
def test_closing_beside_the_viewer(open_page: Open, sample: Path, width: int) -> None:
    """The button closes it at every width; the page behind it does not scroll meanwhile."""
    page = open_page(sample, width=width)
    page.locator("#table .open").first.click()
    expect(page.locator("dialog")).to_be_visible()
    place = page.evaluate("window.scrollY")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.locator("dialog")).not_to_be_visible()
    page.wait_for_function("location.hash === ''")
    assert page.evaluate("window.scrollY") == place
