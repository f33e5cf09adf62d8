"""Structure-aware chunks with exact token counts, in a ledger that a packer reads without a tokenizer.

The public names resolve when they are first used, so that `chunkledger.packer`, which needs only the standard
library, stays light.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # importing typing takes as long as the packer may take in all
if TYPE_CHECKING:
    from typing import Any

    from chunkledger.api import chunk_text
    from chunkledger.errors import ChunkledgerError, LedgerError, SettingsError, SourceError, VocabularyError
    from chunkledger.ingestion import ingest, plan_ingest
    from chunkledger.model import Chunk, Document, Finding
    from chunkledger.recounting import recount
    from chunkledger.settings import Settings
    from chunkledger.simulation.simulating import simulate
    from chunkledger.store.ledger import Ledger, open_ledger
    from chunkledger.store.run_report import Run
    from chunkledger.verification import verify
    from chunkledger.whatif.asking import what_if

__version__ = "0.1.0"

_HOMES = {
    "Chunk": "model",
    "ChunkledgerError": "errors",
    "Document": "model",
    "Finding": "model",
    "Ledger": "store.ledger",
    "LedgerError": "errors",
    "Run": "store.run_report",
    "Settings": "settings",
    "SettingsError": "errors",
    "SourceError": "errors",
    "VocabularyError": "errors",
    "chunk_text": "api",
    "ingest": "ingestion",
    "open_ledger": "store.ledger",
    "plan_ingest": "ingestion",
    "recount": "recounting",
    "simulate": "simulation.simulating",
    "verify": "verification",
    "what_if": "whatif.asking",
}

__all__ = [
    "Chunk",
    "ChunkledgerError",
    "Document",
    "Finding",
    "Ledger",
    "LedgerError",
    "Run",
    "Settings",
    "SettingsError",
    "SourceError",
    "VocabularyError",
    "__version__",
    "chunk_text",
    "ingest",
    "open_ledger",
    "plan_ingest",
    "recount",
    "simulate",
    "verify",
    "what_if",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (whatever the name stands for)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'chunkledger' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"chunkledger.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
