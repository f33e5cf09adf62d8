"""What would be is what an ingest into the ledger makes of it, and nothing of it is ever seen by the ledger."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkledger import Settings, ingest, open_ledger
from chunkledger.documents.sources import Selection
from chunkledger.errors import SettingsError, SourceError, UnwritableError
from chunkledger.outliers.summary import summary
from chunkledger.runs.making import Progress, Step
from chunkledger.simulation.packing import Packing
from chunkledger.simulation.rankings import Seeded
from chunkledger.simulation.simulating import simulate
from chunkledger.store.lock import locked
from chunkledger.whatif.asking import what_if
from chunkledger.whatif.figures import figures_of
from chunkledger.whatif.outcome import Case, Figures, WhatIf
from faults import environment
from ledgers import SAMPLE_CORPUS, cli, prose, sections, write

FEW = Seeded(20)


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where scratch ledgers are made; nothing may be left there."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of the sample corpus."""
    made = tmp_path_factory.mktemp("sample") / "ledger"
    ingest([SAMPLE_CORPUS], made, Settings(slot_tokens=4000))
    return made


def _changing(folder: Path) -> Path:
    """A ledger in `folder`, of documents in `docs` beside it, some of which were changed, renamed, removed since."""
    files = {f"{name}.md": sections(3, 5) + prose(3, name) for name in ("kept", "old", "gone", "broken", "changed")}
    docs = write(folder / "docs", files | {"rows.jsonl": '{"id": "r", "text": "Some text."}\n'})
    ingest([docs], folder / "ledger", Settings(min_tokens=20))
    (docs / "old.md").rename(docs / "renamed.md")
    (docs / "gone.md").unlink()
    write(docs, {"broken.md": b"\xff", "changed.md": sections(4, 5), "new.md": prose(40), "rows.jsonl": "[]\n"})
    return folder / "ledger"


def _tree(ledger: Path) -> dict[str, tuple[int, bytes | None]]:
    """All that lies in a folder, with the time of its last change."""
    return {
        path.relative_to(ledger).as_posix(): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in [ledger, *ledger.rglob("*")]
    }


def _only(found: WhatIf) -> Case:
    [case] = found.cases
    return case


def _check_figures(figures: Figures, ledger: Path) -> None:
    """They are those of the report on a ledger."""
    said = summary(open_ledger(ledger))
    assert figures == figures_of(open_ledger(ledger))
    assert (figures.documents, figures.chunks, figures.flagged) == (said.documents, said.chunks, said.flagged)
    assert (figures.tokens, figures.rendered_tokens) == (said.tokens, said.rendered_tokens)
    for size, percentiles in figures.percentiles.items():
        assert percentiles == {name: said.percentiles[size][name] for name in percentiles}
    assert {(each.flag, each.cause, each.chunks, each.documents) for each in figures.causes} == {
        (each.flag, each.cause, each.chunks, each.documents) for each in said.flags
    }
    assert sum(figures.flags.values()) == sum(each.chunks for each in said.flags)


def _fed(ledger: Path) -> tuple[int, int, int, int]:
    """What the feed of the last run says: ids that come, ids that go, chunks to embed, their tokens."""
    feed = open_ledger(ledger).feed(open_ledger(ledger).run - 1)
    needed = feed.filter(feed.column("embed_needed"))
    operations = feed.column("operation").to_pylist()
    tokens = pc.sum(needed.column("embed_tokens")).as_py() or 0
    return operations.count("add"), operations.count("delete"), len(needed), tokens


