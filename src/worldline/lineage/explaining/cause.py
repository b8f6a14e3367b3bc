"""The cause of a broken promise in a line: who lacks what, and the faults behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.injection.scope import FaultSet, Scope
from worldline.injection.subject import Goal
from worldline.lineage.explaining.phrases import faults_phrase, listed
from worldline.lineage.explaining.words import goal_words

_MOST_GOALS = 3
_MOST_LINES = 6


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCause:
    """The cause for which some goals that are owed are missing in a run.

    Attributes
    ----------
    goals
        The goals that fall for this cause, in words.
    what
        What the faults lead to, as a clause: who lacks what, or that the goals do.
    faults
        All faults of the run, as one phrase.
    because
        The way from the goals down to the faults; perhaps nothing.
    nodes
        The nodes that it is about: who lacks something, then whom the faults name.
    last
        The round after which the goals are missing, and nothing matters any more; None
        for the end of time.
    """

    goals: tuple[str, ...]
    what: str
    faults: str
    because: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    last: int | None = None

    @property
    def line(self) -> str:
        """The cause in a line: who lacks what, and all faults of the run."""
        return f"{self.what}: {self.faults}"

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


def plain_cause(goals: Iterable[Goal], faults: FaultSet, scope: Scope) -> FaultCause:
    """Return the cause as far as the faults tell it."""
    said = tuple(goal_words(goal) for goal in sorted(goals, key=repr))
    return FaultCause(
        goals=said, what=missing_words(said), faults=faults_phrase(faults, scope)
    )


def missing_words(goals: Sequence[str]) -> str:
    """Return of goals that they are missing.

    Examples
    --------
    >>> missing_words(["(b, news)", "(c, news)"])
    '(b, news) and (c, news) are owed, and missing'
    >>> missing_words([f"({node}, news)" for node in "bcdefghij"])
    '(b, news) and 8 more are owed, and missing'
    """
    if len(goals) > _MOST_GOALS:
        goals = [goals[0], f"{len(goals) - 1} more"]
    return f"{listed(goals)} {'are' if len(goals) > 1 else 'is'} owed, and missing"


def bounded(lines: Sequence[str]) -> list[str]:
    """Return lines without those in the middle, if they are too many."""
    if len(lines) <= _MOST_LINES:
        return list(lines)
    left_out = len(lines) - _MOST_LINES + 1
    first = _MOST_LINES // 2
    return [*lines[:first], f"... ({left_out} steps) ...", *lines[first + left_out :]]
