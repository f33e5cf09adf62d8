"""Every file of the sources is read or told why not, under an id that nothing else has."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chunkledger.documents.entries import Listing
from chunkledger.documents.formats import format_of
from chunkledger.documents.listing import listed
from chunkledger.documents.sources import Selection, one_line, source_of
from chunkledger.errors import SettingsError, SourceError
from ledgers import write

NOBODY = 65534
READ = ".md, .markdown, .mdx, .rst, .rest, .txt, .text, .jsonl, .ndjson, .parquet"


def _listing(*arguments: Path | str, **selection: object) -> Listing:
    return listed([source_of(str(argument)) for argument in arguments], Selection(**selection))


def _ids(listing: Listing) -> list[str]:
    return [entry.doc_id for entry in listing.entries]


def _findings(listing: Listing) -> dict[str, tuple[str, str]]:
    return {finding.doc_id: (finding.status, finding.reason) for finding in listing.findings}


@contextmanager
def _as_nobody() -> Iterator[None]:
    """Without the rights of root, for whom every file is readable."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike pytest's own."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("a.md", "markdown"),
        ("a.MARKDOWN", "markdown"),
        ("a.mdx", "markdown"),
        ("a.b.txt", "plain"),
        ("a.Text", "plain"),
    ],
)
def test_suffix_decides_how_a_file_is_read(tmp_path: Path, name: str, how: str) -> None:
    """Known suffixes are read, in any case, as what they stand for."""
    [entry] = _listing(write(tmp_path, {name: "x"})).entries
    assert (entry.doc_id, entry.format, entry.size) == (name, how, 1)
    assert (entry.path, entry.mtime_ns) == (str(tmp_path / name), (tmp_path / name).stat().st_mtime_ns)


@pytest.mark.parametrize("how", ["markdown", "plain"])
def test_chosen_format_goes_for_every_known_suffix(tmp_path: Path, how: str) -> None:
    """A format that was chosen does not depend on names, and lets nothing else in."""
    found = _listing(write(tmp_path, {"a.md": "x", "b.txt": "x", "c.py": "x"}), format=how)
    assert [(entry.doc_id, entry.format) for entry in found.entries] == [("a.md", how), ("b.txt", how)]


def test_format_of_an_unknown_suffix_is_plain() -> None:
    """What has no suffix of a document is read as it stands."""
    assert format_of("Makefile") == "plain"


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        (".draft.md", "skipped", "hidden"),
        (".git/a.md", "skipped", "hidden"),
        ("logo.PNG", "skipped", "an image (.png)"),
        ("old.tar.gz", "skipped", "binary (.gz)"),
        ("page.html", "skipped", f"unknown suffix .html; read are {READ}"),
        ("Makefile", "skipped", f"unknown suffix (none); read are {READ}"),
        ("a.DOCX", "failed", ".docx must be converted to Markdown or plain text first"),
        ("a.pdf", "failed", ".pdf must be converted to Markdown or plain text first"),
    ],
)
def test_what_is_not_read_is_told(tmp_path: Path, name: str, status: str, reason: str) -> None:
    """Hidden and unknown files are skipped; office files fail, so that nobody misses them."""
    found = _listing(write(tmp_path, {name: "x"}))
    told = name.partition("/")[0]
    assert (_ids(found), _findings(found)) == ([], {told: (status, reason)})


def test_document_over_the_limit_fails(tmp_path: Path) -> None:
    """The limit itself still passes; the finding says the size and what to raise."""
    found = _listing(write(tmp_path, {"a.md": "x" * 1500, "b.md": "x" * 1501}), max_document_bytes=1500)
    reason = "1,501 bytes, over the limit of 1,500; raise --max-document-bytes"
    assert (_ids(found), _findings(found)) == (["a.md"], {"b.md": ("failed", reason)})


def test_ids_are_posix_paths_in_order(tmp_path: Path) -> None:
    """Entries are in order of document id, whatever order the folders are in."""
    names = ["b.md", "a/z.md", "a.md", "a-b.md", "Z.md", "ä.md", "a/b/c.md"]
    found = _listing(write(tmp_path, dict.fromkeys(names, "x")))
    assert _ids(found) == sorted(names)


