"""`chunkledger init`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from chunkledger.cli.config import FILE
from chunkledger.cli.output import note, result
from chunkledger.documents.sources import source_of
from chunkledger.errors import SettingsError
from chunkledger.proposals.settings_file import settings_file
from chunkledger.proposals.survey import survey


def init_command(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="What is to be ingested: a folder, or any other SOURCE.")
    ] = ".",
    to: Annotated[Path, typer.Option(metavar="FILE", help="Where to.")] = Path(FILE),
    force: Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")] = False,
    print_it: Annotated[bool, typer.Option("--print", help="Write to standard output instead of the file.")] = False,
) -> None:
    """Look at FOLDER and write a settings file for it, with every setting explained and what the files call for set.

    All names and sizes are looked at, and the first bytes of at most some thousand files. The file says why a value is
    set; where only a person can tell, it has the candidates in a comment.
    """
    if not (print_it or force):
        _check_free(to)
    written = settings_file(survey(source_of(folder), to), folder)
    if print_it:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        sys.stdout.write(result(written))
    else:
        with to.open("w" if force else "x", encoding="utf-8", newline="") as file:
            file.write(written)
        note(f"settings are in {to}")
    if to != Path(FILE) and not print_it:
        note(f"ingest reads them from {FILE} in the folder where it is run")
    note(f"next: chunkledger ingest {shlex.quote(folder)} --out ledger")


def _check_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise SettingsError(f"{path} is there already; --force replaces it, --print writes to standard output")
