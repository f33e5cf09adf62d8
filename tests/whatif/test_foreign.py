"""Chunks that another splitter has cut: simulated as ours are, and compared with ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.documents.sources import Selection
from chunkledger.errors import SettingsError
from chunkledger.packer import pack
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Seeded
from chunkledger.simulation.simulating import simulate
from chunkledger.whatif.asking import what_if
from chunkledger.whatif.figures import figures_of
from ledgers import cli, rows_of, sections, write

FEW = Seeded(20)
SHORT = "One line without a heading.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents below `docs`, chunks of 700 characters of them, and their ledgers, with documents and without."""
    made = tmp_path_factory.mktemp("foreign")
    files = {"a.md": sections(6), "b.md": sections(3, 20), "short.md": SHORT}
    write(made / "docs", files)
    rows = [
        {
            "doc_id": name,
            "text": text[start : start + 700],
            "char_start": start,
            "char_end": min(start + 700, len(text)),
        }
        for name, text in files.items()
        for start in range(0, len(text), 700)
    ]
    write(made, {"chunks.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    settings = Settings(chunks=True, slot_tokens=900, max_tokens=300)
    ingest([made / "chunks.jsonl"], made / "ledger", settings)
    selection = Selection(documents=str(made / "docs"))
    ingest([made / "chunks.jsonl"], made / "checked", settings, selection=selection)
    return made


@pytest.mark.parametrize("name", ["ledger", "checked"])
def test_foreign_chunks_are_simulated(folder: Path, name: str) -> None:
    """The packer says of them what it says of their whole records, with offsets or without."""
    rows = rows_of(folder / name)
    [one] = simulate(folder / name, [Packing(slot_tokens=900, k=12)], FEW).simulations
    logs = [
        pack([rows[place] for place in places], 900, encoding="o200k_base", emit=False).log
        for places in FEW.lists(len(rows), 12)
    ]
    assert one.counts["packed"].total == sum(log.packed for log in logs)
    assert one.counts["merged"].total == sum(log.merged for log in logs)
    assert one.used.mean == pytest.approx(sum(log.used for log in logs) / len(logs))


@pytest.mark.parametrize("name", ["ledger", "checked"])
def test_their_splitter_beside_ours(folder: Path, tmp_path: Path, name: str) -> None:
    """Ours is what an ingest of the documents makes with the ledger's limits; hashes of theirs say nothing."""
    found = what_if(folder / name, folder / "docs", rankings=FEW)
    [case] = found.cases
    ingest([folder / "docs"], tmp_path / "ours", Settings(slot_tokens=900, max_tokens=300))
    assert case.figures == figures_of(open_ledger(tmp_path / "ours"))
    assert found.before == figures_of(open_ledger(folder / name))
    assert (case.is_own, case.settings["chunks"], case.settings["id_column"]) == (False, False, "id")
    documents = case.documents
    assert (documents.same, documents.changed, documents.new, documents.gone) == (3, None, 0, 0)
    theirs, ours = (rows_of(each) for each in (folder / name, tmp_path / "ours"))
    stay = {row["chunk_id"] for row in theirs} & {row["chunk_id"] for row in ours}
    embedded = {(row["chunk_id"], row["embed_prefix"]) for row in theirs}
    needed = [row for row in ours if (row["chunk_id"], row["embed_prefix"]) not in embedded]
    changes = case.changes
    assert (changes.stay, changes.go, changes.come) == (len(stay), len(theirs) - len(stay), len(ours) - len(stay))
    assert (changes.embed, changes.embed_tokens) == (len(needed), sum(row["embed_tokens"] for row in needed))


def test_documents_that_the_ledger_knows_of(folder: Path) -> None:
    """Where chunks were checked against documents, these are split; where they were not, somebody must name them."""
    found = what_if(folder / "checked", rankings=FEW)
    assert found.sources == (str(folder / "docs"),)
    assert found.cases == what_if(folder / "ledger", folder / "docs", rankings=FEW).cases
    with pytest.raises(SettingsError, match="holds chunks that were cut elsewhere; give the documents that they were"):
        what_if(folder / "ledger", rankings=FEW)


def test_command_says_what_is_compared(folder: Path) -> None:
    """People are told that the splitter is another one, and that documents are told by their ids alone."""
    asked = ["whatif", folder / "docs", "--against", folder / "ledger", "--requests", "5"]
    done = cli(*asked, "--min-tokens", "9")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "run 1, and what if: chunks cut elsewhere -> cut here, min_tokens 50 -> 9"
    assert done.out.splitlines()[-1] == (
        "documents: 3 under ids of the ledger, not comparable, 0 new, 0 gone, 0 failed"
    )
    assert cli(*asked, "--sweep", "max_tokens=100,200").code == 0
