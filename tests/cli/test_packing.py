"""`slot` shows the subtraction; `pack` fills a slot from a ranked list of ids, by the ledger's counts alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunkledger import Settings, ingest, open_ledger
from chunkledger.counting.reference import reference_counts
from chunkledger.packer import Slot, order, pack, render
from ledgers import Outcome, Row, cli, command, prose, rows_of, sections, write


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight chunks of two documents."""
    folder = tmp_path_factory.mktemp("packing")
    write(folder / "docs", {"a.md": sections(5), "b.md": sections(3).replace("Section", "Part")})
    ingest([folder / "docs"], folder / "ledger", Settings(max_tokens=200, encoding="cl100k_base", split_headings=6))
    return folder / "ledger"


@pytest.fixture(scope="module")
def rows(ledger: Path) -> list[Row]:
    """Its records in a rank order that is not the documents'."""
    found = rows_of(ledger)
    return [found[index] for index in (6, 1, 4, 0, 7, 3, 2, 5)]


def _packed(ledger: Path, ids: list[str], *arguments: str) -> Outcome:
    stdin = "".join(f"{chunk_id}\n" for chunk_id in ids)
    return cli("pack", ledger, "--ids", "-", *arguments, stdin=stdin)


def _log(done: Outcome) -> dict[str, Any]:
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_log_is_that_of_the_packer(ledger: Path, rows: list[Row]) -> None:
    """The one line on standard output is the log of packing the same rows."""
    done = _packed(ledger, [row["chunk_id"] for row in rows], "--slot-tokens", "700")
    assert _log(done) == pack(rows, 700, encoding="cl100k_base").log.as_dict()
    assert done.out.count("\n") == 1


def test_ids_may_be_a_file(ledger: Path, rows: list[Row], tmp_path: Path) -> None:
    """Blank lines and spaces around ids do not matter."""
    write(tmp_path, {"ids": f"\n  {rows[0]['chunk_id']}  \r\n\n{rows[1]['chunk_id']}"})
    done = cli("pack", ledger, "--ids", tmp_path / "ids", "--slot-tokens", "700")
    assert (_log(done)["offered"], _log(done)["packed"]) == (2, 2)


def test_file_of_ids_that_is_not_there(ledger: Path, tmp_path: Path) -> None:
    """A file that can't be read is a usage error."""
    done = cli("pack", ledger, "--ids", tmp_path / "nowhere", "--slot-tokens", "700")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: --ids {tmp_path / 'nowhere'} can't be read: ")


def test_unknown_id_is_named(ledger: Path, rows: list[Row]) -> None:
    """An id that is not in the ledger is told, and how many are not."""
    done = _packed(ledger, [rows[0]["chunk_id"], "c-1", "c-2"], "--slot-tokens", "700")
    expected = f"error: {ledger} has no chunk c-1 (2 of 3 ids are not in it)\n"
    assert (done.code, done.out, done.err) == (2, "", expected)


def test_same_id_twice_is_a_duplicate(ledger: Path, rows: list[Row]) -> None:
    """An id that ranks twice is packed once."""
    ids = [row["chunk_id"] for row in rows[:3]]
    found = _log(_packed(ledger, [ids[0], ids[1], ids[0], ids[2], ids[1]], "--slot-tokens", "5000"))
    assert (found["offered"], found["packed"], found["duplicates"]) == (5, 3, 2)


def test_no_ids_pack_nothing(ledger: Path) -> None:
    """An empty ranking is an empty pack, and an empty prompt."""
    assert (_log(_packed(ledger, [], "--slot-tokens", "700"))["packed"]) == 0
    done = _packed(ledger, [], "--slot-tokens", "700", "--render")
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize("arrangement", ["rank", "document", "edges"])
def test_rendered_block_goes_to_standard_output(ledger: Path, rows: list[Row], arrangement: str) -> None:
    """With --render, the prompt alone is on standard output, byte for byte, and the log on standard error."""
    ids = [row["chunk_id"] for row in rows]
    done = _packed(ledger, ids, "--slot-tokens", "700", "--render", "--order", arrangement)
    packed = pack(rows, 700, encoding="cl100k_base")
    assert (done.code, done.out) == (0, render(order(packed, arrangement)))  # type: ignore[arg-type]
    assert json.loads(done.err) == packed.log.as_dict()
    assert reference_counts([done.out], "cl100k_base").tolist() == [packed.used_tokens]


