"""What is in a source -> a settings file: every setting with its default, set where the source calls for it."""

from __future__ import annotations

from collections import Counter

from chunkledger.documents.sources import MAX_DOCUMENT_BYTES
from chunkledger.packer.render import TEMPLATES
from chunkledger.planning.guard import MAX_DELETE
from chunkledger.proposals.proposed import Proposal, named, proposals
from chunkledger.proposals.survey import Survey
from chunkledger.proposals.toml_text import comment, toml_value
from chunkledger.settings import ENCODINGS, FORMATS, Settings

_MOST_REASONS = 12
_MOST_CANDIDATES = 8
WORDS = {
    "Chunks": {
        "encoding": f"the tokenizer that limits are in: {', '.join(ENCODINGS)}",
        "further_encodings": "tokenizers that every chunk is counted in too",
        "max_tokens": "most tokens of what is embedded: heading path, context, text",
        "target_tokens": "size to aim at; 95 % of max_tokens where not given",
        "min_tokens": "smaller chunks are flagged under_min",
        "slot_tokens": "what a prompt has left for chunks; `chunkledger slot` computes it",
        "slot_chunks": "how many chunks the slot should hold; a larger share is flagged over_share",
        "overlap_tokens": "most tokens repeated from the chunk before, whole units only",
        "parent_tokens": "most tokens of a parent, rows made of whole chunks; 0 makes none",
        "split_headings": "headings down to this level always start a chunk; 0 is off",
        "heading_context": "whether the heading path is embedded with the text",
        "template": f"how the packer renders a chunk: {', '.join(TEMPLATES)}",
        "language": "whose rules of sentences hold; where not given, each paragraph's own",
    },
    "What is read": {
        "format": f"auto goes by suffix, else every document is read as one of {', '.join(FORMATS[1:])}",
        "source_encoding": "of texts that are neither UTF-8 nor marked UTF-16; they fail where it is not given",
        "chunks": "whether rows of tables are chunks that another splitter has cut, to be taken over as they are",
        "id_column": "column of a table that holds document ids; doc_id where rows are chunks",
        "text_column": "column of a table that holds texts; the others become metadata",
        "include": "globs on document ids, `*` crosses folders; one must match, all do where none is given",
        "exclude": "globs on document ids; none may match. What is hidden (.git, .venv) is never read",
        "max_document_bytes": "larger documents fail; each is worked on as a whole, in memory",
        "documents": "folder of the documents that chunks were cut from, to check their offsets against",
    },
    "The run": {
        "jobs": "most worker processes; as many as there are cores where not given",
        "max_delete": "share of the documents that one run may delete; more stops it, and up to ten always may go",
        "wait": "seconds to wait for another run that is at work on the ledger",
    },
}
"""What each setting is, by its name, under the heading that it has in the file."""
_EXAMPLES = {
    "target_tokens": Settings().target,
    "language": "de",
    "source_encoding": "cp1252",
    "include": ["*.md", "*.rst"],
    "exclude": ["drafts/*"],
    "max_document_bytes": MAX_DOCUMENT_BYTES,
    "documents": "docs",
    "jobs": 4,
    "max_delete": MAX_DELETE,
    "wait": 0,
}
"""Stand behind the comment sign where the default is no value that a file can hold, or not one of `Settings`."""


def settings_file(found: Survey, source: str) -> str:
    """A settings file in TOML, which `chunkledger ingest` takes as it is; the same for equal arguments.

    Args:
        found: what is in the source.
        source: how the source was named; untrusted, like every name in `found`.
    """
    lines = _header(found, source)
    proposed = proposals(found)
    for heading, words in WORDS.items():
        lines += ["", "", comment(f"--- {heading} ---")]
        for name, meaning in words.items():
            lines += ["", comment(meaning), *_setting(name, proposed.get(name))]
    return "\n".join(lines) + "\n"


def _setting(name: str, proposed: Proposal | None) -> list[str]:
    default = toml_value(_EXAMPLES[name] if name in _EXAMPLES else getattr(Settings(), name))
    if proposed is None:
        return [f"# {name} = {default}"]
    lines = [comment(f"! {reason}") for reason in proposed.reasons[:_MOST_REASONS]]
    if more := len(proposed.reasons) - _MOST_REASONS:
        lines += [comment(f"! and {more:,} more")] if more > 0 else []
    lines += [f"# {name} = {toml_value(value)}" for value in proposed.candidates[:_MOST_CANDIDATES]]
    if proposed.value is not None:
        return [*lines, f"{name} = {toml_value(proposed.value)}"]
    return lines if proposed.candidates else [*lines, f"# {name} = {default}"]


def _header(found: Survey, source: str) -> list[str]:
    files, size = sum(kind.files for kind in found.kinds), sum(kind.size for kind in found.kinds)
    lines = [
        f"Settings of chunkledger for {source}, written by `chunkledger init`.",
        "Flags and CHUNKLEDGER_... variables are stronger. A line like `# max_tokens = 512` shows a default, or an",
        "example where the default is none: take the # away to set it. A line that begins with ! says what was found",
        "in the files; lines without # are set for that reason.",
        "",
        f"files to read: {files:,}, {size:,} bytes",
    ]
    for kind in found.kinds:
        largest = f"the largest: {kind.largest} ({kind.largest_size:,} bytes)"
        lines.append(f"  {kind.name}: {kind.files:,}, {kind.size:,} bytes; {largest}")
    for status in ("failed", "skipped"):
        reasons = Counter({reason: count for (each, reason), count in found.not_read.items() if each == status})
        if reasons:
            told = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
            names = named([f"{reason} ({count:,})" for reason, count in told])
            lines.append(f"files not read, {status}: {reasons.total():,}; {names}")
    if nothing := [doc_id for doc_id, columns in found.columns.items() if columns is None]:
        lines.append(f"tables whose columns can't be told: {named(nothing)}")
    opened = f"{found.texts_opened:,} texts and {found.tables_opened:,} tables"
    lines.append(f"Of {opened} the first bytes were read, of all others the names and sizes.")
    return [comment(line) for line in lines]