def test_order_of_sources_does_not_matter(tmp_path: Path) -> None:
    """Two sources in either order give the same listing."""
    one, two = write(tmp_path / "one", {"b.md": "x", "d.png": ""}), write(tmp_path / "two", {"a.md": "x", "c.png": ""})
    assert _listing(one, two) == _listing(two, one)


def test_file_is_a_source_of_its_own(tmp_path: Path) -> None:
    """A file's id is its name."""
    write(tmp_path, {"a/b.md": "x", "a/c.md": "x"})
    assert _ids(_listing(tmp_path / "a" / "b.md")) == ["b.md"]


def test_named_source_prefixes_its_ids(tmp_path: Path) -> None:
    """NAME=PATH puts the name before every id, findings' too."""
    write(tmp_path / "docs", {"a/b.md": "x", "c.png": "x"})
    found = _listing(f"hand-book.2={tmp_path / 'docs'}", f"one={tmp_path / 'docs' / 'a' / 'b.md'}")
    assert (_ids(found), list(_findings(found))) == (["hand-book.2/a/b.md", "one/b.md"], ["hand-book.2/c.png"])


def test_existing_path_with_an_equals_sign_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that is there is taken as it is."""
    write(tmp_path / "a=b", {"c.md": "x"})
    write(tmp_path / "b", {"d.md": "x"})
    monkeypatch.chdir(tmp_path)
    assert _ids(_listing("a=b")) == ["c.md"]


@pytest.mark.parametrize("argument", ["nowhere", "name=nowhere", "=docs", "a b=docs", "no\nwhere"])
def test_source_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str) -> None:
    """A source that does not exist is named, in one line."""
    write(tmp_path / "docs", {"a.md": "x"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError) as raised:
        source_of(argument)
    assert str(raised.value) == f"no such file or folder: {one_line(argument)}"


def test_equal_ids_of_two_sources_are_an_error(tmp_path: Path) -> None:
    """Two documents of one id stop the run, and the message says which and what would work."""
    one, two = write(tmp_path / "one", {"a.md": "x"}), write(tmp_path / "two", {"a.md": "y"})
    with pytest.raises(SourceError) as raised:
        _listing(one, two)
    assert str(raised.value) == (
        f"two files would have the document id a.md: {one / 'a.md'} and {two / 'a.md'}; give one source a name, as in "
        "NAME=PATH"
    )


def test_names_part_equal_ids(tmp_path: Path) -> None:
    """With a name for one of them both are read."""
    one, two = write(tmp_path / "one", {"a.md": "x"}), write(tmp_path / "two", {"a.md": "y"})
    assert _ids(_listing(one, f"two={two}")) == ["a.md", "two/a.md"]


def test_name_may_run_into_a_folder_of_another_source(tmp_path: Path) -> None:
    """A folder that is called as another source's name gives the same id, and that is found."""
    one, two = write(tmp_path / "one", {"two/a.md": "x"}), write(tmp_path / "two", {"a.md": "y"})
    with pytest.raises(SourceError, match=r"two files would have the document id two/a\.md"):
        _listing(one, f"two={two}")


def test_table_inside_a_source_is_not_read(tmp_path: Path) -> None:
    """A ledger below its own source is not taken for documents."""
    found = _listing(write(tmp_path, {"a.md": "x", "ledger/_delta_log/0.json": "{}", "ledger/b.md": "x"}))
    assert (_ids(found), _findings(found)) == (["a.md"], {"ledger": ("skipped", "a table, not documents")})


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        ({}, ["a.md", "b.txt", "sub/c.md", "sub/d/e.md"]),
        ({"include": ("*.md",)}, ["a.md", "sub/c.md", "sub/d/e.md"]),
        ({"include": ("sub/*",)}, ["sub/c.md", "sub/d/e.md"]),
        ({"include": ("a.md", "b.*")}, ["a.md", "b.txt"]),
        ({"exclude": ("sub/d/*",)}, ["a.md", "b.txt", "sub/c.md"]),
        ({"include": ("*.md",), "exclude": ("sub/*", "B*")}, ["a.md"]),
        ({"include": ("[!a]*.md",)}, ["sub/c.md", "sub/d/e.md"]),
        ({"include": ("A.md",)}, []),
    ],
)
def test_globs_choose_by_id(tmp_path: Path, selection: dict[str, tuple[str, ...]], ids: list[str]) -> None:
    """Where there are includes one must match, no exclude may; `*` crosses folders, case counts."""
    write(tmp_path, dict.fromkeys(["a.md", "b.txt", "sub/c.md", "sub/d/e.md"], "x"))
    assert _ids(_listing(tmp_path, **selection)) == ids


