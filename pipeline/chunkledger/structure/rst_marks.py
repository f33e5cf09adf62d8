"""What the lines of reStructuredText begin with: the patterns of its specification, over bytes."""

from __future__ import annotations

import re

_NAME = rb"[0-9A-Za-z\x80-\xff]+(?:[-._+:][0-9A-Za-z\x80-\xff]+)*+"
"""A simple reference name; what is not ASCII passes for a letter."""
_NUMBER = rb"(?:[0-9]+|[a-zA-Z]|[ivxlcdm]+|[IVXLCDM]+|\#)"
_ARGUMENT = rb"(?:[a-zA-Z][a-zA-Z0-9_-]*|<[^<>]+>)"
_OPTION = rb"(?:[-+][a-zA-Z0-9](?:[ ]?%b)?|(?:--|/)[a-zA-Z0-9][a-zA-Z0-9_-]*(?:[ =]%b)?)" % (_ARGUMENT, _ARGUMENT)
MARK = re.compile(
    rb"(?P<bullet>(?:[-+*]|\xe2\x80[\xa2\xa3]|\xe2\x81\x83)(?:[ \t]+|\Z))"
    rb"|(?P<enumerated>(?:\(" + _NUMBER + rb"\)|" + _NUMBER + rb"[.)])(?:[ \t]+|\Z))"
    rb"|(?P<field>:(?![: ])(?:[^:\\]|\\.|:(?!(?:[ \t`]|\Z)))*+(?<! ):(?:[ \t]+|\Z))"
    rb"|(?P<option>" + _OPTION + rb"(?:, " + _OPTION + rb")*(?: [ \t]+|\t[ \t]*| ?\Z))"
    rb"|(?P<doctest>>>>(?:[ \t]+|\Z))"
    rb"|(?P<line_block>\|(?:[ \t]+|\Z))"
    rb"|(?P<grid>\+-[-+]+-\+\Z)"
    rb"|(?P<simple>=++(?: ++=++)++\Z)"
    rb"|(?P<explicit>\.\.(?:[ \t]+|\Z))"
    rb"|(?P<anonymous>__(?:[ \t]+|\Z))"
    rb"|(?P<adornment>(?P<char>[!-/:-@\[-`{-~])(?P=char)*+\Z)",
    re.DOTALL,
)
"""What a line begins with, in the order in which docutils tries it; matched up to the line's end."""
ADORNMENT = re.compile(rb"([!-/:-@\[-`{-~])\1*+\Z")
EXPLICIT = re.compile(
    rb"(?P<footnote>\[(?:[0-9]+|\#(?:" + _NAME + rb")?|\*|" + _NAME + rb")\](?:[ \t]+|\Z))"
    rb"|(?P<target>_(?![ ]|\Z))"
    rb"|(?P<substitution>\|(?! |\Z))"
    rb"|(?P<directive>(?P<name>" + _NAME + rb") ?::(?:[ \t]+|\Z))"
)
"""What stands behind `.. `; anything else makes it a comment."""
TARGET_NAME = re.compile(
    rb"_(?:_|(?!_)(?P<quote>`?)(?![ `]).+?(?<![\s\\])(?P=quote)(?<!(?<!\\):)) ?:(?:[ \t\n]|\Z)", re.DOTALL
)
HEADER = re.compile(
    rb"[ \n]*+((?:[A-Za-z][!-9;-~]*+:(?:[ \t][^\n]*+)?(?:\n[ \t]++[^ \t\n][^\n]*+)*+(?:\n|\Z)){2,}+)"
    rb"(?=[ \t]*+(?:\n|\Z))"
)
"""An RFC 2822 header at the very top: two fields or more, a blank line or nothing behind it."""
QUOTING = re.compile(rb"[!-/:-@\[-`{-~]")

SHORT = 4
"""Fewer marks than this make no title longer than they are, and no transition."""
CODE_DIRECTIVES = frozenset(
    b"code code-block sourcecode parsed-literal prompt literalinclude code-cell console terminal "
    b"testcode testoutput testsetup testcleanup doctest ipython jupyter-execute jupyter-input jupyter-output "
    b"graphviz graph digraph mermaid uml plantuml blockdiag productionlist command-output program-output "
    b"raw".split()
)
"""Directives, in lower case, whose body is taken as it stands."""
OPENED_BY_TEXT = frozenset(
    b"attention caution danger error hint important note tip warning seealso todo compound epigraph highlights "
    b"pull-quote".split()
)
"""Directives whose body may start on their own line."""