def test_rendered_block_keeps_its_bytes(tmp_path: Path) -> None:
    """Line ends and characters of a document reach a pipe as they are, whatever the locale."""
    write(tmp_path / "docs", {"a.md": "Ein Maß\r\nzwei 漢🙂\r\n"})
    ingest([tmp_path / "docs"], tmp_path / "ledger")
    [row] = rows_of(tmp_path / "ledger")
    write(tmp_path, {"ids": row["chunk_id"]})
    arguments = ["pack", tmp_path / "ledger", "--ids", tmp_path / "ids", "--slot-tokens", "700", "--render"]
    done = command(*arguments, text=False, encoding=None, env={"PYTHONIOENCODING": "ascii"})
    assert done.out.decode() == '<chunk n="1" source="a.md">\nEin Maß\r\nzwei 漢🙂\n</chunk>\n'  # type: ignore[attr-defined]


def test_options_reach_the_packer(ledger: Path, rows: list[Row]) -> None:
    """The most chunks, what follows a miss, and whether rank 1 is cut are the packer's own options."""
    ids = [row["chunk_id"] for row in rows]
    one = _log(_packed(ledger, ids, "--slot-tokens", "5000", "--max-chunks", "2"))
    assert (one["packed"], one["space_left_because"]) == (2, "max_chunks")
    slot = rows[0]["rendered_tokens"] - 1
    whole = _log(_packed(ledger, ids[:1], "--slot-tokens", str(slot), "--truncate", "never"))
    assert (whole["floor_over_slot"], whole["truncated"], whole["used"]) == (True, 0, slot + 1)
    stopped = _log(_packed(ledger, ids, "--slot-tokens", str(slot + 5), "--on-miss", "stop"))
    assert (stopped["packed"], stopped["not_reached"]) == (1, 6)


def test_first_rank_is_cut_where_it_must_be(tmp_path: Path) -> None:
    """A chunk that is over the slot by itself is cut at a boundary, and the count of what is shown is exact."""
    write(tmp_path / "docs", {"a.md": "\n\n".join(prose(3, f"w{number}") for number in range(8))})
    ingest([tmp_path / "docs"], tmp_path / "ledger")
    row = rows_of(tmp_path / "ledger")[0]
    done = _packed(tmp_path / "ledger", [row["chunk_id"]], "--slot-tokens", "200", "--render")
    log = json.loads(done.err.splitlines()[-1])
    assert (log["truncated"], log["used"] <= 200) == (1, True)
    assert reference_counts([done.out], "o200k_base").tolist() == [log["used"]]


def test_slot_shows_the_subtraction() -> None:
    """Every term is a line, and the ceiling of chunks follows."""
    arguments = (
        "--window 128000 --system 900 --tools 1200 --history 6000 --question 60 --reserved-output 2000 --framing 40 "
        "--margin 0.02 --cap 6000 --chunk-tokens 500 --overhead-tokens 100"
    )
    done = cli("slot", *arguments.split())
    slot = Slot(
        window=128_000,
        system=900,
        tools=1_200,
        history=6_000,
        question=60,
        reserved_output=2_000,
        framing=40,
        margin=0.02,
        cap=6_000,
    )
    lines = [line.split() for line in done.out.splitlines()]
    assert (done.code, done.err) == (0, "")
    assert lines[1:-1] == [[name, f"{tokens:,}"] for name, tokens in slot.breakdown()]
    assert done.out.splitlines()[-1] == "at most 10 chunks of 500 + 100 tokens"


@pytest.mark.parametrize(("margin", "tokens"), [("200", "-200"), ("0.02", "-160"), ("0", "0"), ("0.0", "0")])
def test_margin_is_tokens_or_a_share(margin: str, tokens: str) -> None:
    """A number with a point is a share of the window."""
    lines = [line.split() for line in cli("slot", "--window", "8000", "--margin", margin).out.splitlines()]
    assert ["margin", tokens] in lines


def test_slot_that_is_used_up_says_by_what() -> None:
    """Nothing left is a usage error that names the largest terms."""
    done = cli("slot", "--window", "1000", "--history", "900", "--system", "200")
    assert (done.code, done.out) == (2, "")
    assert "the slot would be -100 tokens: window 1000 is used up by history 900, system 200" in done.err


def test_margin_may_be_written_as_a_power_of_ten() -> None:
    """A share is any number below 1 that is not written as a whole one."""
    assert cli("slot", "--window", "1000", "--margin", "1e-2").out.splitlines()[-2].split() == ["slot", "990"]


