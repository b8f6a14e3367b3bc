"""The oracle's semantics: which events are enabled, and what each does."""

from __future__ import annotations

import itertools
import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from tests.oracle.door import OracleDoor, next_choices
from tests.oracle.reader import StateReader
from tests.oracle.state import NodeState, State, canonical, describe, identity

import worldline as wl
from worldline.model.context import Context, unknown_message
from worldline.model.data.content import order_key
from worldline.model.data.values import freeze
from worldline.model.fields import Role
from worldline.model.node import NodeType, node_type
from worldline.model.prologue import Pattern
from worldline.model.semantics.execute import Failure, Result, find, make_context
from worldline.model.semantics.outcome import Outcome
from worldline.model.usercode.activity import activity

K = wl.Kind
BEGINNINGS = (K.START, K.RESET, K.RESTART)
WITH_HANDLER = (*BEGINNINGS, K.DELIVER, K.TIMER, K.CALL, K.TRANSPORT_ERROR)
SPENDS = {
    K.DROP: "drops",
    K.DUPLICATE: "duplicates",
    K.DISCONNECT: "connection_errors",
    K.CRASH: "crashes",
    K.RESTART: "restarts",
    K.PARTITION: "partitions",
}


def _may(
    when: Callable[..., bool], fields: object, arguments: tuple[object, ...]
) -> bool:
    """Whether a guard holds for some combination of what arguments are drawn from."""
    options = [
        argument.options if isinstance(argument, wl.OneOf) else (argument,)
        for argument in arguments
    ]
    return any(when(fields, *values) for values in itertools.product(*options))


