"""Whatever a corpus holds is text on the page: never markup, never script, never a sign that turns others around."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browsing import Open, page_of
from chunkledger import Settings, ingest
from ledgers import rows_of, write

HOSTILE = (
    "<script>document.title='taken'</script>",
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "]]>",
    "--><b>b</b>",
    "{{7*7}} {% raw %} ${7*7} #{7*7}",
    "<img src=x onerror=alert(2)>",
    "<svg onload=alert(3)>",
    "&lt;i&gt; &amp;",
    "\u202egnp.exe\u2066",
    "javascript:alert(4)",
    "\"'`=",
    "</title><h1>taken</h1>",
    "\u2028\u2029",
    "</textarea></select></style>",
    "<iframe src=https://example.org>",
    "\x1b[31m\x07\x9b",
    "__proto__",
    "constructor",
)


_TEXTS = """[...document.querySelectorAll("#text .chunk")].map((chunk) =>
  [...chunk.querySelectorAll(".held")].map((held) => held.textContent).join(""))"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose ids, headings, front matter, tables, code and text are all of that; every chunk is flagged."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = []
    for number, text in enumerate(HOSTILE):
        yaml = text.encode("unicode_escape").decode().replace('"', "'")
        body = (
            f'---\ntitle: "{yaml}"\n---\n\n# {text}\n\n{text}\n\n## {text} two\n\n| {text} |\n|---|\n| {text} |\n\n'
            f"```{text}\n{text}\n```\n\n<div>{text}</div>\n\n- {text}\n"
        )
        rows.append({"id": f"{text}/{number} {text}.md", "text": body * 3})
    lines = "\n".join(map(json.dumps, rows))
    ingest([write(folder / "docs", {"rows.jsonl": lines})], folder / "ledger", Settings(max_tokens=60, slot_tokens=200))
    return folder / "ledger"


@pytest.fixture(scope="module")
def file(hostile: Path) -> Path:
    """Its page."""
    return page_of(hostile)


def _marked(text: str) -> str:
    """As the page shows it."""
    unseen = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
    return re.sub(unseen, lambda found: f"‹U+{ord(found[0]):04X}›", text)


def test_the_page_is_what_it_was_made_as(open_page: Open, file: Path) -> None:
    """No element came of a text, nothing ran, and the title is the page's own."""
    page = open_page(file)
    assert page.title().endswith("chunks do not suit the slot · ledger")
    assert page.locator("script").count() == 2
    foreign = "img, iframe, h1 ~ h1, b, i:not(.settings i), [onload], [onerror], base, link, object, embed"
    assert page.locator(foreign).count() == 0
    assert "49" not in re.findall(r"\b49\b", page.locator(".causes").inner_text())


def test_every_text_is_shown_as_text(open_page: Open, hostile: Path, file: Path) -> None:
    """The viewer has each document, in letters; what does not show has a mark."""
    page = open_page(file)
    page.get_by_role("button", name="Read", exact=True).click()
    rows = rows_of(hostile)
    names = page.locator("#viewer-choice option").all_text_contents()
    assert sorted(names) == sorted({_marked(row["doc_id"]) for row in rows})
    for value, name in enumerate(names):
        page.locator("#viewer-choice").select_option(index=value)
        assert page.locator("#viewer-title").text_content() == name
        texts = [row for row in rows if _marked(row["doc_id"]) == name]
        shown = page.evaluate(_TEXTS)
        assert shown == [_marked(re.sub(r"\r\n|\r|\n", "", row["text"])) for row in texts]
    assert page.locator("#text img, #text b, #text script, #text svg, #text iframe").count() == 0


def test_ids_are_names_in_the_list(open_page: Open, hostile: Path, file: Path) -> None:
    """Each opens its own document, also one that is called like a part of the language."""
    page = open_page(file)
    ids = {row["doc_id"] for row in rows_of(hostile) if row["flags"]}
    listed = set(page.locator("#table .open").all_text_contents())
    assert listed <= {_marked(doc_id) for doc_id in ids}
    page.get_by_label("Find").fill("__proto__")
    page.locator("#table .open").first.click()
    assert (page.locator("#viewer-title").text_content() or "").startswith("__proto__/")


def test_nothing_unseen_is_in_the_file(file: Path) -> None:
    """Whoever reads the file itself is not misled either: it is markup that ends where it seems to."""
    text = file.read_text("utf-8")
    assert all(char.isprintable() or char == "\n" for char in text)


def test_the_policy_allows_the_page_and_nothing_else(browser: Browser, sample: Path) -> None:
    """Scripts and styles that are not the page's own are refused."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(sample.as_uri())
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    refused = page.evaluate(
        """() => {
          const refused = [];
          const made = (name, text) => Object.assign(document.createElement(name), {textContent: text});
          document.body.append(made("style", "h1 { color: rgb(255, 0, 0) }"));
          for (const act of [
            () => document.body.append(made("script", "window.ran = true")),
            () => { document.querySelector("h1").innerHTML = "<b>x</b>"; },
          ]) try { act(); } catch (error) { refused.push(error.name); }
          return refused;
        }"""
    )
    assert refused == ["TypeError", "TypeError"]
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") != "rgb(255, 0, 0)"
    assert page.evaluate("window.ran") is None
    context.close()


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def test_nothing_in_the_file_points_elsewhere(file: Path) -> None:
    """No element names an address but of the page itself, and none has a style or a handler of its own."""
    parser = _Elements()
    parser.feed(file.read_text("utf-8"))
    for tag, attributes in parser.found:
        for name, value in attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "style", "action", "srcdoc", "xlink:href"), (tag, name)
            assert name != "href" or (value or "").startswith("#"), (tag, value)
