"""The message when a user's module or function fails: its words, and the line.

Knows exceptions and their tracebacks only; `loader` catches them.
"""

from __future__ import annotations

import dataclasses
import enum
import traceback
from collections.abc import Mapping
from pathlib import Path

from worldline.model.drawn import OneOf, phrase
from worldline.model.errors import InputError, WorldlineError
from worldline.model.usercode.places import is_ours, is_users
from worldline.model.usercode.running import said, text_of

_LONGEST_LINE = 120
"""Characters of a line of code that are repeated."""


def failed(place: str, error: BaseException, what: str) -> InputError:
    """Return the error that says why a module or function failed, and on which line.

    Parameters
    ----------
    place
        The module or function, as the user calls it.
    what
        What happened, to stand before the exception: ``it raised``.
    """
    if isinstance(error, SyntaxError):
        name = Path(error.filename).name if error.filename else place
        text = f": {shorten(error.text.strip(), _LONGEST_LINE)}" if error.text else ""
        # What has a null character in it has no lines.
        line = "" if error.lineno is None else f" ({name}:{error.lineno}{text})"
        return InputError(f"{place} is not valid Python: {error.msg}{line}")
    line = _line(error) or place
    if isinstance(error, WorldlineError):
        return InputError(f"{place}: {error.what} ({line})", remedy=error.remedy)
    return InputError(f"{place}: {what} {said(error)} ({line})")


def refusal(error: ValueError) -> str:
    """Return what a function said to refuse its arguments; where, if by accident."""
    line = _line(error)
    if ": raise " in line and text_of(error):
        return text_of(error)
    return f"{said(error)} ({line})"


def escaped(error: BaseException) -> InputError | None:
    """Return the error to report for an exception that user code let escape.

    Guards and observers are code that may not raise, and has no verdict if it does.

    Returns
    -------
    InputError or None
        None if the exception was raised by Worldline itself.
    """
    frames = traceback.extract_tb(error.__traceback__)
    blamed = [f for f in frames if is_ours(f.filename) or is_users(f.filename)]
    blamed = [f for f in blamed if not _is_library(f.filename)]
    if not blamed or not is_users(blamed[-1].filename):
        return None
    return InputError(
        f"{blamed[-1].name} raised {said(error)} ({_line(error)})",
        remedy="a guard, an observer or a specification must take whatever it is given",
    )


def spelt(value: object) -> str:
    """Return a user's value as Python writes it, or what it is if that is too long.

    A record is written by its fields: its own ``__repr__`` may raise or never return.
    """
    try:
        return _spelt(value)
    except (ValueError, RecursionError):
        # Of an int with thousands of digits, or of what is nested very deep.
        return f"<{type(value).__name__} that is too long to be printed>"


def _spelt(value: object) -> str:
    kind = type(value)
    if isinstance(value, OneOf):
        return phrase(value.options, _spelt)
    if dataclasses.is_dataclass(kind):
        named = [f.name for f in dataclasses.fields(kind) if f.repr]
        inside = [f"{name}={_spelt(getattr(value, name, None))}" for name in named]
        return f"{kind.__qualname__}({', '.join(inside)})"
    if isinstance(value, enum.Enum):
        return f"<{kind.__name__}.{value.name}: {_spelt(value.value)}>"
    inside = [_spelt(item) for item in value] if isinstance(value, _COLLECTIONS) else []
    if kind is tuple:
        return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(inside)}]"
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(inside)}}})" if inside else "frozenset()"
    if isinstance(value, set):
        return f"{{{', '.join(inside)}}}" if inside else "set()"
    if isinstance(value, Mapping):
        pairs = [f"{_spelt(key)}: {_spelt(item)}" for key, item in value.items()]
        text = f"{{{', '.join(pairs)}}}"
        return text if isinstance(value, dict) else f"{kind.__name__}({text})"
    return repr(value)


_COLLECTIONS = (tuple, list, set, frozenset)


def shorten(text: str, width: int = 60) -> str:
    """Return a text, or its beginning if it is longer than `width`."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _line(error: BaseException) -> str:
    """Return the innermost line that is the user's: neither ours nor Python's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_users(frame.filename)]
    if not own:
        return ""
    text = f": {shorten(own[-1].line, _LONGEST_LINE)}" if own[-1].line else ""
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}{text}"


def _is_library(filename: str) -> bool:
    """Say whether a file is installed, and not ours: it fails when misused."""
    return "site-packages" in Path(filename).parts and not is_ours(filename)
