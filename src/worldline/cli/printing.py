"""What reaches a terminal: text that its encoding has, and no control characters.

Names and log lines come from users and from files. A terminal obeys what it is sent, so
an escape sequence in a name could rewrite what is on the screen.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import re
import sys
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""All but the ends of lines and tabs; the last change the direction of text."""

_PLAIN = {
    "→": "->",
    "…": "...",
    "·": ".",
    "○": "o",
    "●": "*",
    "✗": "x",
    "─": "-",
    "═": "=",
    "│": "|",
    "┊": ":",
    "└": "`",
    "├": "|",
    "┤": "|",
    "┼": "+",
    "╪": "+",
    "▶": ">",
    "◀": "<",
}
"""What the drawings of ours are made of where there is only ASCII."""


def printable(text: str) -> str:
    """Return a text with its control characters spelt as Python spells them."""
    return _CONTROL.sub(lambda found: _spelt(found.group()), text)


def json_text(value: Any) -> str:
    """Return a JSON object as text, in ASCII where the output cannot take it as it is."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    # What JSON lets through; in a text its own escape says the same.
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def degrade_gracefully() -> None:
    """Let output be spelt in plainer characters where its encoding lacks some.

    Otherwise a report could end in a UnicodeEncodeError, its verdict unsaid.
    """
    codecs.register_error(_HANDLER, _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            with contextlib.suppress(io.UnsupportedOperation, ValueError):
                stream.reconfigure(errors=_HANDLER)


_HANDLER = "worldline.plainer"


def _plainer(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or _spelt(c) for c in lacking), error.end


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
