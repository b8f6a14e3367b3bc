"""Verdicts on properties."""

from __future__ import annotations

import enum
from typing import NoReturn


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
