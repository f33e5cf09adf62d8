"""The command line; the only place that prints.

Standard output carries the result and nothing else; narration, progress and the summary go to standard error.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from chunkledger import __version__
from chunkledger.cli import (
    configuring,
    diagnosing,
    doctor,
    exporting,
    feeding,
    ingesting,
    operating,
    packing,
    recounting,
    reporting,
    showing,
    simulating,
    starting,
    verifying,
    whatif,
)
from chunkledger.cli.exits import guarded
from chunkledger.cli.output import error, use_log_format
from chunkledger.engines.memory import without_pandas

app = typer.Typer(
    name="chunkledger",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Split documents at structural boundaries, with exact token counts, into a ledger that a packer can read.",
    epilog="Exit codes: 0 done; 1 a check failed; 2 usage or settings; 3 some documents failed, the rest is "
    "published; 4 nothing published, or output not written; 130, 143 interrupted.",
)
for name, command in (
    ("ingest", ingesting.ingest_command),
    ("report", reporting.report_command),
    ("show", showing.show_command),
    ("export", exporting.export_command),
    ("slot", packing.slot_command),
    ("pack", packing.pack_command),
    ("whatif", whatif.whatif_command),
    ("simulate", simulating.simulate_command),
    ("diagnose", diagnosing.diagnose_command),
    ("curve", diagnosing.curve_command),
    ("verify", verifying.verify_command),
    ("feed", feeding.feed_command),
    ("runs", operating.runs_command),
    ("vacuum", operating.vacuum_command),
    ("doctor", doctor.doctor_command),
    ("recount", recounting.recount_command),
    ("schema", exporting.schema_command),
    ("init", starting.init_command),
):
    app.command(name)(guarded(command))

config = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Show what holds, and where it is from.")
config.command("show")(guarded(configuring.show_command))
app.add_typer(config, name="config")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"chunkledger {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the whole command."""


def main(*, with_json_lines: bool = False) -> None:
    """Run the command line and exit with its code.

    Args:
        with_json_lines: tell as JSON, too, what is wrong with the command line itself.
    """
    without_pandas()
    # Where the terminal's encoding lacks a character, an escape stands for it.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if with_json_lines:
        _main_with_json_lines()
    else:
        app(prog_name="chunkledger")


def _main_with_json_lines() -> None:
    """As typer runs it, but what it says of a command line that is wrong is an object like every other line."""
    use_log_format("json")
    try:
        code = app(prog_name="chunkledger", standalone_mode=False)
    except Exception as failure:
        if not hasattr(failure, "format_message"):  # typer's copy of click, whose classes it does not give out
            raise
        error(failure.format_message())
        code = failure.exit_code  # type: ignore[attr-defined]
    sys.exit(code)