def test_globs_see_the_name_of_the_source(tmp_path: Path) -> None:
    """Globs are on the whole id."""
    write(tmp_path, {"a.md": "x"})
    assert _ids(_listing(f"hb={tmp_path}", include=("hb/*",))) == ["hb/a.md"]


def test_excluded_places_are_not_told(tmp_path: Path) -> None:
    """What an exclude shuts out can't fail a run: no office file, no hidden file, no broken link."""
    write(tmp_path, {"a.md": "x", "inbox/b.docx": "", "inbox/.c.md": ""})
    (tmp_path / "inbox" / "gone.md").symlink_to("nowhere")
    found = _listing(tmp_path, exclude=("inbox/*",))
    assert (_ids(found), _findings(found)) == (["a.md"], {})


def test_links_inside_the_source_are_followed(tmp_path: Path) -> None:
    """A link to a file or folder of the source is read under its own id."""
    write(tmp_path, {"real/a.md": "x"})
    (tmp_path / "alias.md").symlink_to("real/a.md")
    (tmp_path / "folder").symlink_to("real")
    found = _listing(tmp_path)
    assert (_ids(found), found.findings) == (["alias.md", "folder/a.md", "real/a.md"], [])


def test_source_may_be_a_link(tmp_path: Path) -> None:
    """What the source itself is reached by does not matter."""
    write(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "alias").symlink_to("real")
    assert _ids(_listing(tmp_path / "alias")) == ["a.md"]


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("gone.md", "nowhere.md", "broken link"),
        ("self.md", "self.md", "a link in a loop"),
        ("out.md", "../outside/b.md", "a link that leaves the source"),
        ("out", "../outside", "a link that leaves the source"),
        ("up", ".", "a link to a folder that holds it"),
        ("sub/up", "..", "a link to a folder that holds it"),
        ("sub/here", ".", "a link to a folder that holds it"),
    ],
)
def test_links_that_are_not_followed_fail(tmp_path: Path, name: str, target: str, reason: str) -> None:
    """A link that is broken, leaves the source or loops is a finding, and everything else is read."""
    write(tmp_path, {"outside/b.md": "x", "docs/a.md": "x", "docs/sub/c.md": "x"})
    (tmp_path / "docs" / name).symlink_to(target)
    found = _listing(tmp_path / "docs")
    assert (_ids(found), _findings(found)) == (["a.md", "sub/c.md"], {name: ("failed", reason)})


@pytest.mark.parametrize(
    ("name", "target", "found"),
    [
        ("gone.png", "nowhere.png", ("skipped", "broken link; an image (.png)")),
        ("gone.tar.gz", "nowhere", ("skipped", "broken link; binary (.gz)")),
        (
            "out.csv",
            "../outside/b.csv",
            ("skipped", f"a link that leaves the source; unknown suffix .csv; read are {READ}"),
        ),
        ("gone.docx", "nowhere.docx", ("failed", "broken link")),
        ("gone", "nowhere", ("failed", "broken link")),
        ("gone.csv", "nowhere", ("failed", "broken link")),
        ("v1.2", "nowhere", ("failed", "broken link")),
    ],
)
def test_link_to_what_is_not_read_is_skipped(tmp_path: Path, name: str, target: str, found: tuple[str, str]) -> None:
    """Regression: a broken link to an image failed every run. Without a telling suffix it may be a folder."""
    write(tmp_path, {"docs/a.md": "x", "outside/b.csv": "x"})
    (tmp_path / "docs" / name).symlink_to(target)
    assert _findings(_listing(tmp_path / "docs")) == {name: found}