def test_fields_are_in_the_log(ledger: Path, rows: list[Row]) -> None:
    """What is JSON is taken as such, the rest is text."""
    given = ["--field", "intent=faq", "--field", "k=5", "--field", "answered_correctly=true", "--field", "query=a=b"]
    found = _log(_packed(ledger, [rows[0]["chunk_id"]], "--slot-tokens", "700", *given))
    assert [found[name] for name in ("intent", "k", "answered_correctly", "query")] == ["faq", 5, True, "a=b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--field", "intent"], "--field must be NAME=VALUE, not 'intent'"),
        (["--field", "used=3"], "the log has its own used; give these fields other names"),
        (["--order", "edges"], "--order says how --render prints the blocks; give --render too"),
    ],
)
def test_options_that_cannot_be_are_named(ledger: Path, rows: list[Row], arguments: list[str], message: str) -> None:
    """A slip is a usage error, not silence."""
    done = _packed(ledger, [rows[0]["chunk_id"]], "--slot-tokens", "700", *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"error: {message}\n")


def test_ids_may_be_upper_case_behind_a_byte_order_mark(ledger: Path, rows: list[Row], tmp_path: Path) -> None:
    """A list that another program wrote is read as it comes."""
    (tmp_path / "ids").write_text(f"\ufeff{rows[0]['chunk_id'].upper()}\n", encoding="utf-8")
    assert _log(cli("pack", ledger, "--ids", tmp_path / "ids", "--slot-tokens", "700"))["packed"] == 1


def test_encoding_is_that_of_the_ledger(ledger: Path) -> None:
    """Also where no id is given."""
    assert _log(_packed(ledger, [], "--slot-tokens", "700"))["encoding"] == "cl100k_base"


def test_skipped_hit_is_cut_into_the_rest(ledger: Path, rows: list[Row]) -> None:
    """With --truncate any and --sentences the space that is left is used."""
    ids, slot = [row["chunk_id"] for row in rows], str(rows[0]["rendered_tokens"] + 100)
    plain = _log(_packed(ledger, ids, "--slot-tokens", slot))
    cut = _log(_packed(ledger, ids, "--slot-tokens", slot, "--truncate", "any", "--sentences"))
    assert (plain["truncated"], cut["truncated"], cut["used"] > plain["used"]) == (0, 1, True)


def test_neighbours_can_be_kept_apart(ledger: Path, rows: list[Row]) -> None:
    """With --no-merge each chunk is a block."""
    ids = [row["chunk_id"] for row in rows]
    assert _log(_packed(ledger, ids, "--slot-tokens", "9000"))["merged"] > 0
    assert _log(_packed(ledger, ids, "--slot-tokens", "9000", "--no-merge"))["merged"] == 0


def test_parents_are_packed_for_their_children(tmp_path: Path) -> None:
    """Small to big: chunks are found, the parents that hold them are sent, each once and by its own counts."""
    write(tmp_path / "docs", {"a.md": sections(6)})
    several = ("--encoding", "cl100k_base", "--encoding", "o200k_base")
    sizes = ("--max-tokens", "200", "--parent-tokens", "400", "--split-headings", "6")
    assert cli("ingest", tmp_path / "docs", "--out", tmp_path / "ledger", *sizes, *several).code == 0
    ledger = tmp_path / "ledger"
    chunks = rows_of(ledger)
    parents = {row["chunk_id"]: row for row in open_ledger(ledger).chunks(role="parent").to_pylist()}
    assert 1 < len(parents) < len(chunks)
    for encoding, suffix in (("cl100k_base", ""), ("o200k_base", "_o200k_base")):
        log = _log(
            _packed(
                ledger,
                [row["chunk_id"] for row in chunks[:2]],
                "--slot-tokens",
                "900",
                "--parents",
                "--encoding",
                encoding,
            )
        )
        [parent] = {row["parent_id"] for row in chunks[:2]}
        assert log["packed_ids"] == [parent]
        assert (log["used"], log["encoding"]) == (parents[parent][f"rendered_tokens{suffix}"], encoding)


def test_encoding_and_parents_that_there_are_not(ledger: Path, rows: list[Row]) -> None:
    """What the ledger does not have is a usage error that says what makes it."""
    for arguments, message in (
        (("--encoding", "o200k_base"), "is counted in cl100k_base; `chunkledger recount` adds an encoding"),
        (("--parents",), "has none; ingest with --parent-tokens makes them"),
    ):
        done = _packed(ledger, [rows[0]["chunk_id"]], "--slot-tokens", "900", *arguments)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
