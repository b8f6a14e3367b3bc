"""Reading what follows a command's name."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from worldline.debug.session import Session
from worldline.debug.state import NETWORK
from worldline.model.errors import UsageError

WHOLE = "--all"
_PLACES = ("first", "start", "end", "here", "critical")
"""Steps that have a name."""


def words_of(rest: str) -> tuple[list[str], bool]:
    """Return the words, and whether ``--all`` was among them.

    Raises
    ------
    UsageError
        If a quotation mark is not closed.
    """
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"{rest!r} cannot be read: {error}") from None
    return [word for word in words if word != WHOLE], WHOLE in words


def number_of(word: str) -> int:
    """Read a whole number.

    Raises
    ------
    UsageError
        If it is none.
    """
    if not _is_number(word):
        raise UsageError(f"{word!r} is not a whole number")
    return int(word)


def step_of(session: Session, word: str) -> int:
    """Read a step: a number, perhaps behind an @, or one that has a name.

    Raises
    ------
    UsageError
        If it is none; whether the trace has it is not asked.
    """
    word = word.removeprefix("@")
    if word in _PLACES:
        return _place(session, word)
    if not _is_number(word):
        places = ", ".join(_PLACES)
        raise UsageError(f"{word!r} is no step", remedy=f"give a number, or {places}")
    return int(word)


def _place(session: Session, word: str) -> int:
    timeline, end = session.timeline, session.trace.end
    if word == "first":
        return timeline.first
    if word == "start":
        return max(0, timeline.first)
    if word == "end":
        return timeline.last
    if word == "here":
        return session.position
    if end is None or end.critical is None:
        raise UsageError(
            "this trace has no critical transition",
            remedy="worldline walk writes traces that have one",
        )
    return end.critical


def one_step(session: Session, words: Sequence[str]) -> int:
    """Read the only step there may be; without any, that of the session.

    Raises
    ------
    UsageError
        If there are several words, or the one is no step.
    """
    if len(words) > 1:
        raise UsageError(f"one step is enough, got {' '.join(words)}")
    return step_of(session, words[0]) if words else session.position


def sorted_out(
    session: Session, words: Iterable[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return which words are steps, which nodes, and the others.

    A node may be named like a step; the step is then to be given behind an @.
    """
    steps, nodes, others = [], [], []
    for word in words:
        if word in (*session.trace.header.names, NETWORK):
            nodes.append(word)
        elif word[:1] == "@" or word in _PLACES or _is_number(word):
            steps.append(word)
        else:
            others.append(word)
    return steps, nodes, others


def _is_number(word: str) -> bool:
    return word.isascii() and word.removeprefix("-").isdecimal()
