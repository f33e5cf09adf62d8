"""A program that runs command lines as somebody who may do little; for tests, which are often run as root.

Each line that it reads is a JSON list: a folder to be in, and the arguments. Each line that it writes has the exit
code, the output and the errors. It imports what the commands import, and then forks a process for each line, which
gives its rights away: the interpreter may lie where nobody else may read.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

NOBODY = 65534


def _run(arguments: list[str]) -> int:
    from chunkledger.cli import main

    sys.argv = ["chunkledger", *arguments]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _practise(told: int) -> None:
    """Run what the tests run, and write the names of all modules that it took."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        ledger = f"{folder}/ledger"
        Path(folder, "docs").mkdir()
        for text in ("# One\n\nTwo.\n", "# One\n\nThree.\n"):
            Path(folder, "docs", "a.md").write_text(text)
            _run(["ingest", f"{folder}/docs", "--out", ledger, "--jobs", "0"])
        for command in ("report", "export", "verify", "doctor"):
            _run([command, ledger])
        _run(["recount", ledger, "--encoding", "cl100k_base"])
    os.write(told, "\n".join(sys.modules).encode())


def _import_all() -> None:
    """Import what a process needs that does all of it; that process itself has threads, and can't be forked."""
    names, told = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(names)
            _practise(told)
        finally:
            os._exit(0)
    os.close(told)
    with open(names, encoding="utf-8") as stream:
        found = stream.read().splitlines()
    os.waitpid(pid, 0)
    for name in found:
        with suppress(ImportError):
            importlib.import_module(name)


def _answer(folder: str, arguments: list[str]) -> tuple[int, str, str]:
    """What the command does in a process of its own."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        pid = os.fork()
        if not pid:
            code = 70
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                os.chdir(folder)
                code = _run(arguments)
                sys.stdout.flush()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


if __name__ == "__main__":
    _import_all()
    for line in sys.stdin:
        where, *told = json.loads(line)
        print(json.dumps(_answer(where, told)), flush=True)  # noqa: T201 (the result of this program)
