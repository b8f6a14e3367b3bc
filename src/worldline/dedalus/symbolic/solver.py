"""The one place that speaks to clingo: grounding, solving, and giving up in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, final

from worldline.dedalus.symbolic.encoding import SEEK_OWING, Encoding
from worldline.dedalus.symbolic.ending import leave_a_thread_behind
from worldline.dedalus.symbolic.faults import UP, chosen, fault_set
from worldline.dedalus.symbolic.numbers import LARGEST
from worldline.injection.scope import FaultSet, Scope
from worldline.injection.solver import PATIENCE
from worldline.injection.solver import clingo as solver
from worldline.model.errors import UsageError

if TYPE_CHECKING:
    import clingo


_LEFT_BEHIND: list[clingo.Control] = []
"""What threads that nobody waits for still work on: it must not be freed."""


class OutOfTime(Exception):
    """The time that a solver was given is used up, or another limit is hit.

    Attributes
    ----------
    bound
        ``seconds``, ``memory`` or ``interrupted``.
    """

    def __init__(self, bound: str = "seconds") -> None:
        super().__init__(bound)
        self.bound = bound


@final
class Solver:
    """Answers which faults break a program, within limits that can be changed.

    Parameters
    ----------
    seconds
        How long it may take in all; ``None`` for as long as it takes.
    look
        Is called now and then; raises `OutOfTime` if there is another reason to end.
    progress
        Is called with the rounds that are written out, one after the other.

    Raises
    ------
    UsageError
        If clingo is not installed.
    """

    def __init__(
        self,
        encoding: Encoding,
        scope: Scope,
        *,
        seconds: float | None = None,
        look: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.solves = 0
        self._scope = scope
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._look = look
        self._progress = progress
        self._limits: set[tuple[str, int]] = set()
        self._control = _control()
        self._control.add(encoding.text)
        self._grounded = False
        self._spares: clingo.Symbol | None = None

    def falsifier(self, **limits: int | None) -> FaultSet | None:
        """Return faults that break the program; ``None`` if there are none.

        Parameters
        ----------
        limits
            By name, the most of something: ``faults``, ``disturbed`` (messages lost or
            late), ``crashes``; ``quiet`` is the first round without disturbance. With
            the most ``faults``, crashes in the last round are a last resort.

        Raises
        ------
        OutOfTime
            If there is no time left.
        UsageError
            If the program may calculate with numbers that are too large for clingo.
        """
        self._ground()
        given = [self._limit(name, k) for name, k in limits.items() if k is not None]
        faults = self._solve_with(given)
        if faults is None or limits.get("faults") is None:
            return faults
        if not self._scope.ends_in_crash(faults):
            return faults
        if self._spares is None:
            # Added only now: where it is not needed, it changes no answer.
            self._control.add(UP)
            self._spares = self._limit("up", self._scope.eot)
        return self._solve_with([*given, self._spares]) or faults

    def owing(self) -> FaultSet | None:
        """Return faults under which something is owed; ``None`` if there are none.

        Raises
        ------
        OutOfTime
            If there is no time left.
        """
        self._ground()
        return self._solve_with([_parsed(SEEK_OWING)])

    def exclude(self, faults: FaultSet) -> None:
        """Leave out fault sets that contain these."""
        with self._control.backend() as backend:
            atoms = [backend.add_atom(_parsed(term)) for term in chosen(faults)]
            backend.add_rule([], atoms)

    def _ground(self) -> None:
        if self._grounded:
            return
        eot = self._scope.eot
        self._parts([("base", [])])
        for t in range(1, eot + 1):
            self._check()
            now = _number(t)
            self._parts([("now", [now])])
            self._parts([("later", [now])] if t < eot else [("end", [now])])
            if self._control.symbolic_atoms[_parsed("huge")] is not None:
                raise UsageError(
                    f"in round {t} numbers may grow beyond what the solver can count to",
                    remedy=f"keep them within {LARGEST}, and factors smaller still",
                )
            if self._progress is not None:
                self._progress(t)
        self._grounded = True

    def _parts(self, parts: list[tuple[str, list[clingo.Symbol]]]) -> None:
        """Ground parts in a thread: it can be left behind, but not interrupted."""
        self._check()
        failures: list[BaseException] = []

        def ground() -> None:
            try:
                self._control.ground(parts)
            except BaseException as failure:
                failures.append(failure)

        thread = threading.Thread(target=ground, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(self._patience())
                if thread.is_alive():
                    self._check()
        except BaseException:
            _LEFT_BEHIND.append(self._control)
            leave_a_thread_behind()
            raise
        if failures:
            raise failures[0]

    def _limit(self, name: str, k: int) -> clingo.Symbol:
        if (name, k) not in self._limits:
            self._limits.add((name, k))
            self._parts([(name, [_number(k)])])
        return _parsed(f"{name}({k})")

    def _solve_with(self, switched: list[clingo.Symbol]) -> FaultSet | None:
        for external in switched:
            self._control.assign_external(external, True)
        try:
            return self._solve()
        finally:
            for external in switched:
                self._control.assign_external(external, False)

    def _solve(self) -> FaultSet | None:
        models: list[FaultSet] = []

        def take(model: clingo.Model) -> None:
            models.append(fault_set(model.symbols(shown=True)))

        self.solves += 1
        with self._control.solve(on_model=take, async_=True) as handle:
            while not handle.wait(self._patience()):
                self._check()
            handle.get()
        return models[0] if models else None

    def _patience(self) -> float:
        if self._ends is None:
            return PATIENCE
        return max(0.0, min(PATIENCE, self._ends - time.monotonic()))

    def _check(self) -> None:
        if self._look is not None:
            self._look()
        if self._ends is not None and time.monotonic() >= self._ends:
            raise OutOfTime


def _control() -> clingo.Control:
    # Without --warn=none every calculation over a missing value is told on stderr.
    control: clingo.Control = solver().Control(["1", "--warn=none"])
    return control


def _number(k: int) -> clingo.Symbol:
    symbol: clingo.Symbol = solver().Number(k)
    return symbol


def _parsed(term: str) -> clingo.Symbol:
    symbol: clingo.Symbol = solver().parse_term(term)
    return symbol
