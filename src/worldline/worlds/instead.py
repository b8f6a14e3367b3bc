"""Substitutes for events that filters block, as events of tables.

What is known of it stays with the tables, whether the next search has filters or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, final

from worldline.engine.tables import Ask, Entry, Fork
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.model.semantics.instead import all_instead_of
from worldline.model.system import System


@final
class Stead:
    """Knows the entries of what happens instead of events, for one world.

    They are no own steps and draw on no budget: they come as surely as that in the
    place of which they stand.

    Parameters
    ----------
    free
        Adds an event that is no own step, draws on no budget and has one outcome.
    """

    def __init__(self, system: System, free: Callable[[Event], Entry]) -> None:
        self._system = system
        self._free = free
        self._known: dict[tuple[Event, NodeId | None], Entry] = {}
        self._answers: dict[tuple[int, NodeId | None], dict[int, int]] = {}
        self._numbers: set[int] = set()

    def of(self, event: Event) -> tuple[Entry, ...]:
        """Return all that may happen instead of an event, each where it fits."""
        instead = all_instead_of(self._system, event)
        return tuple([self._entry(one, event) for one in instead])

    def __contains__(self, entry: Entry) -> bool:
        return entry.number in self._numbers

    def _entry(self, one: Event, event: Event) -> Entry:
        key = one, event.node
        entry = self._known.get(key)
        if entry is None:
            entry = self._known[key] = self._free(one)
            self._numbers.add(entry.number)
            if one.kind is not Kind.DROP:
                only: Any = entry.outcomes[0]
                entry.outcomes[0] = ask = self._is_whole(event)
                is_break = int(one.kind is Kind.DISCONNECT)
                ask.children = {is_break: only[0], 1 - is_break: Fork()}
        return entry

    def _is_whole(self, event: Event) -> Ask:
        """Return the question whether the connection with a sender could break."""
        assert event.node is not None
        system, peer = self._system, event.peer
        index = system.index[event.node]
        answers = self._answers.setdefault((index, peer), {})
        question = (index, ("whole", peer))
        at = None if peer is None else system.index[peer]
        return Ask(system.layout.inbox(index), (), question, answers, at)


@final
class Blocking:
    """Says what happens instead of an event, if one of some filters blocks it.

    Parameters
    ----------
    stead
        That of the world whose tables are searched.
    filters
        What blocks.
    """

    def __init__(self, stead: Stead, filters: Collection[EventFilter]) -> None:
        self._stead = stead
        self._filters = tuple(filters)
        self._known: dict[int, tuple[Entry, ...] | None] = {}

    def __call__(self, entry: Entry) -> tuple[Entry, ...] | None:
        """Return what may happen instead, each where it fits; None if it is let happen."""
        number = entry.number
        if number not in self._known:
            is_blocked = any(one.matches(entry.event) for one in self._filters)
            self._known[number] = self._stead.of(entry.event) if is_blocked else None
        return self._known[number]
