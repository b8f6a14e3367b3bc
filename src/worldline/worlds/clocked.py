"""The clocked world: nodes that run one event after the other, at the time of each.

Handlers are found and run by the code of all worlds (`model/semantics/execute`), and
what events do beside them is what `transitions` says. It asks of no event whether it can
happen: `simulation`, which lets them happen at their times, knows. Each of its runs is one
of the direct world.

A node costs its object and its hidden state; one context of each class goes from node to
node. What is under way stands in the agenda of the simulation alone, unless the network
has to know of it (connections, queues), or a view reads it: from then on it is in
mailboxes as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.parting import settle_fields
from worldline.model.data.settling import AS_THEY_ARE
from worldline.model.events import Event
from worldline.model.instruments import Instruments
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import (
    Capability,
    Mailbox,
    Networks,
    Recorded,
    carrier,
)
from worldline.model.network.datagrams import Datagrams
from worldline.model.node import Handler, NodeType
from worldline.model.node_template import NodeTemplate
from worldline.model.semantics.execute import (
    Failure,
    Result,
    make_context,
    perform,
)
from worldline.model.semantics.hidden import Hidden, PendingTimer
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.plain import lets_in, run_plain
from worldline.model.semantics.transitions import changes
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.model.view import View
from worldline.worlds.chance import Chance
from worldline.worlds.collecting import CollectingDoor
from worldline.worlds.door import Query
from worldline.worlds.reading import LiveReader
from worldline.worlds.world import Snapshot

FillMail: TypeAlias = Callable[[list[Mailbox]], None]
"""Puts what is under way into mailboxes, new ones, in the order in which it was sent."""

MakeDoor: TypeAlias = "Callable[[ClockedWorld], ClockedDoor]"
"""Makes the door of a world."""


@final
class SetDelay(float):
    """The delay of a timer as it was set once: to set it again makes another object."""

    __slots__ = ()


class ClockedDoor(CollectingDoor):
    """Collects what handlers do, and answers what they ask for from the present state."""

    def __init__(self, world: ClockedWorld) -> None:
        super().__init__()
        self.index = 0
        self.bounded = world.system.network.buffer is not None
        self._world = world
        self._timer_of: dict[tuple[str, str], PendingTimer] = {}
        self.begin(world.system.ids[0])

    def is_buffered(self, part: str, message: Any) -> bool:
        network = self._world.system.network
        if not isinstance(network, Networks):
            return self.bounded
        return carrier(network, part, type(message)).buffer is not None

    def is_full(self, dst: NodeId, taken: int) -> bool:
        to = self._world.system.index[dst]
        return bool(self._world.look_up(self.index, ("full", to, taken)))

    def is_set(self, timer: PendingTimer) -> bool:
        return bool(self._world.look_up(self.index, ("pending", timer)))

    def first_number(self) -> int:
        return self._world.look_up(self.index, ("sequence",))

    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None:
        if payload is not None:
            self.change(PendingTimer(part, name, payload), after)
            return
        # Most timers have none, and a million nodes need one object for all of them.
        timer = self._timer_of.get((part, name))
        if timer is None:
            timer = self._timer_of[part, name] = PendingTimer(part, name, None)
        self.change(timer, after)


@final
class DrawingDoor(ClockedDoor):
    """Draws what handlers choose."""

    def __init__(self, world: ClockedWorld, chance: Chance) -> None:
        super().__init__(world)
        self._chance = chance

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        return self._chance.choose(self.index, count, weights)


def fired(node: NodeId, timer: PendingTimer) -> Event:
    """Return the event of a timer that ends at `node`."""
    return Event(
        Kind.TIMER, node, part=timer.part, name=timer.name, payload=timer.payload
    )


@final
class ClockedWorld:
    """A system in one state, in which `happen` lets an event happen at its time.

    Parameters
    ----------
    system
        The system to run. No node has started.
    make_door
        Makes the door that all handlers meet, given the world.
    fill
        Fills the mailboxes, when the first is looked at.

    Attributes
    ----------
    door
        That door.
    nodes, hidden
        The node objects and their hidden state, by index.
    touched
        The columns that events changed since somebody cleared it, but for what plain
        handlers did (`run`).
    series
        Entered by who lets many events happen.
    failure
        How the last handler failed; nothing can happen after that.
    then
        Looks at the node of an index once a plain handler has run there (`run`), in the
        user code that was entered for that.
    """

    def __init__(self, system: System, make_door: MakeDoor, fill: FillMail) -> None:
        self.system = system
        self.nodes = _first_nodes(system)
        self.hidden = [
            Hidden(node, scripts, timed=system.timed)
            for node, scripts in zip(system.ids, system.scripts, strict=True)
        ]
        self.around: list[Any] = system.cells_around()
        self.cells = _Cells(self)
        self.door = make_door(self)
        self.failure: Failure | None = None
        self.touched: set[int] = set()
        self.instruments: Instruments | None = None
        self.series = Series()
        self.then: Callable[[int], None] | None = None
        self.view = View(system, LiveReader(self))
        self._first = system.layout.first
        self._ids, self._types = system.ids, system.types
        self._fill = fill
        self._mail: list[Mailbox] | None = None
        self._contexts: dict[NodeType, Any] = {
            kind: make_context(system, system.types.index(kind), self.door)
            for kind in set(system.types)
        }
        if not _is_free(system):
            self.keep_mail()

    def attach(self, instruments: Instruments) -> None:
        """Let views of this world show the instruments of the run that it is in."""
        self.instruments = instruments
        self.view = View(self.system, LiveReader(self), instruments)

    @property
    def keeps_mail(self) -> bool:
        """Whether what is under way stands in mailboxes, too."""
        return self._mail is not None

    def mailbox(self, index: int) -> Mailbox:
        """Return the mailbox of a node; all are kept from now on."""
        return self.keep_mail()[index]

    def keep_mail(self) -> list[Mailbox]:
        """Put into mailboxes what is under way, from now on; return them."""
        if self._mail is None:
            self._mail = self.filled()
        return self._mail

    def filled(self) -> list[Mailbox]:
        """Return mailboxes with what is under way: those that are kept, or new ones."""
        if self._mail is not None:
            return self._mail
        network, ids = self.system.network, self.system.ids
        mail = [network.mailbox(node, ids) for node in ids]
        self._fill(mail)
        return mail

    def post(self, index: int, envelope: Envelope) -> None:
        """Note that a message is under way to a node."""
        if self._mail is not None:
            self._mail[index].put(envelope)
            self.touched.add(self.system.layout.inbox(index))

    def happen(self, event: Event, index: int, now: float) -> Result | Failure:
        """Let an event happen that can; the door has what its handler did.

        A timer that fires has been removed already by who found it due.

        Parameters
        ----------
        index
            That of its node; 0 if it has none.
        now
            Seconds since the run began.
        """
        result = self.attempt(event, index, now)
        if type(result) is not Failure:
            self.keep(event, index, result)
        return result

    def attempt(self, event: Event, index: int, now: float) -> Result | Failure:
        """Do as `happen` does, but for what is noted of an event that is to be kept."""
        system, door, kind = self.system, self.door, event.kind
        door.index = index
        door.begin(system.ids[index])
        door.clock = now
        # A message is taken out of no mailbox; a timer has been taken out.
        is_done = kind is Kind.TIMER or (kind is Kind.DELIVER and self._mail is None)
        if not is_done:
            self.apply(event)
        node = self.nodes[index]
        context = self._contexts[system.types[index]]
        context.move(system.ids[index], node)
        result = perform(system, index, node, context, door, event)
        if type(result) is Failure:
            self.failure = result
            return result
        settle_fields(node.__dict__)
        return result

    def keep(self, event: Event, index: int, result: Result) -> None:
        """Note what an event has changed that `attempt` has let happen."""
        door = self.door
        if event.node is not None:
            local = self._first + 3 * index
            self.touched.update((local, local + 1))  # fields and hidden state
        if door.next_number is not None:
            self.hidden[index].counter = door.next_number
        if self.system.observers:
            self._observe(event, door.outcome(result))

    def lets_in(self, index: int, handler: Handler, arguments: tuple[Any, ...]) -> bool:
        """Say whether the guard of a handler lets it have an event."""
        if handler.mark.when is None:
            return True
        return lets_in(handler, self.nodes[index], arguments, self.series)

    def run(
        self, index: int, handler: Handler, arguments: tuple[Any, ...], now: float
    ) -> Result | Failure:
        """Run a handler that is let in at a node that is up, as `happen` does with its event.

        Nobody observes, and what is consumed has been taken out. That it may have changed
        the fields and the hidden state of its node is for the caller to note.
        """
        door, kind, node = self.door, self._types[index], self.nodes[index]
        me, series = self._ids[index], self.series
        door.index, door.clock = index, now
        door.begin(me)
        context = self._contexts[kind]
        context.move(me, node)
        series.enter(handler.number)
        try:
            result = run_plain(kind, node, context, door, handler, arguments)
            if type(result) is Failure:
                self.failure = result
                return result
            fields = node.__dict__
            for value in fields.values():  # in most there is nothing to settle
                if type(value) not in AS_THEY_ARE:
                    settle_fields(fields)
                    break
            if self.then is not None:
                self.then(index)
        finally:
            series.leave()
        if door.next_number is not None:
            self.hidden[index].counter = door.next_number
        return result

    def look_up(self, index: int, query: Query) -> int:
        """Return the answer of the present state to a query of a node's handler."""
        system, what = self.system, query[0]
        if what == "full":
            under_way = self.mailbox(query[1]).holds(system.ids[index]) + query[2]
            return int(under_way >= (system.network.buffer or 0))
        hidden = self.hidden[index]
        return hidden.counter if what == "sequence" else int(query[1] in hidden.timers)

    def context(self, index: int) -> Any:
        """Return the context of a node, for its guards; it is another one's next."""
        context = self._contexts[self.system.types[index]]
        context.move(self.system.ids[index], self.nodes[index])
        return context

    def outcome(self, result: Result | Failure) -> Outcome:
        """Return what the last handler did."""
        return self.door.outcome(result)

    def snapshot(self) -> Snapshot:
        """Return the frozen value of every column."""
        frozen: list[Frozen] = [cell.freeze() for cell in self.around]
        mail, types = self.keep_mail(), self.system.types
        for index, node in enumerate(self.nodes):
            frozen.append(types[index].freeze(node))
            frozen += self.hidden[index].freeze(), mail[index].freeze()
        return tuple(frozen)

    def apply(self, event: Event) -> None:
        """Do what an event does before its handler runs."""
        first = self._first
        for column, operation in changes(self.system, event):
            # In a network of which nothing is kept, the agenda is all there is.
            if column >= first and (column - first) % 3 == 2 and self._mail is None:
                continue
            getattr(self.cells[column], operation[0])(*operation[1:])
            self.touched.add(column)

    def _observe(self, event: Event, outcome: Outcome) -> None:
        for number, observer in enumerate(self.system.observers):
            projected = observer.look(outcome.as_step(event))
            if projected is not None:
                column = self.system.layout.observer(number)
                self.around[column].fold(projected)
                self.touched.add(column)


