"""One step from a row: the innermost loop, in plain Python.

This is the reference that a compiled kernel must agree with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from worldline.engine.tables import Ask, Entry, Fork, Leaf, Row, Service, Tables, Tree

Successor: TypeAlias = tuple[int, Row, Entry, Leaf]
"""Fingerprint and row of a state, and the event and outcome that led to it."""


Path: TypeAlias = list[tuple[Entry, Leaf]]
"""Events with their outcomes, from a state on."""


Replacing: TypeAlias = Callable[[Entry], "tuple[Entry, ...] | None"]
"""Returns what may happen instead of an event that must not, each where it fits; None for
an event that may."""


@final
class Expander:
    """Computes the successors of rows.

    Parameters
    ----------
    tables, service
        What is known, and who works out what is not.
    instead
        See `worldline.engine.exploration.Options`.
    """

    def __init__(
        self, tables: Tables, service: Service, instead: Replacing | None = None
    ) -> None:
        self._tables = tables
        self._service = service
        self._instead = instead

    def successors(self, row: Row, fingerprint: int) -> list[Successor]:
        """Return every successor, in canonical order of events and choices.

        A failed outcome comes with the row it started from.
        """
        successors: list[Successor] = []
        mixes, apply = self._tables.mixes, self._service.apply
        for entry in self.enabled(row):
            column = entry.column
            outcomes = entry.outcomes.get(row[column] if column >= 0 else 0)
            if type(outcomes) is not tuple:
                outcomes = self._resolve(entry, outcomes, row)
            for leaf in outcomes:
                new, total = row.copy(), fingerprint
                if column >= 0 and leaf.local != new[column]:
                    mix = mixes[column]
                    total ^= mix[new[column]] ^ mix[leaf.local]
                    new[column] = leaf.local
                for operations in leaf.changes:
                    at = operations.column
                    value = new[at]
                    after = operations.get(value)
                    if after is None:
                        after = apply(operations, value)
                    if after != value:
                        mix = mixes[at]
                        total ^= mix[value] ^ mix[after]
                        new[at] = after
                successors.append((total, new, entry, leaf))
        return successors

    def step(
        self, row: Row, fingerprint: int, entry: Entry, leaf: Leaf
    ) -> tuple[int, Row]:
        """Return the fingerprint and row after one outcome of one event.

        `successors` does the same in line, since it is where most time goes.
        """
        mixes, apply = self._tables.mixes, self._service.apply
        new, column = row.copy(), entry.column
        if column >= 0 and leaf.local != new[column]:
            fingerprint ^= mixes[column][new[column]] ^ mixes[column][leaf.local]
            new[column] = leaf.local
        for operations in leaf.changes:
            at = operations.column
            value = new[at]
            after = operations.get(value)
            if after is None:
                after = apply(operations, value)
            if after != value:
                fingerprint ^= mixes[at][value] ^ mixes[at][after]
                new[at] = after
        return fingerprint, new

    def follow(self, row: Row, path: Path) -> Row:
        """Return the state to which a path leads; a failed outcome leads nowhere.

        Outcomes are matched by their choices: one that depends on the state may have
        been worked out more than once.
        """
        for entry, leaf in path:
            for outcome in self.outcomes(entry, row):
                same = outcome.detail.choices == leaf.detail.choices
                if same and not outcome.failed:
                    row = self.after(row, entry, outcome)
                    break
        return row

    def after(self, row: Row, entry: Entry, leaf: Leaf) -> Row:
        """Return the state after an outcome that the event has in this state."""
        return self.step(row, 0, entry, leaf)[1]

    def enabled(self, row: Row) -> list[Entry]:
        """Return the events offered in a state; those that wait have no outcomes."""
        enabled: list[Entry] = []
        for site in self._tables.sites:
            entries = site.known.get(site.key(row))
            if entries is None:
                entries = self._service.enabled(site, row)
            enabled += entries
        return enabled if self._instead is None else self._let_happen(enabled, row)

    def _let_happen(self, enabled: list[Entry], row: Row) -> list[Entry]:
        """Put what happens instead in the place of what could happen, and must not."""
        assert self._instead is not None
        let: list[Entry] = []
        for entry in enabled:
            instead = self._instead(entry)
            if instead is None:
                let.append(entry)
            elif self.outcomes(entry, row):
                let += instead
        return let

    def outcomes(self, entry: Entry, row: Row) -> tuple[Leaf, ...]:
        """Return the outcomes of one event in a state."""
        outcomes = entry.outcomes.get(row[entry.column] if entry.column >= 0 else 0)
        return (
            outcomes if type(outcomes) is tuple else self._resolve(entry, outcomes, row)
        )

    def _resolve(
        self, entry: Entry, tree: Ask | Fork | tuple[Leaf, ...] | None, row: Row
    ) -> tuple[Leaf, ...]:
        if tree is None or isinstance(tree, tuple):
            return self._service.leaves(entry, row)
        leaves: list[Leaf] = []
        if not self._collect(tree, row, leaves):
            return self._service.leaves(entry, row)
        return tuple(leaves)

    def _collect(self, tree: Tree, row: Row, leaves: list[Leaf]) -> bool:
        """Gather the leaves that the row's answers lead to; False at a gap."""
        if isinstance(tree, Leaf):
            leaves.append(tree)
            return True
        if isinstance(tree, Fork):
            return all(
                self._collect(child, row, leaves) for child in tree.children.values()
            )
        value = row[tree.column]
        for operations in tree.before:
            after = operations.get(value)
            value = self._service.apply(operations, value) if after is None else after
        answer = tree.answers.get(value)
        if answer is None:
            answer = self._service.answer(tree, value)
        child = tree.children.get(answer)
        return child is not None and self._collect(child, row, leaves)
