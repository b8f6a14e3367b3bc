"""A system of Python nodes, run in rounds, as a target of fault injection."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from typing import final

from worldline.engine.bounds import Meter
from worldline.injection.scope import CrashSemantics, FaultSet, Scope
from worldline.injection.subject import Goal, Pulse, Run
from worldline.lineage.engines.states import states
from worldline.lineage.engines.trials import SearchBudget, SearchResult
from worldline.lineage.explaining.cause import FaultCause
from worldline.lineage.explaining.messages import MessageHistory
from worldline.lineage.options import IGNORE
from worldline.lineage.rounds.audit import audit_rounds
from worldline.lineage.rounds.field_reads import fields_read
from worldline.lineage.rounds.promises import Promise
from worldline.lineage.rounds.round_causes import round_causes
from worldline.lineage.rounds.stepping import stepper_of
from worldline.lineage.rounds.subject import FIXED_CHOICES, Mode, RoundsSubject
from worldline.lineage.targets.target import FaultQuery, ProgressCallback
from worldline.model.errors import UsageError
from worldline.model.network import permits
from worldline.model.properties import PropertyKind
from worldline.model.semantics.offers import refuse_unlisted
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld

EOT, EFF, CRASHES = 6, 4, 1
"""The scope where the user gives none: the example of the paper, section 2.1.1."""


@final
class RoundsTarget:
    """A system; messages, timers and calls happen in synchronous rounds.

    Parameters
    ----------
    properties
        The names of those that are judged; all by default.

    Raises
    ------
    UsageError
        If it has no such property, or faults can break none of them.
    """

    engine = "states"
    semantics = CrashSemantics.HALT
    can_harden = False
    default_scope = (EOT, EFF, CRASHES)
    warnings: tuple[str, ...] = ()

    def __init__(self, system: System, properties: Sequence[str] | None = None) -> None:
        refuse_unlisted(system)
        self.system = system if properties is None else _judging(system, properties)
        self.name = system.name
        self.nodes = tuple(node.name for node in system.ids)
        struck = system.faults.nodes
        self.may_crash = None if struck is None else tuple(n.name for n in struck)

    @property
    def properties(self) -> tuple[tuple[str, str], ...]:
        """Its properties, as it declares them."""
        return tuple((prop.name, prop.kind.value) for prop in self.system.properties)

    def judging(self, names: Sequence[str]) -> RoundsTarget:
        """Return it with these of its properties alone."""
        return RoundsTarget(self.system, names)

    def promised(self, goal: Goal) -> str:
        """Return the property that a goal is about, in whichever round."""
        return goal.property if isinstance(goal, Promise) else str(goal)

    @property
    def command(self) -> str | None:
        """What names it on a command line."""
        origin = self.system.origin
        if origin is None:
            return None
        return origin.target  # its parameters are in the trace

    def assumptions(self, scope: Scope) -> tuple[str, ...]:
        """Return under what a system holds."""
        lines = ["messages arrive in the next round, in one order"]
        halts = scope.crashes > 0 and scope.semantics is not CrashSemantics.MUTE
        if halts and not permits(self.system.network, "connection_errors"):
            lines.append("at a node that is down they are lost")
        return (*lines, FIXED_CHOICES)

    def subject(self, scope: Scope, negation: str) -> RoundsSubject:
        """Return what the searches run; to ignore negation is to look at the past only."""
        mode = Mode.FAST if negation == IGNORE else Mode.COMPLETE
        return RoundsSubject(self.system, scope, mode=mode)

    def solve(
        self, scope: Scope, question: FaultQuery, report: ProgressCallback | None
    ) -> SearchResult:
        """Decide a scope level by level, over the distinct states."""
        stepper = stepper_of(self.subject(scope, IGNORE))
        return states(
            stepper, every=question.every, budget=question.budget, progress=report
        )

    def audit(self, scope: Scope, falsifiers: Sequence[FaultSet]) -> tuple[str, ...]:
        """Make some runs again, and with sets in other orders."""
        return audit_rounds(self.subject(scope, IGNORE), falsifiers)

    def trace(self, scope: Scope, faults: FaultSet, engine: str, seed: int) -> Trace:
        """Return the run up to the first promise that it breaks, as a schedule."""
        falsifier = self.subject(scope, IGNORE).falsifier(faults)
        ending = Ending(
            falsifier.promise.property,
            falsifier.kind,
            Verdict.VIOLATED,
            falsifier.failure,
        )
        return record(
            DirectWorld(falsifier.system),
            falsifier.boot,
            falsifier.prologue,
            falsifier.run,
            ending=ending,
            engine=engine,
            seed=seed,
        )

    def frontier(self, scope: Scope, budget: SearchBudget) -> None:
        """Return nothing: the states are searched again for each scope."""

    def causes(self, scope: Scope, bad: Run, check: Pulse) -> list[FaultCause]:
        """Return why a run breaks what it breaks."""
        return round_causes(self.subject(scope, IGNORE), bad, check)

    def supports(self, scope: Scope, bad: Run, goal: Goal, meter: Meter) -> list[str]:
        """Return nothing: what fields are and who wrote them is in the cause."""
        return []

    def history(
        self, scope: Scope, run: Run, goals: Collection[Goal]
    ) -> MessageHistory:
        """Return the messages of a run, and the fields that goals read."""
        subject = self.subject(scope, IGNORE)
        return MessageHistory(run, scope, fields_read(subject, run.faults, goals))

    def harden(
        self, scope: Scope, falsifiers: Sequence[FaultSet], budget: SearchBudget
    ) -> list[str]:
        """Return nothing: how Python code could be changed is not known."""
        return []


def _judging(system: System, names: Sequence[str]) -> System:
    """Return a system with only some of its properties."""
    by_name = {declared.name: declared for declared in system.properties}
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"{system.name} has no property {name!r}",
                remedy=f"its properties are {', '.join(by_name) or 'none'}",
            )
    if all(by_name[name].kind is PropertyKind.SOMETIMES for name in names):
        promised = [
            one.name
            for one in by_name.values()
            if one.kind is not PropertyKind.SOMETIMES
        ]
        raise UsageError(
            f"{', '.join(names) or 'nothing'} is no promise that a fault could break",
            remedy=f"{system.name} promises {', '.join(promised) or 'nothing'}",
        )
    changed = copy.copy(system)
    changed.properties = tuple(by_name[name] for name in dict.fromkeys(names))
    return changed