@pytest.mark.parametrize(
    "overrides",
    [
        {"max_tokens": 150},
        {"max_tokens": 300, "target_tokens": 200, "overlap_tokens": 30, "template": "markdown/1"},
        {"split_headings": 6, "heading_context": False, "min_tokens": 40},
        {"slot_tokens": 900, "slot_chunks": 4},
        {"encoding": "cl100k_base", "parent_tokens": 900, "language": "de"},
    ],
)
def test_sample_is_what_an_ingest_makes_of_it(sample: Path, tmp_path: Path, overrides: Mapping[str, Any]) -> None:
    """Sizes, flags, ids, tokens to embed and fill are those of a ledger that is made so, and of its feed."""
    found = what_if(sample, (), overrides, rankings=FEW)
    case = _only(found)
    before = open_ledger(sample)
    asked = replace(before.settings(), **overrides)
    assert Settings(**case.settings) == asked
    _check_figures(found.before, sample)
    ingest([SAMPLE_CORPUS], tmp_path / "fresh", asked)
    _check_figures(case.figures, tmp_path / "fresh")
    assert case.figures.parents == len(open_ledger(tmp_path / "fresh").chunks(["doc_id"], role="parent"))
    shutil.copytree(sample, tmp_path / "next")
    run = ingest([SAMPLE_CORPUS], tmp_path / "next", asked)
    come, go, embed, tokens = _fed(tmp_path / "next")
    changes = case.changes
    # Two of the documents that fail keep chunks in no run, so nothing of the sample is left out.
    assert (changes.come, changes.go, changes.embed, changes.embed_tokens) == (come, go, embed, tokens)
    assert changes.stay == run.chunks - come
    assert (case.documents.same, case.documents.changed, case.documents.failed) == (run.ok, 0, 3)
    for fill, ledger in ((case.fill, tmp_path / "fresh"), (case.fill_before, sample)):
        [one] = simulate(ledger, [Packing(slot_tokens=asked.slot_tokens, k=40)], FEW).simulations
        assert fill is not None
        assert (fill.slot_tokens, fill.fill, fill.packed) == (asked.slot_tokens, one.fill, one.packed)
        assert fill.at_fault == one.verdict.at_fault


@given(st.integers(30, 400), st.integers(0, 3), st.integers(0, 40), st.integers(60, 900))
@settings(max_examples=15, deadline=None)
def test_changed_documents_are_what_the_next_run_makes_of_them(
    tmp_path_factory: pytest.TempPathFactory, max_tokens: int, split_headings: int, min_tokens: int, slot_tokens: int
) -> None:
    """With documents that were changed, renamed, removed, added and broken, as the feed of the next run tells it."""
    folder = tmp_path_factory.mktemp("changed")
    ledger = _changing(folder)
    overrides = {
        "max_tokens": max_tokens,
        "split_headings": split_headings,
        "min_tokens": min_tokens,
        "slot_tokens": slot_tokens,
    }
    found = what_if(ledger, (), overrides, rankings=FEW)
    case = _only(found)
    # A run would make the broken document's chunks again from what it has; nobody can say that of the documents.
    broken = open_ledger(ledger).documents()
    ingest([folder / "docs"], ledger, replace(Settings(), **overrides), max_delete=1.0)
    run = open_ledger(ledger)
    feed = run.feed(run.run - 1).to_pylist()
    of_others = [row for row in feed if row["doc_id"] not in ("broken.md", "r")]
    changes = case.changes
    assert changes.come == sum(row["operation"] == "add" for row in of_others)
    assert changes.go == sum(row["operation"] == "delete" for row in of_others)
    assert changes.embed == sum(row["embed_needed"] for row in of_others)
    assert changes.embed_tokens == sum(row["embed_tokens"] for row in of_others if row["embed_needed"])
    documents = case.documents
    assert len(broken) == 6
    assert (documents.same, documents.changed, documents.new, documents.gone) == (1, 1, 2, 2)
    assert documents.failed == 2
    assert {finding.doc_id for finding in found.findings} == {"broken.md", "rows.jsonl"}
    assert found.exit_code == 3


