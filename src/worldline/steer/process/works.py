"""Works of a predictor: a closed list, of which a frame names an entry.

An entry is a function that is given the system and how to work, once, and returns what
answers one question after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from worldline.model.errors import UsageError
from worldline.model.system import System

AnswersQuestions: TypeAlias = Callable[[bytes], Iterator[bytes]]
"""Returns the parts of the answer to a question, as they are found."""

Work: TypeAlias = Callable[[System, bytes], AnswersQuestions]
"""Makes that, of a system and of options as bytes."""


def work_of(name: str, works: Mapping[str, Work]) -> Work:
    """Return a work of a list.

    Raises
    ------
    UsageError
        If it is not in it.
    """
    work = works.get(name)
    if work is None:
        raise UsageError(
            f"a predictor knows no work {name[:40]!r}",
            remedy=f"it knows {', '.join(works)}",
        )
    return work
