"""Python nodes in rounds as the subject of fault injection: runs and their supports."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from worldline.injection.formula import Formula
from worldline.injection.scope import FaultSet, Scope
from worldline.injection.subject import (
    CoverPoint,
    Goal,
    Pulse,
    Run,
    SentMessage,
    never_interrupt,
)
from worldline.lineage.rounds.cones import Cones
from worldline.lineage.rounds.plan import FaultPlan, check
from worldline.lineage.rounds.promises import (
    CALLS,
    FAILURE,
    Judge,
    Promise,
    cases,
    due,
    witnesses,
)
from worldline.lineage.rounds.scheduler import Mail, RoundWorld
from worldline.model.errors import InternalError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.runs.schedule import Steps


class Mode(enum.StrEnum):
    """The kind of support that is asked for."""

    FAST = "fast"
    """The causal past of what a verdict read: small, and it may miss a way."""
    COMPLETE = "complete"
    """Whatever could have reached what a verdict read: large, and it misses none."""


FIXED_CHOICES = "every choice takes its first option"
"""What a verdict about rounds has to say beside its scope."""


@final
@dataclass(frozen=True, slots=True)
class Falsifier:
    """A run that breaks a promise, as a schedule of the system.

    Attributes
    ----------
    system
        The system whose schedule it is.
    promise
        The first promise that is broken.
    kind
        ``safety``, ``liveness``, or the name of a failure.
    failure
        Where a handler failed: how, in words.
    """

    system: System
    boot: Steps
    prologue: Steps
    run: Steps
    promise: Promise
    kind: str
    failure: str | None


@final
class RoundsSubject:
    """A system of Python nodes under the faults of a scope.

    Parameters
    ----------
    system
        As the user wrote it; of its `faults` only `nodes` is asked.
    scope
        The question.
    mode
        What `Run.support` is to give.
    length
        How long a round is, in seconds: for timers and clocks.

    Raises
    ------
    UsageError
        If the system cannot be asked this.
    """

    def __init__(
        self,
        system: System,
        scope: Scope,
        *,
        mode: Mode = Mode.FAST,
        length: float = 1.0,
    ) -> None:
        check(system, scope)
        self.system = system.under_injection(f"{scope}; {FIXED_CHOICES}")
        self.length = length
        self.mode = mode
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """The question."""
        return self._scope

    @property
    def complete(self) -> bool:
        """Whether supports miss no way to break a promise."""
        return self.mode is Mode.COMPLETE

    def renamings(self) -> Sequence[dict[str, str]]:
        """Return nothing: nodes act in the order of their ids, so no two are alike."""
        return ()

    @property
    def cases(self) -> Sequence[CoverPoint]:
        """What has to happen in some run: calls, and what must hold sometimes."""
        return cases(self.system)

    def run(self, faults: FaultSet) -> Run:
        """Execute under faults."""
        rounds = self.world(faults)
        rounds.now = 0
        met = self._met(Judge(rounds), set())
        owed: set[Goal] = {Promise(self._scope.eot, FAILURE)}
        kept: set[Goal] = set()
        for number in range(1, self._scope.eot + 1):
            rounds.play(number)
            if rounds.world.failure is not None:
                break
            judge = Judge(rounds)
            for prop in due(self.system, self._scope, number):
                promise = Promise(number, prop.name)
                owed.add(promise)
                if judge.holds(prop):
                    kept.add(promise)
            met = self._met(judge, met)
        else:
            kept |= {Promise(self._scope.eot, FAILURE)}
        if rounds.called:
            met.add(CALLS)
        cones: list[Cones] = []

        def support(goal: Goal, check: Pulse = never_interrupt) -> Formula:
            check()
            # Most runs are never asked, and watching one takes longer.
            if not cones:
                cones.append(Cones(self.world(faults), self._scope, faults))
            if not isinstance(goal, Promise) or goal not in kept:
                raise InternalError(
                    f"there is no support for {goal}, which is not kept"
                )
            cone = cones[0]
            return cone.light(goal) if self.complete else cone.past(goal)

        return Run(
            faults,
            frozenset(owed),
            frozenset(kept),
            self._sent(rounds.sent),
            support,
            frozenset(met),
            rounds.pending,
        )

    def _met(self, judge: Judge, before: set[str]) -> set[str]:
        """Return what has been true by now of what must be so sometimes."""
        return before | {
            prop.name
            for prop in witnesses(self.system)
            if prop.name not in before and judge.holds(prop)
        }

    def world(self, faults: FaultSet) -> RoundWorld:
        """Return the world of a run, before its first round."""
        rounds = RoundWorld(
            self.system, FaultPlan(self._scope, faults), length=self.length
        )
        rounds.begin()
        return rounds

    def falsifier(self, faults: FaultSet) -> Falsifier:
        """Return the run under faults up to the first promise that it breaks.

        Raises
        ------
        InternalError
            If it breaks none.
        """
        rounds = self.world(faults)
        for number in range(1, self._scope.eot + 1):
            rounds.play(number)
            failure = rounds.world.failure
            if failure is not None:
                promise = Promise(number, failure.kind)
                safety = PropertyKind.SAFETY.value
                return self._falsifier(rounds, promise, safety, str(failure))
            judge = Judge(rounds)
            for prop in due(self.system, self._scope, number):
                if not judge.holds(prop):
                    # What was seen as crashed is so in the schedule.
                    for index in rounds.muted():
                        crash = Event(Kind.CRASH, self.system.ids[index])
                        rounds.run.append((crash, rounds.world.step(crash).choices))
                    promise = Promise(number, prop.name)
                    return self._falsifier(rounds, promise, prop.kind.value, None)
        raise InternalError(
            f"no promise is broken under {', '.join(map(str, faults)) or 'no faults'}"
        )

    def _falsifier(
        self, rounds: RoundWorld, promise: Promise, kind: str, failure: str | None
    ) -> Falsifier:
        return Falsifier(
            self.system,
            rounds.boot,
            rounds.prologue,
            rounds.run,
            promise,
            kind,
            failure,
        )

    def _sent(self, mails: list[Mail]) -> list[SentMessage]:
        names = self._scope.nodes
        return [
            SentMessage(
                names[mail.src],
                names[mail.dst],
                mail.round,
                mail.text,
                mail.arrived,
            )
            for mail in mails
        ]
