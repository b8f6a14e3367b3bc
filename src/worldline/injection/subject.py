"""The interface of what is run under faults, and the record that a run leaves.

A `Subject` is a Dedalus program or a system of Python nodes in rounds; the searches here
do not know which.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from worldline.injection.formula import Formula
from worldline.injection.scope import FaultSet, Scope

Goal = Hashable
"""What should be reached or kept: a row of `pre` and `post`, a property in a round."""


@dataclass(frozen=True, slots=True)
class CoverPoint:
    """An event that has to happen in some run, lest a verdict of HOLDS say nothing.

    Attributes
    ----------
    name
        A property that must hold sometimes, or what else this is about.
    missing
        What is to be said if it never happens.
    remedy
        What to do then.
    """

    name: str
    missing: str
    remedy: str


Pulse = Callable[[], None]
"""Called now and then by what may take long; what it raises ends that."""


def never_interrupt() -> None:
    """Never stop the work: the default check."""


class Support(Protocol):
    """Gives, for a goal that a run keeps, what may undo it."""

    def __call__(self, goal: Goal, check: Pulse = never_interrupt) -> Formula:
        """Return a formula over faults; see `Run`."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of a run: sent in round `time`, and when it arrived."""

    src: str
    dst: str
    time: int
    label: str
    arrived: int | None
    """The round of its arrival; ``None`` where it was lost."""


@dataclass(frozen=True)
class Run:
    """One execution under faults.

    Attributes
    ----------
    owed
        Goals whose premise holds at the end (`pre`): what must be kept.
    kept
        Those of them, and others, whose conclusion holds (`post`).
    sent
        Every message, in order.
    support
        Gives, for a goal in `kept`, a formula over faults that is true of every fault
        set under which the goal falls (as far as the subject's mode is complete):
        nothing that makes it false needs to be tried for the goal's sake.
    met
        The names of the subject's cases that happened.
    pending
        What could still happen when the last round was over, in words; empty if nothing,
        or if that is not known.
    """

    faults: FaultSet
    owed: frozenset[Goal]
    kept: frozenset[Goal]
    sent: Sequence[SentMessage]
    support: Support
    met: frozenset[str] = frozenset()
    pending: str = ""

    @property
    def broken(self) -> frozenset[Goal]:
        """The goals that are owed and not kept."""
        return self.owed - self.kept


class Subject(Protocol):
    """A system that runs under any faults of a scope."""

    @property
    def scope(self) -> Scope:
        """The question."""

    @property
    def complete(self) -> bool:
        """Whether supports miss no way to break a goal, so that a search may say HOLDS."""

    @property
    def cases(self) -> Sequence[CoverPoint]:
        """What has to happen in some run for a HOLDS to mean anything."""

    def run(self, faults: FaultSet) -> Run:
        """Execute under faults; the same faults give the same run."""

    def renamings(self) -> Sequence[dict[str, str]]:
        """Return the permutations of nodes that change nothing, without the identity."""
