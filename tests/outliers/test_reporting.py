"""Conditions, groups, gates, nights and the forms of the report, against slow looks at every record."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings, ingest, open_ledger
from chunkledger.errors import SettingsError
from chunkledger.outliers.advice import meanings
from chunkledger.outliers.atypical import LEAST, SCORE, typical
from chunkledger.outliers.gates import limits
from chunkledger.outliers.histogram import MOST_BARS, histogram
from chunkledger.outliers.summary import summary
from ledgers import SAMPLE_CORPUS, Row, cli, prose, rows_of, sections, write


@given(st.lists(st.integers(0, 50_000), min_size=1, max_size=60), st.integers(1, 9000), st.integers(1, 20))
def test_a_histogram_holds_every_chunk_once(values: list[int], most: int, chunks: int) -> None:
    """Bars follow each other from 0 on, and each holds what lies in it; the tail doubles, so that there are few."""
    settings = Settings(max_tokens=max(2, most), slot_chunks=chunks)
    bars = histogram({"rendered_tokens": np.array(values)}, settings)
    assert [bar.start for bar in bars] == [0, *(bar.end for bar in bars[:-1])]
    assert [bar.chunks["rendered_tokens"] for bar in bars] == [
        sum(bar.start <= value < bar.end for value in values) for bar in bars
    ]
    assert sum(bar.chunks["rendered_tokens"] for bar in bars) == len(values)
    assert len(bars) <= 2 * MOST_BARS + 2


@given(st.lists(st.integers(0, 3000), min_size=LEAST, max_size=80))
def test_typical_sizes_are_within_so_many_deviations_of_their_side(values: list[int]) -> None:
    """The range is that of the modified z-score, taken from each side of the median by itself."""
    found = typical(np.array(values))
    ordered = sorted(values)
    median = ordered[(len(values) - 1) // 2]
    bounds = []
    for side in ([v for v in values if v <= median], [v for v in values if v >= median]):
        away = sorted(abs(v - median) for v in side)
        middle = (away[(len(away) - 1) // 2] + away[len(away) // 2]) / 2
        bounds.append(SCORE * (middle * 1.4826 if middle else sum(away) / len(away) * 1.2533))
    least, most = max(0, math.ceil(median - bounds[0])), math.floor(median + bounds[1])
    if found is None:
        assert least == most
    else:
        assert (found.median, found.least, found.most) == (median, least, most)
        assert (found.below, found.above) == (sum(v < least for v in values), sum(v > most for v in values))


def test_few_chunks_have_no_typical_size() -> None:
    """Of fewer than ten chunks, or of equal ones, nothing can be said."""
    assert typical(np.array([1, 2, 300])) is None
    assert typical(np.array([5] * 40)) is None


def test_atypical_chunks_are_named_flagged_or_not(tmp_path: Path) -> None:
    """A chunk that is far smaller than all others is named, though it is above the least that is wanted."""
    files = {f"d{number:02}.md": prose(20 + number % 3) for number in range(30)} | {"odd.md": prose(4)}
    ingest([write(tmp_path / "docs", files)], tmp_path / "ledger", Settings(min_tokens=10))
    found = summary(open_ledger(tmp_path / "ledger"))
    assert (found.flagged, [place.doc_id for place in found.atypical.smallest]) == (0, ["odd.md"])
    assert found.atypical.typical is not None
    assert re.search(r"1 are below, 0 above", cli("report", tmp_path / "ledger").out)


def test_the_largest_are_those_above_what_is_typical(ledger: Path, rows: list[Row]) -> None:
    """What is named is outside of the range, the most extreme first, as many as were asked for."""
    found = summary(open_ledger(ledger), top=1000).atypical
    assert found.typical is not None
    sizes = sorted(row["rendered_tokens"] for row in rows)
    assert [place.rendered_tokens for place in found.largest] == [
        size for size in reversed(sizes) if size > found.typical.most
    ]
    assert [place.rendered_tokens for place in found.smallest] == [size for size in sizes if size < found.typical.least]
    assert found.largest


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("kind = 'table'", lambda row: row["kind"] == "table"),
        ("doc_id LIKE 'api/%' AND rendered_tokens > 200", lambda row: row["doc_id"][:4] == "api/" and big(row)),
        ("array_contains(flags, 'under_min')", lambda row: "under_min" in row["flags"]),
        ("text LIKE '%per diem%'", lambda row: "per diem" in row["text"]),
        ("metadata.owner IS NOT NULL", lambda row: "owner" in json.loads(row["metadata"])),
        ('"metadata"."owner" = \'x\' OR line_start = 1', lambda row: row["line_start"] == 1),
        ("doc_id = 'metadata.nothing'", lambda row: False),
    ],
)
def test_a_condition_chooses_chunks(ledger: Path, rows: list[Row], where: str, holds: object) -> None:
    """Figures are those of the chunks of which the condition holds."""
    chosen = [row for row in rows if holds(row)]  # type: ignore[operator]
    found = summary(open_ledger(ledger), where=where)
    assert (found.chunks, found.tokens) == (len(chosen), sum(row["token_count"] for row in chosen))
    assert found.flagged == sum(bool(row["flags"]) for row in chosen)
    assert found.documents == len({row["doc_id"] for row in chosen})


def big(row: Row) -> bool:
    """Whether the rendered chunk has over 200 tokens."""
    return bool(row["rendered_tokens"] > 200)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("kin = 'table'", "no such column: kin; there are chunk_id"),
        ("kind =", "is no condition that can be asked"),
        ("token_count", "is no condition that can be asked"),
        ("SELECT 1", "is no condition that can be asked"),
        ("read_csv('/etc/passwd') = 1", "is no condition that can be asked"),
    ],
)
def test_a_condition_that_can_not_be(ledger: Path, where: str, message: str) -> None:
    """What is no condition is a usage error that says how one is written."""
    done = cli("report", ledger, "--where", where)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize("by", ["folder", "kind", "cause", "metadata.owner"])
def test_groups_are_those_of_a_slow_count(ledger: Path, rows: list[Row], by: str) -> None:
    """Each group has its documents, chunks, flags, tokens and sizes."""

    def name(row: Row) -> str:
        if by == "folder":
            return row["doc_id"].rpartition("/")[0] or "(top)"
        if by == "kind":
            return str(row["kind"])
        if by == "cause":
            return row["flag_cause"] or "(not flagged)"
        return str(json.loads(row["metadata"]).get("owner", "(none)"))

    found = summary(open_ledger(ledger), group_by=by, top=1000).groups
    assert len(found) == len({name(row) for row in rows}) > 1
    for group in found:
        mine = [row for row in rows if name(row) == group.name]
        sizes = sorted(row["rendered_tokens"] for row in mine)
        assert (group.documents, group.chunks) == (len({row["doc_id"] for row in mine}), len(mine))
        assert (group.flagged, group.over_slot) == (sum(bool(row["flags"]) for row in mine), 0)
        assert (group.tokens, group.max) == (sum(row["token_count"] for row in mine), sizes[-1])
        assert group.p95 == sizes[math.ceil((len(sizes) - 1) * 0.95)]
    assert [group.flagged for group in found] == sorted((group.flagged for group in found), reverse=True)


def test_a_grouping_that_there_is_not(ledger: Path) -> None:
    """Another grouping is a usage error that names those that there are."""
    done = cli("report", ledger, "--group-by", "metadata.")
    assert (done.code, "there are: folder, kind, cause, metadata.KEY" in done.err) == (2, True)


def test_each_flag_names_who_holds_most(ledger: Path, rows: list[Row]) -> None:
    """For each flag and cause the documents with most of its chunks are named, with the worst lines."""
    for entry in summary(open_ledger(ledger)).flags:
        mine = [row for row in rows if entry.flag in row["flags"] and row["flag_cause"] == entry.cause]
        counts = Counter(row["doc_id"] for row in mine)
        expected = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
        assert [(held.doc_id, held.flagged) for held in entry.held_by] == expected
        for held in entry.held_by:
            starts = {row["line_start"] for row in mine if row["doc_id"] == held.doc_id}
            assert {place.line_start for place in held.places} <= starts


def test_advice_is_a_limit_that_would_do(ledger: Path) -> None:
    """With the limit that is proposed for what is too big, nothing is too big any more."""
    found = summary(open_ledger(ledger), name="my ledger")
    [command] = {each.command for each in found.advice if each.cause in ("table", "code", "list", "unbroken_prose")}
    match = re.fullmatch(r"chunkledger whatif --against 'my ledger' --max-tokens (\d+)", command)
    assert match is not None
    again = Settings(**{**open_ledger(ledger).settings().as_dict(), "max_tokens": int(match[1])})  # type: ignore[arg-type]
    ingest([SAMPLE_CORPUS], ledger.parent / "again", again)
    found_again = [row for row in rows_of(ledger.parent / "again") if row["flag_cause"] != "grapheme"]
    assert {flag for row in found_again for flag in row["flags"]} == {"under_min"}


def test_every_cause_of_the_ledger_has_advice(ledger: Path) -> None:
    """No cause is left without a word, and each of them is counted over all of its chunks."""
    found = summary(open_ledger(ledger))
    counts = Counter(row["flag_cause"] for row in rows_of(ledger) if row["flags"])
    assert {each.cause: each.chunks for each in found.advice} == counts
    assert all(each.what == meanings()[each.cause] and each.command for each in found.advice)


def test_chunks_larger_than_the_slot_are_told_first(tmp_path: Path) -> None:
    """What can never be packed whole stands in the second line."""
    settings = Settings(max_tokens=400, slot_tokens=300, slot_chunks=1)
    ingest([write(tmp_path / "docs", {"a.md": prose(60)})], tmp_path / "ledger", settings)
    found = summary(open_ledger(tmp_path / "ledger"))
    assert found.over_slot == sum("over_slot" in row["flags"] for row in rows_of(tmp_path / "ledger")) > 0
    lines = cli("report", tmp_path / "ledger").out.splitlines()
    assert lines[1] == f"{found.over_slot} chunks larger than the slot alone: can never be packed whole"


@pytest.mark.parametrize(
    ("gate", "code"),
    [("over_share=0", 1), ("over_share=100%", 0), ("over_slot=0,under_min=0.99", 0), ("flagged=5%,over_slot=0", 1)],
)
def test_a_gate_ends_with_1(ledger: Path, rows: list[Row], gate: str, code: int) -> None:
    """A share that is passed is an error line and exit code 1; the report is printed all the same."""
    done = cli("report", ledger, "--fail-over", gate)
    assert (done.code, done.out.startswith("run 1: ")) == (code, True)
    counts = Counter(flag for row in rows for flag in [*row["flags"], *(["flagged"] if row["flags"] else [])])
    for line, (name, most) in zip(done.err.splitlines(), limits(gate).items(), strict=True):
        verb = "is within" if counts[name] / len(rows) <= most else "is over"
        share = counts[name] / len(rows)
        assert line == f"{name}: {counts[name]} of {len(rows)} ({share:.2%}) {verb} {most:.2%}"


def test_a_gate_on_nothing_is_no_gate(ledger: Path) -> None:
    """A condition that no chunk meets, as one with a typing error, lets no gate pass."""
    done = cli("report", ledger, "--where", "metadata.langauge = 'de'", "--fail-over", "flagged=0")
    assert (done.code, done.out) == (2, "")
    assert "--fail-over says nothing of no chunk" in done.err


def test_a_gate_holds_at_the_very_share(ledger: Path, rows: list[Row]) -> None:
    """A share is passed where more is there than may be."""
    share = sum(bool(row["flags"]) for row in rows) / len(rows)
    assert cli("report", ledger, "--fail-over", f"flagged={share!r}").code == 0
    assert cli("report", ledger, "--fail-over", f"flagged={share - 1e-9!r}").code == 1


@pytest.mark.parametrize("gate", ["over_share", "over=1%", "over_share=120%", "over_share=x", "", "worse=0"])
def test_a_gate_that_can_not_be(ledger: Path, gate: str) -> None:
    """A gate that is none is a usage error, before anything is printed."""
    done = cli("report", ledger, "--fail-over", gate)
    assert (done.code, done.out) == (2, "")
    assert "--fail-over" in done.err


def test_two_nights_are_compared(tmp_path: Path) -> None:
    """What got worse is named with its new lines, what got better is counted, and settings that differ are told."""
    files = {"same.md": prose(30), "worse.md": prose(5), "mended.md": prose(30, "long"), "gone.md": prose(30, "z")}
    settings = Settings(max_tokens=400, slot_tokens=1600, slot_chunks=8, min_tokens=30)
    docs = write(tmp_path / "docs", files)
    ingest([docs], tmp_path / "ledger", settings)
    before = rows_of(tmp_path / "ledger")
    (docs / "gone.md").unlink()
    write(docs, {"worse.md": prose(30, "w"), "new.md": prose(30, "n"), "mended.md": sections(1, 6)})
    ingest([docs], tmp_path / "ledger", settings, max_delete=1.0)
    now = rows_of(tmp_path / "ledger")
    found = summary(open_ledger(tmp_path / "ledger"), against=open_ledger(tmp_path / "ledger", 1)).against
    assert found is not None

    def flagged(rows: list[Row], doc_id: str) -> int:
        return sum(bool(row["flags"]) for row in rows if row["doc_id"] == doc_id)

    assert [(each.doc_id, each.is_new, each.before, each.now) for each in found.worse] == [
        ("new.md", True, 0, flagged(now, "new.md")),
        ("worse.md", False, 0, flagged(now, "worse.md")),
    ]
    assert (found.worse_in_all, found.better_in_all) == (2, 2)
    assert (found.chunks.before, found.chunks.now) == (len(before), len(now))
    assert (found.flagged.before, found.flagged.now) == tuple(
        sum(bool(row["flags"]) for row in rows) for rows in (before, now)
    )
    done = cli("report", tmp_path / "ledger", "--against", "previous", "--fail-over", "worse=0")
    assert (done.code, done.err) == (1, "worse: 2 of 4 (50.00%) is over 0.00%\n")
    assert "2 documents got worse, 2 better" in done.out
    assert cli("report", tmp_path / "ledger", "--against", "1").out == done.out


def test_only_what_is_new_is_named(tmp_path: Path) -> None:
    """Of a document that got worse the chunks are named that were not flagged before."""
    settings = Settings(max_tokens=400, slot_tokens=1600, slot_chunks=8, min_tokens=1)
    docs = write(tmp_path / "docs", {"a.md": f"# One\n\n{prose(20)}\n"})
    ingest([docs], tmp_path / "ledger", settings)
    [old] = [row["chunk_id"] for row in rows_of(tmp_path / "ledger") if row["flags"]]
    write(docs, {"a.md": f"# One\n\n{prose(20)}\n\n# Two\n\n{prose(20, 'other')}\n"})
    ingest([docs], tmp_path / "ledger", settings)
    found = summary(open_ledger(tmp_path / "ledger"), against=open_ledger(tmp_path / "ledger", 1)).against
    assert found is not None
    [worse] = found.worse
    new = [row["chunk_id"] for row in rows_of(tmp_path / "ledger") if row["flags"] and row["chunk_id"] != old]
    assert (worse.before, worse.now) == (1, 1 + len(new))
    assert [place.chunk_id for place in worse.places] == new


def test_settings_that_differ_between_nights_are_told(tmp_path: Path) -> None:
    """A limit that was changed is told, as it explains what else is different."""
    docs = write(tmp_path / "docs", {"a.md": prose(60)})
    ingest([docs], tmp_path / "ledger", Settings(max_tokens=400))
    ingest([docs], tmp_path / "ledger", Settings(max_tokens=300))
    assert "max_tokens: 400 -> 300" in cli("report", tmp_path / "ledger", "--against", "1").out


def test_a_document_whose_chunk_outgrew_the_slot_is_worse(tmp_path: Path) -> None:
    """As many flagged chunks as before are worse where one of them now is over the whole slot."""
    docs = write(tmp_path / "docs", {"a.md": f"{'word ' * 300}.\n"})
    settings = Settings(max_tokens=2000, slot_tokens=700, slot_chunks=4)
    ingest([docs], tmp_path / "ledger", settings)
    write(docs, {"a.md": f"{'word ' * 900}.\n"})
    ingest([docs], tmp_path / "ledger", settings)
    found = summary(open_ledger(tmp_path / "ledger"), against=open_ledger(tmp_path / "ledger", 1)).against
    assert found is not None
    assert [(each.doc_id, each.before, each.now) for each in found.worse] == [("a.md", 1, 1)]


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("previous", "there is no run before run 1"),
        ("1", "is the run that is reported on"),
        ("last", "must be the number of a run, or previous"),
        ("7", "has no run 7"),
    ],
)
def test_a_night_that_there_is_not(ledger: Path, against: str, message: str) -> None:
    """A run that can't be compared with is an error that says why."""
    done = cli("report", ledger, "--against", against)
    assert (done.code, done.out, message in done.err) == (2, "", True)


