"""Do what the README's container file says, without a container: `python tests/container.py FOLDER`.

Its RUN line installs the wheel in `dist/` into an environment of its own, with the file's own options, and its
ENTRYPOINT and CMD then ingest the sample corpus from there. FOLDER is where all of that is made.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

from readme_blocks import blocks

ROOT = Path(__file__).parent.parent


def main(folder: Path) -> None:
    """Fail where a line does not do what it is there for."""
    [text] = blocks("dockerfile")
    lines = dict(re.findall(r"^([A-Z]+) (.*)$", text.replace("\\\n", " "), re.MULTILINE))
    [wheel] = (ROOT / "dist").glob("chunkledger-*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
    for command in lines["RUN"].split("&&"):
        program, *arguments = shlex.split(command)
        if program != "pip":
            assert program == "useradd", f"a new step of the container file that nobody tests: {command}"
            continue
        places = {"/tmp/constraints.txt": str(ROOT / "constraints.txt"), "/tmp/chunkledger-*.whl": str(wheel)}  # noqa: S108
        given = [places.get(argument, argument) for argument in arguments]
        subprocess.run([folder / "environment/bin/pip", "--quiet", *given], check=True)
    ledger = folder / "ledger"
    mounted = {"/docs": str(ROOT / "sample_corpus"), "/ledger": str(ledger)}
    arguments = [mounted.get(argument, argument) for argument in json.loads(lines["CMD"])]
    [program] = json.loads(lines["ENTRYPOINT"])
    command = [folder / "environment/bin" / program, *arguments]
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
    last = json.loads(done.stderr.splitlines()[-1])
    # Three of the sample's documents are bad on purpose.
    assert (done.returncode, last["event"], last["run"], ledger.is_dir()) == (3, "done", 1, True), done.stderr


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
