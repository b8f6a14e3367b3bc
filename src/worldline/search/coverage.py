"""What random runs came by: a measure of how much was tried, and a proof of nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from worldline.engine.tables import Ask, Fork, Leaf
from worldline.model.events import Event
from worldline.search.vacuity import declared_labels, label_of
from worldline.worlds.tabulated import TabulatedWorld


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the steps over tables came by; those in the direct world are not counted.

    Attributes
    ----------
    local_states
        Different states of single nodes, the initial ones counted.
    handlers
        By handler, in how many different states of its node it ran.
    never_ran
        Handlers that did not run.
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
        ran = f"{len(self.handlers)} handlers ran"
        states = f"{sum(self.handlers.values()):,} states of their nodes"
        found = [f"{self.local_states:,} states of single nodes; {ran}, in {states}"]
        if self.never_ran:
            found.append(f"never ran: {', '.join(self.never_ran)}")
        if self.faults:
            found.append(f"faults used: {', '.join(self.faults)}")
        return found


def covered(world: TabulatedWorld, taken: Iterable[Leaf]) -> Coverage:
    """Return what was come by, from the outcomes that were taken."""
    numbers = {leaf.number for leaf in taken}
    local: set[tuple[int, int]] = set()
    handlers: dict[str, set[tuple[int, int]]] = defaultdict(set)
    faults: set[str] = set()
    for entry in world.tables.entries:
        event: Event = entry.event
        for before, outcomes in entry.outcomes.items():
            happened = [leaf for leaf in _leaves(outcomes) if leaf.number in numbers]
            if not happened:
                continue
            if entry.fault:
                faults.add(event.kind.value)
            if entry.column >= 0:
                local.add((entry.column, before))
                local |= {(entry.column, leaf.local) for leaf in happened}
            label = label_of(world, event)
            if label is not None:
                handlers[label].add((entry.column, before))
    known = sorted(handlers)
    return Coverage(
        local_states=len(local),
        handlers={label: len(handlers[label]) for label in known},
        never_ran=tuple(x for x in declared_labels(world) if x not in handlers),
        faults=tuple(sorted(faults)),
    )


def _leaves(tree: Any) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    elif isinstance(tree, tuple):
        yield from tree
    elif isinstance(tree, Ask | Fork):
        for child in tree.children.values():
            yield from _leaves(child)
