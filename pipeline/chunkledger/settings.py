"""Everything that decides what a chunk record holds, checked once when it is made."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from dataclasses import dataclass, fields

from chunkledger.errors import SettingsError
from chunkledger.packer.render import TEMPLATES

ENCODINGS = ("o200k_base", "cl100k_base", "o200k_harmony")
"""The encodings whose counts are proven exact; the first is the default."""

FORMATS = ("auto", "markdown", "plain", "rst")
"""How a document's text is read: by its suffix, or always as one of these."""

_LANGUAGE = re.compile("[a-z]{2,3}")
_NO_CHARACTER_SETS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")
"""Python's codecs that are rules for names or literals, and take nearly any bytes for something."""

MIN_MAX_TOKENS = 2
"""Below two tokens a chunk can't hold a character of every script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one ledger.

    Attributes:
        encoding: the tokenizer that every limit and flag is in, and every count whose column has a plain name.
        further_encodings: tokenizers whose counts every record carries too, in columns with their name behind it.
        max_tokens: most tokens of a chunk's embed text (heading path, context and text).
        target_tokens: size that the splitter aims at; None is 95 % of `max_tokens`.
        min_tokens: a chunk with fewer tokens is flagged `under_min`.
        slot_tokens: the slot that chunks are meant for, as `chunkledger.packer.Slot` computes it.
        slot_chunks: how many chunks the slot should hold; a chunk over its share is flagged `over_share`.
        overlap_tokens: most tokens that a chunk repeats from the end of its predecessor; whole units only.
        parent_tokens: most tokens of a parent's embed text, where sections are to be rows of role parent too, each
            made of whole chunks; 0 is off.
        split_headings: every heading of this level or a higher one (1 is the highest) starts a chunk; 0 is off.
        heading_context: whether the heading path is part of the embed text.
        template: how a block is rendered, one of `chunkledger.packer.TEMPLATES`.
        format: how documents are read, one of `FORMATS`.
        language: of the rules of sentences, as an ISO 639 code ("de"); None chooses by the script and the commonest
            words of each paragraph.
        source_encoding: what documents are in that are neither UTF-8 nor UTF-16 with its mark, by Python's name of the
            encoding; None makes each of them a Finding.
        chunks: whether the rows of tables are chunks that another splitter has cut, instead of documents; they are
            taken over as they are.
        id_column: column of a table that holds document ids; None is `doc_id` where rows are chunks, `id` else.
        text_column: column of a table that holds texts; every further column becomes metadata.

    Raises:
        SettingsError: a value that can't be; the message names it and says what would work.

    >>> Settings(max_tokens=400).target
    380
    """

    encoding: str = ENCODINGS[0]
    further_encodings: tuple[str, ...] = ()
    max_tokens: int = 512
    target_tokens: int | None = None
    min_tokens: int = 50
    slot_tokens: int = 6000
    slot_chunks: int = 8
    overlap_tokens: int = 0
    parent_tokens: int = 0
    split_headings: int = 0
    heading_context: bool = True
    template: str = "xml/1"
    format: str = "auto"
    language: str | None = None
    source_encoding: str | None = None
    chunks: bool = False
    id_column: str = None  # type: ignore[assignment]  # the default depends on what rows are
    text_column: str = "text"

    def __post_init__(self) -> None:
        _check_choice("encoding", self.encoding, ENCODINGS)
        self._check_further_encodings()
        _check_choice("template", self.template, tuple(TEMPLATES))
        _check_choice("format", self.format, FORMATS)
        _check_whole("max_tokens", self.max_tokens, MIN_MAX_TOKENS, 10_000_000)
        if self.target_tokens is not None:
            _check_whole("target_tokens", self.target_tokens, 1, self.max_tokens)
        _check_whole("min_tokens", self.min_tokens, 0, 10_000_000)
        _check_whole("slot_tokens", self.slot_tokens, 1, 1_000_000_000)
        _check_whole("slot_chunks", self.slot_chunks, 1, 1_000_000)
        _check_whole("overlap_tokens", self.overlap_tokens, 0, 10_000_000)
        if self.overlap_tokens >= self.max_tokens:
            raise SettingsError(
                f"overlap_tokens is {self.overlap_tokens}, which leaves nothing of max_tokens ({self.max_tokens}) "
                "for new text; it must be smaller"
            )
        _check_whole("parent_tokens", self.parent_tokens, 0, 10_000_000)
        if 0 < self.parent_tokens < self.max_tokens:
            raise SettingsError(
                f"parent_tokens is {self.parent_tokens}, and a parent is made of whole chunks; it must be 0 (no "
                f"parents) or at least max_tokens ({self.max_tokens})"
            )
        _check_whole("split_headings", self.split_headings, 0, 6)
        if self.language is not None and not (isinstance(self.language, str) and _LANGUAGE.fullmatch(self.language)):
            raise SettingsError(
                f"language {self.language!r} is no code of a language; valid are: en, de, ja and the like, or none, "
                "which chooses by the text"
            )
        if self.source_encoding is not None:
            _check_text_encoding(self.source_encoding)
        _check_flag("chunks", self.chunks)
        _check_flag("heading_context", self.heading_context)
        if self.chunks:
            self._check_chunks()
        given: object = self.id_column
        if given is None:
            object.__setattr__(self, "id_column", "doc_id" if self.chunks else "id")
        _check_column("id_column", self.id_column)
        _check_column("text_column", self.text_column)
        if self.id_column == self.text_column:
            raise SettingsError(f"text_column is {self.text_column!r}, as id_column is; they must be two columns")

    def _check_chunks(self) -> None:
        """Refuse what could not be done with chunks that are already cut, and would be passed over in silence."""
        for name in ("overlap_tokens", "parent_tokens", "split_headings"):
            if getattr(self, name):
                raise SettingsError(
                    f"{name} is {getattr(self, name)}, and chunks that another splitter has cut are taken over as they "
                    "are; it must be 0"
                )

    def _check_further_encodings(self) -> None:
        further: object = self.further_encodings
        if not isinstance(further, list | tuple):
            raise SettingsError(f"further_encodings must be a tuple of names, not {further!r}")
        object.__setattr__(self, "further_encodings", tuple(further))  # a list from JSON or TOML
        for name in further:
            _check_choice("further_encodings", name, ENCODINGS)
        if len({self.encoding, *further}) <= len(further):
            raise SettingsError(f"encoding {self.encoding!r} with further_encodings {further!r}: name each only once")

    @property
    def encodings(self) -> tuple[str, ...]:
        """Every encoding that is counted in, that of the limits first."""
        return (self.encoding, *self.further_encodings)

    @property
    def target(self) -> int:
        """The size that the splitter aims at, in tokens of the embed text."""
        return self.target_tokens if self.target_tokens is not None else max(1, self.max_tokens * 95 // 100)

    @property
    def share_tokens(self) -> int:
        """The share of the slot that one chunk may take before it is flagged `over_share`."""
        return self.slot_tokens // self.slot_chunks

    def as_dict(self) -> dict[str, str | int | bool | list[str] | None]:
        """Every setting by its name, in the order of the fields, as JSON has it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"further_encodings": list(self.further_encodings)}

    def sha256(self) -> str:
        """Fingerprint of every setting that any column depends on: hexadecimal sha256 of the sorted JSON.

        Further encodings are left out: they change no other column, and each has a fingerprint of its own.
        """
        effective = self.as_dict() | {"target_tokens": self.target}
        del effective["further_encodings"]
        return hashlib.sha256(json.dumps(effective, sort_keys=True).encode()).hexdigest()


def share(value: object, what: str) -> float:
    """A share of 1, given as a number or in per cent.

    >>> share("10%", "max_delete"), share(0.25, "max_delete")
    (0.1, 0.25)

    Raises:
        SettingsError: it is none; the message begins with `what` it is.
    """
    try:
        if isinstance(value, str):
            found = float(value.removesuffix("%")) / 100 if value.endswith("%") else float(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = float(value)
        else:
            raise ValueError
        if not 0 <= found <= 1:
            raise ValueError
    except ValueError:
        raise SettingsError(f"{what} must be a share from 0 to 1, or from 0% to 100%, not {value!r}") from None
    return found


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise SettingsError(f"{name} must be true or false, not {value!r}")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingsError(f"{name} {value!r} is not known; valid are: {', '.join(choices)}")


def _check_whole(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SettingsError(f"{name} must be a whole number, not {value!r}")
    if not least <= value <= most:
        raise SettingsError(f"{name} must be from {least} to {most}, not {value}")


def _check_column(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{name} must be the name of a column, not {value!r}")


def _check_text_encoding(value: object) -> None:
    known = isinstance(value, str)
    try:
        known = known and codecs.lookup(str(value)).name not in _NO_CHARACTER_SETS
        b"a".decode(str(value))
    except LookupError:  # of codecs that give no text, too
        known = False
    except ValueError:  # a letter alone may be no text in it
        pass
    if not known:
        raise SettingsError(
            f"source_encoding {value!r} is no encoding of text that Python knows; valid are: cp1252, latin-1, "
            "shift_jis, gb18030, utf-16-le and the like"
        )
