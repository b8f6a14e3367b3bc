"""What formulas mean."""

from __future__ import annotations

from worldline.model.injection.formula import Every, Formula, Injected, Some, Spared
from worldline.model.injection.scope import FaultSet


def is_true(formula: Formula, faults: FaultSet) -> bool:
    """Whether a formula is true of a fault set; shared parts are judged once."""
    known: dict[int, bool] = {}

    def judge(part: Formula) -> bool:
        if id(part) not in known:
            known[id(part)] = meaning(part)
        return known[id(part)]

    def meaning(part: Formula) -> bool:
        if isinstance(part, Injected):
            return part.fault in faults
        if isinstance(part, Spared):
            return part.fault not in faults
        if isinstance(part, Every):
            return all([judge(inner) for inner in part.parts])
        return any([judge(inner) for inner in part.parts])

    return judge(formula)


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
