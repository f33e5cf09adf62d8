"""The errors that this package raises; all derive from `ChunkledgerError`."""

from __future__ import annotations


class ChunkledgerError(Exception):
    """Something that a user can act on: the message says what was wrong, where, and what would work."""


class SettingsError(ChunkledgerError, ValueError):
    """A setting that can't be: a wrong type, out of range, or in contradiction to another one."""


class SourceError(ChunkledgerError):
    """A source that does not exist, can't be listed, or whose document ids collide with another's."""


class LedgerError(ChunkledgerError):
    """A ledger that is not there, can't be read, or can't be written."""


class UnwritableError(LedgerError):
    """A ledger, or what was asked for of it, that the system or a store did not let write."""


class VocabularyError(ChunkledgerError):
    """A tokenizer's tables are not the ones that their name stands for."""


class ObjectStoreError(ChunkledgerError):
    """A URL that no object store can be opened by, or whose library is not installed.

    An error of its own, because the place may be a source as well as a ledger. What fails later, between the store
    and us, is an OSError as it is with files.
    """


class Conflict(ObjectStoreError):
    """An object was not written, because it is there already or is no longer what it was."""


class LeaseHeld(ObjectStoreError):
    """Another run holds the lock."""