def test_own_settings_change_nothing(sample: Path) -> None:
    """Nothing comes, goes or is embedded, and every figure is that of the ledger."""
    found = what_if(sample, rankings=FEW)
    case = _only(found)
    chunks = len(open_ledger(sample).chunks(["doc_id"]))
    assert case.figures == found.before
    assert case.fill == case.fill_before == found.fill
    assert (case.is_own, case.changes.stay, case.changes.go, case.changes.come) == (True, chunks, 0, 0)
    assert (case.changes.embed, case.changes.embed_tokens) == (0, 0)


def test_sweep_has_a_case_for_each_combination(sample: Path) -> None:
    """Those that differ in flags alone are split once, and are what they would be by themselves."""
    sweep = {"max_tokens": [200, 512], "slot_tokens": [900, 4000], "slot_chunks": [4, 8]}
    begun = []

    @contextmanager
    def watch(number: int, count: int, values: Mapping[str, int]) -> Iterator[Progress]:
        begun.append((number, count, values["max_tokens"]))
        yield lambda step: None

    found = what_if(sample, sweep=sweep, rankings=FEW, watch=watch)
    assert begun == [(1, 2, 200), (2, 2, 512)]
    assert [tuple(case.values.values()) for case in found.cases] == [
        (a, b, c) for a in (200, 512) for b in (900, 4000) for c in (4, 8)
    ]
    assert [case.values for case in found.cases if case.is_own] == [
        {"max_tokens": 512, "slot_tokens": 4000, "slot_chunks": 8}
    ]
    for case in found.cases[::3]:
        alone = _only(what_if(sample, (), case.values, rankings=FEW))
        assert replace(alone, values=case.values) == case


def test_ledger_is_not_touched(tmp_path: Path) -> None:
    """Not a byte and not a time of its folder changes, also while another run holds its lock."""
    ledger = _changing(tmp_path)
    before = _tree(ledger)
    what_if(ledger, (), {"max_tokens": 100}, rankings=FEW)
    assert _tree(ledger) == before
    with locked(str(ledger), 0.0):
        held = _tree(ledger)
        assert cli("whatif", "--against", ledger, "--max-tokens", "90", "--requests", "5").code == 3
        assert _tree(ledger) == held


def test_sources_and_selection_are_the_ledgers(tmp_path: Path) -> None:
    """Named sources, globs, columns of tables and what was left out are asked for again, from wherever one works."""
    docs = write(
        tmp_path / "docs",
        {
            "a.md": sections(2),
            "b.md": prose(9),
            "c.txt": "c",
            "t/rows.jsonl": '{"key": "x.md", "body": "# X\\n\\nOne."}\n',
        },
    )
    ledger = tmp_path / "ledger"
    made = Settings(id_column="key", text_column="body")
    ingest([f"n={docs}/**/*.*", docs / "a.md"], ledger, made, selection=Selection(exclude=("*b.md",)))
    found = what_if(ledger, (), {"max_tokens": 400}, rankings=FEW)
    assert found.sources == (f"n={docs}/**/*.*", str(docs / "a.md"))
    assert (_only(found).documents.same, _only(found).documents.new, found.exit_code) == (4, 0, 0)
    more = what_if(ledger, (), selection={"exclude": ()}, rankings=FEW)
    assert (_only(more).documents.same, _only(more).documents.new) == (4, 1)


def test_documents_may_be_given(tmp_path: Path) -> None:
    """Other sources are compared by document id; where none is known, the notice says why."""
    ledger = _changing(tmp_path)
    copy = write(tmp_path / "copy", {"kept.md": sections(2), "more.md": "More.\n"})
    case = _only(what_if(ledger, copy, rankings=FEW))
    assert (case.documents.changed, case.documents.new, case.documents.gone) == (1, 1, 5)
    found = what_if(ledger, [f"x={copy}"], rankings=FEW)
    assert (_only(found).changes.stay, _only(found).documents.gone) == (0, 6)
    assert found.notices[0].startswith("no document has an id that the ledger has, so every chunk is another one")


