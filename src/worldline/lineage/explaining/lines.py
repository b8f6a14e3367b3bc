"""Lines of text that fit a screen."""

from __future__ import annotations

import re
import textwrap

WIDTH = 80
"""Columns of a report."""

_HANGING = "  "


def wrapped(line: str) -> list[str]:
    """Return a line as lines that fit; those that follow are further to the right.

    Words longer than a line stay whole, so that they can be copied; long lists may
    break after a comma.

    Examples
    --------
    >>> wrapped("  short")
    ['  short']
    """
    lines = _filled(line)
    if max(map(len, lines)) > WIDTH:
        lines = _filled(re.sub(r",(?=\w)", ", ", line))
    return lines


def _filled(line: str) -> list[str]:
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if len(line) <= WIDTH:
        return [line]
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + _HANGING,
        break_long_words=False,
        break_on_hyphens=False,
    )
