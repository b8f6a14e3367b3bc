"""Places in the user's code: where an exception was raised, or where it runs now."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from types import CodeType, FrameType
from typing import Any, TypeVar

from worldline import _command

_OURS = str(Path(__file__).resolve().parents[2])
_LIKE_USERS = str(Path(_OURS) / "zoo")
"""Systems that come along: written as a user's are, and treated so."""

_PYTHON = sysconfig.get_path("stdlib")

_COMMAND = getattr(sys.modules["__main__"], "__file__", None) or ""
"""The script that began the process, which is no code of the user's if it is the command."""


F = TypeVar("F", bound=Callable[..., Any])

_entries: set[CodeType] = set()


def enters(function: F) -> F:
    """Note that Worldline begins to run user code in a function.

    Whoever has called that, though it be in the user's code, is no part of a place.
    """
    _entries.add(function.__code__)
    return function


def is_ours(filename: str) -> bool:
    """Say whether a file is Worldline's, with the systems that it brings along."""
    return filename.startswith(_OURS)


def is_users(filename: str) -> bool:
    """Say whether a file is the user's: neither ours nor Python's."""
    if is_ours(filename):
        return filename.startswith(_LIKE_USERS)
    if _command.IS_COMMAND and filename == _COMMAND:
        return False
    return not filename.startswith(("<", _PYTHON))


def place_of(error: BaseException) -> str:
    """Return where an exception was raised: file name, line and function.

    It is empty where that is no code of the user's: an expression has no lines.

    Where a recursion ends depends on how much room there was. So its place is the
    first call of it, with the functions that call each other.
    """
    trace = list(traceback.walk_tb(error.__traceback__))
    cycle: tuple[str, ...] = ()
    if isinstance(error, RecursionError):
        counts = Counter(frame.f_code for frame, _ in trace)
        most = max(counts.values())
        often = [code for code, count in counts.items() if count > most // 2 > 1]
        trace = [at for at in trace if at[0].f_code in often][:1] or trace
        cycle = tuple(code.co_name for code in often)
    names = {frame.f_code.co_filename for frame, _ in trace}
    if all(is_ours(name) and not is_users(name) for name in names):
        return ""
    frame, line = _written(trace)
    place = _spelt(frame, line)
    return f"{place}, of {', '.join(cycle)}" if len(cycle) > 1 else place


def place_now() -> str:
    """Return which line of the user's code runs now; empty if none does.

    Where that is in a function that a handler or property calls, it names both.
    """
    own = list(_own(sys._getframe(1)))
    if not own:
        return ""
    place = _spelt(own[0], own[0].f_lineno)
    outermost = own[-1].f_code
    if outermost is own[0].f_code:
        return place
    return f"{place}, called by {outermost.co_name}"


def _own(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the user code that was entered last, the innermost first."""
    while frame is not None and frame.f_code not in _entries:
        if is_users(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def _written(trace: list[tuple[FrameType, int]]) -> tuple[FrameType, int]:
    """Return the innermost line that is not ours, and stands in a file.

    What a dataclass refuses is raised in code that Python has made up. A model may stand
    in no file either: then the innermost line is its.
    """
    for frame, line in reversed(trace):
        name = frame.f_code.co_filename
        if is_users(name) or not (is_ours(name) or name.startswith("<")):
            return frame, line
    return trace[-1]


def _spelt(frame: FrameType, line: int) -> str:
    code = frame.f_code
    return f"{PurePath(code.co_filename).name}:{line} in {code.co_name}"
