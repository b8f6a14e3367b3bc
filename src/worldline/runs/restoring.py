"""From the record of a state to the state, in which a run may then begin.

A record may come from anyone. What it names is looked up in the system, every part of a
state is put together from checked values, and nothing but a legal one comes out: one
that a world of this system can be in, whether or not a run leads there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

from worldline.model.absent import NO_VALUE
from worldline.model.data.content import TUPLE, Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import InputError, ModelError, UsageError
from worldline.model.fields import is_node
from worldline.model.gauges import first_instruments
from worldline.model.instruments import Instruments
from worldline.model.kinds import BUDGETS
from worldline.model.message import Envelope, is_message
from worldline.model.network import Mailbox
from worldline.model.network.link import CLOSED, Link
from worldline.model.node import NodeType
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.system import System
from worldline.trace.class_table import ClassTable
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.json_values import decode
from worldline.trace.records import Trace
from worldline.trace.state import (
    CONNECTION,
    NodeStateRecord,
    StateRecord,
)
from worldline.worlds.checkpoint import Checkpoint, go_back
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import World

_AS_RECORDED = "begin with the system and the parameters that it was recorded with"


def beginning_state(trace: Trace, system: System) -> Checkpoint | None:
    """Return the state in which a trace begins; None if it begins at the start.

    Raises
    ------
    InputError
        If it is no state of the system.
    """
    return None if trace.state is None else restored(system, trace.state)


def world_of(trace: Trace, system: System) -> DirectWorld:
    """Return a world in the state in which a trace begins.

    Raises
    ------
    InputError
        As `beginning_state` does.
    """
    world, begins = DirectWorld(system), beginning_state(trace, system)
    if begins is not None:
        go_back(world, begins)
    return world


def instruments_of(trace: Trace, world: World) -> Instruments | None:
    """Return the instruments of a recorded run before its first step.

    None if it had no clock: then no gauge is folded, either.

    Parameters
    ----------
    world
        In the state in which the trace begins.
    """
    if all(step.time is None for step in trace.steps):
        return None
    state, gauges = trace.state, world.system.gauges
    if state is None:
        return first_instruments(gauges)
    classes, known = ClassTable.of(world.system), state.gauges or {}
    values = {name: settled(decode(value, classes)) for name, value in known.items()}
    return first_instruments(gauges, world.view, values, recorded=True)


def restored(system: System, record: StateRecord) -> Checkpoint:
    """Return the state that a record of one says; its nodes are those of the system.

    Those that are absent have no value in it, nor have observers that it leaves out.

    Raises
    ------
    InputError
        If it is no state of the system.
    """
    named = sorted([*(node.name for node in record.nodes), *record.absent])
    if named != sorted(node.name for node in system.ids):
        raise InputError(
            "the nodes of the state and those that are absent are not all there are, "
            "each once",
            remedy=_AS_RECORDED,
        )
    return _Reader(system, record).checkpoint()


def refuse_absent(absent: Sequence[str], what: str) -> None:
    """Refuse to begin where nothing is known of some nodes or observers.

    Parameters
    ----------
    absent
        Their names; if there are none, nothing is refused.
    what
        What cannot begin there.

    Raises
    ------
    UsageError
        If there are some.
    """
    if absent:
        raise UsageError(
            f"{what} cannot begin in a state in which nothing is known of "
            f"{shorten(', '.join(absent), 200)}",
            remedy="use check, predict, replay, minimize, show or debug for it",
        )


@final
class _Reader:
    """Puts a state together, column by column.

    Parameters
    ----------
    system
        The only source of nodes, classes, parts and timers.
    """

    def __init__(self, system: System, record: StateRecord) -> None:
        self._system = system
        self._record = record
        self._classes = ClassTable.of(system)
        self._nodes = {one.name: one for one in record.nodes}
        self._absent = [node for node in system.ids if node.name not in self._nodes]
        self._ends: dict[NodeId, dict[NodeId, tuple[int, bool]]] = {
            node: self._ends_of(self._nodes[node.name])
            for node in system.ids
            if node.name in self._nodes
        }

    def checkpoint(self) -> Checkpoint:
        system = self._system
        columns: list[Frozen] = [self._budget(), self._cut(), *self._observers()]
        ignored: list[dict[str, Any]] = []
        for index, kind in enumerate(system.types):
            node = self._nodes.get(system.ids[index].name)
            if node is None:
                columns += [NO_VALUE] * 3
                ignored.append({})
                continue
            with _at(f"node {node.name}"):
                columns.append(self._local(kind, node.fields))
                columns.append(self._hidden(index, node))
                columns.append(self._inbox(index, node))
                ignored.append(self._unseen(kind, node.ignored or {}))
        return Checkpoint(tuple(columns), tuple(ignored))

    def _budget(self) -> Frozen:
        left, faults = self._record.budget, self._system.faults
        with _at("the budget"):
            _expect_names(left, BUDGETS, "faults")
        return (TUPLE, *[_least(left[n], faults.limit(n)) for n in BUDGETS])

    def _cut(self) -> Frozen:
        cut = self._record.cut
        if cut is not None and cut >= len(self._system.cuts):
            raise InputError(
                f"the state has the cut {cut}, and the system has "
                f"{len(self._system.cuts)}",
                remedy=_AS_RECORDED,
            )
        return cut

    def _observers(self) -> list[Frozen]:
        values = self._record.observers
        observers = self._system.observers
        with _at("the observers"):
            names = [one.name for one in observers]
            known = [name for name in names if name in values]
            _expect_names(values, known, "observers", names)
            # As a value is arranged after renaming: histories have records of their own.
            return [
                freeze(one.arranged(thaw(self._frozen(values[one.name]))))
                if one.name in values
                else NO_VALUE
                for one in observers
            ]

    def _local(self, kind: NodeType, fields: dict[str, Json]) -> Frozen:
        _expect_names(fields, kind.identity, "fields")
        parts = [kind.cls]
        for name in kind.identity:
            value, inner = fields[name], kind.parts.get(name)
            if inner is None:
                parts.append(self._frozen(value))
                continue
            if (
                not isinstance(value, dict)
                or value.get("$is") != inner.cls.__qualname__
            ):
                raise InputError(
                    f"its part {name} is {_shown(value)}, which is no "
                    f"{inner.cls.__qualname__}",
                    remedy=_AS_RECORDED,
                )
            below = {key: item for key, item in value.items() if key != "$is"}
            parts.append(self._local(inner, below))
        return tuple(parts)

    def _hidden(self, index: int, node: NodeStateRecord) -> Frozen:
        system = self._system
        hidden: Any = system.cell(system.layout.hidden(index))
        hidden.status = Status(node.status)
        for timer in node.timers:
            timers = self._part(index, timer.part).timers
            if timer.name not in timers or (hidden.timed and timer.after is None):
                raise InputError(
                    f"its timer {shorten(timer.name, 60)!r} is none that it can have",
                    remedy=_AS_RECORDED,
                )
            payload = decode(timer.payload, self._classes)
            pending = PendingTimer(timer.part, timer.name, payload)
            if pending in hidden.timers:
                raise InputError(f"the timer {pending!r} is pending twice")
            hidden.set_timer(pending, 0.0 if timer.after is None else timer.after)
        lengths = [len(script.calls) for script in hidden.scripts]
        if len(node.scripts) != len(lengths) or any(
            done > length for done, length in zip(node.scripts, lengths, strict=True)
        ):
            raise InputError(
                f"it has made {list(node.scripts)} calls of its scripts, which have "
                f"{lengths}",
                remedy=_AS_RECORDED,
            )
        hidden.positions = list(node.scripts)
        hidden.counter = node.sequence
        return hidden.freeze()

    def _inbox(self, index: int, node: NodeStateRecord) -> Frozen:
        system = self._system
        inbox: Any = system.cell(system.layout.inbox(index))
        for one in node.messages:
            self._part(index, one.part)
            message = decode(one.message, self._classes)
            if not is_message(message):
                raise InputError(f"{_shown(one.message)} is under way, and no message")
            src = self._classes.node(one.src)
            if src in self._absent:
                raise InputError(f"{src} has sent what is under way, and is absent")
            inbox.put(Envelope(src, one.part, message, self._frozen(one.message)))
        self._connect(system.ids[index], inbox)
        return inbox.freeze()

    def _connect(self, me: NodeId, inbox: Mailbox) -> None:
        """Make the connections of a node, each of two ends."""
        mine, unknown = self._ends[me], (CLOSED, False)
        for peer in self._absent:
            inbox.forget(peer)
            if peer in mine:
                link = self._link(inbox, peer)
                link.mine, link.error_here = mine[peer]
        for peer, ends in self._ends.items():
            here, there = mine.get(peer, unknown), ends.get(me, unknown)
            if peer == me or here == there == unknown:
                continue
            link = self._link(inbox, peer)
            link.mine, link.error_here = here
            link.theirs, link.error_there = there

    def _link(self, inbox: Mailbox, peer: NodeId) -> Link:
        link = inbox.connection(peer)
        if link is None:
            raise InputError(
                f"it has a connection with {peer}, which "
                f"{self._system.network.name} does not know",
                remedy=_AS_RECORDED,
            )
        return link

    def _ends_of(self, node: NodeStateRecord) -> dict[NodeId, tuple[int, bool]]:
        return {
            self._classes.node(link.peer): (CONNECTION.index(link.end), link.error)
            for link in node.links
        }

    def _unseen(self, kind: NodeType, values: dict[str, Json]) -> dict[str, Any]:
        """Return values of ignored fields; those of parts under their names."""
        unseen: dict[str, Any] = {}
        for path, value in values.items():
            *parts, name = path.split(".")
            inner, place = kind, unseen
            for part in parts:
                if part not in inner.parts:
                    raise InputError(f"it has no part {shorten(part, 60)!r}")
                inner, place = inner.parts[part], place.setdefault(part, {})
            if name not in inner.ignored:
                raise InputError(f"it has no ignored field {shorten(path, 60)!r}")
            self._frozen(value)
            place[name] = decode(value, self._classes)
        return unseen

    def _part(self, index: int, path: str) -> NodeType:
        kind = self._system.types[index]
        for name in path.split(".") if path else ():
            if name not in kind.parts:
                raise InputError(
                    f"it has no part {shorten(path, 60)!r}", remedy=_AS_RECORDED
                )
            kind = kind.parts[name]
        return kind

    def _frozen(self, value: Json) -> Frozen:
        """Return a value, checked to be data that a field or a message can hold."""
        frozen = freeze(decode(value, self._classes))
        if _has_node(frozen):
            raise InputError(f"{_shown(value)} holds a node, which is no data")
        return frozen


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """Say of an error where in the state it is; what is no data is one of the file."""
    try:
        yield
    except (InputError, ModelError) as error:
        remedy = error.remedy or "the trace was edited; write it again"
        raise InputError(f"the state, {place}: {error.what}", remedy=remedy) from None


def _expect_names(
    names: Iterable[str],
    wanted: Iterable[str],
    what: str,
    all_names: Iterable[str] | None = None,
) -> None:
    """Refuse other names than those wanted, which may not be all that there are."""
    names, wanted = set(names), list(wanted)
    if names != set(wanted):
        there = shorten(", ".join(sorted(names)), 200) or "none"
        others = wanted if all_names is None else all_names
        raise InputError(
            f"the {what} are {there}; in the system they are "
            f"{', '.join(others) or 'none'}",
            remedy=_AS_RECORDED,
        )


def _least(left: int | None, most: int | None) -> int | None:
    """Return what is left of a budget, of which there may now be less."""
    return left if most is None else most if left is None else min(left, most)


def _has_node(frozen: Frozen) -> bool:
    if type(frozen) is not tuple:
        return False
    return is_node(frozen[0]) or any(map(_has_node, frozen[1:]))


def _shown(value: Json) -> str:
    return shorten(show(value), 60)
