"""Defaults of options for a while, and what verbs were asked in it.

A test session sets them around each test, so that one place says how long searches take,
with which seed they begin and where traces go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, final

from worldline.model.verdicts import INTERRUPTED

_MOST_ASKED = 20
"""Answers that are kept: each may hold a long run. So many files are kept, too."""


class Asked(NamedTuple):
    """One call of a verb: what it was about, its options, and its answer."""

    subject: Any
    options: Any
    answer: Any


@final
class Defaults:
    """Defaults that hold for every call of a verb in Python that does not say otherwise.

    Parameters
    ----------
    values
        By the names of options; a verb takes those that it has.
    folder
        Where traces go that nobody gave a place; None for the usual one.

    Attributes
    ----------
    asked
        The latest calls, oldest first.
    written
        The latest traces: runs that nobody gave a place do not take these.
    is_interrupted
        Whether Ctrl-C ended one of all calls, which may have been answered with what
        was learned until then.
    """

    def __init__(
        self, values: Mapping[str, Any] | None = None, folder: Path | None = None
    ) -> None:
        self.values = dict(values or {})
        self.folder = folder
        self.asked: deque[Asked] = deque(maxlen=_MOST_ASKED)
        self.written: deque[Path] = deque(maxlen=_MOST_ASKED)
        self.is_interrupted = False

    def note(self, subject: Any, options: Any, answer: Any) -> None:
        """Keep what a verb was asked, and what it answered."""
        self.asked.append(Asked(subject, options, answer))
        if getattr(answer, "bound", None) == INTERRUPTED:
            self.is_interrupted = True


_in_force: list[Defaults] = []
"""Not a context variable: they hold in threads that begin meanwhile, too."""


def in_force() -> Defaults | None:
    """Return the defaults that hold now, if any do."""
    return _in_force[-1] if _in_force else None


@contextmanager
def holding(defaults: Defaults) -> Iterator[Defaults]:
    """Let defaults hold, instead of those that did, until this ends."""
    _in_force.append(defaults)
    try:
        yield defaults
    finally:
        _in_force.pop()
