"""Formulas over faults, each part made once."""

from __future__ import annotations

from collections.abc import Iterable

from worldline.injection.formula import (
    ALWAYS,
    NEVER,
    Every,
    Formula,
    Injected,
    Some,
    Spared,
)
from worldline.injection.scope import Crash, Delay, Fault, FaultSet, Loss, Scope


class Circuit:
    """Makes formulas for the faults of a scope; equal parts become one object."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._joined: dict[tuple[type, frozenset[int]], Formula] = {}
        self._leaves: dict[tuple[type, Fault], Formula] = {}
        self._links: dict[tuple[int, str, str], Formula] = {}
        self._crashed: dict[str, list[Formula]] = {}

    def every(self, parts: Iterable[Formula]) -> Formula:
        """Return what is true where all parts are."""
        kept = {id(part): part for part in parts if part is not ALWAYS}
        if id(NEVER) in kept:
            return NEVER
        return self._join(Every, kept, ALWAYS)

    def some(self, parts: Iterable[Formula]) -> Formula:
        """Return what is true where one part is."""
        kept = {id(part): part for part in parts if part is not NEVER}
        if id(ALWAYS) in kept:
            return ALWAYS
        return self._join(Some, kept, NEVER)

    def _join(
        self, kind: type[Every | Some], kept: dict[int, Formula], empty: Formula
    ) -> Formula:
        if len(kept) < 2:
            return next(iter(kept.values()), empty)
        key = kind, frozenset(kept)
        if key not in self._joined:
            self._joined[key] = kind(tuple(kept.values()))
        return self._joined[key]

    def injected(self, fault: Fault) -> Formula:
        """Return what is true where a fault is injected."""
        return self._leaves.setdefault((Injected, fault), Injected(fault))

    def spared(self, fault: Fault) -> Formula:
        """Return what is true where a fault is not injected."""
        return self._leaves.setdefault((Spared, fault), Spared(fault))

    def cut(self, time: int, src: str, dst: str, late: int) -> Formula:
        """Return what keeps a message from arriving as late as it did."""
        key = time, src, dst
        if key not in self._links:
            parts = [self.crashed(src, time)]
            if self._scope.may_lose(time):
                parts.append(self.injected(Loss(time, src, dst)))
                parts += [
                    self.injected(Delay(time, src, dst, by))
                    for by in range(1, self._scope.delay + 1)
                    if by != late
                ]
            if late:
                parts.append(self.spared(Delay(time, src, dst, late)))
            self._links[key] = self.some(parts)
        return self._links[key]

    def crashed(self, node: str, time: int) -> Formula:
        """Return what is true where a node has crashed by a round.

        A chain over the rounds, so that all of them together are linear in size.
        """
        if not self._scope.crashes or time < 1 or node not in self._scope.may_crash:
            return NEVER
        chain = self._crashed.setdefault(node, [NEVER])
        while len(chain) <= time:
            crash = self.injected(Crash(len(chain), node))
            chain.append(self.some([chain[-1], crash]))
        return chain[time]

    def crash_row(
        self, node: object, time: object, present: FaultSet = frozenset()
    ) -> Formula:
        """Return what makes a row of `crash` hold.

        Parameters
        ----------
        node, time
            Columns of the row; ``None`` matches any.
        present
            Faults whose rows hold already.
        """
        if not self._scope.crashes:
            return NEVER
        crashes = (
            Crash(at, name)
            for name in self._scope.may_crash
            for at in range(1, self._scope.eot + 1)
            if node in (None, name) and time in (None, at)
        )
        return self.some(self.injected(c) for c in crashes if c not in present)