@pytest.mark.parametrize(
    ("name", "told"),
    [("sub/gone.md", True), ("sub/gone.txt", False), ("gone.md", False), ("sub/gone.jsonl", True), ("sub/gone", True),
     ("other/gone", False)],
)  # fmt: skip
@pytest.mark.parametrize("how", ["include", "pattern"])
def test_link_that_can_lead_to_nothing_wanted_is_no_failure(tmp_path: Path, name: str, told: bool, how: str) -> None:
    """Regression: it failed every run, whatever was included; what it may have held is not gone for that."""
    write(tmp_path / "docs", {"sub/a.md": "x", "other/b.txt": "x"})
    (tmp_path / "docs" / name).symlink_to("nowhere")
    if how == "include":
        listing = _listing(tmp_path / "docs", include=("sub/*.md",))
    else:
        listing = _listing(tmp_path / "docs" / "sub*" / "**" / "*.md")
    expected = {name} if told and (how, name) != ("pattern", "sub/gone.jsonl") else set()
    assert (_ids(listing), {finding.doc_id for finding in listing.findings if finding.status == "failed"}) == (
        ["sub/a.md"],
        expected,
    )


def test_ledger_is_passed_over(tmp_path: Path) -> None:
    """Regression: parts of a first run that was killed were read as tables, since no log told what they are."""
    write(tmp_path, {"a.md": "x", "out/part-00001-00000-abc.parquet": "x", "out/_runs/x.json": "x"})
    (tmp_path / "alias").symlink_to("out")
    (tmp_path / "out" / "up").symlink_to("..")
    listing = listed([source_of(str(tmp_path))], Selection(), str(tmp_path / "out"))
    assert (_ids(listing), listing.tables) == (["a.md"], [])
    assert _findings(listing) == {
        "out": ("skipped", "the ledger itself"),
        "alias": ("skipped", "the ledger itself"),
    }


def test_ledger_that_is_a_link_is_passed_over(tmp_path: Path) -> None:
    """Regression: a ledger on another disk, by a link in the source, failed every run as a link that leaves it."""
    write(tmp_path, {"src/a.md": "x", "else/x.md": "x"})
    (tmp_path / "src" / "led").symlink_to("../else")
    (tmp_path / "src" / "loop").symlink_to("loop")
    listing = listed([source_of(str(tmp_path / "src"))], Selection(), str(tmp_path / "src" / "led"))
    assert _findings(listing) == {"led": ("skipped", "the ledger itself"), "loop": ("failed", "a link in a loop")}


@pytest.mark.parametrize("limit", [0, -1, 1024**3 + 1])
def test_limit_that_can_not_be_is_refused(limit: int) -> None:
    """Columns count in 32 bits."""
    with pytest.raises(SettingsError, match="max_document_bytes must be from 1 to 1073741824, not "):
        Selection(max_document_bytes=limit)


def test_folders_that_link_to_each_other_are_read_once_each_way(tmp_path: Path) -> None:
    """Regression: two folders with links to each other were walked until the system gave up."""
    write(tmp_path, {"a/x.md": "x", "b/y.md": "y"})
    (tmp_path / "a" / "to_b").symlink_to("../b")
    (tmp_path / "b" / "to_a").symlink_to("../a")
    found = _listing(tmp_path)
    looping = ("failed", "a link to a folder that holds it")
    assert _ids(found) == ["a/to_b/y.md", "a/x.md", "b/to_a/x.md", "b/y.md"]
    assert _findings(found) == {"a/to_b/to_a": looping, "b/to_a/to_b": looping}


def test_many_folders_that_link_to_each_other_are_walked_in_little_time(tmp_path: Path) -> None:
    """Nine folders, each with links to all others, have a million paths; each folder is entered by one link only."""
    names = [f"d{number}" for number in range(9)]
    for name in names:
        write(tmp_path, {f"{name}/page.md": "x"})
        for other in names:
            if other != name:
                (tmp_path / name / f"to_{other}").symlink_to(f"../{other}")
    found = _listing(tmp_path)
    assert len(found.entries) == 18
    assert sum(status == "skipped" for status, _ in _findings(found).values()) > 0
    assert {reason.partition(" read as ")[0] for _, reason in _findings(found).values()} == {
        "a link to a folder that was",
        "a link to a folder that holds it",
    }


@pytest.fixture
def deep_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder 1,200 folders deep with a document at its end; taken apart again, because pytest can't remove it."""
    monkeypatch.chdir(tmp_path)
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    Path("a.md").write_text("x", "utf-8")
    yield tmp_path
    os.unlink("a.md")
    for _ in range(1200):
        os.chdir("..")
        os.rmdir("d")


