"""How slots are packed, as options: the same for one list of ids and for many simulated ones."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

MaxChunks = Annotated[int | None, typer.Option(min=1, help="Most chunks to pack.")]
OnMiss = Annotated[Literal["skip", "stop"], typer.Option(help="At a chunk that does not fit.")]
Truncate = Annotated[
    Literal["floor", "never", "any"],
    typer.Option(help="What may be cut to fit: rank 1; nothing; or also one chunk that did not fit."),
]
Sentences = Annotated[bool, typer.Option("--sentences", help="Cut behind sentences too.")]
Merge = Annotated[bool, typer.Option(help="Make one block of chunks that follow each other.")]
Duplicates = Annotated[
    Literal["text", "chunk"],
    typer.Option(help="What is packed once: equal texts under equal headings, or only the same chunk."),
]
CountedIn = Annotated[
    str | None, typer.Option(help="Whose counts: one that LEDGER is counted in. [that of its limits]")
]