def test_csv_has_every_flagged_chunk(ledger: Path, rows: list[Row]) -> None:
    """One line each, whatever --top says; text in ids is quoted, so that it is read back as it is."""
    done = cli("report", ledger, "--format", "csv", "--top", "1")
    read = list(csv.DictReader(io.StringIO(done.out)))
    flagged = [row for row in rows if row["flags"]]
    assert [(row["chunk_id"], row["doc_id"], row["flags"].split(), row["flag_cause"]) for row in read] == [
        (row["chunk_id"], row["doc_id"], row["flags"], row["flag_cause"]) for row in flagged
    ]
    assert [int(row["rendered_tokens"]) for row in read] == [row["rendered_tokens"] for row in flagged]


def test_csv_of_groups(ledger: Path) -> None:
    """With a grouping, the groups are the lines, all of them."""
    done = cli("report", ledger, "--format", "csv", "--group-by", "kind", "--top", "1")
    groups = summary(open_ledger(ledger), group_by="kind", top=100).groups
    assert [row["name"] for row in csv.DictReader(io.StringIO(done.out))] == [group.name for group in groups]


def test_markdown_holds_no_markup_of_a_corpus(tmp_path: Path) -> None:
    """What a document is called is text in a ticket, and breaks no table."""
    name = "<img src=x>|a_b_*c*`d`[e](f).md"
    ingest([write(tmp_path / "docs", {name: "Little.\n"})], tmp_path / "ledger")
    done = cli("report", tmp_path / "ledger", "--format", "md")
    assert r"\<img src=x\>\|a\_b\_\*c\*\`d\`\[e\](f).md" in done.out
    tables = [line for line in done.out.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "img" in line} <= {7, 8}
    assert "### Flags by cause" in done.out


