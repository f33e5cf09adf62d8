"""Settings from where people put them: flag, environment, `chunkledger.toml`, `pyproject.toml`, default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from chunkledger.documents.sources import MOST_DOCUMENT_BYTES
from chunkledger.errors import SettingsError
from chunkledger.settings import Settings, share

ENVIRONMENT_PREFIX = "CHUNKLEDGER_"
FILE, PROJECT_FILE = "chunkledger.toml", "pyproject.toml"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_TYPES = {field.name: str(field.type) for field in fields(Settings)}
RUN_OPTIONS = {
    "jobs": "int",
    "max_document_bytes": "int",
    "include": "list",
    "exclude": "list",
    "documents": "str",
    "max_delete": "share",
    "wait": "int",
}
"""Options of a run that decide nothing about what a record holds."""
_RANGES = {"jobs": (0, 10_000), "max_document_bytes": (1, MOST_DOCUMENT_BYTES), "wait": (0, 1_000_000)}


class _Place(NamedTuple):
    """Values by name, and where they are: in short, and with the path."""

    place: str
    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """A value that somebody gave to a setting.

    Attributes:
        value: as the setting takes it.
        place: what it was given in, in short: `flag`, the name of a variable, the name of a file.
        origin: the same with the path of the file.
    """

    value: Any
    place: str
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """What holds in a folder, and why.

    Attributes:
        settings: what decides the records.
        options: of the run, those that were given.
        given: all that was given to a setting or an option, by name, the strongest first.
        absent: files that were looked for, each with the reason why nothing comes from it.
    """

    settings: Settings
    options: dict[str, Any]
    given: Mapping[str, tuple[Given, ...]]
    absent: Mapping[str, str]


def resolved(flags: Mapping[str, object], *, folder: Path | None = None) -> tuple[Settings, dict[str, Any]]:
    """The settings, and the options of the run; arguments and errors are those of `configured`."""
    found = configured(flags, folder=folder)
    return found.settings, found.options


def configured(flags: Mapping[str, object], *, folder: Path | None = None) -> Configuration:
    """The settings, the options of the run, and where each is from.

    Args:
        flags: by name; None where the flag was not given.
        folder: where the files are looked for; the working directory where None.

    Raises:
        SettingsError: an unknown name or a value that can't be, with the place it came from.
    """
    absent: dict[str, str] = {}
    given: dict[str, tuple[Given, ...]] = {}
    for place, origin, found in (*_files(folder or Path.cwd(), absent), *_environment()):
        for name, value in found.items():
            given[name] = (Given(_checked(name, value, origin), place, origin), *given.get(name, ()))
    for name, value in flags.items():
        if value is not None:
            given[name] = (Given(value, "flag", ""), *given.get(name, ()))
    values = {name: places[0].value for name, places in given.items()}
    options = {name: values.pop(name) for name in RUN_OPTIONS if name in values}
    try:
        return Configuration(Settings(**values), options, given, absent)
    except SettingsError as error:
        # Every message of Settings begins with the name of the setting.
        name = str(error).partition(" ")[0]
        origin = given[name][0].origin if name in given else ""
        raise SettingsError(f"{origin}: {error}" if origin else str(error)) from error


def cores() -> int:
    """Cores that this process may use: the workers of a run that is not told how many."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _files(folder: Path, absent: dict[str, str]) -> list[_Place]:
    """What the files give, the weakest first; files that give nothing are put into `absent`."""
    found: list[_Place] = []
    project, own = folder / PROJECT_FILE, folder / FILE
    if project.is_file():
        values = _table(_table(_toml(project), "tool"), "chunkledger")
        found.append(_Place(f"{PROJECT_FILE} [tool.chunkledger]", f"{project} [tool.chunkledger]", values))
        if not values:
            absent[str(project)] = "gives no [tool.chunkledger]"
    if own.is_file():
        found.append(_Place(FILE, str(own), _toml(own)))
    absent.update((str(path), "is not there") for path in (own, project) if not path.is_file())
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


def _environment() -> list[_Place]:
    """What each variable gives. One that is not known is an error: a typing error must not cost a night its limit."""
    return [
        _Place(f"environment {name}", f"environment {name}", {name.removeprefix(ENVIRONMENT_PREFIX).lower(): value})
        for name, value in os.environ.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    ]


def _checked(name: str, value: object, origin: str) -> object:
    kind = _TYPES.get(name) or RUN_OPTIONS.get(name)
    if kind is None:
        known = ", ".join([*_TYPES, *RUN_OPTIONS])
        raise SettingsError(f"{origin}: unknown setting {name!r}; there are: {known}")
    if kind == "share":
        return share(value, f"{origin}: {name}")
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
