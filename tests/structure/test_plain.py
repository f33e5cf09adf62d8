"""Plain text is paragraphs parted by blank lines."""

from __future__ import annotations

from hypothesis import given

from chunkledger.structure import kinds
from chunkledger.structure.plain import plain_blocks
from markdown_texts import odd_texts, texts


def paragraphs_line_by_line(text: str) -> list[str]:
    """The slow version: runs of lines that are not blank, trimmed of what surrounds them."""
    found: list[str] = []
    run = ""
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.strip():
            run += line + "\n"
        elif run:
            found.append(run.strip())
            run = ""
    return found


@given(texts | odd_texts)
def test_paragraphs_are_runs_of_lines_with_text(text: str) -> None:
    """Each run of lines that are not blank is one paragraph, in bytes of the text's UTF-8."""
    data = text.encode()
    found = plain_blocks(text, data)
    assert found.kind == [kinds.PARAGRAPH] * len(found.start)
    read = [data[start:end].decode() for start, end in zip(found.start, found.end, strict=True)]
    assert [part.replace("\r\n", "\n").replace("\r", "\n").strip() for part in read] == paragraphs_line_by_line(text)


def test_markup_means_nothing() -> None:
    """A line that would be a heading or a fence in Markdown is part of its paragraph."""
    assert plain_blocks("# a\nb\n\n```\nc", b"# a\nb\n\n```\nc")[:2] == ([0, 7], [5, 12])


def test_line_ends_of_every_system_part_paragraphs() -> None:
    """Blank lines are found between CRLF and lone CR line ends too."""
    for end in ("\n", "\r\n", "\r"):
        text = f"a{end}b{end}{end}c{end}"
        found = plain_blocks(text, text.encode())
        assert [text[start:stop] for start, stop in zip(found.start, found.end, strict=True)] == [f"a{end}b", "c"]
