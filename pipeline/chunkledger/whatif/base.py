"""What a ledger was made of, as another splitting begins with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from chunkledger.documents.sources import Selection
from chunkledger.settings import Settings
from chunkledger.store.ledger import Ledger

_OF_CHUNKS = ("chunks", "id_column", "text_column")
"""Settings that say how chunks that were cut elsewhere were read."""


def is_foreign(ledger: Ledger) -> bool:
    """Whether the ledger's chunks were cut elsewhere."""
    return bool(ledger.report()["settings"].get("chunks"))


def settings_of(ledger: Ledger, overrides: Mapping[str, Any]) -> Settings:
    """The settings of the ledger with some of them replaced, for a splitting of our own in one encoding.

    Args:
        ledger: whose settings.
        overrides: by name.

    Raises:
        SettingsError: they can't be together.
        LedgerError: the ledger can't be read.
    """
    values: dict[str, Any] = ledger.settings().as_dict() | {"further_encodings": ()}
    if is_foreign(ledger):
        values = {name: value for name, value in values.items() if name not in _OF_CHUNKS}
    return Settings(**(values | dict(overrides)))


def selection_of(ledger: Ledger, overrides: Mapping[str, Any]) -> Selection:
    """Which documents the ledger was made of, some of it replaced; of chunks that were cut elsewhere nothing is kept.

    Args:
        ledger: whose selection.
        overrides: by name.
    """
    known = {field.name for field in fields(Selection)}
    written = {} if is_foreign(ledger) else ledger.report()["selection"]
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in written.items() if name in known
    }
    return Selection(**(values | dict(overrides)))


def sources_of(ledger: Ledger) -> list[str]:
    """The sources of the ledger, as they would be given on a command line today."""
    return [_argument(source) for source in ledger.report()["sources"]]


def documents_of(ledger: Ledger) -> list[str]:
    """Where the documents are from which chunks were cut elsewhere; nothing where the ledger was not told."""
    documents = ledger.report()["selection"].get("documents")
    return [str(documents)] if documents else []


def _argument(source: Mapping[str, str]) -> str:
    path = source["path"]
    if source["pattern"]:
        path = f"{path.rstrip('/')}/{source['pattern']}"
    return os.fspath(f"{source['name']}={path}" if source["name"] else path)
