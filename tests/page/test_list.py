"""The list of outliers sorts, filters, turns its pages, and is found again by its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browsing import Open
from chunkledger.outliers.page.offenders import Offender, offenders_of
from chunkledger.outliers.selected import selected
from chunkledger.store.ledger import open_ledger


@pytest.fixture(scope="module")
def outliers(ledger: Path) -> list[Offender]:
    """What the list holds, in its order."""
    return list(offenders_of(selected(open_ledger(str(ledger)))))


def _listed(page: Page) -> list[tuple[str, int]]:
    rows = page.locator("#table tbody tr")
    return list(
        zip(
            rows.locator("td:nth-child(1) button").all_text_contents(),
            [int(text.replace(",", "")) for text in rows.locator("td:nth-child(3)").all_text_contents()],
            strict=True,
        )
    )


def _expected(outliers: list[Offender]) -> list[tuple[str, int]]:
    return [(row.doc_id, row.rendered_tokens) for row in outliers[:25]]


def test_the_worst_are_shown_first(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """The list begins as it was made, and says how many there are."""
    page = open_page(sample)
    assert len(outliers) > 30
    assert _listed(page) == _expected(outliers)
    assert page.locator("#count").text_content() == f"{len(outliers)} outliers, 1 to 25 shown"


def test_columns_sort(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """A click sorts, figures the largest first; another one turns it around, and screen readers are told."""
    page = open_page(sample)
    for name, key, downwards in (
        ("rendered", lambda row: row.rendered_tokens, True),
        ("document", lambda row: row.doc_id, False),
        ("cause", lambda row: row.flag_cause, False),
    ):
        head = page.locator("#table thead th", has_text=name)
        for turned in (False, True):
            head.get_by_role("button").click()
            reverse = downwards != turned
            assert head.get_attribute("aria-sort") == ("descending" if reverse else "ascending")
            assert page.locator("#table [aria-sort]").count() == 1
            assert _listed(page) == _expected(sorted(outliers, key=key, reverse=reverse))


def test_columns_sort_by_keyboard(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """Enter on a column's head does what a click does, and the focus stays."""
    page = open_page(sample)
    page.locator("#table thead button", has_text="document").focus()
    page.keyboard.press("Enter")
    assert _listed(page) == _expected(sorted(outliers, key=lambda row: row.doc_id))
    assert page.evaluate("document.activeElement.textContent") == "document"


def test_filters(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """Text, flag and cause narrow the list, and the count is told; Clear brings it back."""
    page = open_page(sample)
    page.get_by_label("Cause", exact=True).select_option("table")
    tables = [row for row in outliers if row.flag_cause == "table"]
    assert _listed(page) == _expected(tables)
    assert page.get_by_role("status").first.text_content() == f"{len(tables)} of the {len(outliers)} outliers"
    page.get_by_label("Find").fill("RATES table")
    assert _listed(page) == _expected([row for row in tables if "rates" in row.doc_id])
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Flag", exact=True).select_option("under_min")
    assert _listed(page) == _expected([row for row in outliers if "under_min" in row.flags])
    page.get_by_label("Find").fill("no such document")
    assert (_listed(page), page.locator("#count").text_content()) == ([], f"0 of the {len(outliers)} outliers")


def test_pages_turn(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """Later shows what follows; at an end the button is off."""
    page = open_page(sample)
    assert page.get_by_role("button", name="Earlier").is_disabled()
    page.get_by_role("button", name="Later").click()
    assert _listed(page) == _expected(outliers[25:])
    assert page.get_by_role("button", name="Earlier").is_enabled()
    page.get_by_role("button", name="Earlier").click()
    assert _listed(page) == _expected(outliers)


def test_state_is_in_the_address(open_page: Open, sample: Path) -> None:
    """A reload, and whoever is sent the address, sees the same rows."""
    page = open_page(sample)
    page.get_by_label("Cause", exact=True).select_option("table")
    page.locator("#table thead button", has_text="rendered").click()
    page.locator("#table thead button", has_text="rendered").click()
    shown, address = _listed(page), page.evaluate("location.hash")
    other = open_page(sample, address)
    assert _listed(other) == shown
    assert other.get_by_label("Cause", exact=True).input_value() == "table"


def test_an_address_that_says_nothing_is_no_error(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """What a hash holds may be anything."""
    for address in ("#outliers", "#page=-3&sort=nothing", "#doc=nowhere.md&chunk=x", "#%E0%A4%A&&=", "#page=99"):
        page = open_page(sample, address)
        assert page.locator("#table tbody tr").count() > 0
        assert not page.locator("dialog").is_visible()


def test_figures_and_causes_lead_to_their_chunks(open_page: Open, sample: Path, outliers: list[Offender]) -> None:
    """The links at the top filter the list, and lead there."""
    page = open_page(sample)
    page.locator(".causes a", has_text="tables").click()
    expect(page.locator("#outliers")).to_be_focused()
    assert _listed(page) == _expected([row for row in outliers if row.flag_cause == "table"])
    page.locator(".keys a", has_text="below").click()
    page.wait_for_function("document.querySelector('#flag').value === 'under_min'")
    assert _listed(page) == _expected([row for row in outliers if "under_min" in row.flags])
