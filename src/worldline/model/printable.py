"""Text made safe for a terminal, of any author.

A name, a log line or a message can come from a foreign file. Escape
sequences in it could rewrite what stands above, and marks that change the direction of
text could make one thing look like another, so neither reaches a terminal.
"""

from __future__ import annotations

import re

_LINES = "\t\n"
"""What lays out lines: ours in a whole text, foreign within a line."""

_UNSEEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of text
    "\u2028\u2029"  # more ends of lines
    "\ud800-\udfff"  # lone surrogates, which no encoding has
    "]"
)


def printable(text: str) -> str:
    r"""Return a text of many lines with what could do harm spelt as ``\uXXXX``.

    That is JSON's spelling: what was one JSON text still is.

    Examples
    --------
    >>> printable("\x1b[2J\n")
    '\\u001b[2J\n'
    """
    return _UNSEEN.sub(_spelt, text)


def one_line(text: str) -> str:
    r"""Return a text that is meant as one line, with its ends of lines spelt as well.

    Examples
    --------
    >>> one_line("a\nb")
    'a\\nb'
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _spelt(match: re.Match[str]) -> str:
    character = match[0]
    return character if character in _LINES else f"\\u{ord(character):04x}"