def test_where_and_groups_go_into_the_json(ledger: Path) -> None:
    """Programs learn what was asked, and what the gates say."""
    done = cli(
        "report",
        ledger,
        "--format",
        "json",
        "--where",
        "kind = 'code'",
        "--group-by",
        "kind",
        "--fail-over",
        "flagged=0",
    )
    found = json.loads(done.out)
    assert (found["where"], found["group_by"], [group["name"] for group in found["groups"]]) == (
        "kind = 'code'",
        "kind",
        ["code"],
    )
    assert found["gates"] == [
        {"name": "flagged", "most": 0.0, "count": found["flagged"], "of": found["chunks"], "holds": False}
    ]
    assert done.code == 1


def test_the_readme_names_every_key(ledger: Path) -> None:
    """What programs get is documented."""
    found = json.loads(cli("report", ledger, "--format", "json").out)
    text = (SAMPLE_CORPUS.parent / "README.md").read_text("utf-8")
    said = text[text.index("`--format json` has `summary_version`") :].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", said)) >= set(found)


def test_limits_are_read_as_shares() -> None:
    """Per cent and fractions are the same thing; what is neither is refused with the name."""
    assert limits("over_share=2%, under_min=0.5") == {"over_share": 0.02, "under_min": 0.5}
    with pytest.raises(SettingsError, match="--fail-over under_min must be a share"):
        limits("under_min=2")


def test_given_chunks_have_advice_of_their_own(tmp_path: Path) -> None:
    """Of another splitter's chunks its owner is told what to change, and what ours would make, where that can be."""
    docs = write(tmp_path / "my docs", {"a.md": prose(80)})
    table = tmp_path / "chunks.jsonl"
    table.write_text(json.dumps({"doc_id": "a.md", "text": prose(80), "char_start": 0}), "utf-8")
    settings = Settings(chunks=True)
    ingest([table], tmp_path / "ledger", settings)
    [plain] = summary(open_ledger(tmp_path / "ledger")).advice
    assert (plain.cause, "The splitter does not open long paragraphs" in plain.what, plain.command) == (
        "unbroken_prose",
        True,
        "",
    )
    cli("ingest", table, "--chunks", "--out", tmp_path / "checked", "--documents", docs)
    [checked] = summary(open_ledger(tmp_path / "checked"), name="l").advice
    assert checked.command == f"chunkledger whatif '{docs}' --against l --max-tokens 510"
