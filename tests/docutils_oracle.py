"""What docutils, the reference implementation, says about a reStructuredText document."""

from __future__ import annotations

import io
from collections.abc import Iterator

import docutils.frontend
import docutils.nodes
import docutils.utils
from docutils.parsers.rst import Parser


def parsed(text: str) -> docutils.nodes.document:
    """The document tree, without transforms; nothing is read from disk and nothing is printed."""
    settings = docutils.frontend.get_default_settings(Parser)
    settings.report_level = settings.halt_level = 5
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.warning_stream = io.StringIO()
    document = docutils.utils.new_document("text", settings)
    Parser().parse(text, document)
    return document


def nodes(document: docutils.nodes.Element, *classes: type) -> Iterator[docutils.nodes.Element]:
    """The nodes of these classes, in order, those inside docutils' own messages left out."""
    for node in document.findall(lambda node: isinstance(node, classes)):
        if not any(isinstance(outer, docutils.nodes.system_message) for outer in _outer(node)):
            yield node


def _outer(node: docutils.nodes.Element | None) -> Iterator[docutils.nodes.Element]:
    while node is not None:
        yield node
        node = node.parent


def section_titles(document: docutils.nodes.Element) -> list[tuple[int, str]]:
    """Level and title of each section."""
    section = docutils.nodes.section
    return [
        (sum(isinstance(outer, section) for outer in _outer(node)), " ".join(node.children[0].astext().split()))
        for node in nodes(document, section)
    ]


def in_a_table(node: docutils.nodes.Element) -> bool:
    """Whether a node is in a table's cell."""
    return any(isinstance(outer, docutils.nodes.entry) for outer in _outer(node))


def code_lines(document: docutils.nodes.Element) -> list[list[str]]:
    """The lines of each literal and doctest block that is in no table, without blank lines and indentation."""
    found = nodes(document, docutils.nodes.literal_block, docutils.nodes.doctest_block)
    return [text_lines(node.astext()) for node in found if not in_a_table(node)]


def text_lines(text: str) -> list[str]:
    """The lines of a text, without blank lines and indentation."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def list_items(document: docutils.nodes.Element) -> int:
    """How many items the lists of all sorts have."""
    kinds = docutils.nodes
    sorts = (kinds.list_item, kinds.definition_list_item, kinds.field, kinds.option_list_item)
    return sum(not in_a_table(node) for node in nodes(document, *sorts))


def table_rows(document: docutils.nodes.Element) -> list[list[list[str]]]:
    """The text of each cell of each row of each table."""
    return [
        [[cell.astext() for cell in nodes(row, docutils.nodes.entry)] for row in nodes(table, docutils.nodes.row)]
        for table in nodes(document, docutils.nodes.table)
    ]


def is_clean(document: docutils.nodes.document) -> bool:
    """Whether docutils found no error."""
    messages = [*document.parse_messages, *document.findall(docutils.nodes.system_message)]
    return all(message["level"] < 3 for message in messages)
