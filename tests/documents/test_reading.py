"""Reading a file gives a document or says why there is none."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkledger import Settings
from chunkledger.documents.reading import Read, documents_of
from chunkledger.documents.sources import Entry
from chunkledger.model import Document, Finding


def _entry(path: Path, content: bytes | None = None) -> Entry:
    if content is not None:
        path.write_bytes(content)
    return Entry("a.md", str(path), 0, 0, "", "markdown")


def read(entry: Entry, longest: int = 1_000_000) -> Read:
    """What reading this one file gives."""
    [found] = documents_of([entry], Settings(), longest)
    return found


def test_document_carries_the_raw_bytes_hash(tmp_path: Path) -> None:
    """The fingerprint is of the bytes as they lie on the disk, byte order mark included."""
    raw = b"\xef\xbb\xbf# A\r\n\r\ntext\r\n"
    found = read(_entry(tmp_path / "a.md", raw))
    sha256 = hashlib.sha256(raw).hexdigest()
    assert (found.document, found.finding) == (Document("a.md", "# A\r\n\r\ntext\r\n", sha256, "markdown"), None)
    assert found.sha256 == sha256


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b" \n\t\r\n", "\u3000\u00a0\n".encode()])
def test_blank_document_is_skipped(tmp_path: Path, raw: bytes) -> None:
    """A document without a character that is not blank has nothing to split."""
    found = read(_entry(tmp_path / "a.md", raw))
    assert (found.document, found.finding) == (None, Finding("a.md", "skipped", "empty"))


def test_undecodable_document_fails_with_the_place(tmp_path: Path) -> None:
    """What is not UTF-8 fails, and its hash is still known, so that a change to it is seen."""
    found = read(_entry(tmp_path / "a.md", b"abc\xe5"))
    reason = "byte 3 (0xe5) is not UTF-8; save the file as UTF-8, or give --source-encoding"
    assert (found.document, found.finding) == (None, Finding("a.md", "failed", reason))
    assert found.sha256 == hashlib.sha256(b"abc\xe5").hexdigest()


def test_binary_document_fails(tmp_path: Path) -> None:
    """An image under the name of a document is not taken for text."""
    found = read(_entry(tmp_path / "a.md", b"\x89PNG\r\n\x1a\n\x00\x00"))
    assert found.finding is not None
    assert found.finding.status == "failed"
    assert found.finding.reason.startswith("byte 0 (0x89) is not UTF-8 (binary data, it seems); save")


def test_repaired_document_is_taken_and_told(tmp_path: Path) -> None:
    """A document with NUL bytes is in, and the finding says how many characters are not as they were."""
    found = read(_entry(tmp_path / "a.md", b"a\x00b\xed\xa0\x80"))
    assert found.document is not None
    assert found.document.text == "a\ufffdb\ufffd"
    assert found.finding == Finding("a.md", "ok", "2 NUL or surrogate characters replaced by U+FFFD")


def test_file_that_is_gone_fails(tmp_path: Path) -> None:
    """A file that went away between listing and reading is a finding."""
    found = read(_entry(tmp_path / "a.md"))
    assert (found.document, found.sha256) == (None, "")
    assert found.finding == Finding("a.md", "failed", "can't be read: No such file or directory")


def test_folder_under_the_name_of_a_file_fails(tmp_path: Path) -> None:
    """A file that became a folder between listing and reading is a finding."""
    assert read(_entry(tmp_path)).finding == Finding("a.md", "failed", "can't be read: Is a directory")


def test_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    """A file that became a link between listing and reading does not lead out of the source."""
    (tmp_path / "outside.md").write_text("secret", "utf-8")
    (tmp_path / "a.md").symlink_to("outside.md")
    found = read(_entry(tmp_path / "a.md"))
    assert found.document is None
    assert found.finding is not None
    assert found.finding.status == "failed"


def test_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    """A file that became a pipe between listing and reading holds nothing, and nobody waits for it."""
    os.mkfifo(tmp_path / "a.md")
    assert read(_entry(tmp_path / "a.md")).document is None


def test_file_that_grew_over_the_limit_fails(tmp_path: Path) -> None:
    """The limit holds for what is read, not only for what was listed; nothing beyond it is read."""
    entry = _entry(tmp_path / "a.md", b"x" * 101)
    finding = read(entry, longest=100).finding
    assert finding == Finding("a.md", "failed", "has grown over the limit of 100 bytes since the sources were listed")
    assert read(entry, longest=101).document is not None


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_document_or_a_finding(raw: bytes) -> None:
    """Reading never raises, and gives a document exactly where it does not say that there is none."""
    with tempfile.TemporaryDirectory() as folder:
        found = read(_entry(Path(folder, "a.md"), raw))
    without = found.finding is not None and found.finding.status != "ok"
    assert (found.document is None) == without
