"""Scopes, one after another: until when losses may happen and runs may last.

Scopes have one order here: by EOT, and those of one EOT by EFF. The *smallest* that fails
is the first of that order in which faults break a goal. Of each EOT the widest scope is
decided first: no fault set of a smaller EFF is missing in it, so where it holds, all of
its EOT do. Where it fails, the others are tried from EFF 0 on.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 2.1.1.
Its sweep goes on after a failure, with longer runs, until its time is used up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from worldline.injection.scope import MOST_ROUNDS, FaultSet
from worldline.injection.subject import CoverPoint
from worldline.lineage.engines.trials import SearchResult
from worldline.model.usercode.interrupts import heard, pending
from worldline.model.verdicts import Verdict

_ENDS = ("seconds", "memory", "interrupted")
"""What ends a search and leaves nothing for the next one."""


class ScopeAnswer(StrEnum):
    """The answer for one scope, or for all scopes of one EOT."""

    HOLDS = "holds"
    FAILS = "fails"
    """Faults break a goal, or one is broken without faults, and in all longer runs."""
    SHORT = "too short"
    """Even without faults a goal is broken, which longer runs may mend."""
    VACUOUS = "vacuous"
    UNDECIDED = "undecided"


@final
@dataclass(frozen=True, slots=True)
class Tried:
    """The result of one scope.

    Attributes
    ----------
    falsifier
        The fewest faults that break a goal; None where no faults were found.
    unmet
        Why it is vacuous, if it is.
    """

    eot: int
    eff: int
    answer: ScopeAnswer
    verdict: Verdict
    falsifier: FaultSet | None = None
    executions: int = 0
    unmet: tuple[CoverPoint, ...] = ()
    seconds: float = 0.0

    @property
    def vacuous(self) -> bool:
        """Whether nothing was put to the test."""
        return self.answer is ScopeAnswer.VACUOUS


@final
@dataclass(frozen=True, slots=True)
class Swept:
    """The scopes that a sweep tried, in the order in which it did, and what ended it.

    Attributes
    ----------
    bound
        ``seconds``, ``memory``, ``interrupted``, or ``rounds`` where `MOST_ROUNDS` was
        reached; None where the sweep came to its end: the smallest scope that fails.
    """

    tried: tuple[Tried, ...]
    bound: str | None

    @property
    def failing(self) -> Tried | None:
        """The first scope, in their order, that was seen to fail."""
        broken = [one for one in self.tried if one.answer is ScopeAnswer.FAILS]
        return min(broken, key=lambda one: (one.eot, one.eff), default=None)

    @property
    def certain(self) -> bool:
        """Whether no scope before the one that fails may fail, too."""
        return self.failing is not None and not (self.bound or self.undecided)

    @property
    def undecided(self) -> tuple[Tried, ...]:
        """The scopes that were tried in vain, and come before any that fails."""
        failing = self.failing
        return tuple(
            one
            for one in self.tried
            if one.answer is ScopeAnswer.UNDECIDED
            and (failing is None or (one.eot, one.eff) < (failing.eot, failing.eff))
        )

    @property
    def passing(self) -> Tried | None:
        """The longest runs that hold for every EFF, while none that are shorter fail.

        Shorter ones may be `short` or vacuous, but all were decided.
        """
        holding = None
        for one in self.widest():
            if one.answer in (ScopeAnswer.FAILS, ScopeAnswer.UNDECIDED):
                break
            if one.answer is ScopeAnswer.HOLDS:
                holding = one
        return holding

    @property
    def untested(self) -> tuple[CoverPoint, ...]:
        """Why nothing was shown, if the longest runs were decided and are vacuous."""
        last = [one for one in self.widest() if one.answer is not ScopeAnswer.UNDECIDED]
        return last[-1].unmet if last and self.passing is None else ()

    @property
    def verdict(self) -> Verdict:
        """VIOLATED if a scope failed; else UNKNOWN: there is always a larger one."""
        return Verdict.UNKNOWN if self.failing is None else Verdict.VIOLATED

    def widest(self) -> Iterator[Tried]:
        """Yield the widest scope of each EOT."""
        return (one for one in self.tried if one.eff == widest_eff(one.eot))


def widest_eff(eot: int) -> int:
    """Return the EFF of the widest scope that leaves a last round without losses.

    Losses happen in rounds before EFF: with an EFF of 1 there are none.
    """
    return eot - 1 if eot > 2 else 0


def sweep(
    decide: Callable[[int, int, float], SearchResult],
    seconds: float,
    *,
    eot: int = 1,
    most_rounds: int = MOST_ROUNDS,
    lasts: Callable[[int], bool] = lambda _: False,
    report: Callable[[Tried], None] | None = None,
) -> Swept:
    """Decide one scope after another, until one fails or the time is used up.

    Parameters
    ----------
    decide
        Decides a scope, given its EOT, its EFF, and the seconds that are left.
    eot
        The EOT to begin with.
    lasts
        Says whether what runs of an EOT break without faults stays broken in longer
        ones: what had to be true in every round.
    report
        Told of every scope.
    """
    return _Sweep(decide, seconds, lasts, report).run(eot, most_rounds)


@final
class _Sweep:
    """One sweep."""

    def __init__(
        self,
        decide: Callable[[int, int, float], SearchResult],
        seconds: float,
        lasts: Callable[[int], bool],
        report: Callable[[Tried], None] | None,
    ) -> None:
        self._decide = decide
        self._ends = time.monotonic() + seconds
        self._lasts = lasts
        self._report = report
        self._tried: list[Tried] = []
        self._bound: str | None = None

    def run(self, eot: int, most_rounds: int) -> Swept:
        while eot <= most_rounds:
            answer = self._try(eot, widest_eff(eot))
            if answer is ScopeAnswer.FAILS:
                self._narrow(eot)
            if self._bound is not None or answer is ScopeAnswer.FAILS:
                return Swept(tuple(self._tried), self._bound)
            eot += 1
        return Swept(tuple(self._tried), "rounds")

    def _narrow(self, eot: int) -> None:
        """Find the smallest EFF that fails, where the widest one does."""
        widest = widest_eff(eot)
        for eff in (0, *range(2, widest)) if widest else ():
            if self._try(eot, eff) is ScopeAnswer.FAILS or self._bound is not None:
                return

    def _try(self, eot: int, eff: int) -> ScopeAnswer:
        """Decide one scope; say what ended the sweep if something did."""
        left = self._ends - time.monotonic()
        if left <= 0:
            self._bound = "seconds"
            return ScopeAnswer.UNDECIDED
        try:
            with heard():
                result = self._decide(eot, eff, left)
                answer = self._answer(eot, result)
        except KeyboardInterrupt:
            pending()  # it is heeded now
            self._bound = "interrupted"
            return ScopeAnswer.UNDECIDED
        self._tried.append(_tried(eot, eff, answer, result))
        if self._report is not None:
            self._report(self._tried[-1])
        if result.bound in _ENDS:
            self._bound = result.bound
        return answer

    def _answer(self, eot: int, result: SearchResult) -> ScopeAnswer:
        if result.verdict is Verdict.HOLDS:
            return ScopeAnswer.HOLDS
        if result.verdict is Verdict.VIOLATED:
            if all(result.falsifiers) or self._lasts(eot):
                return ScopeAnswer.FAILS
            return ScopeAnswer.SHORT
        return ScopeAnswer.VACUOUS if result.vacuous else ScopeAnswer.UNDECIDED


def _tried(eot: int, eff: int, answer: ScopeAnswer, result: SearchResult) -> Tried:
    return Tried(
        eot,
        eff,
        answer,
        result.verdict,
        min(result.falsifiers, key=len, default=None),
        result.executions,
        result.unmet if answer is ScopeAnswer.VACUOUS else (),
        result.seconds,
    )
