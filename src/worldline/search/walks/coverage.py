"""Coverage of random runs: a measure of how much was tried, and a proof of nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from worldline.engine.tables import Ask, Fork, Leaf, Row
from worldline.model.counts import counted
from worldline.model.events import Event
from worldline.model.semantics.execute import Result
from worldline.search.vacuity import declared_labels, label_of
from worldline.worlds.remembered import RememberedEvent, RememberedRun
from worldline.worlds.remembering import RememberingWorld
from worldline.worlds.tabulated import TabulatedWorld


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Coverage of the steps over tables and in the remembering world, not the direct one.

    Attributes
    ----------
    local_states
        Different states of single nodes, the initial ones counted.
    handlers
        By handler, in how many different states of its node it ran.
    never_ran
        Handlers that did not run; empty if some steps were not counted.
    faults
        The kinds of faults that happened.
    """

    local_states: int
    handlers: Mapping[str, int]
    never_ran: tuple[str, ...]
    faults: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "local_states": self.local_states,
            "handlers": dict(self.handlers),
            "handler_states": sum(self.handlers.values()),
            "never_ran": list(self.never_ran),
            "faults": list(self.faults),
        }

    def lines(self) -> list[str]:
        """Return it in words."""
        ran = f"{counted(len(self.handlers), 'handler')} ran"
        states = f"{counted(sum(self.handlers.values()), 'state')} of their nodes"
        lines = [
            f"{counted(self.local_states, 'state')} of single nodes; {ran}, in {states}"
        ]
        if self.never_ran:
            lines.append(f"never ran: {', '.join(self.never_ran)}")
        if self.faults:
            lines.append(f"faults on some of these runs: {', '.join(self.faults)}")
        return lines


@final
class Covering:
    """Adds up what was come by, also over tables that were given up.

    States are known by their hashes: numbers mean nothing in other tables.
    """

    def __init__(self) -> None:
        self._local: set[int] = set()
        self._handlers: dict[str, set[int]] = defaultdict(set)
        self._faults: set[str] = set()

    def add(
        self, world: TabulatedWorld, roots: Iterable[Row], taken: Iterable[Leaf]
    ) -> None:
        """Add initial states, and the outcomes that were taken over a world's tables.

        What happens elsewhere is added by `ran`.
        """
        layout, mixes = world.system.layout, world.tables.mixes
        for row in roots:
            for node in range(len(world.system.ids)):
                column = layout.local(node)
                self._local.add(mixes[column][row[column]])
        numbers = {leaf.number for leaf in taken}
        for entry in world.tables.entries:
            event: Event = entry.event
            for before, outcomes in entry.outcomes.items():
                happened = [one for one in _leaves(outcomes) if one.number in numbers]
                # A drawn call that its guard forbids happens, and no handler runs.
                if not happened:
                    continue
                if entry.fault:
                    self._faults.add(event.kind.value)
                if entry.column < 0:
                    continue
                hashes = world.tables.mixes[entry.column]
                self._local |= {hashes[leaf.local] for leaf in happened}
                self._local.add(hashes[before])
                label = label_of(world.system, event)
                ran = [leaf.detail.result is not Result.UNHANDLED for leaf in happened]
                if label is not None and any(ran):
                    self._handlers[label].add(hashes[before])

    def ran(
        self, world: RememberingWorld, known: RememberedEvent, run: RememberedRun
    ) -> None:
        """Add what an event does now in the remembering world."""
        event = known.event
        if event.kind.is_fault:
            self._faults.add(event.kind.value)
        if known.index < 0:
            return
        before, after = world.hashes(known, run)
        self._local |= {before, after}
        label = label_of(world.system, event)
        if label is not None and run.outcome.result is not Result.UNHANDLED:
            self._handlers[label].add(before)

    def coverage(self, world: TabulatedWorld, *, is_whole: bool) -> Coverage:
        """Return it.

        Parameters
        ----------
        is_whole
            Whether there were no steps in the direct world, which are not counted here:
            otherwise nobody knows what never ran.
        """
        labels = sorted(self._handlers)
        idle = declared_labels(world) if is_whole else ()
        return Coverage(
            local_states=len(self._local),
            handlers={label: len(self._handlers[label]) for label in labels},
            never_ran=tuple(one for one in idle if one not in labels),
            faults=tuple(sorted(self._faults)),
        )


def _leaves(tree: Any) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    elif isinstance(tree, tuple):
        yield from tree
    elif isinstance(tree, Ask | Fork):
        for child in tree.children.values():
            yield from _leaves(child)
