"""Hazards of an outcome: the smallest fault sets that could take away its support.

A support formula is a circuit. It becomes one rule for each of its gates, so that what
it shares stays shared, and the answer sets of those rules are its models; nothing is
distributed into clauses.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 4.3
and Algorithm 2. Its leaves for inputs that cannot be falsified are printed as true; they
are false here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, final

from worldline.injection.formula import (
    Every,
    Formula,
    Injected,
    Spared,
)
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
)
from worldline.injection.solver import PATIENCE, clingo
from worldline.injection.subject import Pulse, never_interrupt

_MINIMAL = ["--heuristic=Domain", "--dom-mod=5,16", "--enum-mode=domRec", "--models=0"]
"""Decide the faults first, and against them; exclude what contains an answer."""


def hazards(
    formula: Formula,
    scope: Scope,
    seed: FaultSet = frozenset(),
    allowed: Callable[[Fault], bool] = lambda fault: True,
    check: Pulse = never_interrupt,
) -> Iterator[FaultSet]:
    """Yield the subset-minimal fault sets of a scope that make a formula true.

    Parameters
    ----------
    seed
        Faults that each of them has.
    allowed
        Which faults may be added to the seed.
    check
        Called now and then while the solver works; what it raises ends that.

    Notes
    -----
    A leaf ``Injected(Loss(...))`` says that a link is cut. A loss does that before the
    end of finite failures, and so does a crash of the sender, at that time or before,
    for good. Sets come one by one, as the solver finds them, always in the same order.
    """
    circuit = _Circuit(scope, seed, allowed)
    # Where all faults are forced, the solver would warn that none is left to decide.
    control = clingo().Control(_MINIMAL, logger=lambda code, message: None)
    with control.backend() as backend:
        top = circuit.add(backend, formula, check)
        backend.add_rule([], [-top])
        circuit.limit(backend)
    # Asynchronous, so that a budget or Ctrl-C ends it.
    with control.solve(yield_=True, async_=True) as handle:
        while True:
            handle.resume()
            while not handle.wait(PATIENCE):
                check()
            model = handle.model()
            if model is None:
                return
            chosen = (
                symbol.arguments[0].number for symbol in model.symbols(shown=True)
            )
            yield seed.union(circuit.faults[number] for number in chosen)


@final
class _Circuit:
    """Turns gates into rules; knows which atom stands for which fault."""

    def __init__(
        self, scope: Scope, seed: FaultSet, allowed: Callable[[Fault], bool]
    ) -> None:
        self._scope = scope
        self._seed = seed
        self._allowed = allowed
        self._atoms: dict[Fault, int | None] = {}
        self._taken = {_place(fault) for fault in seed}
        self.faults: list[Fault] = []
        """By the number that an answer gives."""

    def add(self, backend: Any, formula: Formula, check: Pulse) -> int:
        """Add a formula, its parts first; return the atom that is true where it is."""
        atoms: dict[int, int] = {}
        waiting = [(formula, False)]
        while waiting:
            gate, is_ready = waiting.pop()
            if id(gate) in atoms:
                continue
            check()
            if isinstance(gate, Injected | Spared):
                atoms[id(gate)] = self._leaf(backend, gate)
            elif is_ready:
                parts = [atoms[id(part)] for part in gate.parts]
                atoms[id(gate)] = atom = backend.add_atom()
                bodies = [parts] if isinstance(gate, Every) else [[p] for p in parts]
                for body in bodies:
                    backend.add_rule([atom], body)
            else:
                waiting.append((gate, True))
                waiting += [(part, False) for part in reversed(gate.parts)]
        return atoms[id(formula)]

    def limit(self, backend: Any) -> None:
        """Admit only what the scope does: few crashes, one of each node, and so on."""
        by_place: dict[tuple[object, ...], list[int]] = defaultdict(list)
        weighted = []
        for fault, atom in self._atoms.items():
            if atom is not None:
                by_place[_place(fault)].append(atom)
                if isinstance(fault, Crash):
                    weighted.append((atom, 1))
        crashes = sum(isinstance(fault, Crash) for fault in self._seed)
        left = self._scope.crashes - crashes
        if len(weighted) > left:
            _at_most(backend, left, weighted)
        for atoms in by_place.values():
            if len(atoms) > 1:
                _at_most(backend, 1, [(atom, 1) for atom in atoms])

    def _leaf(self, backend: Any, leaf: Injected | Spared) -> int:
        atom: int = backend.add_atom()
        if isinstance(leaf, Spared):
            if leaf.fault not in self._seed:
                injected = self._fault(backend, leaf.fault)
                backend.add_rule([atom], [] if injected is None else [-injected])
            return atom
        for fault in cuts(leaf.fault, self._scope):
            if fault in self._seed:
                backend.add_rule([atom], [])
                break
            chosen = self._fault(backend, fault)
            if chosen is not None:
                backend.add_rule([atom], [chosen])
        return atom

    def _fault(self, backend: Any, fault: Fault) -> int | None:
        """Return the atom that chooses a fault; None where it cannot be chosen."""
        if fault not in self._atoms:
            possible = (
                is_admissible(fault, self._scope)
                and _place(fault) not in self._taken
                and self._allowed(fault)
            )
            self._atoms[fault] = self._choice(backend, fault) if possible else None
        return self._atoms[fault]

    def _choice(self, backend: Any, fault: Fault) -> int:
        solver = clingo()
        symbol = solver.Function("fault", [solver.Number(len(self.faults))])
        atom: int = backend.add_atom(symbol)
        self.faults.append(fault)
        backend.add_rule([atom], [], choice=True)
        return atom


def cuts(fault: Fault, scope: Scope) -> list[Fault]:
    """Return the faults that each do what a leaf's fault does, that one first.

    Where nodes may recover or send a part of a round, what a crash cuts depends on
    more than its time, and the leaf stands for itself.
    """
    faults = [fault]
    for_good = scope.semantics is not CrashSemantics.PARTIAL and not scope.recovery
    if isinstance(fault, Loss) and for_good:
        faults += [Crash(time, fault.src) for time in range(1, fault.time + 1)]
    return faults


def is_admissible(fault: Fault, scope: Scope) -> bool:
    """Say whether a scope has a fault at all."""
    match fault:
        case Loss():
            return scope.may_lose(fault.time) and fault.src != fault.dst
        case Delay():
            fits = scope.may_lose(fault.time) and 1 <= fault.by <= scope.delay
            return fits and fault.src != fault.dst
        case Crash():
            fits = scope.crashes > 0 and 1 <= fault.time <= scope.eot
            return fits and fault.node in scope.may_crash


def _place(fault: Fault) -> tuple[object, ...]:
    """Return that of which a run has one fault at most: a node, or a link in a round."""
    if isinstance(fault, Crash):
        return (fault.node,)
    return fault.time, fault.src, fault.dst


def _at_most(backend: Any, most: int, weighted: list[tuple[int, int]]) -> None:
    many = backend.add_atom()
    backend.add_weight_rule([many], most + 1, weighted)
    backend.add_rule([], [many])