def test_ledger_without_chunks(tmp_path: Path) -> None:
    """There is nothing to pack, which is no error; and what it would be is told."""
    ingest([write(tmp_path / "docs", {"a.md": ""})], tmp_path / "ledger")
    case = _only(what_if(tmp_path / "ledger", write(tmp_path / "new", {"a.md": "One.\n"}), rankings=FEW))
    assert (case.fill_before, case.figures.chunks, case.changes.come) == (None, 1, 1)
    write(tmp_path / "new", {"a.md": ""})
    case = _only(what_if(tmp_path / "ledger", tmp_path / "new", rankings=FEW))
    assert (case.fill, case.figures.chunks, case.figures.percentiles["token_count"]) == (None, 0, {})


def test_what_cannot_be_asked(sample: Path, tmp_path: Path) -> None:
    """All of it is told before anything is split."""
    for sweep, overrides, told in (
        ({"template": [1]}, {}, r"^'template' can't be swept; settings of whole numbers are: max_tokens, "),
        ({"max_tokens": [9]}, {"max_tokens": 9}, r"^max_tokens is given as 9 and swept too; leave one of them out"),
        ({"max_tokens": [512, 1]}, {}, r"^sweep max_tokens=1: max_tokens must be from 2 to "),
        ({"max_tokens": range(100, 400), "slot_chunks": [1, 2]}, {}, r"^the sweep has 600 combinations; .* 1 to 100"),
        ({"max_tokens": []}, {}, r"^the sweep has 0 combinations"),
        ({}, {"overlap_tokens": 512}, r"^overlap_tokens is 512, which leaves nothing"),
    ):
        with pytest.raises(SettingsError, match=told):
            what_if(sample, sweep=sweep, overrides=overrides)
    with pytest.raises(SourceError, match=r"^no such file or folder: "):
        what_if(sample, tmp_path / "nowhere")
    ledger = _changing(tmp_path)
    shutil.rmtree(tmp_path / "docs")
    with pytest.raises(SourceError, match=r"^no such file or folder: .*; the ledger was made of it, so give SOURCE$"):
        what_if(ledger)


def test_scratch_is_removed_where_splitting_ends_early(sample: Path, scratch: Path) -> None:
    """Whatever it was that ended it; the fixture looks."""

    @contextmanager
    def watch(number: int, count: int, values: Mapping[str, int]) -> Iterator[Progress]:
        def stop(step: Step) -> None:
            assert len(list(scratch.iterdir())) == 1
            raise KeyboardInterrupt

        yield stop

    with pytest.raises(KeyboardInterrupt):
        what_if(sample, rankings=FEW, watch=watch)


@pytest.mark.parametrize(("number", "code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_scratch_is_removed_where_the_command_is_stopped(
    sample: Path, tmp_path: Path, number: str, code: int, word: str
) -> None:
    """A signal while a part is written ends the command in one line, and nothing is left in the temporary folder."""
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, sys\n"
        "from chunkledger.__main__ import main\n"
        "sent = []\n"
        "def hook(event, arguments):\n"
        "    if event == 'open' and 'part-' in str(arguments[0]) and 'whatif' in str(arguments[0]) and not sent:\n"
        "        sent.append(1)\n"
        f"        signal.raise_signal(signal.{number})\n"
        "sys.addaudithook(hook)\n"
        "main()\n",
        "utf-8",
    )
    (tmp_path / "tmp").mkdir()
    call = [sys.executable, str(program), "whatif", "--against", str(sample), "--jobs", "0", "--quiet"]
    env = environment() | {"TMPDIR": str(tmp_path / "tmp")}
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=60, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"error: {word}\n")
    assert os.listdir(tmp_path / "tmp") == []


def test_scratch_that_cannot_be_written(sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is told as what could not be written."""
    write(tmp_path, {"file": "x"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(UnwritableError, match=r"^the temporary folder can't be written: "):
        what_if(sample, rankings=FEW)
