"""Settings from where people put them: flag, environment, `chunkledger.toml`, `pyproject.toml`, default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from chunkledger.documents.sources import MOST_DOCUMENT_BYTES
from chunkledger.errors import SettingsError
from chunkledger.settings import Settings

ENVIRONMENT_PREFIX = "CHUNKLEDGER_"
FILE = "chunkledger.toml"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_TYPES = {field.name: str(field.type) for field in fields(Settings)}
_RUN_OPTIONS = {"jobs": "int", "max_document_bytes": "int", "include": "list", "exclude": "list"}
"""Options of a run that decide nothing about what a record holds."""
_RANGES = {"jobs": (0, 10_000), "max_document_bytes": (1, MOST_DOCUMENT_BYTES)}


def resolved(flags: Mapping[str, object], *, folder: Path | None = None) -> tuple[Settings, dict[str, Any]]:
    """The settings, and the options of the run.

    Args:
        flags: by name; None where the flag was not given.
        folder: where the files are looked for; the working directory where None.

    Raises:
        SettingsError: an unknown name or a value that can't be, with the place it came from.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, found in (*_files(folder or Path.cwd()), ("the environment", _environment())):
        for name, value in found.items():
            values[name] = _checked(name, value, origin)
            origins[name] = origin
    for name, value in flags.items():
        if value is not None:
            values[name] = value
            origins.pop(name, None)
    options = {name: values.pop(name) for name in _RUN_OPTIONS if name in values}
    try:
        return Settings(**values), options
    except SettingsError as error:
        # Every message of Settings begins with the name of the setting.
        name = str(error).partition(" ")[0]
        raise SettingsError(f"{origins[name]}: {error}" if name in origins else str(error)) from error


def _files(folder: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Tables of settings, the weakest first."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    project, own = folder / "pyproject.toml", folder / FILE
    if project.is_file():
        found.append((f"{project} [tool.chunkledger]", _table(_table(_toml(project), "tool"), "chunkledger")))
    if own.is_file():
        found.append((str(own), _toml(own)))
    return found


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name, {})
    if not isinstance(value, Mapping):
        raise SettingsError(f"{name} must be a table of settings, not {value!r}")
    return value


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    except OSError as error:
        raise SettingsError(f"{path} can't be read: {error.strerror}") from error


def _environment() -> dict[str, str]:
    """Settings by name. One that is not known is an error: a typing error must not cost a night's run its limit."""
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower(): value
        for name, value in os.environ.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }


def _checked(name: str, value: object, origin: str) -> object:
    kind = _TYPES.get(name) or _RUN_OPTIONS.get(name)
    if kind is None:
        known = ", ".join([*_TYPES, *_RUN_OPTIONS])
        raise SettingsError(f"{origin}: unknown setting {name!r}; there are: {known}")
    found = _from_text(name, value, kind, origin) if isinstance(value, str) else value
    if kind == "list":
        if not isinstance(found, list | tuple):
            raise SettingsError(f"{origin}: {name} must be a list, not {value!r}")
        return tuple(str(item) for item in found)
    if name in _RANGES:
        least, most = _RANGES[name]
        if type(found) is not int or not least <= found <= most:
            raise SettingsError(f"{origin}: {name} must be a whole number from {least} to {most}, not {value!r}")
    return found


def _from_text(name: str, value: str, kind: str, origin: str) -> object:
    if kind.startswith("str"):
        return value
    if kind == "list" or kind.startswith("tuple"):
        return tuple(part for part in value.split(os.pathsep) if part)
    if kind == "bool":
        if value.lower() in _TRUE + _FALSE:
            return value.lower() in _TRUE
        raise SettingsError(f"{origin}: {name} must be true or false, not {value!r}")
    try:
        return int(value.replace("_", ""))
    except ValueError:
        raise SettingsError(f"{origin}: {name} must be a whole number, not {value!r}") from None
