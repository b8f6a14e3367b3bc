"""A search for the faults that break a program: the fewest, or all smallest sets.

A set of faults is *smallest* here if it breaks the program and no proper subset does.
Sets come in the order of their size. One of size k is looked for among those that
contain none found before, when there is none of a smaller size: so it is smallest, and
when nothing is left, all are found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import final

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.dedalus.outcomes import with_outcomes
from worldline.dedalus.symbolic.encoding import Encoding
from worldline.dedalus.symbolic.solver import OutOfTime, Solver
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import POST, PRE
from worldline.injection.scope import NO_FAULTS, FaultSet, Scope, in_order
from worldline.model.errors import InternalError
from worldline.model.verdicts import Verdict

MOST = 1000
"""After so many smallest fault sets a search for all of them ends."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The faults that the solver found, confirmed by runs.

    Attributes
    ----------
    falsifiers
        Smallest fault sets that break the program, those with fewer faults first.
    executions
        How many runs were made to confirm that.
    solves
        How many questions were put to the solver.
    bound
        What ended the search early: ``seconds``, ``memory``, ``interrupted``, or
        ``falsifiers`` where there are more than were asked for. Then a falsifier need not be smallest
        if `notes` says so.
    vacuous
        Whether no run of the scope owes anything.
    """

    verdict: Verdict
    falsifiers: tuple[FaultSet, ...] = ()
    executions: int = 0
    solves: int = 0
    seconds: float = 0.0
    bound: str | None = None
    vacuous: bool = False
    notes: tuple[str, ...] = field(default=())


@final
class ProgramRerun:
    """Runs a program under faults, and says which goals it breaks.

    Attributes
    ----------
    executions
        How many runs were made.
    """

    def __init__(self, checked: CheckedProgram, scope: Scope) -> None:
        self._compiled = compile_program(checked)
        self._scope = scope
        self.executions = 0

    def outcome(
        self, faults: FaultSet
    ) -> tuple[frozenset[FactRow], frozenset[FactRow]]:
        """Return what is owed and what is kept at the end of time."""
        self.executions += 1
        eot = self._scope.eot
        run = evaluate(self._compiled, faults, eot, self._scope.semantics)
        return frozenset(run.rows(PRE, eot)), frozenset(run.rows(POST, eot))

    def confirm(self, faults: FaultSet) -> FaultSet:
        """Return faults that break the program.

        Raises
        ------
        InternalError
            If they do not: the solver and the evaluator disagree.
        """
        owed, kept = self.outcome(faults)
        if owed <= kept:
            listed = ", ".join(map(str, in_order(faults))) or "no faults"
            raise InternalError(
                f"the solver says that {listed} break the program in {self._scope}, "
                f"but a run owes {sorted(owed, key=repr)} and keeps "
                f"{sorted(kept, key=repr)}"
            )
        return faults


def search(
    checked: CheckedProgram,
    scope: Scope,
    *,
    every: bool = False,
    most: int = MOST,
    seconds: float | None = None,
    look: Callable[[], None] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """Search all faults of a scope at once.

    Parameters
    ----------
    every
        Whether to look for all smallest fault sets, not only for one with the fewest
        faults.
    most
        After how many of them to stop.
    seconds
        How long it may take; ``None`` for as long as it takes.
    look
        Is called now and then; raises `OutOfTime` if there is another reason to end.
    progress
        Is told now and then what is being done.

    Raises
    ------
    UsageError
        If clingo is not installed, or the scope has faults that programs cannot have.
    InternalError
        If a run denies what the solver says.

    Notes
    -----
    Sound and complete for the scope: HOLDS means that no fault set breaks the program.
    """
    promising = with_outcomes(checked, scope)
    search_ = _Search(promising, scope, seconds, look, progress)
    return search_.run(most if every else None)


class _Search:
    """One search."""

    def __init__(
        self,
        checked: CheckedProgram,
        scope: Scope,
        seconds: float | None,
        look: Callable[[], None] | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._began = time.monotonic()
        self._tell = progress or (lambda _: None)
        self._eot = scope.eot
        self._rerun = ProgramRerun(checked, scope)
        self._owed, self._kept = self._rerun.outcome(NO_FAULTS)
        self._solver = Solver(
            Encoding(checked, scope),
            scope,
            seconds=seconds,
            look=look,
            progress=self._round,
        )
        self._found: list[FaultSet] = []
        self._any: FaultSet | None = None
        self._owing: FaultSet | None = NO_FAULTS if self._owed else None

    def run(self, most: int | None) -> Solution:
        """Find one fault set with the fewest faults, or up to `most` smallest ones."""
        bound = None
        if not self._owed <= self._kept:
            self._found.append(NO_FAULTS)  # every other set contains this one
            return self._answer(bound)
        try:
            for faults in self._smallest():
                if most is not None and len(self._found) == most:
                    bound = "falsifiers"
                    break
                self._found.append(self._rerun.confirm(faults))
                self._tell(f"fault sets found: {len(self._found)}")
                if most is None:
                    break
            if not (self._owed or self._found):
                self._owing = self._put_to_the_test()
        except OutOfTime as end:
            bound = end.bound
        except MemoryError:
            bound = "memory"
        except KeyboardInterrupt:
            bound = "interrupted"
        return self._answer(bound)

    def _smallest(self) -> Iterator[FaultSet]:
        """Yield the smallest fault sets by size, till there are no more."""
        self._any = self._solver.falsifier()
        size = 1
        while self._any is not None:
            faults = self._solver.falsifier(faults=size)
            if faults is not None:
                yield faults
                self._solver.exclude(faults)
            else:
                size += 1
                # What was found without a limit, and is not excluded, is still there.
                if any(smaller <= self._any for smaller in self._found):
                    self._any = self._solver.falsifier()

    def _put_to_the_test(self) -> FaultSet | None:
        """Return faults under which something is owed, shown by a run."""
        self._tell("looking for a run that owes something")
        faults = self._solver.owing()
        if faults is not None and not self._rerun.outcome(faults)[0]:
            listed = ", ".join(map(str, in_order(faults))) or "no faults"
            raise InternalError(
                f"the solver says that something is owed under {listed}, but no run does"
            )
        return faults

    def _answer(self, bound: str | None) -> Solution:
        notes: list[str] = []
        if not self._found and self._any is not None:
            self._found.append(self._rerun.confirm(self._any))
            notes.append("fewer faults may do: time was up before that was known")
        vacuous = not self._found and bound is None and self._owing is None
        if self._owing:
            listed = ", ".join(map(str, in_order(self._owing)))
            notes.append(f"without faults nothing is owed; something is under {listed}")
        if self._found:
            verdict = Verdict.VIOLATED
        elif bound is None and not vacuous:
            verdict = Verdict.HOLDS
        else:
            verdict = Verdict.UNKNOWN
        return Solution(
            verdict=verdict,
            falsifiers=tuple(self._found),
            executions=self._rerun.executions,
            solves=self._solver.solves,
            seconds=time.monotonic() - self._began,
            bound=bound,
            vacuous=vacuous,
            notes=tuple(notes),
        )

    def _round(self, number: int) -> None:
        self._tell(f"round {number} of {self._eot}")
