"""`chunkledger config show`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import typer

from chunkledger.cli.config import RUN_OPTIONS, Configuration, Given, configured, cores
from chunkledger.cli.output import note, shown
from chunkledger.documents.sources import MAX_DOCUMENT_BYTES
from chunkledger.planning.guard import MAX_DELETE
from chunkledger.proposals.toml_text import toml_value

_MEANT = {
    "target_tokens": "95 % of max_tokens",
    "language": "each paragraph's own",
    "source_encoding": "texts in another encoding fail",
    "jobs": "the cores that there are",
    "include": "all documents",
    "exclude": "no document",
    "documents": "offsets of chunks are not checked",
}
"""What a default stands for that is no value, or another one on every machine."""
_WIDEST_VALUE = 30


class Shown(NamedTuple):
    """A setting as it is shown: what holds, and where that is from; a value of None is no value."""

    name: str
    value: Any
    origin: str


def show_command(
    format: Annotated[
        Literal["table", "json"],
        typer.Option(help="For people, or for programs: a list of objects with name, value and origin."),
    ] = "table",
) -> None:
    """Show every setting that an ingest without flags would have here, and where each is from.

    Looks at CHUNKLEDGER_... variables, then chunkledger.toml, then [tool.chunkledger] in pyproject.toml; "over" names
    the places whose value is not used. Values are written as in chunkledger.toml, - where there is none.
    """
    found = configured({})
    for path, reason in found.absent.items():
        note(f"{path} {reason}")
    rows = effective(found)
    if format == "json":
        print(json.dumps([row._asdict() for row in rows], indent=1))
        return
    # No table of rich's: it would fold a long path, and one setting on one line can be searched for.
    written = [Shown(row.name, _written(row.value), row.origin) for row in rows]
    width = min(_WIDEST_VALUE, max(len(row.value) for row in written))
    for row in (Shown("setting", "value", "origin"), *written):
        print(shown(f"{row.name:<19}{row.value:<{width}}  {row.origin}"))


def effective(found: Configuration) -> list[Shown]:
    """Every setting and every option of a run, in the order of the documentation, as it holds."""
    settings, options = found.settings, found.options
    values = settings.as_dict() | {"target_tokens": settings.target}
    defaults = {
        "jobs": cores(),
        "max_document_bytes": MAX_DOCUMENT_BYTES,
        "include": [],
        "exclude": [],
        "documents": None,
        "max_delete": MAX_DELETE,
        "wait": 0,
    }
    for name in RUN_OPTIONS:
        values[name] = options.get(name, defaults[name])
    return [Shown(name, value, _origin(name, found.given.get(name, ()))) for name, value in values.items()]


def _origin(name: str, places: Sequence[Given]) -> str:
    if not places:
        return f"default ({_MEANT[name]})" if name in _MEANT else "default"
    over = ", ".join(given.place for given in places[1:])
    return f"{places[0].origin} (over {over})" if over else places[0].origin


def _written(value: object) -> str:
    return "-" if value is None else toml_value(value)
