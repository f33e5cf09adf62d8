"""What the judges of chunks have in common: the command line, the exact figures, and rules about letters and sentences.

A judge of a format says where the faults of a chunk are; what can be said of any chunk is said here:

  documents  judged             missing   documents of the format, not blank, not hidden, without a chunk
  chunks     of them all        excess    chunks / the least possible number: each document's tokens / max, rounded up
  blocks     that were seen     faulty    how many chunks have each of the faults
  over       embed_prefix + text with more than max tokens      fill      mean tokens of a text / max
  counts     token_count is tiktoken's count of text            tiny      under 50 tokens, in documents that have 50
  offsets    document[char_start:char_end] == text              lossless  documents whose text is covered by such chunks
  clean      chunks with no fault

Figures are percentages of the chunks, lossless one of the documents; those of faults are of the chunks with true
offsets, because of no others is it known where they end.
"""

from __future__ import annotations

import argparse
import codecs
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import tiktoken

from chunkledger.counting.vocabulary import reference_encoding

TINY = 50
"""Tokens below which a chunk is hardly worth a place of its own."""
SHOWN = 90
"""Characters of a faulty cut that are shown on either side of it."""
SENTENCE_END = re.compile(
    r"[.!?\u3002\uff01\uff1f\u2026:\uff1a;\uff1b\u0964\u061f\u061b][\"'\u201d\u2019)\]}*_`~|>\u300d\u300f\uff09\u3011]*\Z"
)
LETTERS = re.compile(r"[^\W\d_]{2}")
SCRIPTS_WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]")

Row = Mapping[str, Any]


class Structured(Protocol):
    """What a judge of a format knows of one document."""

    def faults(self, start: int, end: int, shown: str) -> set[str]:
        """The faults of the chunk between these characters; `shown` is its context and its text."""

    def block_count(self) -> int:
        """How many blocks it looks at."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Most tokens of a chunk, and whose tokens they are."""

    encoding: tiktoken.Encoding
    limit: int

    def tokens(self, text: str) -> int:
        """Tokens of the text, special tokens taken as plain text."""
        return len(self.encoding.encode_ordinary(text))


def ends_sentence(text: str, start: int, end: int) -> bool:
    """Whether what is between the two characters ends where a sentence may; : and ; count as ends."""
    return SENTENCE_END.search(text, max(start, end - 12), end) is not None


def splits_word(pair: str) -> bool:
    """Whether a cut between these two characters is within a word, in scripts that have blanks between words."""
    return bool(LETTERS.fullmatch(pair)) and not SCRIPTS_WITHOUT_BLANKS.search(pair)


