"""Verdicts on properties, of a search and of a state."""

from __future__ import annotations

import enum
from typing import Literal, NoReturn, TypeAlias

INTERRUPTED = "interrupted"
"""The bound of what Ctrl-C ended before all was known."""


class Verdict(enum.Enum):
    """The answer; not a truth value, because UNKNOWN is neither.

    HOLDS is said only when the space was exhausted.
    """

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    NOT_SEARCHED = "not searched"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict is not a truth value; compare it: verdict is wl.Verdict.HOLDS"
        )

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this verdict."""
        return {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3}.get(self, 0)


def combine(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict over several: VIOLATED over UNKNOWN over HOLDS."""
    for worst in (Verdict.VIOLATED, Verdict.UNKNOWN):
        if worst in verdicts:
            return worst
    return Verdict.HOLDS


class Unjudged(enum.Enum):
    """The class of the verdict that is neither true nor false."""

    UNSEEN = 2

    # As for kinds of events: the hash of a member, by name, would be Python code.
    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise TypeError("unseen is neither true nor false; compare it with UNSEEN")


UNSEEN = Unjudged.UNSEEN

StateVerdict: TypeAlias = bool | Literal[Unjudged.UNSEEN]
"""What a predicate says of a state of which some may not be known."""
