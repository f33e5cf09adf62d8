"""What is in a corpus is text, whatever it looks like: never a path, markup, a command, nor a terminal's control."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from pathlib import Path

import pytest

from chunkledger import Settings, chunk_text, ingest, open_ledger
from chunkledger.verification import verify
from ledgers import COMMAND, cli, names_below, prose, rows_of, write

CONTROLS = "\x1b[31mred\x1b[0m \x9b31m \x07 \u202eevil\u202c \u2028 \x7f"
MARKUP = "[bold red]x[/] %s {0} {self.__class__} $(id) `id` '; DROP TABLE chunks; -- <script>alert(1)</script> =1+1"
NAMES = [
    "../../outside",
    "/etc/passwd",
    "a\x1b[31m.md",
    "b\u202e.md",
    "c\nd.md",
    MARKUP,
    "..",
    "_delta_log/0.json",
    "~",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of hostile names, ids and texts below `docs`, its ledger, and a file outside that nobody may read."""
    made = tmp_path_factory.mktemp("untrusted")
    text = f"# {CONTROLS} {MARKUP}\n\n{prose(6)} {CONTROLS} {MARKUP}\n"
    rows = [{"id": name, "text": f"{text}{number}", MARKUP: CONTROLS} for number, name in enumerate(NAMES)]
    bad = [{"id": f"{CONTROLS}{MARKUP}", "text": None}, {CONTROLS: MARKUP}]
    write(made / "outside", {"outside": "secret\n"})
    write(
        made / "docs",
        {
            "t.jsonl": "".join(f"{json.dumps(row)}\n" for row in [*rows, *bad]),
            "a\x1b[2J\n.md": text,
            "[red]%s{0}.md": text,
            "bad\x1b[2J.md": b"\xe5",
            "bad\u202e.png": "",
        },
    )
    ingest([made / "docs"], made / "ledger", Settings(max_tokens=100, slot_tokens=100, slot_chunks=1))
    return made


def _is_shown(text: str) -> bool:
    """Whether nothing in the text does more to a terminal than end a line."""
    return all(char in "\r\n" or unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp") for char in text)


def test_every_command_shows_text_as_text(folder: Path) -> None:
    """No command passes on a control character, to standard output or standard error."""
    ledger = folder / "ledger"
    ids = [row["chunk_id"] for row in rows_of(ledger)]
    log = [json.dumps(ids), CONTROLS, json.dumps({CONTROLS: 1}), json.dumps([CONTROLS]), json.dumps({MARKUP: 1})]
    write(folder, {"ids.txt": "\n".join(ids), "log.jsonl": "\n".join(log)})
    for arguments in (
        ["ingest", folder / "docs", "--out", folder / "again", "--slot-tokens", "100"],
        ["report", ledger, "--top", "50"],
        ["report", ledger, "--format", "json"],
        ["export", ledger],
        ["verify", ledger],
        ["pack", ledger, "--ids", folder / "ids.txt", "--slot-tokens", "3000"],
        ["simulate", ledger, "--requests", "20"],
        ["simulate", ledger, "--log", folder / "log.jsonl"],
        ["whatif", "--against", ledger, "--requests", "20"],
        ["whatif", "--against", ledger, "--requests", "20", "--text-column", CONTROLS],
        ["ingest", folder / "docs" / "no\x1b[31mthing", "--out", ledger],
        ["report", folder / "no\x1b[31mthing"],
    ):
        done = cli(*arguments)
        assert _is_shown(done.out + done.err), arguments
        if arguments[0] == "export" or done.code == 3:
            assert "[bold red]" in done.out + done.err


@pytest.mark.parametrize(
    "arguments",
    [["export"], ["export", "--format", "csv"], ["pack", "--ids", "ids.txt", "--slot-tokens", "3000", "--render"]],
)
def test_terminal_gets_no_control_character(folder: Path, arguments: list[str]) -> None:
    """What is exact in a file or a pipe is escaped where a person would see it."""
    write(folder, {"ids.txt": "\n".join(row["chunk_id"] for row in rows_of(folder / "ledger"))})
    command = [*COMMAND, arguments[0], "ledger", *arguments[1:]]
    outer, inner = os.openpty()
    with subprocess.Popen(command, cwd=folder, stdout=inner, stderr=subprocess.DEVNULL) as process:
        os.close(inner)
        seen = b""
        try:
            while part := os.read(outer, 65_536):
                seen += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(outer)
    assert process.returncode == 0
    assert len(seen) > 1000
    assert _is_shown(seen.decode())


def test_exports_to_files_are_exact(folder: Path) -> None:
    """Escapes of JSON stand for the very characters; CSV and Parquet hold them as they are."""
    rows = rows_of(folder / "ledger")
    lines = cli("export", folder / "ledger").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert any(CONTROLS in row["text"] for row in rows)
    cli("export", folder / "ledger", "--format", "csv", "--to", folder / "rows.csv")
    assert CONTROLS in (folder / "rows.csv").read_text("utf-8")


def test_ids_are_no_paths(folder: Path) -> None:
    """An id that looks like a path is kept as it is, makes no file, and is never looked up on disk."""
    ids = {row["doc_id"] for row in rows_of(folder / "ledger")}
    assert set(NAMES) < ids
    assert names_below(folder / "outside") == {"outside"}
    assert not [name for name in names_below(folder / "ledger") if ".." in name or "passwd" in name]
    found = verify(folder / "ledger")
    assert (found.mismatches, found.compared) == ([], len(ids))
    (folder / "docs" / "t.jsonl").rename(folder / "gone.jsonl")
    try:
        found = verify(folder / "ledger")
    finally:
        (folder / "gone.jsonl").rename(folder / "docs" / "t.jsonl")
    assert found.mismatches == []
    assert set(found.not_compared) == set(NAMES)
    assert set(found.not_compared.values()) == {"the source is gone"}


def test_row_that_is_named_like_the_ledgers_files_harms_nothing(folder: Path) -> None:
    """Names of parts come from hashes alone."""
    names = names_below(folder / "ledger")
    assert all(name.startswith(("part-", "_delta_log/", "_documents/", "_runs/", "_lock")) for name in names)
    assert open_ledger(folder / "ledger").run == 1


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
        "x: !!python/object/apply:os.system ['touch /tmp/owned']",
        "x: !!python/name:os.system",
        "[" * 5000,
        "? " * 5000,
        "x: " + "9" * 100_000,
        "x: 1e999999999\ny: !!float 1e400",
        "x: 0x" + "f" * 60_000,
        "x: 1:1:1:" + "1:" * 20_000 + "1",
        "<<: [{a: 1}, {b: 2}]\nx: 2026-99-99",
        "x: !!binary " + "A" * 60_000,
        "x: |\n" + "  y\n" * 60_000,
        "k: v\n" * 20_000,
    ],
    ids=range(13),
)
def test_front_matter_is_read_safely(front: str) -> None:
    """Whatever YAML can do, it makes plain values or none, and the text is there in full."""
    text = f"---\n{front}\n---\n\nBody text.\n"
    chunks = chunk_text(text, Settings(max_tokens=400), format="markdown")
    assert all(isinstance(json.loads(chunk.metadata), dict) for chunk in chunks)
    assert "".join(chunk.text + chunk.gap_after for chunk in chunks) == text
    assert not Path("/tmp/owned").exists()  # noqa: S108 (what the attack would make)
