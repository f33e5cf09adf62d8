"""The page can be read on a phone, in the dark, on paper, by keyboard and by a screen reader."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browsing import Open, page_of
from chunkledger import Settings, ingest
from ledgers import sections, write

_CONTRASTS = """(root) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return rgb(getComputedStyle(document.documentElement).backgroundColor);
  };
  const found = {};
  for (const element of document.querySelectorAll(`${root} *`)) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("button:disabled, noscript, option")) continue;
    const style = getComputedStyle(element);
    const colour = rgb(element.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    const key = `${element.tagName.toLowerCase()}.${element.getAttribute("class") || ""}`;
    found[key] = Math.min(found[key] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return found;
}"""


@pytest.mark.parametrize("address", ["", "#doc=faq.md&chunk=1"])
@pytest.mark.parametrize("width", [360, 390, 768])
def test_no_width_scrolls_sideways(open_page: Open, sample: Path, width: int, address: str) -> None:
    """Everything fits a phone; no part of the text is cut off."""
    page = open_page(sample, address, width=width, height=740)
    assert page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]") <= [width, width]
    text = "document.querySelector('#text').scrollWidth <= document.querySelector('#text').clientWidth"
    assert page.evaluate(text)


def test_long_names_fit_a_phone(open_page: Open, tmp_path: Path) -> None:
    """Ids and headings of a thousand letters without a blank widen nothing."""
    name = "a" * 200 + "/" + "b" * 200 + "/" + "c" * 200 + ".md"
    text = f"# {'d' * 900}\n\n{sections(6)}\n\n{'e' * 5000}\n"
    ingest([write(tmp_path / "docs", {name: text})], tmp_path / "ledger", Settings(max_tokens=200, slot_tokens=400))
    page = open_page(page_of(tmp_path / "ledger"), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator("#table .open").first.click()
    assert page.evaluate("document.querySelector('#text').scrollWidth <= document.querySelector('#text').clientWidth")
    assert page.locator("#text").bounding_box()["height"] > 200  # type: ignore[index]


def test_what_the_eye_meets_first(open_page: Open, sample: Path) -> None:
    """The first screen says good or bad, how many, because of what, and where; on a phone at least how many."""
    page = open_page(sample)
    for selector in ("h1", ".lead", ".keys li:nth-child(4)", ".causes li:first-child", ".worst tbody tr:nth-child(3)"):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800, selector
    phone = open_page(sample, width=390, height=844)
    assert phone.locator(".keys").bounding_box()["y"] < 400  # type: ignore[index]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(
    ("address", "root"), [("", "body"), ("#doc=faq.md&chunk=1", "dialog"), ("#doc=api%2Ferrors.md&chunk=5", "dialog")]
)
def test_contrast(open_page: Open, sample: Path, colours: str, address: str, root: str) -> None:
    """Every text stands out from what is behind it by 4.5 to 1, in daylight and in the dark."""
    page = open_page(sample, address, colours=colours)
    found: dict[str, float] = page.evaluate(_CONTRASTS, root)
    assert len(found) > 8
    assert {name: round(ratio, 2) for name, ratio in found.items() if ratio < 4.5} == {}


def test_dark_is_dark(open_page: Open, sample: Path) -> None:
    """Who prefers it gets it, drawings too."""
    page = open_page(sample, colours="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) != open_page(sample).evaluate(background)
    fill = "getComputedStyle(document.querySelector('.drawing text')).fill"
    assert page.evaluate(fill) != open_page(sample).evaluate(fill)


def test_paper(open_page: Open, sample: Path) -> None:
    """In print all rows are there at once, and nothing that only a screen can use."""
    page = open_page(sample, colours="dark")
    total = int((page.locator("#count").text_content() or "").split()[0])
    assert total > 25
    page.emulate_media(media="print")
    expect(page.locator("#table tbody tr")).to_have_count(total)
    assert [page.locator(selector).is_visible() for selector in ("#filters", "#pages", "#reading", ".skip")] == [
        False
    ] * 4
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.emulate_media(media="screen")
    expect(page.locator("#table tbody tr")).to_have_count(25)


def test_paper_has_no_viewer(open_page: Open, sample: Path) -> None:
    """What lies over the page is not printed over it."""
    page = open_page(sample, "#doc=faq.md")
    page.emulate_media(media="print")
    assert not page.locator("dialog").is_visible()
    assert page.locator("h1").is_visible()


def test_nothing_moves(open_page: Open, sample: Path) -> None:
    """There is no animation and no transition, for those who asked for none and for all others."""
    page = open_page(sample)
    page.locator("#table .open").first.click()
    assert page.evaluate("document.getAnimations().length") == 0
    durations = "[...document.querySelectorAll('*')].map((one) => getComputedStyle(one).transitionDuration)"
    assert set(page.evaluate(durations)) == {"0s"}
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


@pytest.fixture
def seen(open_page: Open, sample: Path) -> Page:
    """The page."""
    return open_page(sample)


def test_landmarks_and_headings(seen: Page) -> None:
    """One main, one h1, no level left out, a language, and a name for every region."""
    assert seen.evaluate("document.documentElement.lang") == "en"
    assert [seen.locator(name).count() for name in ("h1", "main", "body > header", "body > footer")] == [1, 1, 1, 1]
    levels: list[int] = seen.evaluate(
        "[...document.querySelectorAll('h1, main h2, main h3, main h4')].map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    unnamed = """[...document.querySelectorAll("section, [role=region], dialog, nav, form")].filter((one) =>
      !one.matches("#reading") && !one.getAttribute("aria-label") &&
      !document.getElementById(one.getAttribute("aria-labelledby"))).length"""
    assert seen.evaluate(unnamed) == 0


def test_every_control_has_a_name(seen: Page) -> None:
    """Buttons have words, fields have labels, tables have captions and scopes, ids are unique."""
    nameless: Any = seen.evaluate(
        """[...document.querySelectorAll("button, a, input, select, summary")].filter((one) =>
          !one.textContent.trim() && !one.labels?.length && !one.ariaLabel).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    unlabelled = "[...document.querySelectorAll('input, select')].filter((one) => !one.labels.length).length"
    assert seen.evaluate(unlabelled) == 0
    assert seen.evaluate("[...document.querySelectorAll('table')].filter((one) => !one.caption).length") == 0
    assert seen.evaluate("[...document.querySelectorAll('th')].filter((one) => !one.scope).length") == 0
    ids = seen.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_touch_targets_on_a_phone(open_page: Open, sample: Path) -> None:
    """A thumb finds each button."""
    page = open_page(sample, width=360)
    heights = page.evaluate(
        "[...document.querySelectorAll('form button, #pages button')].map((one) => one.getBoundingClientRect().height)"
    )
    assert min(heights) >= 40


def test_tab_reaches_everything_in_order(seen: Page) -> None:
    """The first stop leads past all others to the list; the focus is seen."""
    seen.keyboard.press("Tab")
    assert seen.evaluate("document.activeElement.className") == "skip"
    assert seen.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    seen.keyboard.press("Enter")
    seen.keyboard.press("Tab")
    assert seen.evaluate("document.activeElement.id") == "find"
    assert seen.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_without_a_script_there_is_a_word_about_it(browser: Any, sample: Path) -> None:  # noqa: ANN401 (playwright's)
    """Figures, causes and drawings are there all the same."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sample.as_uri())
    assert page.locator("noscript").inner_text().startswith("The list of outliers")
    assert page.locator("svg").count() > 3
    context.close()