def test_deep_folders_are_walked(deep_folder: Path) -> None:
    """Folders may lie deeper than Python may recurse."""
    [entry] = _listing(deep_folder).entries
    assert entry.doc_id == "d/" * 1200 + "a.md"


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "sub/b.md", "sub/deep/c.md"]),
        ("sub/*", ["b.md", "n.txt"]),
        ("*/deep/?.md", ["sub/deep/c.md"]),
        ("[!s]*", ["a.md"]),
    ],
)
def test_glob_is_a_source(tmp_path: Path, pattern: str, ids: list[str]) -> None:
    """A glob takes the files that it matches, with the ids that they have below the folder above its wildcards."""
    write(tmp_path, {"a.md": "x", "sub/b.md": "x", "sub/n.txt": "x", "sub/deep/c.md": "x", "sub/logo.png": "x"})
    assert _ids(_listing(f"{tmp_path}/{pattern}")) == ids
    assert _ids(_listing(f"hb={tmp_path}/{pattern}")) == [f"hb/{name}" for name in ids]


def test_named_glob_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a name before a glob without a folder was taken for a part of the glob."""
    monkeypatch.chdir(write(tmp_path, {"a.md": "x"}))
    assert _ids(_listing("hb=*.md")) == ["hb/a.md"]


def test_glob_says_nothing_of_what_it_does_not_match(tmp_path: Path) -> None:
    """Hidden files and unknown suffixes elsewhere are none of its business."""
    write(tmp_path, {"a.md": "x", "logo.png": "x", ".b.md": "x", "sub/.hidden/c.md": "x"})
    assert _listing(f"{tmp_path}/a*").findings == []
    assert set(_findings(_listing(f"{tmp_path}/*"))) == {"logo.png", ".b.md"}


@pytest.mark.parametrize("pattern", ["*.rst", "no*/*.md", "sub/[x].md"])
def test_glob_that_matches_nothing_is_an_error(tmp_path: Path, pattern: str) -> None:
    """A typing error in a glob must not pass for an empty source."""
    write(tmp_path, {"a.md": "x", "sub/b.md": "x"})
    with pytest.raises(SourceError, match="no file matches"):
        _listing(f"{tmp_path}/{pattern}")
    with pytest.raises(SourceError, match="no such file or folder"):
        _listing(f"{tmp_path}/nowhere/{pattern}")


def test_existing_path_with_wildcards_is_a_path(tmp_path: Path) -> None:
    """A file may be called like a glob."""
    write(tmp_path, {"a[1].md": "x", "a1.md": "x"})
    assert _ids(_listing(tmp_path / "a[1].md")) == ["a[1].md"]


def test_tables_are_listed_apart(tmp_path: Path) -> None:
    """A table has no document of its own; which it holds is not known before it is read."""
    found = _listing(write(tmp_path, {"b.jsonl": "{}", "sub/a.parquet": "", "c.NDJSON": "", "d.md": "x"}))
    assert (_ids(found), [table.doc_id for table in found.tables]) == (
        ["d.md"],
        ["b.jsonl", "c.NDJSON", "sub/a.parquet"],
    )


def test_what_was_not_seen_is_told(tmp_path: Path) -> None:
    """Of a broken link it is not known what it held; of a hidden or an unknown file nothing is missed."""
    write(tmp_path, {".a.md": "x", "b.png": "x", "c.pdf": "x"})
    (tmp_path / "gone").symlink_to("nowhere")
    assert _listing(tmp_path).unseen == {"gone"}


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Regression: reading a named pipe waited for a writer for ever."""
    os.mkfifo(tmp_path / "a.md")
    found = _listing(tmp_path)
    assert (_ids(found), _findings(found)) == ([], {"a.md": ("failed", "not a regular file")})


def test_pipe_as_a_source_is_not_waited_for(tmp_path: Path) -> None:
    """A source that is neither file nor folder is told like any other file."""
    os.mkfifo(tmp_path / "a.md")
    assert _findings(_listing(tmp_path / "a.md")) == {"a.md": ("failed", "not a regular file")}


def test_name_that_is_not_utf8_fails(tmp_path: Path) -> None:
    """A name that no id can hold is told with its bytes escaped, below a folder and as a source."""
    path = os.path.join(os.fsencode(tmp_path), b"caf\xe9.md")
    Path(os.fsdecode(path)).write_text("x")
    expected = {"caf\\udce9.md": ("failed", "the name is not UTF-8; rename it")}
    assert _findings(_listing(tmp_path)) == expected
    assert _findings(_listing(os.fsdecode(path))) == expected


