"""The direct world: real node objects, handlers run in place, nothing frozen.

For running rather than exploring: replay, long random runs, minimisation. It takes
a snapshot only when asked, and accepts and produces the same schedules as the
tabulated world.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, final

from worldline.model.absent import NO_VALUE, absent_in, is_partial, restored_cell
from worldline.model.data.parting import settle_fields
from worldline.model.errors import ModelError
from worldline.model.events import Choices, Event, Schedule
from worldline.model.faults import FaultBudget, Faults
from worldline.model.instruments import Instruments
from worldline.model.kinds import BUDGETS, Kind
from worldline.model.network import Mailbox
from worldline.model.prologue import Pattern
from worldline.model.semantics.enabled import can_happen
from worldline.model.semantics.execute import (
    Failure,
    Result,
    make_context,
    perform,
    waits,
)
from worldline.model.semantics.hidden import Hidden
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import (
    Operation,
    ambient_events,
    arrivals,
    changes,
    own_events,
)
from worldline.model.system import System
from worldline.model.usercode.divergence import within_budget
from worldline.model.view import View
from worldline.worlds import stuck
from worldline.worlds.door import HandlerDoor, Query
from worldline.worlds.dry_run import DryRuns, is_noop
from worldline.worlds.reading import Blind, LiveReader, PartialReader
from worldline.worlds.world import NotEnabled, Snapshot

ChoiceSource = Callable[[int, "tuple[float, ...] | None"], int]
"""Picks one of ``n`` options, given their weights if there are any."""


@final
class LiveDoor(HandlerDoor):
    """Applies what a handler does at once to the cells of a direct world.

    Attributes
    ----------
    touched
        The columns of the cells that were changed since somebody cleared it.
    """

    def __init__(self, system: System, cells: list[Any]) -> None:
        self.cells = cells
        self.touched: set[int] = set()
        self.given: Iterator[int] = iter(())
        self.source: ChoiceSource | None = None
        super().__init__(system)

    def ask(self, query: Query) -> int:
        if query[0] == "choose":
            taken = next(self.given, None)
            if taken is None:
                taken = 0 if self.source is None else self.source(query[1], query[2])
            if not 0 <= taken < query[1]:
                what = f"a schedule takes option {taken} of {query[1]} at {self.me}"
                raise ModelError(
                    what, remedy="the schedule does not fit this system", located=True
                )
            return taken
        return self.look_up(self.index, query)

    def look_up(self, index: int, query: Query) -> int:
        """Return the answer of the present state to a query of a node's handler."""
        layout, what = self.system.layout, query[0]
        if what == "full":
            inbox: Mailbox = self.cells[layout.inbox(query[1])]
            me = self.system.ids[index]
            return int(inbox.holds(me) >= (self.system.network.buffer or 0))
        hidden: Hidden = self.cells[layout.hidden(index)]
        return hidden.counter if what == "sequence" else int(query[1] in hidden.timers)

    def emit(self, column: int, operation: Operation) -> None:
        self.touched.add(column)
        getattr(self.cells[column], operation[0])(*operation[1:])


