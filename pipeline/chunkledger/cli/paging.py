"""`chunkledger report --html`: the report as a file for a browser."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from chunkledger.cli.destination import destination, text_to
from chunkledger.cli.output import note
from chunkledger.errors import SettingsError
from chunkledger.store.ledger import Ledger

if TYPE_CHECKING:
    from chunkledger.outliers.summary import Summary

_MADE_BY = ("altair", "jinja2", "vl_convert")


def page_file(html: str, ledger: Ledger) -> Path:
    """Where the page goes, once it was found that one can be made.

    Raises:
        SettingsError: that can't be, or a package that makes the page is missing.
    """
    file = destination(html, ledger.root, option="--html")
    if file is None:
        raise SettingsError(f"--html needs a file, not {html}")
    if not file.parent.is_dir():
        raise SettingsError(f"--html {html}: there is no folder {file.parent}")
    for package in _MADE_BY:
        try:
            importlib.import_module(package)
        except ImportError:
            raise SettingsError(f"--html needs the package {package}; pip install 'chunkledger[page]'") from None
    return file


def write_page(ledger: Ledger, found: Summary, file: Path) -> None:
    """Write the page, whole or not at all.

    Raises:
        OSError: the file can't be written; the one that was there stays.
    """
    from chunkledger.outliers.page.writing import page_of  # not at the top: few reports are pages

    page = page_of(ledger, found)
    with text_to(file) as stream:
        stream.write(page)
    note(f"page of run {ledger.run} in {file}, {len(page.encode()) / 1e6:.1f} MB")
