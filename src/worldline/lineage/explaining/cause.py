"""The cause of a broken promise in a line: who lacks what, and the faults behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.injection.scope import FaultSet, Scope
from worldline.injection.subject import Goal
from worldline.lineage.explaining.phrases import faults_phrase
from worldline.lineage.explaining.words import goal_words

_MOST_GOALS = 3


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why some goals that are owed are missing in a run.

    Attributes
    ----------
    goals
        The goals that fall for this cause, in words.
    line
        The cause in a line: who lacks what, and all faults of the run.
    because
        The way from the goals down to the faults; perhaps nothing.
    nodes
        The nodes that it is about: who lacks something, then whom the faults name.
    """

    goals: tuple[str, ...]
    line: str
    because: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return it as text: the line, then what explains it, further to the right."""
        return [self.line, *(f"  {line}" for line in self.because)]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "goals": list(self.goals),
            "line": self.line,
            "because": list(self.because),
            "nodes": list(self.nodes),
        }


def plain_cause(goals: Iterable[Goal], faults: FaultSet, scope: Scope) -> Cause:
    """Return the cause as far as the faults tell it."""
    said = tuple(goal_words(goal) for goal in sorted(goals, key=repr))
    what = f"{owed(said)} owed, and missing"
    return Cause(goals=said, line=f"{what}: {faults_phrase(faults, scope)}")


def owed(goals: Sequence[str]) -> str:
    """Return goals as the beginning of a sentence, with the verb.

    Examples
    --------
    >>> owed(["(b, news)", "(c, news)"])
    '(b, news) and (c, news) are'
    >>> owed([f"({node}, news)" for node in "bcdefghij"])
    '(b, news) and 8 more are'
    """
    if len(goals) > _MOST_GOALS:
        return f"{goals[0]} and {len(goals) - 1} more are"
    *others, last = goals
    return f"{', '.join(others)} and {last} are" if others else f"{last} is"