@final
class DirectWorld:
    """A system in one state, which `step` changes.

    Parameters
    ----------
    system
        The system to run. It is not started; see `boot`.

    Attributes
    ----------
    absent
        The indices of the nodes of which nothing is known; their objects mean nothing.
    is_partial
        Whether of some column nothing is known.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.nodes = [
            kind.thaw(frozen, prototype)
            for kind, frozen, prototype in zip(
                system.types, system.initial, system.prototypes, strict=True
            )
        ]
        self.cells: list[Any] = list(system.cells())
        self.door = LiveDoor(system, self.cells)
        self.contexts = [
            make_context(system, i, self.door) for i in range(len(system.ids))
        ]
        for context, node in zip(self.contexts, self.nodes, strict=True):
            context.bind(node)
        self.failure: Failure | None = None
        self.instruments: Instruments | None = None
        self.absent: frozenset[int] = frozenset()
        self.is_partial = False
        self._blind: Blind = {}
        self.view = self._look()
        layout, count = system.layout, len(system.ids)
        self._hidden = [self.cells[layout.hidden(index)] for index in range(count)]
        self._inboxes = [self.cells[layout.inbox(index)] for index in range(count)]
        self._messages_wait = system.unhandled == "wait" or system.ignore_noops
        self._dry_runs = DryRuns(system) if system.ignore_noops else None
        self._unlimited = FaultBudget(Faults().freed(BUDGETS))

    def attach(self, instruments: Instruments) -> None:
        """Let views of this world show the instruments of the run that it is in."""
        self.instruments = instruments
        self.view = self._look()

    def _look(self) -> View:
        if self.is_partial:
            return PartialReader(self, self.absent, self._blind).view
        return View(self.system, LiveReader(self), self.instruments)

    def boot_events(self) -> list[Event]:
        """Return the events that happen before state 0."""
        if self.system.boot == "events":
            return []
        return [Event(Kind.START, node) for node in self.system.ids]

    def enabled(self, *, charge: bool = True) -> list[Event]:
        """Return the events that can happen now, in canonical order.

        Parameters
        ----------
        charge
            Whether faults must be within their budgets.
        """
        if self.failure is not None:
            return []
        events: list[Event] = []
        for index in range(len(self._hidden)):
            events += self.enabled_at(index, charge=charge)
        return events + self.enabled_around(charge=charge)

    def enabled_at(self, index: int, *, charge: bool = True) -> list[Event]:
        """Return those of a node; its own columns, budget and partition decide."""
        hidden, inbox = self._hidden[index], self._inboxes[index]
        budget = self.cells[Layout.BUDGET] if charge else self._unlimited
        partition = self.cells[Layout.PARTITION]
        events = arrivals(self.system, index, hidden, inbox, budget, partition)
        events += own_events(self.system, index, hidden, inbox, budget)
        return [event for event in events if not self._is_idle(event)]

    def enabled_around(self, *, charge: bool = True) -> list[Event]:
        """Return those of the network as a whole."""
        budget = self.cells[Layout.BUDGET] if charge else self._unlimited
        return ambient_events(self.system, budget, self.cells[Layout.PARTITION])

    def step(
        self,
        event: Event,
        choices: Choices = (),
        *,
        charge: bool = True,
        source: ChoiceSource | None = None,
        lines: int | None = None,
    ) -> Outcome:
        """Let `event` happen.

        Parameters
        ----------
        choices
            The options its handler takes.
        charge
            Whether a fault draws on its budget.
        source
            Picks options beyond `choices`; without one, the first is taken.
        lines
            Runs the handler under a budget of that many lines.

        Raises
        ------
        NotEnabled
            If the event cannot happen; the state is unchanged.
        """
        # What only the clock could stop is waited for once, and known from then on.
        before = stuck.before(self.system, event, self.nodes)
        ended = before and stuck.known(self.system, *before, event, choices)
        if ended and self.is_enabled(event, charge=charge):
            self.failure = ended.failure
            return ended
        result = self._happen(event, choices, charge=charge, source=source, lines=lines)
        outcome = self.door.outcome(result)
        if before is not None:
            stuck.note(self.system, *before, event, outcome)
        self._observe(event, outcome)
        return outcome

    def run(self, schedule: Schedule) -> None:
        """Let every event of a schedule happen; nothing is recorded."""
        observed = bool(self.system.observers)
        for event, choices in schedule:
            result = self._happen(event, choices)
            if observed:
                self._observe(event, self.door.outcome(result))

    def _happen(
        self,
        event: Event,
        choices: Choices,
        *,
        charge: bool = True,
        source: ChoiceSource | None = None,
        lines: int | None = None,
    ) -> Result | Failure:
        """Let `event` happen, but for the observers; the door knows what it did."""
        if not self.is_enabled(event, charge=charge):
            raise NotEnabled(event, "in this state")
        system, door = self.system, self.door
        index = 0 if event.node is None else system.index[event.node]
        door.begin(system.ids[index])
        door.given, door.source = iter(choices), source
        for column, operation in changes(system, event, charge=charge):
            door.emit(column, operation)
        given = system, index, self.nodes[index], self.contexts[index], door, event
        if lines is None:
            result = perform(*given)
        else:
            result = within_budget(functools.partial(perform, *given), lines)
        if type(result) is Failure:
            self.failure = result
        else:
            settle_fields(self.nodes[index].__dict__)  # collections are filled past it
        return result

    def prepare(self, patterns: tuple[Pattern, ...]) -> list[tuple[Event, Choices]]:
        """Run a prologue, and return the schedule that it turned out to be.

        Raises
        ------
        ModelError
            If a pattern matches no enabled event.
        """
        done: list[tuple[Event, Choices]] = []
        for number, pattern in enumerate(patterns, 1):
            if pattern.kind is None:
                while (event := self._next_arrival()) is not None:
                    done.append((event, self.step(event, charge=False).choices))
                continue
            event = self._match(number, pattern)
            outcome = self.step(event, pattern.choices, charge=False)
            done.append((event, outcome.choices))
        return done

    def snapshot(self) -> Snapshot:
        """Return the frozen value of every column."""
        frozen = [None if cell is None else cell.freeze() for cell in self.cells]
        for index, node in enumerate(self.nodes):
            kind, is_absent = self.system.types[index], index in self.absent
            local = NO_VALUE if is_absent else kind.freeze(node)
            frozen[self.system.layout.local(index)] = local
        return tuple(frozen)

    def restore(self, snapshot: Snapshot) -> None:
        """Go to the state of a snapshot; ignored fields get their first values."""
        system = self.system
        self._know(snapshot)
        for number, cell in enumerate(self.cells):
            if cell is not None:
                cell.restore(snapshot[number])
        for index, (kind, first) in enumerate(
            zip(system.types, system.prototypes, strict=True)
        ):
            if index in self.absent:
                continue
            node = kind.thaw(snapshot[system.layout.local(index)], first)
            self.nodes[index] = node
            self.contexts[index].bind(node)
        self.door.touched.update(range(len(self.cells)))
        self.failure = None

    def _know(self, snapshot: Snapshot) -> None:
        """Have a cell in every column that can hold the value of a snapshot."""
        system, was_partial = self.system, self.is_partial
        self.is_partial = is_partial(system, snapshot)
        if not (was_partial or self.is_partial):
            return
        self.absent = absent_in(system, snapshot)
        layout = system.layout
        for number, cell in enumerate(self.cells):
            if cell is not None:
                self.cells[number] = restored_cell(system, number, snapshot[number])
        for index in range(len(system.ids)):
            self._hidden[index] = self.cells[layout.hidden(index)]
            self._inboxes[index] = self.cells[layout.inbox(index)]
        self.view = self._look()

    def is_enabled(self, event: Event, *, charge: bool = True) -> bool:
        """Say whether an event can happen now; faults within budget if `charge`."""
        if self.failure is not None:
            return False
        budget: FaultBudget = self.cells[Layout.BUDGET] if charge else self._unlimited
        if not can_happen(self.system, event, self.cells, budget):
            return False
        may_wait = event.kind is Kind.CALL or self._messages_wait
        return not (may_wait and self._is_idle(event))

    def _observe(self, event: Event, outcome: Outcome) -> None:
        if outcome.failure is not None:
            return
        for number, observer in enumerate(self.system.observers):
            projected = observer.look(outcome.as_step(event))
            if projected is not None:
                self.cells[self.system.layout.observer(number)].fold(projected)

    def _is_idle(self, event: Event) -> bool:
        """Say whether an offered event waits for its guard, or is a no-op."""
        system = self.system
        if event.kind not in (Kind.DELIVER, Kind.CALL) or event.node is None:
            return False
        index = system.index[event.node]
        if event.kind is Kind.CALL or system.unhandled == "wait":
            context = self.contexts[index]
            if waits(system, index, self.nodes[index], context, event):
                return True
        if self._dry_runs is None or event.kind is Kind.CALL:
            return False
        environment = functools.partial(self.door.look_up, index)
        return is_noop(self._dry_runs, index, self.nodes[index], event, environment)

    def _next_arrival(self) -> Event | None:
        wanted = (Kind.DELIVER, Kind.TRANSPORT_ERROR, Kind.REFUSE)
        return next((e for e in self.enabled() if e.kind in wanted), None)

    def _match(self, number: int, pattern: Pattern) -> Event:
        for event in self.enabled(charge=False):
            if pattern.matches(event):
                return event
        enabled = "; ".join(map(repr, self.enabled())) or "nothing"
        raise ModelError(
            f"prologue step {number}: no enabled event is like '{pattern}'",
            remedy=f"enabled are: {enabled}",
        )