def judged(
    text: str, rows: Sequence[Row], measure: Measure, structure: Structured
) -> tuple[Counter[str], list[tuple[str, Row]]]:
    """What was counted in one document's chunks, and each fault with its row."""
    size, blocks = measure.tokens(text), structure.block_count()
    least = max(1, -(-size // measure.limit))
    seen = Counter({"documents": 1, "chunks": len(rows), "least": least, "blocks": blocks})
    found: list[tuple[str, Row]] = []
    true = [row for row in rows if text[row["char_start"] : row["char_end"]] == row["text"]]
    for row in rows:
        seen.update(_sizes(row, size, measure))
    for row in true:
        shown = f"{row.get('context') or ''}\n{row['text']}"
        wrong = sorted(structure.faults(row["char_start"], row["char_end"], shown))
        seen["clean"] += not wrong
        seen.update(wrong)
        found += [(fault, row) for fault in wrong]
    seen["offsets"] += len(true)
    seen["lossless"] += _is_covered(text, [(row["char_start"], row["char_end"]) for row in true])
    return seen, found


def _sizes(row: Row, document_tokens: int, measure: Measure) -> dict[str, int]:
    tokens = measure.tokens(row["text"])
    prefix = row.get("embed_prefix")
    embedded = measure.tokens(prefix + row["text"]) if prefix else tokens
    return {
        "filled": min(tokens, measure.limit),
        "over": embedded > measure.limit,
        "counts": tokens == row.get("token_count"),
        "tiny": tokens < TINY <= document_tokens,
    }


def _is_covered(text: str, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether nothing but blanks is outside these spans."""
    place = 0
    for start, end in sorted(spans):
        if text[place:start].strip():
            return False
        place = max(place, end)
    return not text[place:].strip()


def figures(seen: Counter[str], faults: Sequence[str], limit: int) -> dict[str, Any]:
    """What the counts of all documents come to; see above."""
    chunks, true = max(1, seen["chunks"]), max(1, seen["offsets"])
    return {
        "documents": seen["documents"],
        "missing": seen["missing"],
        "lossless": _share(seen["lossless"], seen["documents"]),
        "chunks": seen["chunks"],
        "blocks": seen["blocks"],
        "excess": round(seen["chunks"] / max(1, seen["least"]), 2),
        "fill": _share(seen["filled"], chunks * limit),
        **{name: _share(seen[name], chunks) for name in ("tiny", "over", "counts", "offsets")},
        **{name: _share(seen[name], true) for name in ("clean", *faults)},
        "faulty": {name: seen[name] for name in faults},
    }


def _share(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 2)


# The command line


def options() -> argparse.Namespace:
    """The arguments of a judge's command, the chunks opened."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=Path)
    parser.add_argument("chunks", type=argparse.FileType(encoding="utf-8"))
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--encoding", default="cl100k_base")
    parser.add_argument("--examples", type=int, default=0, help="print N faulty cuts of each sort to stderr")
    return parser.parse_args()


def run_judge(
    args: argparse.Namespace,
    suffixes: tuple[str, ...],
    faults: Sequence[str],
    structure_of: Callable[[str, Measure], Structured],
) -> None:
    """Judge the chunks of the documents with these suffixes and print the figures as one JSON object.

    Args:
        args: as `options` gives them.
        suffixes: of the format's files, in lower case.
        faults: the names of the format's faults.
        structure_of: reads a document's structure.
    """
    measure = Measure(reference_encoding(args.encoding), args.max_tokens)
    chunks = _chunks_by_document(args.chunks, suffixes)
    seen: Counter[str] = Counter(missing=len(_documents(args.corpus, suffixes) - set(chunks)))
    for doc_id, rows in sorted(chunks.items()):
        text = document_text((args.corpus / doc_id).read_bytes())
        counts, faulty = judged(text, rows, measure, structure_of(text, measure))
        _show(faulty, text, seen, args.examples)
        seen.update(counts)
    print(json.dumps(figures(seen, faults, measure.limit)))


def _show(faulty: Iterable[tuple[str, Row]], text: str, seen: Counter[str], most: int) -> None:
    """Print the faulty cuts, of each sort no more than so many, those that were seen before included."""
    shown = Counter(seen)
    for fault, row in faulty:
        shown[fault] += 1
        if shown[fault] <= most:
            start, end = row["char_start"], row["char_end"]
            ending, following = text[max(start, end - SHOWN) : end], text[end : end + SHOWN]
            print(f"{fault}: {row['doc_id']} [{start}:{end}] …{ending!r} | {following!r}", file=sys.stderr)


def document_text(raw: bytes) -> str:
    """The text that a file's bytes stand for, without a byte order mark."""
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if wide else "utf-8-sig", "replace")


def _chunks_by_document(lines: Iterable[str], suffixes: tuple[str, ...]) -> dict[str, list[Row]]:
    chunks: dict[str, list[Row]] = defaultdict(list)
    for line in lines:
        row = json.loads(line)
        if row["doc_id"].lower().endswith(suffixes):
            chunks[row["doc_id"]].append(row)
    return chunks


def _documents(corpus: Path, suffixes: tuple[str, ...]) -> set[str]:
    """The ids of the documents that should have chunks."""
    paths = [(path, path.relative_to(corpus)) for path in corpus.rglob("*") if path.suffix.lower() in suffixes]
    visible = [(path, name) for path, name in paths if not any(part.startswith(".") for part in name.parts)]
    return {name.as_posix() for path, name in visible if path.is_file() and path.read_bytes().strip()}
