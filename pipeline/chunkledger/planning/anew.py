"""Why what the last run made can't be taken over, if it can't."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from chunkledger import __version__
from chunkledger.records.schema import SCHEMA_VERSION
from chunkledger.settings import Settings

MAKERS = ("pyromark", "sentencex", "regex", "pyyaml")
"""Packages whose version may change what a record holds, besides this one; tokenizers are proven to count the same."""
_MOST_NAMED = 4


def reasons_to_split_anew(report: Mapping[str, Any], settings: Settings) -> str:
    """What is different now from the run of this report, so that its records can't stay; "" where nothing is.

    Args:
        report: of the last run.
        settings: of this one.
    """
    found: list[str] = []
    if report["schema_version"] != SCHEMA_VERSION:
        found.append(f"schema {report['schema_version']} -> {SCHEMA_VERSION}")
    before, now = report["settings"], settings.as_dict()
    found += [
        f"{name} {_shown(before.get(name))} -> {_shown(now.get(name))}"
        for name in dict.fromkeys([*now, *before])
        if before.get(name) != now.get(name)
    ]
    here = made_with()
    found += [
        f"{name} {report['versions'].get(name)} -> {own}"
        for name, own in here.items()
        if report["versions"].get(name) != own
    ]
    more = [f"and {len(found) - _MOST_NAMED} more"] if len(found) > _MOST_NAMED else []
    return ", ".join([*found[:_MOST_NAMED], *more])


def made_with() -> dict[str, str]:
    """The versions that decide what a record holds."""
    return {"chunkledger": __version__, **{name: installed(name) for name in MAKERS}}


@cache
def installed(name: str) -> str:
    """The version of a package; looked up once, as its file has to be found and parsed."""
    return version(name)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
