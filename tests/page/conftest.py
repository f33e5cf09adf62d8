"""One browser for all tests, pages opened from the disk without a network, and what they complain about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from browsing import Open, page_of
from chunkledger import Settings, ingest
from ledgers import SAMPLE_CORPUS


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, which does not run as root in its sandbox."""
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=arguments)
        yield made
        made.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Opens a file as a page; in the end none may have said anything on its console, or asked for anything else."""
    told: list[str] = []
    contexts = []

    def opened(
        file: Path,
        address: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        colours: Literal["light", "dark"] = "light",
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=colours, reduced_motion="reduce", offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(f"error: {error}"))
        page.on("request", lambda request: told.append(f"request: {request.url}"))
        page.on("dialog", lambda dialog: told.append(f"dialog: {dialog.message}"))
        page.goto(f"{file.as_uri()}{address}")
        assert told.pop(0) == f"request: {file.as_uri()}"
        return page

    yield opened
    for context in contexts:
        context.close()
    assert told == []


@pytest.fixture(scope="session")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus, its chunks with overlap, more of them flagged than the list shows at once."""
    made = tmp_path_factory.mktemp("sample") / "ledger"
    ingest([SAMPLE_CORPUS], made, Settings(overlap_tokens=40, slot_tokens=3600))
    return made


@pytest.fixture(scope="session")
def sample(ledger: Path) -> Path:
    """Its page."""
    return page_of(ledger)
