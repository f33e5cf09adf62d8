"""File names -> how a file is read: as a document, as a table of documents, or not at all, and why not."""

from __future__ import annotations

from chunkledger.model import Finding, Format

SUFFIXES: dict[str, Format] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdx": "markdown",
    ".rst": "rst",
    ".rest": "rst",
    ".txt": "plain",
    ".text": "plain",
}
"""File name suffixes of the documents that are read, in lower case."""

TABLE_SUFFIXES = (".jsonl", ".ndjson", ".parquet")
"""Tables with a document in each row."""

_OFFICE = frozenset(
    [
        ".doc", ".docx", ".docm", ".dot", ".dotx", ".odt", ".rtf", ".pages", ".wpd",
        ".xls", ".xlsx", ".xlsm", ".xlsb", ".ods", ".numbers",
        ".ppt", ".pptx", ".pptm", ".ppsx", ".odp", ".odg", ".vsd", ".vsdx",
        ".pdf", ".xps", ".djvu", ".epub", ".mobi", ".azw3", ".msg",
    ]
)  # fmt: skip
"""Documents that would have to be converted first: failed, not skipped, so that nobody misses them."""
_IMAGES = frozenset(
    [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".ico", ".bmp", ".tif", ".tiff", ".heic", ".avif"]
)
_BINARY = frozenset(
    [
        ".zip", ".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".7z", ".rar", ".exe", ".dll", ".so", ".dylib", ".bin",
        ".o", ".a", ".class", ".jar", ".pyc", ".whl", ".mp3", ".mp4", ".mov", ".avi", ".mkv", ".wav", ".ogg", ".webm",
        ".ttf", ".otf", ".woff", ".woff2", ".db", ".sqlite", ".npy", ".npz", ".pkl", ".iso",
    ]
)  # fmt: skip


def suffix_of(name: str) -> str:
    """The suffix of a file name, in lower case; "" where it has none."""
    start = name.rfind(".", name.rfind("/") + 1)
    # As os.path.splitext has it: dots that a name begins with start no suffix.
    return name[start:].lower() if start > 0 and name[:start].rpartition("/")[2].strip(".") else ""


def format_of(doc_id: str, chosen: str = "auto") -> Format:
    """How a document is read: by its suffix, unless a format was chosen for all; plain text where there is none.

    >>> format_of("a/README.MD"), format_of("a/README.MD", "plain")
    ('markdown', 'plain')
    """
    known: dict[str, Format] = {"markdown": "markdown", "plain": "plain", "rst": "rst"}
    return known[chosen] if chosen != "auto" else SUFFIXES.get(suffix_of(doc_id), "plain")


def given_format_of(doc_id: str, chosen: str = "auto") -> Format:
    """How the text of a chunk is read that another splitter has cut: as Markdown where the suffix says nothing.

    Ids of such documents often are no file names, and what stands in prompts mostly is Markdown.

    >>> given_format_of("a-17"), given_format_of("notes.txt")
    ('markdown', 'plain')
    """
    return format_of(doc_id, chosen) if chosen != "auto" or suffix_of(doc_id) in SUFFIXES else "markdown"


def unread(doc_id: str, name: str) -> Finding | None:
    """Why a file of this name is not read; None where it is."""
    suffix = suffix_of(name)
    if suffix in SUFFIXES or suffix in TABLE_SUFFIXES:
        return None
    if suffix in _OFFICE:
        return Finding(doc_id, "failed", f"{suffix} must be converted to Markdown or plain text first")
    if suffix in _IMAGES:
        return Finding(doc_id, "skipped", f"an image ({suffix})")
    if suffix in _BINARY:
        return Finding(doc_id, "skipped", f"binary ({suffix})")
    known = ", ".join([*SUFFIXES, *TABLE_SUFFIXES])
    return Finding(doc_id, "skipped", f"unknown suffix {suffix or '(none)'}; read are {known}")


def has_file_name(name: str) -> bool:
    """Whether a name is that of a file of a known kind, and hardly that of a folder."""
    suffix = suffix_of(name)
    return suffix in SUFFIXES or suffix in TABLE_SUFFIXES or suffix in _OFFICE | _IMAGES | _BINARY
