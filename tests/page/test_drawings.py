"""The charts are drawn, say what the ledger says, and are there for those who do not see them."""

from __future__ import annotations

import re
from pathlib import Path

from browsing import Open, page_of
from chunkledger import Settings, ingest
from ledgers import prose, rows_of, sections, write

_BOXES = """(selector) => [...document.querySelectorAll(selector)].map((mark) => {
  const [box, frame] = [mark.getBoundingClientRect(), mark.closest("svg").getBoundingClientRect()];
  return {label: mark.getAttribute("aria-label"), width: box.width, height: box.height,
          inside: box.left >= frame.left - 1 && box.right <= frame.right + 1
                  && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1};
})"""
BARS = "figure:has(svg) .drawing svg path[aria-roledescription=bar]"


def test_bars_hold_all_chunks(open_page: Open, sample: Path, ledger: Path) -> None:
    """Every bar has an area within its drawing; the bars of each histogram add up to all chunks."""
    page = open_page(sample)
    rows = rows_of(ledger)
    for number in (1, 2):
        bars = page.evaluate(_BOXES, f".figures > div:nth-child({number}) path[aria-roledescription=bar]")
        assert len(bars) > 5
        assert all(bar["width"] > 1 and bar["height"] > 0.5 and bar["inside"] for bar in bars)
        drawn = sum(int(re.search(r": ([\d,]+) chunk", bar["label"])[1]) for bar in bars)  # type: ignore[index]
        # Those that are much larger than the others are told beside the bars.
        beyond = re.search(r"([\d,]+) chunks? over", page.locator(f".figures > div:nth-child({number})").inner_text())
        assert drawn + (int(beyond[1]) if beyond else 0) == len(rows)


def test_tokens_by_kind_and_by_folder(open_page: Open, sample: Path, ledger: Path) -> None:
    """The bars of each add up to the tokens of all chunks."""
    page = open_page(sample)
    tokens = sum(row["token_count"] for row in rows_of(ledger))
    for number in (1, 2):
        selector = f".figures > div:nth-child(3) figure:nth-of-type({number}) path[aria-roledescription=bar]"
        bars = page.evaluate(_BOXES, selector)
        assert all(bar["width"] > 0 and bar["height"] > 5 and bar["inside"] for bar in bars)
        assert sum(int(re.search(r": ([\d,]+) tokens", bar["label"])[1].replace(",", "")) for bar in bars) == tokens  # type: ignore[index]


def test_lines_are_drawn_and_named(open_page: Open, sample: Path) -> None:
    """Limit, target and share have rules with names; the slot, far beyond all chunks, is named alone."""
    page = open_page(sample)
    texts = page.locator(".drawing svg text").all_text_contents()
    assert {"share 450", "slot 3,600 →", "limit 512", "target 486"} <= set(texts)
    rules = page.evaluate(_BOXES, ".figures > div:nth-child(1) svg .role-mark line")
    assert [rule["height"] > 60 and rule["inside"] for rule in rules] == [True, True]


def test_names_do_not_lie_upon_each_other(open_page: Open, sample: Path) -> None:
    """No two texts of a drawing share a place, on a phone either."""
    page = open_page(sample, width=360)
    assert (
        page.evaluate(
            """() => [...document.querySelectorAll(".drawing svg")].flatMap((svg) => {
          const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent);
          const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
          return boxes.flatMap(([name, a], place) => boxes.slice(place + 1)
            .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1)
            .filter(([, b]) => a.top < b.bottom - 3 && b.top < a.bottom - 3)
            .map(([other]) => [name, other]));
        })"""
        )
        == []
    )


def test_a_long_tail_is_told(open_page: Open, tmp_path: Path) -> None:
    """One huge chunk among many is counted in words, and they keep their width."""
    files: dict[str, str | bytes] = {
        "a.md": sections(300, 3),
        "b.md": "x" * 300 + " " + "\U0001f469" + "\u200d\U0001f469" * 9000,
    }
    ingest([write(tmp_path / "docs", files)], tmp_path / "ledger", Settings(max_tokens=120))
    page = open_page(page_of(tmp_path / "ledger"))
    text = " ".join(page.locator(".figures > div:nth-child(1) svg text").all_text_contents())
    assert re.search(r"1 chunk over \d+,.*the largest [\d,]{6,} →", text) is not None
    widths = [
        bar["width"] for bar in page.evaluate(_BOXES, ".figures > div:nth-child(1) path[aria-roledescription=bar]")
    ]
    assert min(widths) > 5


def test_each_drawing_is_a_table_too(open_page: Open, sample: Path, ledger: Path) -> None:
    """Who does not see it has a sentence and the figures, by keyboard."""
    page = open_page(sample)
    assert page.locator(".drawing[role=img]").count() == page.locator("figure").count() == 4
    assert "of the chunks are within the share of 450 tokens" in (
        page.locator(".drawing").first.get_attribute("aria-label") or ""
    )
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    table = page.get_by_role("table", name="What the slot pays")
    counts = [int(text) for text in table.locator("td").all_text_contents()]
    assert sum(counts) == len(rows_of(ledger))


def test_a_pointer_is_told_what_a_bar_is(open_page: Open, sample: Path) -> None:
    """The bar's words stand beside the pointer, and go with it."""
    page = open_page(sample)
    bar = page.locator(".drawing path[aria-roledescription=bar]").first
    bar.hover()
    assert page.locator("#hint").text_content() == bar.get_attribute("aria-label")
    page.locator("h1").hover()
    assert page.locator("#hint").is_hidden()


def test_no_frame_without_chunks(open_page: Open, tmp_path: Path) -> None:
    """An empty ledger, and one of a single chunk, have no drawing, and no figure that is none."""
    for name, text in (("empty", "\n"), ("one", "One.\n")):
        ingest([write(tmp_path / name / "docs", {"a.md": text})], tmp_path / name / "ledger")
        page = open_page(page_of(tmp_path / name / "ledger"))
        assert page.locator("svg, figure").count() == 0
        assert re.search("NaN|undefined|null|Infinity", page.locator("body").inner_text()) is None
        assert (
            page.locator("h1").inner_text()
            == {"empty": "No chunks to report on", "one": "The only chunk does not suit the slot"}[name]
        )


def test_a_clean_ledger_says_so(open_page: Open, tmp_path: Path) -> None:
    """Nothing is listed, everything can be read."""
    ingest([write(tmp_path / "docs", {"a.md": sections(12), "b.md": prose(50)})], tmp_path / "ledger")
    page = open_page(page_of(tmp_path / "ledger"))
    assert page.locator("h1").inner_text().startswith("All ")
    assert page.locator("#table").count() == 0
    page.get_by_role("button", name="Read", exact=True).click()
    assert page.locator("#viewer-title").inner_text() == "a.md"
    assert page.locator("dialog .chunk").count() > 1
