"""Symmetry in the tabulated world: renaming interned values, and checking a claim.

That nodes are symmetric is the user's claim about handlers and properties; it cannot
be read off them. So, like the audit, a sample of what was explored is looked at again
under other names: there, everything must be the same but for the names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, final

from worldline.engine.collections import content
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander, Successor
from worldline.engine.symmetry import Member, Symmetry
from worldline.engine.tables import Row
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import thaw
from worldline.model.errors import Asymmetry
from worldline.model.events import Event
from worldline.model.semantics.layout import ColumnKind
from worldline.model.symmetry.renaming import Renamer, exchange
from worldline.worlds.tabulated import TabulatedWorld

_SELF = b"(self)"
_ENOUGH = 400
"""Single exchanges to look under in all, where there are so many."""
_LONGEST = 300
"""Characters of a value that a message quotes."""


@final
class SymmetryCheck:
    """The symmetric nodes of a tabulated world; the engine's `Names`.

    Parameters
    ----------
    world
        Its system declares symmetric nodes.
    """

    def __init__(self, world: TabulatedWorld) -> None:
        self._world = world
        self._renamer = Renamer(world.system)
        self.nodes = [node for group in world.system.symmetry for node in group]
        self._number = {node: number for number, node in enumerate(self.nodes)}
        self._words = {
            node: b"(group %d)" % number
            for number, group in enumerate(world.system.symmetry)
            for node in group
        }
        self._expander = Expander(world.tables, world)
        self._items: dict[Any, tuple[int, dict[int, int]]] = {}
        self.symmetry = Symmetry(world.tables, self, self._groups())

    def outlines(self, column: int, value: int) -> tuple[int, dict[int, int]]:
        """Return the outlines of a value: with no member told apart, and with each."""
        tables = self._world.tables
        frozen = tables.interners[column].values[value]
        collection = tables.collections.get(column)
        if collection is None or collection.links is not None:
            return self._outlined(column, frozen)
        pairs = [
            (*self.item_outlines(column, item), k)
            for item, k in collection.split(frozen)
        ]
        shape = collection.shape
        return content(shape, [(common, k) for common, _, k in pairs]), {
            member: content(
                shape, [(told.get(member, common), k) for common, told, k in pairs]
            )
            for member in {member for _, told, _ in pairs for member in told}
        }

    def item_outlines(self, column: int, item: Any) -> tuple[int, dict[int, int]]:
        """Return the outlines of an item of a collection."""
        outlines = self._items.get(item)
        if outlines is None:
            outlines = self._items[item] = self._outlined(column, item)
        return outlines

    def exchanged(self, column: int, value: int, member: int) -> int:
        """Return what a value becomes if a member and the next exchange names."""
        interner = self._world.tables.interners[column]
        return interner.intern(
            self.item_exchanged(column, interner.values[value], member)
        )

    def item_exchanged(self, column: int, item: Any, member: int) -> Any:
        """Return what an item of a collection becomes."""
        names = exchange(*self.nodes[member : member + 2])
        return self._renamer.renamed(column, item, names)

    def _outlined(self, column: int, frozen: Frozen) -> tuple[int, dict[int, int]]:
        common, told = self._renamer.outlines(column, frozen, self._words, _SELF)
        return common, {self._number[node]: one for node, one in told.items()}

    def check_steps(self, rows: Iterable[Row]) -> None:
        """Look at rows under other names: the same steps must be possible.

        Parameters
        ----------
        rows
            A sample of what was expanded.

        Raises
        ------
        Asymmetry
            If something differs; it names the event and both outcomes.
        """
        for row, exchanges in self._samples(rows):
            other = self.symmetry.renamed(row, exchanges)
            here = self._expander.successors(row, 0)
            there = self._expander.successors(other, 0)
            images = [self._essence(step, (row, other), exchanges) for step in here]
            essences = [self._essence(step, (other, other), []) for step in there]
            for image, step in zip(images, here, strict=True):
                if image not in essences:
                    raise self._difference(step, image, there, exchanges)
            for image, step in zip(essences, there, strict=True):
                if image not in images:
                    back = exchanges[::-1]
                    image = self._essence(step, (other, row), back)
                    raise self._difference(step, image, here, back)

    def check_verdicts(
        self, rows: Iterable[Row], decisions: dict[str, Decision]
    ) -> None:
        """Look at rows under other names: predicates must say the same.

        Parameters
        ----------
        rows
            A sample of what was examined.
        decisions
            The predicates, by what to call them.

        Raises
        ------
        Asymmetry
            If one differs; it names the predicate and both verdicts.
        """
        for row, exchanges in self._samples(rows):
            other = self.symmetry.renamed(row, exchanges)
            for name, decision in decisions.items():
                here, there = decision(row), decision(other)
                if here != there:
                    raise Asymmetry(
                        f"{name} is {here} in a state and {there} in the same state "
                        f"with {_describe(self._names(exchanges))}"
                    )

    def _samples(self, rows: Iterable[Row]) -> Iterator[tuple[Row, list[int]]]:
        """Yield each row with exchanges of names to look at it under.

        First single exchanges, where a difference is easy to read, then a mixture.
        """
        random, neighbours, rows = Random(0), self.symmetry.neighbours, list(rows)
        # A violation may end a search after a few states; then these have to tell.
        each = min(len(neighbours), max(1, _ENOUGH // max(1, len(rows))))
        for row in rows:
            for exchange_ in random.sample(neighbours, each):
                yield row, [exchange_]
            yield row, random.choices(neighbours, k=len(self.nodes))

    def _groups(self) -> list[list[Member]]:
        system, layout = self._world.system, self._world.system.layout
        return [
            [
                (layout.local(index), layout.hidden(index), layout.inbox(index))
                for index in (system.index[node] for node in group)
            ]
            for group in system.symmetry
        ]

    def _names(self, exchanges: list[int]) -> dict[NodeId, NodeId]:
        """Return the new name of each node after exchanges, one after another."""
        names = {node: node for node in self.nodes}
        for member in exchanges:
            swap = exchange(*self.nodes[member : member + 2])
            names = {node: swap.get(name, name) for node, name in names.items()}
        return {node: name for node, name in names.items() if node != name}

    def _essence(
        self, step: Successor, outlines: tuple[Row, Row], exchanges: list[int]
    ) -> tuple[Any, ...]:
        """Return what must be the same of a step after exchanges.

        Parameters
        ----------
        outlines
            Where the step began, and that after the exchanges.
        """
        _, row, entry, leaf = step
        event: Event = entry.event
        if leaf.failed:
            failure = leaf.detail.failure
            return (event.kind, failure.kind, failure.name, failure.where)
        return (event.kind, tuple(self.symmetry.renamed_like(row, outlines, exchanges)))

    def _difference(
        self,
        step: Successor,
        image: tuple[Any, ...],
        others: list[Successor],
        exchanges: list[int],
    ) -> Asymmetry:
        """Return the error for a step that has no counterpart under other names."""
        system, names = self._world.system, self._names(exchanges)
        event: Event = step[2].event
        expected = self._renamer.event(event, names)
        twin = next((other for other in others if other[2].event == expected), None)
        where = f"{event!r}"
        if event.node is not None:
            kind = system.types[system.index[event.node]].cls.__name__
            where += f" ({kind})"
        reason = f"{expected!r} is not possible"
        if twin is not None:
            reason = self._apart(image, twin)
        return Asymmetry(
            f"{where} is not the same with {_describe(names)}: there, {reason}"
        )

    def _apart(self, image: tuple[Any, ...], twin: Successor) -> str:
        """Say how an outcome differs from what it should be, for the first column."""
        _, row, entry, leaf = twin
        if leaf.failed or len(image) > 2:
            return f"{entry.event!r} {'fails' if leaf.failed else 'does not fail'}"
        for column, (wanted, got) in enumerate(zip(image[1], row, strict=True)):
            if wanted != got:
                return (
                    f"{entry.event!r} makes {self._place(column)} "
                    f"{self._quote(column, got)} instead of "
                    f"{self._quote(column, wanted)}"
                )
        return f"{entry.event!r} has other outcomes"

    def _place(self, column: int) -> str:
        system = self._world.system
        spec = system.layout.columns[column]
        if spec.kind is ColumnKind.OBSERVER:
            return f"the history {system.observers[spec.index].name!r}"
        if spec.kind in (ColumnKind.BUDGET, ColumnKind.PARTITION):
            return f"the {spec.kind.value}"
        what = {
            ColumnKind.LOCAL: "the state",
            ColumnKind.HIDDEN: "timers and scripts",
            ColumnKind.INBOX: "what is under way",
        }[spec.kind]
        return f"{what} of {system.ids[spec.index]}"

    def _quote(self, column: int, value: int) -> str:
        frozen: Frozen = self._world.tables.interners[column].values[value]
        kind = self._world.system.layout.columns[column].kind
        if kind is ColumnKind.LOCAL:
            fields = zip(frozen[0].__worldline_node__.identity, frozen[1:], strict=True)
            inside = ", ".join(f"{name}={thaw(item)!r}" for name, item in fields)
            text = f"{frozen[0].__name__}({inside})"
        elif kind is ColumnKind.OBSERVER:
            text = repr(thaw(frozen))
        else:
            text = repr(frozen)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _describe(names: dict[NodeId, NodeId]) -> str:
    return ", ".join(f"{old} called {new}" for old, new in names.items())