def test_folder_whose_name_is_not_utf8_fails(tmp_path: Path) -> None:
    """Nothing below such a folder could have an id."""
    Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), b"caf\xe9"))).mkdir()
    assert _findings(_listing(tmp_path)) == {"caf\\udce9": ("failed", "the name is not UTF-8; rename it")}


def test_folder_that_cannot_be_listed_fails(open_folder: Path) -> None:
    """A closed folder is a finding, and what lies beside it is read."""
    write(open_folder, {"a.md": "x", "closed/b.md": "x"})
    (open_folder / "closed").chmod(0)
    with _as_nobody():
        found = _listing(open_folder)
    assert (_ids(found), _findings(found)) == (["a.md"], {"closed": ("failed", "can't be listed: Permission denied")})


def test_source_that_cannot_be_listed_is_an_error(open_folder: Path) -> None:
    """Regression: a source that could not be listed passed for an empty one, which would delete every chunk of it."""
    (open_folder / "closed").mkdir(mode=0)
    with _as_nobody(), pytest.raises(SourceError, match=r"closed can't be listed: Permission denied$"):
        _listing(open_folder / "closed")


def test_one_line_escapes_what_does_not_print() -> None:
    """Controls, bidi marks and bytes that are not UTF-8 become escapes."""
    assert one_line("a\nb\x1b\u202ec\udce9d é漢") == "a\\nb\\x1b\\u202ec\\udce9d é漢"


def test_source_given_twice_is_an_error(tmp_path: Path) -> None:
    """The same folder twice is told as that, and not as two files of one id."""
    (tmp_path / "a.md").write_text("One.\n", "utf-8")
    source = source_of(str(tmp_path))
    with pytest.raises(SourceError, match="is in two of the sources; give each only once"):
        listed([source, source], Selection())


def test_folder_and_one_below_it_are_an_error(tmp_path: Path) -> None:
    """Regression: what both hold was read twice, under two ids, without a word. Another name says that it is meant."""
    write(tmp_path, {"a/b/x.md": "x", "a/t.jsonl": "{}"})
    for second in (tmp_path / "a" / "b", tmp_path / "a" / "t.jsonl", tmp_path / "a" / "**" / "*.md"):
        with pytest.raises(SourceError, match="is in two of the sources; give each only once"):
            _listing(tmp_path / "a", second)
    assert _ids(_listing(tmp_path / "a", f"n={tmp_path / 'a' / 'b'}")) == ["b/x.md", "n/x.md"]


@pytest.mark.parametrize("pattern", ["**/*.markdwon", "*/../a/*.md", "d[1]/*.md"])
def test_glob_that_matches_nothing_but_may_hold_something_is_an_error(tmp_path: Path, pattern: str) -> None:
    """Regression: a hidden file passed for a match, and a mistyped glob emptied the ledger."""
    write(tmp_path, {"a/x.md": "x", ".h/y.md": "x", "d[1]/z.md": "x"})
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(SourceError, match="no file matches"):
        _listing(f"{tmp_path}/{pattern}")


def test_globs_that_are_not_ours_are_told(tmp_path: Path) -> None:
    """Braces are the shell's; a bracket in a name has to be written as a set."""
    write(tmp_path, {"a/x.md": "x", "d[1]/z.md": "x"})
    with pytest.raises(SourceError, match=r"no such file or folder: .*; braces are the shell's, give each glob by"):
        _listing(f"{tmp_path}/{{a,b}}/*.md")
    with pytest.raises(SourceError, match=r"no file matches .*; for a bracket in a name write \[\[\]"):
        _listing(f"{tmp_path}/d[1]/*.md")
    assert _ids(_listing(f"{tmp_path}/d[[]1]/*.md")) == ["d[1]/z.md"]


def test_link_to_what_is_hidden_is_skipped(tmp_path: Path) -> None:
    """Regression: a link made a hidden file a document, also through another link and by way of a folder."""
    write(tmp_path, {"a.md": "x", ".secret/key.md": "x"})
    for name, target in (("pub.md", ".secret/key.md"), ("again.md", "pub.md"), ("folder", ".secret")):
        (tmp_path / name).symlink_to(target)
    found = _listing(tmp_path)
    assert (_ids(found), set(_findings(found).values())) == (
        ["a.md"],
        {("skipped", "hidden"), ("skipped", "a link to what is hidden")},
    )