class Oracle:
    """A system, run by copying whole states."""

    def __init__(self, system: wl.System) -> None:
        self.system = system

    # ------------------------------------------------------------ the question asked

    def initial(self) -> list[State]:
        """Every state 0, one for each combination of choices in start handlers.

        With a prologue there is one: it begins with the first choices.
        """
        system = self.system
        states = [State.first(system)]
        if system.boot == "before":
            for node in system.ids:
                states = [
                    after
                    for state in states
                    for after, _, _ in self.runs(state, wl.Event(K.START, node))
                ]
        if system.prologue:
            del states[1:]
        for pattern in system.prologue:
            self.follow(states[0], pattern)
        return states

    def enabled(self, state: State, *, charge: bool = True) -> list[wl.Event]:
        """What can happen, node by node, in canonical order."""
        found: list[wl.Event] = []
        for index in range(len(self.system.ids)):
            found += self.from_network(state, index, charge=charge)
            found += self.from_node(state, index, charge=charge)
        if state.cut is not None:
            found.append(wl.Event(K.HEAL))
        elif self.affords(state, "partitions", charge=charge):
            cuts = range(len(self.system.cuts))
            found += [wl.Event(K.PARTITION, payload=cut) for cut in cuts]
        return [event for event in found if not self.waits(state, event)]

    def step(
        self, state: State, event: wl.Event, choices: Sequence[int] = ()
    ) -> tuple[State, Outcome]:
        """The state after an event, and what happened; `state` stays as it is."""
        after = state.copy()
        return after, self.advance(after, event, choices)

    def successors(
        self, state: State
    ) -> Iterator[tuple[wl.Event, tuple[int, ...], State | Failure]]:
        """Every event with every combination of choices."""
        for event in self.enabled(state):
            for after, choices, failure in self.runs(state, event):
                yield event, choices, failure or after

    def runs(
        self, state: State, event: wl.Event
    ) -> Iterator[tuple[State, tuple[int, ...], Failure | None]]:
        """One event with every combination of choices, in order."""
        choices: tuple[int, ...] | None = ()
        while choices is not None:
            after, outcome = self.step(state, event, choices)
            yield after, outcome.choices, outcome.failure
            choices = next_choices(outcome)

    def view(self, state: State) -> wl.View:
        """What properties see."""
        return wl.View(self.system, StateReader(self.system, state))

    def describe(self, state: State) -> dict[str, Any]:
        """The state as plain values, to compare with another world's."""
        return describe(self.system, state)

    def identity(self, state: State) -> Any:
        """A hashable value, equal for equal states."""
        return identity(self.system, state)

    # ------------------------------------------------------------- what is enabled

    def from_network(
        self, state: State, index: int, *, charge: bool
    ) -> Iterator[wl.Event]:
        node, status = self.system.ids[index], state.nodes[index].status
        told = self.system.shows_mail or self.affords(state, "restarts", charge=charge)
        returns = status == "down" and told
        for event in state.wire.next(node, up=status == "up", returns=returns):
            side = state.cut or frozenset()
            apart = (event.node in side) != (event.peer in side)
            if not (apart and event.kind in (K.DELIVER, K.REFUSE)):
                yield event
        for kind in (K.DROP, K.DUPLICATE):
            if self.affords(state, SPENDS[kind], charge=charge):
                for parcel in state.wire.struck(node, kind):
                    yield parcel.as_event(kind)

    def from_node(
        self, state: State, index: int, *, charge: bool
    ) -> Iterator[wl.Event]:
        node, mine = self.system.ids[index], state.nodes[index]
        if mine.status == "new":
            yield wl.Event(K.START, node)
        elif mine.status == "down":
            if self.affords(state, "restarts", charge=charge):
                yield wl.Event(K.RESTART, node)
        else:
            yield from self.timers(node, mine)
            yield from self.calls(index, mine)
            if self.affords(state, "connection_errors", charge=charge):
                for peer in state.wire.breakable(node):
                    if self.system.index[peer] > index:
                        yield wl.Event(K.DISCONNECT, node, peer=peer)
            if self.system.faults.strikes(node):
                yield from self.strikes(state, node, charge=charge)

    def timers(self, node: wl.NodeId, mine: NodeState) -> Iterator[wl.Event]:
        ready, earlier = [], list[float]()
        for (part, name, content), (payload, delay) in mine.timers.items():
            if not self.system.timed or all(other > delay for other in earlier):
                event = wl.Event(K.TIMER, node, part=part, name=name, payload=payload)
                ready.append(((part, name, order_key(content)), event))
            earlier.append(delay)
        for _, event in sorted(ready, key=lambda item: item[0]):
            yield event

    def calls(self, index: int, mine: NodeState) -> Iterator[wl.Event]:
        heads = [
            script.calls[position]
            for script, position in zip(
                self.system.scripts[index], mine.positions, strict=True
            )
            if position < len(script.calls)
        ]
        open_ones = [
            call
            for call, when in self.system.whenevers[index]
            if when is None or _may(when, mine.fields, call.arguments)
        ]
        distinct = {call.key: call for call in heads + open_ones}
        for key in sorted(distinct, key=lambda key: (key[0], order_key(key[1]))):
            call = distinct[key]
            node = self.system.ids[index]
            yield wl.Event(K.CALL, node, name=call.name, payload=call.arguments)

    def strikes(
        self, state: State, node: wl.NodeId, *, charge: bool
    ) -> Iterator[wl.Event]:
        if self.affords(state, "resets", charge=charge):
            yield wl.Event(K.RESET, node, payload=())
        if self.affords(state, "silent_resets", charge=charge):
            peers = state.wire.deaf_candidates(node)
            most = self.system.faults.deaf
            for size in range(1, len(peers) + 1):
                for deaf in itertools.combinations(peers, size):
                    if most is None or not charge or len(deaf) <= most:
                        yield wl.Event(K.RESET, node, payload=deaf)
        if self.affords(state, "crashes", charge=charge):
            yield wl.Event(K.CRASH, node)

    def affords(self, state: State, budget: str, *, charge: bool) -> bool:
        return not charge or state.left[budget] != 0

    def waits(self, state: State, event: wl.Event) -> bool:
        """Whether an event that is there is not enabled: a guard, or a no-op."""
        is_message = event.kind is K.DELIVER
        if event.node is None or not (is_message or event.kind is K.CALL):
            return False
        index = self.system.index[event.node]
        if not is_message or self.system.unhandled == "wait":
            door = OracleDoor(self.system, state, index, ())
            context = self.context(door, state, index)
            if self.taker(state, index, context, event) is Result.WAITS:
                return True
        return is_message and self.is_noop(state, index, event)

    def is_noop(self, state: State, index: int, event: wl.Event) -> bool:
        if not self.system.ignore_noops:
            return False
        after, outcome = self.step(state, event)
        did = (outcome.failure, outcome.sends, outcome.timers, outcome.choices)
        before, now = state.nodes[index], after.nodes[index]
        return (
            not any(did)
            and before.counter == now.counter
            and freeze(before.fields) == freeze(now.fields)
        )

    # ---------------------------------------------------------- what an event does

    def advance(
        self,
        state: State,
        event: wl.Event,
        choices: Sequence[int] = (),
        *,
        charge: bool = True,
        rng: random.Random | None = None,
    ) -> Outcome:
        """Let an event happen, in place; `rng` draws what `choices` leave open."""
        index = 0 if event.node is None else self.system.index[event.node]
        if charge:
            self.spend(state, event)
        state.wire.happen(event)
        self.prepare(state, index, event)
        door = OracleDoor(self.system, state, index, choices, rng)
        result: Result | Failure = Result.HANDLED
        if event.kind in WITH_HANDLER:
            result = self.handle(door, state, index, event)
        outcome = door.outcome(result)
        for number, observer in enumerate(self.system.observers):
            seen = observer.project(outcome.as_step(event))
            if seen is not None and outcome.failure is None:
                state.histories[number] = observer.fold(state.histories[number], seen)
        return outcome

    def spend(self, state: State, event: wl.Event) -> None:
        budget = SPENDS.get(event.kind)
        if event.kind is K.RESET:
            budget = "silent_resets" if event.payload else "resets"
        if budget is not None and state.left[budget] is not None:
            state.left[budget] -= 1  # type: ignore[operator]

    def prepare(self, state: State, index: int, event: wl.Event) -> None:
        """Do what happens to a node and the partition before the handler."""
        mine = state.nodes[index]
        if event.kind is K.TIMER:
            del mine.timers[event.part, event.name, freeze(event.payload)]
        elif event.kind is K.CALL:
            self.advance_script(index, mine, event)
        elif event.kind in (K.RESET, K.CRASH):
            mine.timers.clear()
            for number, script in enumerate(self.system.scripts[index]):
                if script.on_reset == "restart":
                    mine.positions[number] = 0
            mine.status = "up" if event.kind is K.RESET else "down"
        elif event.kind in (K.START, K.RESTART):
            mine.status = "up"
        elif event.kind is K.PARTITION:
            state.cut = self.system.cuts[event.payload]
            if self.system.faults.break_sockets:
                state.wire.sever(state.cut)
        elif event.kind is K.HEAL:
            state.cut = None

    def advance_script(self, index: int, mine: NodeState, event: wl.Event) -> None:
        wanted = (event.name, freeze(event.payload))
        for number, script in enumerate(self.system.scripts[index]):
            rest = script.calls[mine.positions[number] :]
            if rest and rest[0].key == wanted:
                mine.positions[number] += 1
                return

    def handle(
        self, door: OracleDoor, state: State, index: int, event: wl.Event
    ) -> Result | Failure:
        mine = state.nodes[index]
        if event.kind in (K.RESET, K.RESTART):
            mine.fields = begin_again(mine.fields, self.system.prototypes[index])
        context = self.context(door, state, index)
        try:
            if event.kind in BEGINNINGS:
                activity.door = door
                start_all(self.system.types[index], mine.fields, context)
                return Result.HANDLED
            found = self.taker(state, index, context, event)
            if not isinstance(found, Result | Failure):
                activity.door = door
                # A draw that a guard forbids answers so.
                return (
                    Result.UNHANDLED if found() is Result.UNHANDLED else Result.HANDLED
                )
        except wl.ModelError:
            raise
        except Exception as error:
            return Failure("exception", type(error).__name__, place(error), str(error))
        finally:
            activity.door = None
        return found

    def taker(
        self, state: State, index: int, context: Context, event: wl.Event
    ) -> Callable[[], Any] | Result | Failure:
        """What takes an event; of messages that nobody takes, what becomes of them."""
        kind, service = self.system.types[index], state.nodes[index].fields
        if event.kind is not K.DELIVER:
            return find(self.system, index, service, context, event)
        for name in event.part.split(".") if event.part else ():
            kind, service = kind.parts[name], service.__dict__[name]
            context = context.part(name)
        src, message = event.peer, event.payload
        if type(message) in kind.on:
            handler = kind.on[type(message)]
            guard, function = handler.mark.when, handler.function
            if guard is None or guard(service, src, message):
                return lambda: function(service, context, src, message)
            if self.system.unhandled == "error":
                name = self.system.types[index].cls.__name__
                return Failure("unhandled", event.name, name, repr(event))
            keeps = self.system.unhandled == "wait"
        else:
            if type(message) not in kind.ignores:
                raise unknown_message(kind, type(message))
            keeps = state.wire.keeps(event.part, message)
        return Result.WAITS if keeps else Result.UNHANDLED

    def context(self, door: OracleDoor, state: State, index: int) -> Context:
        context = make_context(self.system, index, door)
        context.bind(state.nodes[index].fields)
        return context

    # -------------------------------------------------------------------- prologue

    def follow(self, state: State, pattern: Pattern) -> None:
        """Let the first event that fits a pattern happen, in place."""
        if pattern.kind is None:
            kinds = (K.DELIVER, K.TRANSPORT_ERROR, K.REFUSE)
            while arrived := [e for e in self.enabled(state) if e.kind in kinds]:
                self.advance(state, arrived[0], charge=False)
            return
        offered = self.enabled(state, charge=False)
        event = next(event for event in offered if pattern.matches(event))
        self.advance(state, event, pattern.choices, charge=False)


def begin_again(node: Any, prototype: Any) -> Any:
    """A node after a reset: the prototype, but for durable and ghost fields."""
    fresh = canonical(prototype)
    for name, role in node_type(type(node)).roles.items():
        if role in (Role.DURABLE, Role.GHOST):
            fresh.__dict__[name] = node.__dict__[name]
        elif role is Role.PART:
            inner = (node.__dict__[name], prototype.__dict__[name])
            fresh.__dict__[name] = begin_again(*inner)
    return fresh


def start_all(kind: NodeType, node: Any, context: Context) -> None:
    """Run the start handlers, those of parts first."""
    for name, inner in kind.parts.items():
        start_all(inner, node.__dict__[name], context.part(name))
    if kind.start is not None:
        kind.start.function(node, context)


def place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{PurePath(frame.filename).name}:{frame.lineno} in {frame.name}"
