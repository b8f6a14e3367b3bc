"""Scopes, one after another: until when losses may happen and runs may last.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 2.1.1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.injection.scope import MOST_ROUNDS, FaultSet
from worldline.lineage.engines.trials import SearchResult
from worldline.model.usercode.interrupts import heard, pending
from worldline.model.verdicts import Verdict


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """The result of one scope."""

    eot: int
    eff: int
    verdict: Verdict
    falsifier: FaultSet | None
    executions: int
    vacuous: bool
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class Swept:
    """The scopes that a sweep tried, in order, and what ended it.

    Attributes
    ----------
    bound
        ``seconds``, ``interrupted``, or ``rounds`` where `MOST_ROUNDS` was reached.
    """

    tried: tuple[Tried, ...]
    bound: str

    @property
    def failing(self) -> Tried | None:
        """The first scope in which faults break a goal.

        One that is broken without any fault counts only if runs never became right:
        until then they were too short.
        """
        broken = [one for one in self.tried if one.verdict is Verdict.VIOLATED]
        if all(one.verdict is Verdict.VIOLATED or one.vacuous for one in self.tried):
            return broken[-1] if broken else None
        return next((one for one in broken if one.falsifier), None)

    @property
    def passing(self) -> Tried | None:
        """The largest scope that holds, by EFF and then by EOT."""
        passing = [one for one in self.tried if one.verdict is Verdict.HOLDS]
        return max(passing, key=lambda one: (one.eff, one.eot), default=None)

    @property
    def verdict(self) -> Verdict:
        """VIOLATED if a scope failed; else UNKNOWN: there is always a larger one."""
        return Verdict.UNKNOWN if self.failing is None else Verdict.VIOLATED


def sweep(
    decide: Callable[[int, int, float], SearchResult],
    seconds: float,
    *,
    eot: int = 1,
    most_rounds: int = MOST_ROUNDS,
    report: Callable[[Tried], None] | None = None,
) -> Swept:
    """Decide one scope after another within a time budget.

    At first nothing is lost, and runs become longer until they are right and not
    vacuous. Then losses may happen longer and longer. Where that breaks a goal, runs
    become longer again, so that the system may recover; where losses may happen until
    the last round but one, both grow.

    Parameters
    ----------
    decide
        Decides a scope, given its EOT, its EFF, and the seconds that are left.
    eot
        The EOT to begin with.
    report
        Told of every scope.
    """
    began = time.monotonic()
    tried: list[Tried] = []
    eff, is_started = 0, False
    while eot <= most_rounds:
        left = seconds - (time.monotonic() - began)
        if left <= 0:
            return Swept(tuple(tried), "seconds")
        try:
            with heard():
                result = decide(eot, eff, left)
        except KeyboardInterrupt:
            pending()  # it is heeded now
            return Swept(tuple(tried), "interrupted")
        tried.append(_tried(eot, eff, result))
        if report is not None:
            report(tried[-1])
        if result.bound in ("seconds", "memory", "interrupted"):
            return Swept(tuple(tried), result.bound)
        is_broken = result.verdict is Verdict.VIOLATED
        is_started = is_started or not (result.vacuous or is_broken)
        if not is_started or is_broken:
            eot += 1
        elif eff < eot - 1:
            # Losses happen in rounds before EFF: with an EFF of 1 there are none.
            eff = min(max(eff + 1, 2), eot - 1)
        else:
            eot, eff = eot + 1, eff + 1
    return Swept(tuple(tried), "rounds")


def _tried(eot: int, eff: int, result: SearchResult) -> Tried:
    first = min(result.falsifiers, key=len, default=None)
    return Tried(
        eot,
        eff,
        result.verdict,
        first,
        result.executions,
        result.vacuous,
        result.seconds,
    )
