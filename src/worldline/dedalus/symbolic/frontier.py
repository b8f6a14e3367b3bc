"""The frontier of a program: how long losses may go on, and how many it takes.

Both questions are monotone: what breaks a program within some limits breaks it within
wider ones. So they are put to one solver, whose limits are switched on and off.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 2.1.1
and figure 12 for the smallest EFF; the frontier is an addition of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import final

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.outcomes import with_outcomes
from worldline.dedalus.symbolic.encoding import Encoding
from worldline.dedalus.symbolic.search import ProgramRerun
from worldline.dedalus.symbolic.solver import Solver
from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import NO_FAULTS, FaultSet, Scope


@final
@dataclass(frozen=True, slots=True)
class Breach:
    """The least EFF at which a program breaks.

    Attributes
    ----------
    eff
        0 where no message need be lost.
    faults
        The fewest faults that do it there.
    """

    eff: int
    faults: FaultSet


def smallest_eff(
    checked: CheckedProgram, scope: Scope, *, seconds: float | None = None
) -> Breach | None:
    """Return the least EFF at which a program breaks at the scope's EOT.

    Parameters
    ----------
    scope
        Its `eff` does not count: every one up to `eot` is considered.

    Returns
    -------
    Breach | None
        ``None`` if it holds at all of them.

    Raises
    ------
    OutOfTime
        If that takes longer than `seconds`.
    """
    asked = _Asked(checked, replace(scope, eff=scope.eot), seconds)
    return asked.earliest()


def frontier(
    checked: CheckedProgram,
    scope: Scope,
    *,
    seconds: float | None = None,
    look: Callable[[], None] | None = None,
) -> Iterator[FrontierPoint]:
    """Yield, for 0 crashes to as many as the scope has, the fewest losses that break it.

    Losses are considered in the rounds in which the scope has them.

    Raises
    ------
    OutOfTime
        If that takes longer than `seconds`, or `look` says so. What was yielded before
        stays true.
    """
    asked = _Asked(checked, scope, seconds, look)
    for crashes in range(scope.crashes + 1):
        yield asked.corner(crashes)


class _Asked:
    """A solver, and what is asked of it."""

    def __init__(
        self,
        checked: CheckedProgram,
        scope: Scope,
        seconds: float | None,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._eot = scope.eot
        checked = with_outcomes(checked, scope)
        self._rerun = ProgramRerun(checked, scope)
        owed, kept = self._rerun.outcome(NO_FAULTS)
        self._broken = not owed <= kept
        self._solver = Solver(
            Encoding(checked, scope), scope, seconds=seconds, look=look
        )

    def earliest(self, **limits: int) -> Breach | None:
        """Return the least EFF at which there is a falsifier within limits."""
        if self._broken:
            return Breach(0, NO_FAULTS)
        if self._solver.falsifier(**limits) is None:
            return None
        # EFF 0 and 1 are the same: nothing is lost before round 1.
        low, high = 1, self._eot
        while low < high:
            middle = (low + high) // 2
            if self._solver.falsifier(quiet=middle, **limits) is None:
                low = middle + 1
            else:
                high = middle
        faults = self._fewest(quiet=low, **limits)
        return Breach(low if low > 1 else 0, self._rerun.confirm(faults))

    def corner(self, crashes: int) -> FrontierPoint:
        """Return the point of the frontier for a number of crashes."""
        if self._broken:
            return FrontierPoint(crashes, 0, 0, NO_FAULTS, exact=True)
        if self._solver.falsifier(crashes=crashes) is None:
            return FrontierPoint(crashes, None, None, None, exact=True)
        losses = 0
        while self._solver.falsifier(crashes=crashes, disturbed=losses) is None:
            losses += 1
        breach = self.earliest(crashes=crashes, disturbed=losses)
        assert breach is not None
        return FrontierPoint(crashes, losses, breach.eff, breach.faults, exact=True)

    def _fewest(self, **limits: int) -> FaultSet:
        """Return a smallest falsifier within limits that have one."""
        size = 1
        while (faults := self._solver.falsifier(faults=size, **limits)) is None:
            size += 1
        return faults