def _first_nodes(system: System) -> list[Any]:
    """Return the nodes of a system as they are before anything has happened."""
    templates: dict[int, NodeTemplate] = {}
    nodes = []
    for kind, frozen, prototype in zip(
        system.types, system.initial, system.prototypes, strict=True
    ):
        # Of a million nodes most begin alike, and have one and the same frozen value.
        template = templates.get(id(frozen))
        if template is None:
            template = templates[id(frozen)] = NodeTemplate(kind, frozen)
        nodes.append(template.thaw_small(prototype))
    return nodes


def _is_free(system: System) -> bool:
    """Say whether each message arrives in its time, and nobody has to know of others."""
    network = system.network
    if isinstance(network, Recorded):
        return True
    ordered = Capability.ORDERED in network.capabilities
    return isinstance(network, Datagrams) and not ordered and not system.ignore_noops


@final
class _Cells(Sequence[Any]):
    """The cell of each column but the local ones; mailboxes are made when looked at."""

    def __init__(self, world: ClockedWorld) -> None:
        self._world = world
        self._first = world.system.layout.first

    def __len__(self) -> int:
        return self._world.system.layout.width

    def __getitem__(self, column: Any) -> Any:
        world = self._world
        if column < self._first:
            return world.around[column]
        index, which = divmod(column - self._first, 3)
        if which == 1:
            return world.hidden[index]
        return world.mailbox(index) if which == 2 else None
