"""What formulas mean."""

from __future__ import annotations

from worldline.injection.formula import Every, Formula, Injected, Some, Spared
from worldline.injection.scope import FaultSet


class Judge:
    """Says which formulas are true of one fault set; shared parts are judged once."""

    def __init__(self, faults: FaultSet) -> None:
        self._faults = faults
        self._known: dict[int, tuple[Formula, bool]] = {}

    def __call__(self, formula: Formula) -> bool:
        if id(formula) not in self._known:
            self._known[id(formula)] = formula, self._meaning(formula)
        return self._known[id(formula)][1]

    def _meaning(self, formula: Formula) -> bool:
        if isinstance(formula, Injected):
            return formula.fault in self._faults
        if isinstance(formula, Spared):
            return formula.fault not in self._faults
        if isinstance(formula, Every):
            return all(map(self, formula.parts))
        return any(map(self, formula.parts))


def is_true(formula: Formula, faults: FaultSet) -> bool:
    """Whether a formula is true of a fault set."""
    return Judge(faults)(formula)


def size(*formulas: Formula) -> int:
    """How many different parts formulas have together."""
    seen: dict[int, Formula] = {}
    pending = list(formulas)
    while pending:
        part = pending.pop()
        if id(part) not in seen:
            seen[id(part)] = part
            if isinstance(part, Every | Some):
                pending += part.parts
    return len(seen)
